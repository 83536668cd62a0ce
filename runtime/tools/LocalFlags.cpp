// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/LocalFlags.h"

namespace interlock::tool {

void LocalFlags::addTo(CLI::App &command) {
  command.add_option(
      "--stages", stages,
      "local kernels: stages of the ring that bulk copies go through, 0 for plain packets (default: by chip)");
  command.add_flag("--programmatic", programmatic,
                   "local kernels: launched before the predecessor on the stream has ended");
}

Result<KernelSpec> LocalFlags::spec(KernelKind kind, const LayerFlags &layer, std::string_view target) const {
  constexpr uint32_t defaultTopk = 8;
  uint32_t hidden = 0, topk = defaultTopk;
  if (!layer.model.empty()) {
    ILK_ASSIGN_OR_RETURN(ModelPreset preset, findModel(layer.model));
    hidden = preset.hidden;
    topk = preset.topk;
  }
  if (layer.model.empty() && !layer.hidden)
    return makeError(Code::badInput, "expected --hidden (or --model, which implies it), got none");
  hidden = layer.hidden.value_or(hidden);
  topk = layer.topk.value_or(topk);
  ILK_ASSIGN_OR_RETURN(DType dtype, parseDType(layer.dtype));
  ILK_ASSIGN_OR_RETURN(TargetInfo chip, findTarget(target));
  // What the geometry is made of comes first: a table cannot be asked for rows that cannot be.
  ILK_RETURN_IF_ERROR(validate(localKernel(kind, topk, hidden, dtype, chip.name).layer));
  KernelSpec spec = localKernel(kind, topk, hidden, dtype, chip.name);
  if (stages) {
    // Without a ring no warp is set aside to fill it.
    if (*stages == 0 && spec.stages)
      spec.blockThreads = localKernel(kind, topk, hidden, dtype, "sm_80").blockThreads;
    spec.stages = *stages;
  }
  if (layer.geometry.blockThreads)
    spec.blockThreads = layer.geometry.blockThreads;
  spec.programmatic = programmatic;
  ILK_RETURN_IF_ERROR(validate(spec));
  return spec;
}

} // namespace interlock::tool
