// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel given as CUDA or HIP C++ on the command line.
#pragma once

#include "interlock/source.hpp"
#include "runtime/tools/Tool.h"

#include <string>
#include <vector>

namespace interlock::tool {

struct SourceFlags {
  std::string file, entry, contract;
  std::vector<std::string> includes, options;

  /// Adds `--source` to `choice`, a group of what can stand in its place, and what goes with it to the subcommand.
  void addTo(CLI::App &command, CLI::App &choice);
  bool given() const { return !file.empty(); }
  /// Reads the source and the headers that it includes, directly or not, from the include folders. One that is in none
  /// of them is left to the compiler, which has some of its own.
  [[nodiscard]] Result<SourceKernel> kernel(const std::string &target) const;
};

} // namespace interlock::tool
