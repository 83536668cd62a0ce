// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// This program again, as several processes.
#pragma once

#include "interlock/status.hpp"

#include <string>
#include <vector>

namespace interlock::tool {

/// How a process ended, and what it wrote to stdout.
struct ProcessEnd {
  int code = 0;   ///< exit code; 128 + the signal that ended it
  int signal = 0; ///< that signal, or 0
  std::string output;
};

/// Starts this program once for each list of arguments (the program's name left out), all at the same time, and waits
/// for all. Their stderr is this one's.
[[nodiscard]] Result<std::vector<ProcessEnd>> runSelf(const std::vector<std::vector<std::string>> &arguments);

/// A folder that goes, with what is in it, with the object.
class TemporaryFolder {
public:
  [[nodiscard]] static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other) noexcept : folder(std::exchange(other.folder, {})) {}
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();
  const std::string &path() const { return folder; }

private:
  explicit TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace interlock::tool
