// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From a spec to macros.
#include "runtime/SourceJit/SourceTemplates.h"

#include "runtime/Spec/WindowLayout.h"
#include "templates/cuda/Embedded.h"
#include "templates/hip/Embedded.h"

#include <fmt/format.h>

namespace interlock {

namespace {
std::string textOf(std::span<const templates::EmbeddedFile> files, std::string_view name) {
  for (const templates::EmbeddedFile &file : files)
    if (file.name == name)
      return std::string(file.text);
  return {};
}

std::vector<std::string> macrosOf(const KernelSpec &spec, const TargetInfo &target) {
  const LayerSpec &layer = spec.layer;
  const WindowLayout w = windowLayout(layer);
  std::vector<std::string> options{target.isAMD() ? "-std=c++17" : "--std=c++17"};
  auto narrow = [&](const char *name, uint64_t value) { options.push_back(fmt::format("-D{}={}", name, value)); };
  auto wide = [&](const char *name, uint64_t value) { options.push_back(fmt::format("-D{}={}ull", name, value)); };
  narrow("RANKS", layer.ranks);
  narrow("EXPERTS", layer.experts);
  narrow("EXPERTS_PER_RANK", layer.expertsPerRank());
  narrow("TOPK", layer.topk);
  narrow("ROWS_PER_SOURCE", layer.rowsPerSource());
  narrow("SCALE_WORDS", layer.scaleBytes / 4);
  narrow("EXPERT_ROWS", layer.expertRows);
  narrow("OWN_IN_PLACE", layer.ownInPlace);
  narrow("OUT_ROWS", w.outRows);
  narrow("BLOCK_THREADS", spec.blockThreads);
  narrow("TILE_TOKENS", spec.tileTokens);
  narrow("CLUSTER", spec.cluster);
  narrow("CLAIMED", spec.schedule == Schedule::claimed);
  narrow("ELEMENT_F32", layer.combineDType == DType::f32);
  narrow("ELEMENT_BF16", layer.combineDType == DType::bf16);
  wide("SIGNAL_STRIDE", WindowLayout::signalStride);
  wide("OFF_CONTROL", w.control);
  wide("OFF_RESULT", w.results + sizeof(OpResult) * uint64_t(spec.kernel));
  wide("OFF_STARTED", w.started);
  wide("OFF_ARRIVED", w.arrived);
  wide("OFF_COUNTS", w.counts);
  wide("OFF_LANDING", w.landing);
  wide("OFF_META", w.meta);
  wide("OFF_EXPERT_OUT", w.expertOut);
  wide("ROW_STRIDE", w.rowStride);
  wide("COMBINE_ROW_STRIDE", w.combineRowStride);
  wide("META_STRIDE", w.metaStride);
  wide("META_WEIGHTS", w.metaWeights);
  wide("META_TOKEN", w.metaToken);
  wide("META_SCALES", w.metaScales);
  return options;
}
} // namespace

bool hasSource(KernelKind kernel) { return kernel == KernelKind::dispatch || kernel == KernelKind::combine; }

Result<SourceKernel> sourceOf(const KernelSpec &spec) {
  ILK_RETURN_IF_ERROR(validate(spec));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  const auto cuda = templates::cuda::embedded();
  std::string kind(name(spec.kernel));
  SourceKernel kernel;
  if (!hasSource(spec.kernel))
    return makeError(
        Code::unsupported,
        fmt::format("expected a kernel that there is CUDA and HIP C++ for, dispatch or combine, got {}", kind));
  if (spec.schedule == Schedule::clc)
    return makeError(Code::unsupported,
                     fmt::format("expected schedule {} or {} for a kernel from source, got {}: the "
                                 "generated kernels have it",
                                 name(Schedule::gridStride), name(Schedule::claimed), name(Schedule::clc)));
  // One text for both: what differs is the machine.
  kernel.source = {kind + (target.isAMD() ? ".hip" : ".cu"), textOf(cuda, kind + ".cu")};
  kernel.headers = {{"common.cuh", textOf(cuda, "common.cuh")},
                    {"machine.cuh",
                     target.isAMD() ? textOf(templates::hip::embedded(), "machine.cuh") : textOf(cuda, "machine.cuh")}};
  kernel.entry = "ep_" + kind;
  kernel.options = macrosOf(spec, target);
  kernel.target = spec.target;
  return kernel;
}

} // namespace interlock
