// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// File operations whose failures are values, and that nothing strange in a file's place can stop.
#pragma once

#include "interlock/status.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace interlock {

/// "could not <what>: <the system's reason for the call that has just failed>".
tl::unexpected<Error> systemError(const std::string &what);

/// Makes a folder and those above it; one that somebody else made meanwhile is a success.
Status makeFolder(const std::filesystem::path &path);

struct ReadFailure {
  bool absent = false; ///< there is nothing of this name
  std::string why;     ///< else why it cannot be read, in words that fit behind a colon
};

/// The bytes of a regular file of at most `limit` bytes. A link, a folder or a FIFO is refused and never waited for.
tl::expected<std::string, ReadFailure> readRegularFile(const std::filesystem::path &path, uint64_t limit);

/// Replaces `path`, whatever is there, with a file of these bytes: written to a private file in `staging`, synced,
/// renamed, its folder synced. A failure leaves neither a half-written file nor one in staging. Both folders must be
/// there.
Status replaceFile(const std::filesystem::path &staging, const std::filesystem::path &path, std::string_view bytes);

} // namespace interlock
