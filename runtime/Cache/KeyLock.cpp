// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Locks belong to the open file (fcntl(2), "Open file description locks"), so that two threads of one process exclude
// each other too. One file holds all of them: the byte that stands for a key need not exist.
#include "runtime/Cache/KeyLock.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace interlock {
namespace {

/// 60 bits of the key: two keys of one byte would only wait for each other.
long offsetOf(std::string_view key) {
  uint64_t value = 0;
  key = key.substr(0, 15);
  std::from_chars(key.data(), key.data() + key.size(), value, 16);
  return long(value);
}

int setLock(int file, short type, long offset) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = offset;
  range.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &range);
}

} // namespace

KeyLock KeyLock::acquire(const std::filesystem::path &path, std::string_view key, std::chrono::milliseconds patience) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (file < 0)
    return none(fmt::format("the lock file {} cannot be opened: {}", path.string(), std::strerror(errno)));
  KeyLock lock(file, offsetOf(key), {});
  auto end = std::chrono::steady_clock::now() + patience;
  while (setLock(file, F_WRLCK, lock.offset) != 0) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
      lock.reason = fmt::format("the cache's file system cannot lock: {}", std::strerror(errno));
      break;
    }
    if (std::chrono::steady_clock::now() > end) {
      lock.reason = "the process that makes a kernel takes too long";
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return lock;
}

KeyLock::KeyLock(KeyLock &&other) noexcept
    : file(std::exchange(other.file, -1)), offset(other.offset), reason(std::move(other.reason)) {}

KeyLock::~KeyLock() {
  if (file < 0)
    return;
  // A child that was forked meanwhile has the file open too: closing alone would leave the lock with it.
  if (held())
    (void)setLock(file, F_UNLCK, offset);
  ::close(file);
}

} // namespace interlock
