// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cache/FailingCalls.h"

#include <array>
#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace interlock::test {
namespace {

std::array<std::atomic<int>, 5> errors{};

/// Whether the call is to fail; then errno says why.
bool fails(Call call) {
  int error = errors[size_t(call)];
  if (error)
    errno = error;
  return error != 0;
}

} // namespace

FailingCall::FailingCall(Call call, int error) : call(call) { errors[size_t(call)] = error; }
FailingCall::~FailingCall() { errors[size_t(call)] = 0; }

} // namespace interlock::test

using interlock::test::Call;
using interlock::test::fails;

// NOLINTBEGIN: the names are the linker's
extern "C" {
int __real_fcntl(int file, int command, void *argument);
int __wrap_fcntl(int file, int command, void *argument) {
  return command == F_OFD_SETLK && fails(Call::lock) ? -1 : __real_fcntl(file, command, argument);
}
ssize_t __real_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size) {
  return fails(Call::write) ? -1 : __real_write(file, bytes, size);
}
int __real_fsync(int file);
int __wrap_fsync(int file) { return fails(Call::sync) ? -1 : __real_fsync(file); }
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) { return fails(Call::rename) ? -1 : __real_rename(from, to); }
int __real_mkostemp(char *name, int flags);
int __wrap_mkostemp(char *name, int flags) { return fails(Call::makeFile) ? -1 : __real_mkostemp(name, flags); }
}
// NOLINTEND
