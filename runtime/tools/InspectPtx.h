// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What can be said about a PTX text without running it.
#pragma once

#include "interlock/status.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace interlock::tool {

/// Reads a PTX text and describes it: ISA, target, and per kernel its parameters, launch bounds, shared memory,
/// registers as written, and how often each synchronising or asynchronous instruction occurs. `badInput` with
/// file:line:column where the text cannot be read.
[[nodiscard]] Result<nlohmann::json> describePtx(std::string_view text, const std::string &file);

/// The same as lines for people.
std::string asText(const nlohmann::json &description);

} // namespace interlock::tool
