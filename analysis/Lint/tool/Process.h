// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Finds and runs another program, without a shell.
#pragma once

#include <tl/expected.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace interlock::lint {

/// The first executable file of that name in the folders of a PATH-like list.
std::optional<std::string> findProgram(const std::string &name, const std::string &searchPath);

struct ProcessOutput {
  int exitCode = 0; ///< 128 + the signal for one that was killed
  std::string out, err;
};

/// Runs a program with these arguments (the first is its file) and nothing on its standard input; ends it when it takes
/// longer than `limit`. The error is one lower-case sentence.
[[nodiscard]] tl::expected<ProcessOutput, std::string> runProcess(const std::vector<std::string> &command,
                                                                  std::chrono::seconds limit);

} // namespace interlock::lint
