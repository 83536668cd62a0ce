// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A file descriptor with an owner.
#pragma once

#include <utility>

#include <unistd.h>

namespace interlock {

/// Closes what it holds; -1 holds nothing. Move-only.
class FileDescriptor {
public:
  explicit FileDescriptor(int descriptor = -1) : descriptor(descriptor) {}
  FileDescriptor(FileDescriptor &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~FileDescriptor() {
    if (descriptor >= 0)
      close(descriptor);
  }
  int get() const { return descriptor; }
  explicit operator bool() const { return descriptor >= 0; }

private:
  int descriptor;
};

} // namespace interlock
