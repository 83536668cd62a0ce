// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the subcommands of `interlock` share: where output goes, how errors end, what the environment said.
#pragma once

#include "interlock/status.hpp"

#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace interlock::tool {

/// Exit codes of every subcommand.
enum Exit : int {
  exitOk = 0,
  exitMismatch = 1, ///< a run gave a wrong result, or a device failed
  exitBadInput = 2, ///< what was asked for cannot be: one sentence says what would do
};

/// What main() reads once and hands to every subcommand.
struct Context {
  bool json = false;                  ///< --json: one JSON object on stdout
  std::string cacheDir;               ///< INTERLOCK_CACHE_DIR, else the user's cache folder; empty if neither is known
  std::string compilerPath;           ///< INTERLOCK_COMPILER, or empty: found beside the program
  std::string nvrtcPath;              ///< INTERLOCK_NVRTC, or empty: found by the loader or in the toolkit's place
  std::string hiprtcPath;             ///< INTERLOCK_HIPRTC, or empty: found by the loader or in ROCm's place
  std::string searchPath;             ///< PATH, for disassemblers
  std::vector<std::string> arguments; ///< as the program was given them
  int exitCode = exitOk;              ///< set by the subcommand that ran
};

/// Prints the error (and a JSON object with --json) and returns the exit code that it stands for.
int fail(const Context &context, const Error &error);

/// One line on stderr: progress and notes, never mixed into the output.
void note(std::string_view line);

/// Writes an object to stdout, indented.
void print(const nlohmann::json &object);

/// Right-aligned columns under their headings, on stdout.
void printTable(const std::vector<std::string> &headings, const std::vector<std::vector<std::string>> &rows);

/// Each adds one subcommand to the program. The context must outlive the parse.
void addCompile(CLI::App &app, Context &context);
void addCache(CLI::App &app, Context &context);
void addInspect(CLI::App &app, Context &context);
void addRun(CLI::App &app, Context &context);
void addTargets(CLI::App &app, Context &context);
void addDoctor(CLI::App &app, Context &context);

} // namespace interlock::tool
