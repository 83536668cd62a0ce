// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Ops/OperationKernels.h"

#include "runtime/Cache/KernelCache.h"

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

Result<KernelReport> reportOf(const LayerSpec &layer, KernelKind kind, const Devices &devices,
                              const OperationOptions &options) {
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(devices.info.target));
  WaitStrategy cheapest = target.restrictedFence ? WaitStrategy::relaxedFence : WaitStrategy::acquire;
  LaunchGeometry geometry = defaultGeometry(layer, kind, options.cluster, devices.info, devices.sharing,
                                            kind == KernelKind::dispatch ? options.dispatch : options.combine);
  KernelReport report;
  report.spec = {kind,
                 layer,
                 std::string(target.name),
                 options.schedule,
                 options.cluster,
                 geometry.blockThreads,
                 geometry.tileTokens,
                 options.wait.value_or(cheapest),
                 *geometry.copy};
  ILK_RETURN_IF_ERROR(validate(report.spec));
  if (geometry.grid % options.cluster) // not 0: validate() has seen it
    return makeError(Code::badInput, fmt::format("expected a grid of whole clusters of {} CTAs, got {}",
                                                 options.cluster, geometry.grid));
  report.grid = geometry.grid;
  return report;
}
} // namespace

Result<OperationKernels> OperationKernels::get(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                               const ProcessGroup &group, const OperationOptions &options) {
  ILK_ASSIGN_OR_RETURN(Devices devices, devicesOf(driver, group));
  OperationKernels made(driver);
  // Everything that can be refused is refused here: both specs, then both kernels.
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine}) {
    ILK_ASSIGN_OR_RETURN(made.kernels[size_t(kind)].report, reportOf(layer, kind, devices, options));
  }
  for (Kernel &kernel : made.kernels) {
    ILK_ASSIGN_OR_RETURN(auto found, cache.get(kernel.report.spec));
    kernel.report.outcome = name(found.outcome);
    kernel.report.reason = found.reason;
    kernel.report.milliseconds = found.milliseconds;
    kernel.image = {found.artifact->text, found.artifact->binary, found.artifact->facts.entry};
    kernel.config = {kernel.report.grid, found.artifact->facts.blockThreads, found.artifact->facts.cluster,
                     found.artifact->facts.dynamicSharedBytes};
  }
  return made;
}

OperationKernels::~OperationKernels() {
  // A destructor has nobody to report to; the driver frees everything when it goes.
  for (Kernel &kernel : kernels)
    for (auto [device, id] : kernel.onDevice)
      (void)driver->unload(id);
}

Status OperationKernels::load(const ProcessGroup &group) {
  for (Kernel &kernel : kernels) {
    for (const OwnRank &own : group.own)
      if (!kernel.onDevice.contains(own.device)) {
        ILK_ASSIGN_OR_RETURN(kernel.onDevice[own.device], driver->load(own.device, kernel.image));
      }
    kernel.image = {};
  }
  return {};
}

Status OperationKernels::launch(KernelKind kind, uint32_t device, StreamId stream,
                                std::span<const std::byte> params) const {
  const Kernel &kernel = kernels[size_t(kind)];
  return driver->launch(stream, kernel.onDevice.at(device), kernel.config, params);
}

} // namespace interlock
