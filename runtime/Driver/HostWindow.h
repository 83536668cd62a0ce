// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Windows of the emulator: host memory of this process, or memory behind a file descriptor that others map too.
#pragma once

#include "interlock/status.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace interlock {

/// Mapped host memory, page-aligned; it goes with the object.
class HostWindow {
public:
  /// Of this process alone.
  [[nodiscard]] static Result<std::shared_ptr<const HostWindow>> create(size_t bytes);
  /// Memory that has a file descriptor.
  [[nodiscard]] static Result<std::shared_ptr<const HostWindow>> createShared(size_t bytes);
  /// What a descriptor from exportDescriptor() stands for; it stays the caller's.
  [[nodiscard]] static Result<std::shared_ptr<const HostWindow>> import(int descriptor, size_t bytes);
  ~HostWindow();
  HostWindow(const HostWindow &) = delete;
  HostWindow &operator=(const HostWindow &) = delete;

  uint8_t *host() const { return static_cast<uint8_t *>(memory); }
  size_t bytes() const { return size; }
  bool shared() const { return descriptor >= 0; }
  /// A descriptor of its own for the caller, who closes it.
  [[nodiscard]] Result<int> exportDescriptor() const;

private:
  HostWindow(void *memory, size_t size, int descriptor) : memory(memory), size(size), descriptor(descriptor) {}
  /// Takes the descriptor, which may be -1 for memory of this process.
  static Result<std::shared_ptr<const HostWindow>> map(size_t bytes, int descriptor);

  void *memory;
  size_t size;
  int descriptor;
};

} // namespace interlock
