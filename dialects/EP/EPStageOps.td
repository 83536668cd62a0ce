// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Stages: one operation for a whole kernel.
#ifndef INTERLOCK_DIALECTS_EP_STAGE_OPS
#define INTERLOCK_DIALECTS_EP_STAGE_OPS

include "dialects/EP/EPBase.td"

defvar layerFormat = [{
  `ranks` `=` $ranks `,` `experts` `=` $experts `,` `topk` `=` $topk `,` `hidden` `=` $hidden `,` `dtype` `=` $dtype `,`
  `combine_dtype` `=` $combine_dtype `,` `scale_bytes` `=` $scale_bytes `,` `max_tokens` `=` $max_tokens `,`
  `capacity` `=` $capacity `,` `expert_rows` `=` $expert_rows
  (`,` `own_in_place` $own_in_place^)?}];
defvar kernelFormat = [{
  `schedule` `=` custom<Schedule>($schedule) `,` `cluster` `=` $cluster `,` `block_threads` `=` $block_threads `,`
  `tile_tokens` `=` $tile_tokens `,` `wait` `=` $wait}];

/// What every stage says: the layer (shared by the stages of one operation) and how the kernel is cut up.
class EP_StageOp<string mnemonic> : EP_Op<mnemonic, [Symbol]> {
  dag stageArguments = (ins
    SymbolNameAttr:$sym_name, I32Attr:$ranks, I32Attr:$experts, I32Attr:$topk, I32Attr:$hidden, TypeAttr:$dtype,
    TypeAttr:$combine_dtype, I32Attr:$scale_bytes, I32Attr:$max_tokens, I32Attr:$capacity, BoolAttr:$expert_rows,
    UnitAttr:$own_in_place, EP_ScheduleAttr:$schedule, I32Attr:$cluster, I32Attr:$block_threads, I32Attr:$tile_tokens, StrAttr:$wait);
  let arguments = stageArguments;
  let hasVerifier = 1;
}

