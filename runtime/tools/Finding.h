// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Finds programs and shared libraries of the machine that the command can use but does not need.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace interlock::tool {

/// The first executable file of one of these names in the folders of a PATH-like list.
std::optional<std::string> findProgram(const std::vector<std::string> &names, const std::string &searchPath);

/// The file of the first of these shared libraries that can be loaded.
std::optional<std::string> findLibrary(const std::vector<std::string> &names);

/// Runs a program without a shell and returns what it wrote to stdout, or nothing if it did not end with 0.
std::optional<std::string> outputOf(const std::vector<std::string> &command);

} // namespace interlock::tool
