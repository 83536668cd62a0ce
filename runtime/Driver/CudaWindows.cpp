// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Driver/CudaWindows.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::cuda {

namespace {
CudaMemoryProperties propertiesOf(CudaDevice device, WindowSharing sharing) {
  CudaMemoryProperties properties{};
  properties.type = memoryPinned;
  properties.handleTypes = sharing == WindowSharing::exported ? memoryHandleDescriptor : 0;
  properties.location = {memoryOnDevice, device};
  return properties;
}
} // namespace

void CudaWindows::releaseAll() {
  for (const auto &[address, range] : ranges)
    (void)dissolve(address, range);
  ranges.clear();
  for (const Window &window : windows.drain())
    api.memRelease(window.memory);
}

Status CudaWindows::requireSupport(CudaDevice device, int attribute, const char *what) const {
  int has = 0;
  ILK_RETURN_IF_ERROR(api.check("describe a GPU", api.deviceGetAttribute(&has, attribute, device)));
  if (has)
    return {};
  return makeError(Code::unsupported,
                   fmt::format("GPU {} cannot {}: its driver or virtual machine would have to allow it", device, what));
}

Result<size_t> CudaWindows::granularity(std::span<const CudaDevice> devices) const {
  size_t coarsest = 1;
  for (CudaDevice device : devices) {
    ILK_RETURN_IF_ERROR(requireSupport(device, attributeVirtualMemory, "map memory at chosen addresses"));
    size_t one = 0;
    CudaMemoryProperties properties = propertiesOf(device, WindowSharing::process);
    ILK_RETURN_IF_ERROR(api.check("state its granularity", api.memGranularity(&one, &properties, granularityMinimum)));
    coarsest = std::max(coarsest, one);
  }
  return coarsest;
}

Result<WindowId> CudaWindows::create(CudaDevice device, size_t bytes, WindowSharing sharing) {
  ILK_RETURN_IF_ERROR(requireSupport(device, attributeVirtualMemory, "map memory at chosen addresses"));
  if (sharing == WindowSharing::exported)
    ILK_RETURN_IF_ERROR(requireSupport(device, attributeExportsDescriptors, "hand memory to other processes"));
  Window window{0, bytes};
  CudaMemoryProperties properties = propertiesOf(device, sharing);
  if (CudaResult result = api.memCreate(&window.memory, bytes, &properties, 0); result != success)
    return tl::unexpected(api.error(fmt::format("make a window of {} bytes", bytes).c_str(), result));
  return windows.add(window);
}

Result<int> CudaWindows::exportDescriptor(WindowId id) const {
  ILK_ASSIGN_OR_RETURN(Window window, windows.get(id));
  int descriptor = -1;
  ILK_RETURN_IF_ERROR(
      api.check("export a window", api.memExport(&descriptor, window.memory, memoryHandleDescriptor, 0)));
  return descriptor;
}

Result<WindowId> CudaWindows::import(int descriptor, size_t bytes) {
  Window window{0, bytes};
  void *handle = reinterpret_cast<void *>(intptr_t(descriptor));
  ILK_RETURN_IF_ERROR(api.check("import a window", api.memImport(&window.memory, handle, memoryHandleDescriptor)));
  return windows.add(window);
}

Status CudaWindows::destroy(WindowId id) {
  ILK_ASSIGN_OR_RETURN(Window window, windows.take(id));
  return api.check("destroy a window", api.memRelease(window.memory));
}

Status CudaWindows::fill(DeviceAddress address, Range &range, std::span<const Window> parts,
                         std::span<const CudaDevice> devices) const {
  DeviceAddress at = address;
  for (const Window &part : parts) {
    ILK_RETURN_IF_ERROR(api.check("map a window", api.memMap(at, part.bytes, 0, part.memory, 0)));
    range.mapped.push_back(part.bytes);
    at += part.bytes;
  }
  std::vector<CudaMemoryAccess> access;
  for (CudaDevice device : devices)
    access.push_back({{memoryOnDevice, device}, memoryReadWrite});
  return api.check("let every GPU reach the windows",
                   api.memSetAccess(address, range.bytes, access.data(), access.size()));
}

Result<DeviceAddress> CudaWindows::map(std::span<const WindowId> ids, std::span<const CudaDevice> devices) {
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

Status CudaWindows::unmap(DeviceAddress address) {
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

/// Goes on after a failure, so that as little as possible stays behind; the first one is returned.
Status CudaWindows::dissolve(DeviceAddress address, const Range &range) const {
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

} // namespace interlock::cuda
