// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Unix sockets with a bound on every wait: messages with their length in front, and file descriptors.
#pragma once

#include "interlock/status.hpp"
#include "runtime/Memory/FileDescriptor.h"

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

/// When a wait is to end.
class Deadline {
public:
  explicit Deadline(uint32_t milliseconds)
      : end(std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds)) {}
  /// Milliseconds that are left, at least 0.
  int left() const;
  bool over() const { return left() == 0; }

private:
  std::chrono::steady_clock::time_point end;
};

/// A name that begins with `@` is abstract: it lies in no folder and goes with its socket.
[[nodiscard]] Result<FileDescriptor> listenAt(const std::string &name, uint32_t backlog);
/// Tries again until somebody listens there.
[[nodiscard]] Result<FileDescriptor> connectTo(const std::string &name, const Deadline &deadline);
/// The place of the first of `sockets` that can be read or whose other end has gone.
[[nodiscard]] Result<size_t> firstReady(std::span<const FileDescriptor *const> sockets, const Deadline &deadline);
/// The next connection of a process of the same user; others are turned away.
[[nodiscard]] Result<FileDescriptor> acceptOne(const FileDescriptor &listener, const Deadline &deadline);

[[nodiscard]] Status sendMessage(const FileDescriptor &to, std::string_view message, const Deadline &deadline);
[[nodiscard]] Result<std::string> receiveMessage(const FileDescriptor &from, const Deadline &deadline);

/// Hands descriptors over, which stay open here; the message must fit in the socket's buffer and have a byte at least.
[[nodiscard]] Status sendDescriptors(const FileDescriptor &to, std::string_view message,
                                     std::span<const FileDescriptor> descriptors);
struct ReceivedDescriptors {
  std::string message;
  std::vector<FileDescriptor> descriptors;
};
[[nodiscard]] Result<ReceivedDescriptors> receiveDescriptors(const FileDescriptor &from, const Deadline &deadline);

} // namespace interlock
