// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a command (INTERLOCK_COMMAND, which each test program sets) as its users do and gives back what it wrote.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace interlock::test {

struct Outcome {
  int code = -1; ///< exit code, or 128 + the signal
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

/// Runs the command with these arguments; `environment` is `NAME=value` entries over the test's own, `input` what it
/// reads from standard input.
Outcome runCommand(const std::vector<std::string> &arguments, const std::vector<std::string> &environment = {},
                   const std::string &input = {});

/// The same of any program, whose file is the first of these.
Outcome runProgram(const std::vector<std::string> &command, const std::vector<std::string> &environment = {},
                   const std::string &input = {});

/// A fresh folder under the test's temporary one.
std::string freshFolder();

/// Writes a file and returns its name.
std::string writeFile(const std::string &name, const std::string &bytes);

} // namespace interlock::test
