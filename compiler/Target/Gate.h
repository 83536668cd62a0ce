// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The gate: the text that was really emitted is judged before anybody gets it. Nothing that a pass or the back end did
// to an ordering goes unseen.
#pragma once

#include "interlock/status.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace interlock::target {

/// Findings of scope-lint on a PTX text, as JSON objects (rule, severity, line, instruction, message, fix). An error
/// finding, or a text that cannot be read, is an error that carries it.
Result<nlohmann::json> gatePtx(const std::string &ptx, uint32_t clusterSize);
/// The same of AMDGCN assembly, for the processors that the lint knows.
Result<nlohmann::json> gateAmdgcn(const std::string &assembly);

} // namespace interlock::target
