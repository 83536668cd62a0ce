// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Windows on CUDA: physical memory of several GPUs and processes in one reserved range of addresses (CUDA driver API,
// "Virtual Memory Management").
#pragma once

#include "interlock/device.hpp"
#include "runtime/Driver/CudaApi.h"
#include "runtime/Driver/HandleTable.h"

#include <map>
#include <mutex>
#include <vector>

namespace interlock::cuda {

/// Calls that the driver may make from any thread, with any context current or none. `devices` are CUDA's.
class CudaWindows {
public:
  explicit CudaWindows(const Api &api) : api(api) {}
  CudaWindows(const CudaWindows &) = delete;
  CudaWindows &operator=(const CudaWindows &) = delete;

  /// Of the coarsest device.
  Result<size_t> granularity(std::span<const CudaDevice> devices) const;
  Result<WindowId> create(CudaDevice device, size_t bytes, WindowSharing sharing);
  Result<int> exportDescriptor(WindowId window) const;
  Result<WindowId> import(int descriptor, size_t bytes);
  Status destroy(WindowId window);
  Result<DeviceAddress> map(std::span<const WindowId> ids, std::span<const CudaDevice> devices);
  /// Whatever uses the range must have ended.
  Status unmap(DeviceAddress address);
  /// Everything that is left.
  void releaseAll();

private:
  struct Window {
    CudaMemory memory = 0;
    size_t bytes = 0;
  };
  /// Sizes of the windows that are mapped in a reserved range, and of the range.
  struct Range {
    size_t bytes = 0;
    std::vector<size_t> mapped;
  };
  Status requireSupport(CudaDevice device, int attribute, const char *what) const;
  Status fill(DeviceAddress address, Range &range, std::span<const Window> parts,
              std::span<const CudaDevice> devices) const;
  Status dissolve(DeviceAddress address, const Range &range) const;

  const Api &api;
  HandleTable<WindowId, Window> windows{"window"};
  std::mutex mutex; ///< of `ranges`
  std::map<DeviceAddress, Range> ranges;
};

} // namespace interlock::cuda