defvar fieldsText = [{
    *Layer*: `ranks` of the group; `experts` in all, of which rank r owns ceil(experts/ranks) from r·ceil(experts/ranks);
    `topk` experts per token; `hidden` elements of type `dtype` in a dispatched row and of type `combine_dtype` in a
    combined one; `scale_bytes` of quantisation scales with each token; `max_tokens` that a rank sends at a time;
    `capacity`, rows that a rank accepts from each source (0: `max_tokens`); `expert_rows`, whether combine's input has a
    row per (token, expert) instead of one per (token, rank); `own_in_place`, if it is there, that the rows which a rank
    dispatches lie where its own rows land, so that none of them is copied.

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

//===----------------------------------------------------------------------===//
// Local stages: on one GPU, before and behind the experts
//===----------------------------------------------------------------------===//

/// What a local stage says.
class EP_LocalStageOp<string mnemonic> : EP_Op<mnemonic, [Symbol]> {
  let arguments = (ins SymbolNameAttr:$sym_name, I32Attr:$topk, I32Attr:$hidden, TypeAttr:$dtype, I32Attr:$stages,
                       I32Attr:$block_threads, BoolAttr:$programmatic);
  let assemblyFormat = [{
    $sym_name `\n` ` ` `rows` `(` `topk` `=` $topk `,` `hidden` `=` $hidden `,` `dtype` `=` $dtype `)` `\n` ` `
    `kernel` `(` `stages` `=` $stages `,` `block_threads` `=` $block_threads `,` `programmatic` `=` $programmatic `)`
    attr-dict}];
  let hasVerifier = 1;
}

defvar localText = [{
    *Rows*: `hidden` elements of type `dtype` each; a group is one token's row and up to `topk` rows of local experts, of
    which each is named by one group only. *Kernel*: `stages` of the ring in shared memory through which bulk copies go,
    0 for plain packets, which is what a chip without them has; `block_threads` of a CTA; `programmatic`, whether the kernel
    may be started before its predecessor on the stream has ended ([`sync.dependency_wait`](Sync.md#syncdependency_wait-interlocksyncdependencywaitop)).

    CTA c of n takes the groups c, c + n, … (of a combine prologue with a ring: pieces of their rows, dealt out likewise),
    writes only what is theirs and waits for nobody outside itself, so any grid is right and none needs to be resident as a whole (PTX ISA, [“Thread
    hierarchy”](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#thread-hierarchy)). The arrays are
    described in `runtime/Spec/LocalKernels.h`.
}];

def EP_DispatchEpilogueOp : EP_LocalStageOp<"dispatch_epilogue"> {
  let summary = "Kernel: copy every received token's row to the rows of its local experts";
  let description = !strconcat([{
    A token arrives once at a rank; each of its experts there gets a copy.

  }], localText, [{

    ```mlir
    ep.dispatch_epilogue @ep_dispatch_epilogue
      rows(topk = 8, hidden = 7168, dtype = bf16)
      kernel(stages = 6, block_threads = 32, programmatic = false)
    ```
  }]);
}

def EP_CombinePrologueOp : EP_LocalStageOp<"combine_prologue"> {
  let summary = "Kernel: reduce the rows of every token's local experts to the one row that goes back";
  let description = !strconcat([{
    The sum is taken in f32 from +0, in the order in which the group names the rows, by `fma(weight, row, sum)`, and is
    rounded once. `dtype` is f32, f16 or bf16.

  }], localText, [{

    ```mlir
    ep.combine_prologue @ep_combine_prologue
      rows(topk = 8, hidden = 7168, dtype = bf16)
      kernel(stages = 6, block_threads = 480, programmatic = true)
    ```
  }]);
}

def EP_PackExpertsOp : EP_Op<"pack_experts", [Symbol]> {
  let summary = "Kernel: where every received row goes, packed by local expert";
  let description = [{
    Makes the lists that [`ep.dispatch_epilogue`](#epdispatch_epilogue-interlockepdispatchepilogueop) and
    [`ep.combine_prologue`](#epcombine_prologue-interlockepcombineprologueop) work on from what a dispatch left behind: a
    group for each received row, the packed row of each of its local experts (-1 for the others), their weights; and for
    each local expert how many rows it has and where they begin, at a multiple of an alignment that the launch states. An
    expert's rows are in the order in which they were received: source by source, each source's in its own token order. A
    row without room in the packed array is -1 too, and counted. Rows between an expert's last and the next one's first
    may be zeroed, and scales are copied beside their rows.

    *Layer*: as of [`ep.dispatch`](#epdispatch-interlockepdispatchop), with `rows_per_source`, the rows that a rank accepts
    from each source. *Kernel*: `block_threads` of a CTA.

    Each CTA counts all received ids and gives out places for its own share of the rows, so that the result depends on
    nothing but the ids, any grid is right, and no CTA waits for another (PTX ISA, [“Thread
    hierarchy”](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#thread-hierarchy)). The arrays are
    described in `runtime/Spec/LocalKernels.h`.

    ```mlir
    ep.pack_experts @ep_pack_experts
      layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, scale_bytes = 0, rows_per_source = 4096)
      kernel(block_threads = 256)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I32Attr:$ranks, I32Attr:$experts, I32Attr:$topk, I32Attr:$hidden,
                       TypeAttr:$dtype, I32Attr:$scale_bytes, I32Attr:$rows_per_source, I32Attr:$block_threads);
  let assemblyFormat = [{
    $sym_name `\n` ` ` `layer` `(` `ranks` `=` $ranks `,` `experts` `=` $experts `,` `topk` `=` $topk `,` `hidden` `=`
    $hidden `,` `dtype` `=` $dtype `,` `scale_bytes` `=` $scale_bytes `,` `rows_per_source` `=` $rows_per_source `)`
    `\n` ` ` `kernel` `(` `block_threads` `=` $block_threads `)` attr-dict}];
  let hasVerifier = 1;
}

#endif // INTERLOCK_DIALECTS_EP_STAGE_OPS
