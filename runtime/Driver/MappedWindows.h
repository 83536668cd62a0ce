// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Windows on a GPU: physical memory of several GPUs and processes in one reserved range of addresses (CUDA driver API,
// "Virtual Memory Management"; HIP has the same calls).
#pragma once

#include "interlock/device.hpp"
#include "runtime/Driver/HandleTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace interlock {

/// Calls that the driver may make from any thread, with any context current or none. `Api` names the vendor's types
/// (Device, Memory, MemoryProperties, MemoryAccess), its calls, and what differs: windowProperties, requireWindows,
/// windowAccess, accessByPiece.
template <typename Api> class MappedWindows {
public:
  using Device = typename Api::Device;

  explicit MappedWindows(const Api &api) : api(api) {}
  MappedWindows(const MappedWindows &) = delete;
  MappedWindows &operator=(const MappedWindows &) = delete;

  /// Of the coarsest device.
  Result<size_t> granularity(std::span<const Device> devices) const {
    size_t coarsest = 1;
    for (Device device : devices) {
      ILK_RETURN_IF_ERROR(api.requireWindows(device, WindowSharing::process));
      size_t one = 0;
      auto properties = api.windowProperties(device, WindowSharing::process);
      ILK_RETURN_IF_ERROR(
          api.check("state its granularity", api.memGranularity(&one, &properties, Api::granularityMinimum)));
      coarsest = std::max(coarsest, one);
    }
    return coarsest;
  }

  Result<WindowId> create(Device device, size_t bytes, WindowSharing sharing) {
    ILK_RETURN_IF_ERROR(api.requireWindows(device, sharing));
    Window window{{}, bytes};
    auto properties = api.windowProperties(device, sharing);
    if (auto result = api.memCreate(&window.memory, bytes, &properties, 0); result != 0)
      return tl::unexpected(api.error(fmt::format("make a window of {} bytes", bytes).c_str(), result));
    return windows.add(window);
  }

  Result<int> exportDescriptor(WindowId id) const {
    ILK_ASSIGN_OR_RETURN(Window window, windows.get(id));
    int descriptor = -1;
    ILK_RETURN_IF_ERROR(
        api.check("export a window", api.memExport(&descriptor, window.memory, Api::handleDescriptor, 0)));
    return descriptor;
  }

  Result<WindowId> import(int descriptor, size_t bytes) {
    Window window{{}, bytes};
    void *handle = reinterpret_cast<void *>(intptr_t(descriptor));
    ILK_RETURN_IF_ERROR(api.check("import a window", api.memImport(&window.memory, handle, Api::handleDescriptor)));
    return windows.add(window);
  }

  Status destroy(WindowId id) {
    ILK_ASSIGN_OR_RETURN(Window window, windows.take(id));
    return api.check("destroy a window", api.memRelease(window.memory));
  }

  Result<DeviceAddress> map(std::span<const WindowId> ids, std::span<const Device> devices) {
    if (ids.empty())
      return makeError(Code::badInput, "expected at least one window to map, got none");
    std::vector<Window> parts;
    Range range;
    for (WindowId id : ids) {
      ILK_ASSIGN_OR_RETURN(Window window, windows.get(id));
      range.bytes += window.bytes;
      parts.push_back(window);
    }
    DeviceAddress address = 0;
    ILK_RETURN_IF_ERROR(api.check("reserve addresses", api.memReserve(&address, range.bytes, 0, 0, 0)));
    if (Status filled = fill(address, range, parts, devices); !filled) {
      (void)dissolve(address, range);
      return tl::unexpected(std::move(filled).error());
    }
    std::lock_guard lock(mutex);
    ranges[address] = std::move(range);
    return address;
  }

  /// Whatever uses the range must have ended.
  Status unmap(DeviceAddress address) {
    Range range;
    {
      std::lock_guard lock(mutex);
      auto found = ranges.find(address);
      if (found == ranges.end())
        return makeError(Code::badInput, fmt::format("expected the start of mapped windows, got {:#x}", address));
      range = std::move(found->second);
      ranges.erase(found);
    }
    return dissolve(address, range);
  }

  /// Everything that is left.
  void releaseAll() {
    for (const auto &[address, range] : ranges)
      (void)dissolve(address, range);
    ranges.clear();
    for (const Window &window : windows.drain())
      api.memRelease(window.memory);
  }

private:
  struct Window {
    typename Api::Memory memory{};
    size_t bytes = 0;
  };
  /// Sizes of the windows that are mapped in a reserved range, and of the range.
  struct Range {
    size_t bytes = 0;
    std::vector<size_t> mapped;
  };

  Status fill(DeviceAddress address, Range &range, std::span<const Window> parts,
              std::span<const Device> devices) const {
    std::vector<typename Api::MemoryAccess> access;
    for (Device device : devices)
      access.push_back(Api::windowAccess(device));
    auto open = [&](DeviceAddress at, size_t bytes) {
      return api.check("let every GPU reach the windows", api.memSetAccess(at, bytes, access.data(), access.size()));
    };
    DeviceAddress at = address;
    for (const Window &part : parts) {
      ILK_RETURN_IF_ERROR(api.check("map a window", api.memMap(at, part.bytes, 0, part.memory, 0)));
      range.mapped.push_back(part.bytes);
      if (Api::accessByPiece)
        ILK_RETURN_IF_ERROR(open(at, part.bytes));
      at += part.bytes;
    }
    return Api::accessByPiece ? Status() : open(address, range.bytes);
  }

  /// Goes on after a failure, so that as little as possible stays behind; the first one is returned.
  Status dissolve(DeviceAddress address, const Range &range) const {
    Status first;
    DeviceAddress at = address;
    for (size_t bytes : range.mapped) {
      if (Status unmapped = api.check("unmap a window", api.memUnmap(at, bytes)); !unmapped && first)
        first = unmapped;
      at += bytes;
    }
    Status freed = api.check("free addresses", api.memUnreserve(address, range.bytes));
    return first ? freed : first;
  }

  const Api &api;
  HandleTable<WindowId, Window> windows{"window"};
  std::mutex mutex; ///< of `ranges`
  std::map<DeviceAddress, Range> ranges;
};

} // namespace interlock
