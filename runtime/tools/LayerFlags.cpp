// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From options to a layer.
#include "runtime/tools/LayerFlags.h"

#include "runtime/Ops/Numeric.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::tool {

void LayerFlags::addTo(CLI::App &command) {
  command.add_option("--model", model, "preset for --hidden, --experts and --topk (`interlock targets` lists them)");
  command.add_option("--ranks", ranks, "ranks of the expert-parallel group");
  command.add_option("--experts", experts, "global experts");
  command.add_option("--topk", topk, "experts per token");
  command.add_option("--hidden", hidden, "elements per token row");
  command.add_option("--tokens", tokens, "tokens per rank, or one count per rank (repeated cyclically)")
      ->delimiter(',');
  command.add_option("--dtype", dtype, "dispatched rows: f32, f16, bf16, f8e4m3fn, f8e4m3fnuz or f8e5m2");
  command.add_option("--combine-dtype", combineDType,
                     "combined rows: f32, f16 or bf16 (default: --dtype, bf16 for fp8)");
  command.add_option("--scale-bytes", scaleBytes, "bytes of quantisation scales per token");
  command.add_option("--capacity", capacity, "rows that a rank accepts from each source (default: all)");
  command.add_flag("--expert-rows", expertRows, "combine reads a row per (token, expert) instead of per (token, rank)");
  command.add_flag("--own-in-place", ownInPlace, "a rank's rows lie where its own rows land: none of them is copied");
  command.add_option("--cluster", cluster, "CTAs per cluster: 1, 2, 4 or 8");
  command.add_option("--schedule", schedule, "where tiles come from: grid_stride, claimed or clc");
  command.add_option("--wait", wait, "relaxed-fence or acquire (default: the cheaper one that the target has)");
  command.add_option("--block", geometry.blockThreads, "threads per CTA (default: by layer and device)");
  command.add_option("--tile", geometry.tileTokens, "tokens per tile (default: by layer and device)");
}

Result<LayerSpec> LayerFlags::layer() const {
  LayerSpec spec;
  if (!model.empty()) {
    ILK_ASSIGN_OR_RETURN(ModelPreset preset, findModel(model));
    spec.hidden = preset.hidden;
    spec.experts = preset.experts;
    spec.topk = preset.topk;
  }
  struct Required {
    const char *option;
    const std::optional<uint32_t> &given;
    uint32_t &field;
    bool fromModel;
  };
  for (const Required &each :
       {Required{"--ranks", ranks, spec.ranks, false}, Required{"--experts", experts, spec.experts, true},
        Required{"--topk", topk, spec.topk, true}, Required{"--hidden", hidden, spec.hidden, true}}) {
    if (each.given)
      each.field = *each.given;
    else if (!each.fromModel || model.empty())
      return makeError(Code::badInput, fmt::format("expected {}{}, got none", each.option,
                                                   each.fromModel ? " (or --model, which implies it)" : ""));
  }
  ILK_ASSIGN_OR_RETURN(spec.dtype, parseDType(dtype));
  if (combineDType.empty())
    spec.combineDType = isF8(spec.dtype) ? DType::bf16 : spec.dtype;
  else {
    ILK_ASSIGN_OR_RETURN(spec.combineDType, parseDType(combineDType));
  }
  spec.scaleBytes = scaleBytes;
  spec.capacity = capacity;
  spec.expertRows = expertRows;
  spec.ownInPlace = ownInPlace;
  if (tokens.empty())
    return makeError(Code::badInput, "expected --tokens, got none");
  spec.maxTokens = std::max(1u, *std::max_element(tokens.begin(), tokens.end()));
  ILK_RETURN_IF_ERROR(validate(spec));
  return spec;
}

Result<OperationOptions> LayerFlags::operation() const {
  OperationOptions options;
  options.dispatch = options.combine = geometry;
  options.cluster = cluster;
  ILK_ASSIGN_OR_RETURN(options.schedule, parseSchedule(schedule));
  if (!wait.empty()) {
    ILK_ASSIGN_OR_RETURN(options.wait, parseWaitStrategy(wait));
  }
  return options;
}

} // namespace interlock::tool
