// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A local kernel, from the cache to a launch.
#pragma once

#include "interlock/operation.hpp"
#include "runtime/Spec/LocalKernels.h"

#include <span>
#include <utility>

namespace interlock {

/// One kernel on one device. Move-only; the driver must outlive it.
class LocalKernel {
public:
  [[nodiscard]] static Result<LocalKernel> load(Driver &driver, KernelCache &cache, uint32_t device,
                                                const KernelSpec &spec);
  LocalKernel(LocalKernel &&other) noexcept { swap(other); }
  LocalKernel &operator=(LocalKernel &&other) noexcept {
    swap(other);
    return *this;
  }
  ~LocalKernel();

  const KernelReport &report() const { return made; }
  /// As the compiler derived it: with `cooperative` a grid that cannot be resident is refused before it is launched.
  LaunchMode launchMode() const { return mode; }
  /// CTAs that the device holds at once.
  [[nodiscard]] Result<uint32_t> residentCtas() const;
  /// A grid for so many groups that fills the device: a CTA a group, as many as can be resident. Any other is right
  /// too.
  [[nodiscard]] Result<uint32_t> defaultGrid(uint32_t groups) const;
  /// Refuses a grid of 0. `forceCooperative` is for tests and benchmarks, which show what it costs.
  [[nodiscard]] Status launch(StreamId stream, uint32_t grid, const LocalParams &params,
                              bool forceCooperative = false) const;
  [[nodiscard]] Status launch(StreamId stream, uint32_t grid, const PackParams &params) const;

private:
  explicit LocalKernel(Driver &driver) : driver(&driver) {}
  Status launch(StreamId stream, uint32_t grid, std::span<const std::byte> params, bool forceCooperative) const;
  void swap(LocalKernel &other) noexcept {
    std::swap(driver, other.driver);
    std::swap(kernel, other.kernel);
    std::swap(loaded, other.loaded);
    std::swap(made, other.made);
    std::swap(mode, other.mode);
    std::swap(config, other.config);
  }

  Driver *driver = nullptr;
  KernelId kernel{};
  bool loaded = false;
  KernelReport made;
  LaunchMode mode = LaunchMode::any;
  LaunchConfig config;
};

} // namespace interlock
