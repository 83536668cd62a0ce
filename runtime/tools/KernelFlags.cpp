// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/KernelFlags.h"

namespace interlock::tool {

void KernelFlags::addTo(CLI::App &command, CLI::App &choice) {
  choice.add_option("--kernel", kernel, "dispatch, combine, dispatch_epilogue, combine_prologue or pack_experts");
  command.add_option("--target", target, "the chip to generate for (`interlock targets` lists them)");
  layer.addTo(command);
  local.addTo(command);
}

Result<KernelSpec> KernelFlags::spec() const {
  KernelSpec spec;
  ILK_ASSIGN_OR_RETURN(spec.kernel, parseKernelKind(kernel));
  ILK_ASSIGN_OR_RETURN(TargetInfo chip, findTarget(target));
  if (worksOnGroups(spec.kernel))
    return local.spec(spec.kernel, layer, chip.name);
  ILK_ASSIGN_OR_RETURN(spec.layer, layer.layer());
  if (spec.kernel == KernelKind::packExperts) {
    spec = packKernel(spec.layer, chip.name);
    if (layer.geometry.blockThreads)
      spec.blockThreads = layer.geometry.blockThreads;
    spec.stages = local.stages.value_or(0);
    spec.programmatic = local.programmatic;
    ILK_RETURN_IF_ERROR(validate(spec));
    return spec;
  }
  ILK_ASSIGN_OR_RETURN(OperationOptions options, layer.operation());
  spec.target = chip.name;
  spec.schedule = options.schedule;
  spec.cluster = options.cluster;
  spec.wait = options.wait.value_or(cheapestWait(chip));
  // The grid is the launch's; only the geometry that is folded into the kernel matters here.
  DeviceInfo device{"", spec.target, 132, 0, 0};
  LaunchGeometry geometry =
      defaultGeometry(spec.layer, spec.kernel, spec.cluster, device, 1, layer.geometry, spec.schedule);
  spec.blockThreads = geometry.blockThreads;
  spec.tileTokens = geometry.tileTokens;
  spec.stages = local.stages.value_or(0);
  spec.programmatic = local.programmatic;
  ILK_RETURN_IF_ERROR(validate(spec));
  return spec;
}

} // namespace interlock::tool
