// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The two kernels of an operation, from the cache to a launch.
#pragma once

#include "interlock/group.hpp"
#include "interlock/operation.hpp"

#include <array>
#include <map>
#include <span>

namespace interlock {

/// Move-only; the driver must outlive it. `load` comes before `launch`.
class OperationKernels {
public:
  /// Refuses what cannot be, then gets both kernels; nothing of the device is used but its description.
  [[nodiscard]] static Result<OperationKernels> get(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                                    const ProcessGroup &group, const OperationOptions &options);
  OperationKernels(OperationKernels &&other) noexcept { swap(other); }
  OperationKernels &operator=(OperationKernels &&other) noexcept {
    swap(other);
    return *this;
  }
  ~OperationKernels();

  /// Loads both on every device that has a rank of the group's own.
  [[nodiscard]] Status load(const ProcessGroup &group);
  const KernelReport &report(KernelKind kind) const { return kernels[size_t(kind)].report; }
  [[nodiscard]] Status launch(KernelKind kind, uint32_t device, StreamId stream,
                              std::span<const std::byte> params) const;

private:
  struct Kernel {
    KernelReport report;
    LaunchConfig config;
    KernelImage image; ///< until it is loaded
    std::map<uint32_t, KernelId> onDevice;
  };
  explicit OperationKernels(Driver &driver) : driver(&driver) {}
  Status requireRoom(const Kernel &kernel, const ProcessGroup &group) const;
  void swap(OperationKernels &other) noexcept {
    std::swap(driver, other.driver);
    std::swap(kernels, other.kernels);
  }

  Driver *driver = nullptr;
  std::array<Kernel, 2> kernels;
};

} // namespace interlock
