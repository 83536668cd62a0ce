// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Stages: one operation for a whole kernel.
#ifndef INTERLOCK_DIALECTS_EP_STAGE_OPS
#define INTERLOCK_DIALECTS_EP_STAGE_OPS

include "dialects/EP/EPBase.td"

defvar layerFormat = [{
  `ranks` `=` $ranks `,` `experts` `=` $experts `,` `topk` `=` $topk `,` `hidden` `=` $hidden `,` `dtype` `=` $dtype `,`
  `combine_dtype` `=` $combine_dtype `,` `scale_bytes` `=` $scale_bytes `,` `max_tokens` `=` $max_tokens `,`
  `capacity` `=` $capacity `,` `expert_rows` `=` $expert_rows}];
defvar kernelFormat = [{
  `schedule` `=` custom<Schedule>($schedule) `,` `cluster` `=` $cluster `,` `block_threads` `=` $block_threads `,`
  `tile_tokens` `=` $tile_tokens `,` `wait` `=` $wait}];

/// What every stage says: the layer (shared by the stages of one operation) and how the kernel is cut up.
class EP_StageOp<string mnemonic> : EP_Op<mnemonic, [Symbol]> {
  dag stageArguments = (ins
    SymbolNameAttr:$sym_name, I32Attr:$ranks, I32Attr:$experts, I32Attr:$topk, I32Attr:$hidden, TypeAttr:$dtype,
    TypeAttr:$combine_dtype, I32Attr:$scale_bytes, I32Attr:$max_tokens, I32Attr:$capacity, BoolAttr:$expert_rows,
    EP_ScheduleAttr:$schedule, I32Attr:$cluster, I32Attr:$block_threads, I32Attr:$tile_tokens, StrAttr:$wait);
  let arguments = stageArguments;
  let hasVerifier = 1;
}

defvar fieldsText = [{
    *Layer*: `ranks` of the group; `experts` in all, of which rank r owns ceil(experts/ranks) from r·ceil(experts/ranks);
    `topk` experts per token; `hidden` elements of type `dtype` in a dispatched row and of type `combine_dtype` in a
    combined one; `scale_bytes` of quantisation scales with each token; `max_tokens` that a rank sends at a time;
    `capacity`, rows that a rank accepts from each source (0: `max_tokens`); `expert_rows`, whether combine's input has a
    row per (token, expert) instead of one per (token, rank).

    *Kernel*: `schedule` and `cluster` (CTAs per cluster) say how tiles of `tile_tokens` tokens are given out,
    `block_threads` the threads of a CTA, `wait` how waits on barriers are lowered (`relaxed-fence` or `acquire`).
    Executed by all ranks of the group, each on its own tokens.
}];

def EP_DispatchOp : EP_StageOp<"dispatch"> {
  let summary = "Kernel: send every token's row to the ranks that own its experts";
  let description = !strconcat([{
    Each row goes once to each rank that owns one of its experts, with its ids, weights and scales, into a region that
    the destination keeps for this source, in token order. Ends when the rows of all sources have arrived: each source
    releases, at scope sys, through a signal that this rank acquires ([PTX ISA, "Release and acquire
    patterns"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#release-acquire-patterns)).

  }], fieldsText, [{

    ```mlir
    ep.dispatch @ep_dispatch
      layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
            max_tokens = 4096, capacity = 0, expert_rows = false)
      kernel(schedule = grid_stride, cluster = 1, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")
    ```
  }]);
  let assemblyFormat = !strconcat("$sym_name `\\n` ` ` `layer` `(`", layerFormat, "`)` `\\n` ` ` `kernel` `(`",
                                  kernelFormat, "`)` attr-dict");
}

def EP_CombineOp : EP_StageOp<"combine"> {
  let summary = "Kernel: reduce the experts' rows of every token where the token came from";
  let description = !strconcat([{
    In mode `gather` a rank reads the rows of its own tokens from the ranks that made them, after each has announced them
    by a signal, released and acquired at scope sys ([PTX ISA, "Release and acquire
    patterns"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#release-acquire-patterns)). The sum is
    taken in f32, in an order that is fixed: ranks by their first expert in the token's top-k, or experts in top-k order
    with `expert_rows`; it is rounded once.

  }], fieldsText, [{

    ```mlir
    ep.combine @ep_combine mode = gather
      layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
            max_tokens = 4096, capacity = 0, expert_rows = false)
      kernel(schedule = claimed, cluster = 2, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")
    ```
  }]);
  let arguments = !con(stageArguments, (ins EP_CombineModeAttr:$mode));
  let assemblyFormat = !strconcat("$sym_name `mode` `=` custom<CombineMode>($mode) `\\n` ` ` `layer` `(`", layerFormat,
                                  "`)` `\\n` ` ` `kernel` `(`", kernelFormat, "`)` attr-dict");
}

#endif // INTERLOCK_DIALECTS_EP_STAGE_OPS
