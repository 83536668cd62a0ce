// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A few kernels, and what the command makes of them in a process of its own.
#pragma once

#include "interlock/spec.hpp"

#include <map>
#include <string>
#include <vector>

namespace interlock::test {

/// Dispatch and combine, plain and with clusters, for two chips.
std::vector<KernelSpec> kernels();

/// The PTX of `interlock cache prewarm` for each of them, by canonical form; empty if the command failed.
std::map<std::string, std::string> ptxOfTheCommand();

} // namespace interlock::test
