// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A program of ours that runs what may crash, so that it crashes there.
#pragma once

#include "interlock/status.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace interlock {

/// The child reads its request from stdin and writes its reply here.
inline constexpr int replyDescriptor = 3;

struct ChildEnd {
  std::optional<int> code, signal; ///< neither: somebody else in this process has waited for it
  bool late = false;               ///< it was ended because its time was up
  std::string reply;               ///< what it wrote to `replyDescriptor`
  std::string said;                ///< the end of what it wrote to stdout and stderr

  /// "ended with signal 6 (Aborted)", "ended with exit code 3", "took more than 120 s and was stopped".
  std::string how(std::chrono::seconds limit) const;
};

/// Runs the program without arguments, in the folder `/`, with none of this process's descriptors, signal settings or
/// environment but LD_LIBRARY_PATH and TMPDIR, and waits for it, at most so long. Any thread may call it.
Result<ChildEnd> runChild(const std::string &program, std::string_view request, std::chrono::seconds limit);

} // namespace interlock
