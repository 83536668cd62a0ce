// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Ops/OperationKernels.h"

#include "runtime/Cache/KernelCache.h"
#include "runtime/Ops/Enumerate.h"
#include "runtime/SourceJit/SourceTemplates.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock {

namespace {
/// What the devices of the group's own ranks have in common, and how many ranks share one at most.
struct Devices {
  DeviceInfo info;
  uint32_t sharing = 0;
};

Result<Devices> devicesOf(const Driver &driver, const ProcessGroup &group) {
  Devices devices;
  std::map<uint32_t, uint32_t> ranks;
  for (const OwnRank &own : group.own) {
    ILK_ASSIGN_OR_RETURN(DeviceInfo info, driver.info(own.device));
    if (ranks.empty())
      devices.info = info;
    else if (info.target != devices.info.target)
      return makeError(Code::unsupported, fmt::format("expected devices of one kind, got {} of {} and {} of {}",
                                                      devices.info.name, devices.info.target, info.name, info.target));
    devices.info.multiprocessors = std::min(devices.info.multiprocessors, info.multiprocessors);
    devices.sharing = std::max(devices.sharing, ++ranks[own.device]);
  }
  return devices;
}
} // namespace

Result<OperationKernels> OperationKernels::get(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                               const ProcessGroup &group, const OperationOptions &options) {
  ILK_ASSIGN_OR_RETURN(Devices devices, devicesOf(driver, group));
  OperationKernels made(driver);
  // Everything that can be refused is refused here: both specs, then both kernels.
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine}) {
    ILK_ASSIGN_OR_RETURN(made.kernels[size_t(kind)].report,
                         planKernel(layer, kind, devices.info, devices.sharing, options));
  }
  for (Kernel &kernel : made.kernels) {
    if (options.kernels == KernelOrigin::source) {
      const KernelSpec &spec = kernel.report.spec;
      ILK_ASSIGN_OR_RETURN(SourceKernel source, sourceOf(spec));
      ILK_ASSIGN_OR_RETURN(CompiledSource found, compileSource(cache, source));
      kernel.report.outcome = found.outcome;
      kernel.report.reason = found.reason;
      kernel.report.milliseconds = found.milliseconds;
      kernel.image = std::move(found.image);
      kernel.config = {.grid = kernel.report.grid, .block = spec.blockThreads, .cluster = found.cluster};
      continue;
    }
    ILK_ASSIGN_OR_RETURN(auto found, cache.get(kernel.report.spec));
    kernel.report.outcome = name(found.outcome);
    kernel.report.reason = found.reason;
    kernel.report.milliseconds = found.milliseconds;
    kernel.image = {found.artifact->text, found.artifact->binary, found.artifact->facts.entry};
    const LaunchFacts &facts = found.artifact->facts;
    kernel.config = {.grid = kernel.report.grid,
                     .block = facts.blockThreads,
                     .cluster = facts.cluster,
                     .cooperative = facts.launchMode == LaunchMode::cooperative};
  }
  return made;
}

OperationKernels::~OperationKernels() {
  // A destructor has nobody to report to; the driver frees everything when it goes.
  for (Kernel &kernel : kernels)
    for (auto [device, id] : kernel.onDevice)
      (void)driver->unload(id);
}

/// Kernels of ranks that share a device wait for each other: it must hold all of them at once.
Status OperationKernels::requireRoom(const Kernel &kernel, const ProcessGroup &group) const {
  for (auto [device, id] : kernel.onDevice) {
    auto onIt = [device = device](const OwnRank &own) { return own.device == device; };
    uint64_t ranks = uint64_t(std::count_if(group.own.begin(), group.own.end(), onIt)), grid = kernel.report.grid;
    if (ranks == 1)
      continue;
    ILK_ASSIGN_OR_RETURN(uint32_t room, driver->residentCtas(id, kernel.config));
    if (ranks * grid <= room)
      continue;
    uint64_t most = room / ranks / kernel.config.cluster * kernel.config.cluster;
    return makeError(
        Code::badInput,
        fmt::format(
            "expected {} ranks that share device {} and wait for each other to have a {} grid that it holds for "
            "all of them at once, got {} CTAs each, and it holds {} in all: {}",
            ranks, device, name(kernel.report.spec.kernel), grid, room,
            most ? fmt::format("at most {} each would do", most) : "fewer ranks on it would do"));
  }
  return {};
}

Status OperationKernels::load(const ProcessGroup &group) {
  for (Kernel &kernel : kernels) {
    for (const OwnRank &own : group.own)
      if (!kernel.onDevice.contains(own.device)) {
        ILK_ASSIGN_OR_RETURN(kernel.onDevice[own.device], driver->load(own.device, kernel.image));
      }
    kernel.image = {};
    ILK_RETURN_IF_ERROR(requireRoom(kernel, group));
  }
  return {};
}

Status OperationKernels::launch(KernelKind kind, uint32_t device, StreamId stream,
                                std::span<const std::byte> params) const {
  const Kernel &kernel = kernels[size_t(kind)];
  return driver->launch(stream, kernel.onDevice.at(device), kernel.config, params);
}

} // namespace interlock
