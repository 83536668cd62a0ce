// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Device memory with an owner.
#pragma once

#include "interlock/device.hpp"

#include <algorithm>
#include <utility>

namespace interlock {

/// Owns one allocation of a driver, which must outlive it. Move-only; an empty one owns nothing.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  /// Allocates at least `bytes` (one packet for 0, so that the address is always a real one).
  [[nodiscard]] static Result<DeviceBuffer> create(Driver &driver, uint32_t device, size_t bytes) {
    ILK_ASSIGN_OR_RETURN(DeviceAddress at, driver.allocate(device, std::max<size_t>(bytes, 16)));
    return DeviceBuffer(driver, at, bytes);
  }
  DeviceBuffer(DeviceBuffer &&other) noexcept
      : driver(other.driver), at(std::exchange(other.at, 0)), size(other.size) {}
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    std::swap(driver, other.driver);
    std::swap(at, other.at);
    std::swap(size, other.size);
    return *this;
  }
  ~DeviceBuffer() {
    // A destructor has nobody to report to; the driver frees everything when it goes.
    if (at)
      (void)driver->release(at);
  }

  DeviceAddress address() const { return at; }
  size_t bytes() const { return size; }

private:
  DeviceBuffer(Driver &driver, DeviceAddress at, size_t size) : driver(&driver), at(at), size(size) {}

  Driver *driver = nullptr;
  DeviceAddress at = 0;
  size_t size = 0;
};

} // namespace interlock
