// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One lock a key, for threads and processes alike: a range of one byte in a file that all of them open.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace interlock {

/// Held while an entry is made; released with the object, and by the system when its process dies. It is not held where
/// the file system cannot lock, or where the holder did not let go in time: then everyone compiles and the last rename
/// wins.
class KeyLock {
public:
  /// Waits for the lock of a key, at most `patience`. The file is made if it is missing.
  static KeyLock acquire(const std::filesystem::path &file, std::string_view key, std::chrono::milliseconds patience);
  /// A lock that is not held, and why.
  static KeyLock none(std::string why) { return KeyLock(-1, 0, std::move(why)); }

  KeyLock(KeyLock &&other) noexcept;
  KeyLock &operator=(KeyLock &&) = delete;
  ~KeyLock();

  bool held() const { return reason.empty(); }
  /// Why it is not held; empty if it is.
  const std::string &why() const { return reason; }

private:
  KeyLock(int file, long offset, std::string reason) : file(file), offset(offset), reason(std::move(reason)) {}

  int file;
  long offset;
  std::string reason;
};

} // namespace interlock
