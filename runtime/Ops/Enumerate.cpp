// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Ops/Enumerate.h"

#include "interlock/prepare.hpp"
#include "runtime/Ops/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace interlock {

Result<KernelReport> planKernel(const LayerSpec &layer, KernelKind kind, const DeviceInfo &device, uint32_t sharing,
                                const OperationOptions &options) {
  ILK_RETURN_IF_ERROR(validate(layer));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(device.target));
  LaunchGeometry geometry =
      defaultGeometry(layer, kind, options.cluster, device, sharing,
                      kind == KernelKind::dispatch ? options.dispatch : options.combine, options.schedule);
  KernelReport report;
  report.spec = {kind,
                 layer,
                 std::string(target.name),
                 options.schedule,
                 options.cluster,
                 geometry.blockThreads,
                 geometry.tileTokens,
                 options.wait.value_or(cheapestWait(target))};
  ILK_RETURN_IF_ERROR(validate(report.spec));
  if (geometry.grid % options.cluster) // not 0: validate() has seen it
    return makeError(Code::badInput, fmt::format("expected a grid of whole clusters of {} CTAs, got {}",
                                                 options.cluster, geometry.grid));
  report.grid = geometry.grid;
  return report;
}

Result<std::vector<KernelSpec>> enumerateKernels(const Deployment &deployment) {
  std::vector<KernelSpec> kernels;
  std::set<std::string> seen;
  auto add = [&](KernelSpec &&spec) {
    if (seen.insert(canonicalForm(spec)).second)
      kernels.push_back(std::move(spec));
  };
  for (const LayerSpec &layer : deployment.layers)
    for (const DeviceShape &shape : deployment.devices)
      for (const OperationOptions &options : deployment.options) {
        for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine}) {
          DeviceInfo device{{}, shape.target, shape.multiprocessors, 0, 0};
          ILK_ASSIGN_OR_RETURN(KernelReport plan, planKernel(layer, kind, device, shape.ranksPerDevice, options));
          add(std::move(plan.spec));
        }
        if (!options.packing)
          continue;
        ILK_RETURN_IF_ERROR(resolvePacking(layer, *options.packing));
        for (KernelSpec &spec : conversionKernels(layer, shape.target)) {
          ILK_RETURN_IF_ERROR(validate(spec));
          add(std::move(spec));
        }
      }
  return kernels;
}

} // namespace interlock
