// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Level 1: hand-offs.
#ifndef INTERLOCK_DIALECTS_SYNC_HANDOFF_OPS
#define INTERLOCK_DIALECTS_SYNC_HANDOFF_OPS

include "dialects/Sync/SyncBase.td"

def Sync_HandoffOp : Sync_Op<"handoff", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Make a hand-off from the cluster's leader CTA to every CTA of the cluster";
  let description = [{
    Executed by all threads of all CTAs of the cluster, once, in uniform control flow. Allocates `stages` slots in every
    CTA's shared memory, makes them ready, and returns when every CTA's slots are ready and seen to be so by every thread
    of the cluster. `cluster` is the number of CTAs in the cluster: 1, 2, 4 or 8.

    Between producer and consumers each slot has two directions. *Full*: `publish` releases, `consumer_wait` acquires;
    the value, and everything the producer did before, is then visible. *Empty*: `consumer_release` releases,
    `producer_acquire` and `producer_tail` acquire; the consumers' reads of the slot are then over. Both rest on [PTX ISA,
    "mbarrier"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier).

    ```mlir
    %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
    ```
  }];
  let arguments = (ins I32Attr:$cluster, I32Attr:$stages);
  let results = (outs Sync_Handoff:$result);
  let assemblyFormat = "`cluster` `=` $cluster `stages` `=` $stages attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

class Sync_HandoffUse<string mnemonic, list<Trait> traits = []> : Sync_Op<mnemonic, traits> {
  let arguments = (ins Sync_Handoff:$handoff, I32:$iteration, OptionalAttr<Sync_ScopeAttr>:$scope);
  let assemblyFormat = [{
    $handoff `[` $iteration `]` (`scope` `(` custom<Scope>($scope)^ `)`)? attr-dict `:` qualified(type($handoff))
  }];
}

def Sync_ProducerAcquireOp : Sync_HandoffUse<"producer_acquire"> {
  let summary = "Wait until the slot of an iteration may be filled";
  let description = [{
    Executed by one thread of the leader CTA (cluster rank 0), for iterations 0, 1, 2, … in turn. Iteration `it` uses slot
    `it mod stages`; the wait ends when every CTA has freed what the slot held `stages` iterations ago, and at once in the
    first `stages` iterations. Acquires from each `consumer_release` at `scope`, which must include all CTAs of the
    hand-off ([PTX ISA,
    "mbarrier.try_wait"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait)).
    Without a scope it is inferred from the placement.

    ```mlir
    sync.producer_acquire %h[%it] scope(cluster) : !sync.handoff<i32>
    ```
  }];
}

def Sync_PublishOp : Sync_HandoffUse<"publish", [
    TypesMatchWith<"value has the hand-off's payload type", "handoff", "value",
                   "::llvm::cast<::interlock::sync::HandoffType>($_self).getPayload()">]> {
  let summary = "Hand a value to every CTA of the cluster";
  let description = [{
    Executed by the thread that executed `producer_acquire` for the same iteration. Fills the iteration's slot in every
    CTA of the cluster and releases at `scope` to each `consumer_wait` of the iteration ([PTX ISA,
    "st.async"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-st-async)
    carries it across CTAs).

    ```mlir
    sync.publish %h[%it], %v scope(cluster) : !sync.handoff<i32>
    ```
  }];
  let arguments = (ins Sync_Handoff:$handoff, I32:$iteration, Sync_Payload:$value, OptionalAttr<Sync_ScopeAttr>:$scope);
  let assemblyFormat = [{
    $handoff `[` $iteration `]` `,` $value (`scope` `(` custom<Scope>($scope)^ `)`)? attr-dict `:` qualified(type($handoff))
  }];
}

def Sync_PublishCancelOp : Sync_HandoffUse<"publish_cancel"> {
  let summary = "Ask for a cluster that has not begun, and hand the answer to every CTA of this cluster";
  let description = [{
    As `publish`, of a hand-off whose payload is a packet, `vector<4xi32>`: the hardware fills the slots with the answer to
    a request to cancel the launch of some cluster of the grid ([PTX ISA,
    "clusterlaunchcontrol.try_cancel"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel)).
    `is_canceled` and `canceled_cta` read the answer. Once an answer was no, no request may follow. A hand-off is filled by
    `publish` or by `publish_cancel`, not by both.

    ```mlir
    sync.publish_cancel %h4[%it] scope(cluster) : !sync.handoff<vector<4xi32>>
    ```
  }];
  let hasVerifier = 1;
}

def Sync_ConsumerWaitOp : Sync_HandoffUse<"consumer_wait", [
    TypesMatchWith<"result has the hand-off's payload type", "handoff", "result",
                   "::llvm::cast<::interlock::sync::HandoffType>($_self).getPayload()">]> {
  let summary = "Wait for an iteration's value and return it";
  let description = [{
    Executed by all threads of every CTA of the cluster, the leader's too, for iterations 0, 1, 2, … in turn. Acquires from
    the iteration's `publish` at `scope` ([PTX ISA,
    "mbarrier.try_wait"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait)).

    ```mlir
    %taken = sync.consumer_wait %h[%it] scope(cluster) : !sync.handoff<i32>
    ```
  }];
  let results = (outs Sync_Payload:$result);
}

def Sync_ConsumerReleaseOp : Sync_HandoffUse<"consumer_release"> {
  let summary = "Free an iteration's slot for the producer";
  let description = [{
    Executed by one thread of every CTA, when all threads of its CTA have their value and that is ordered before it (a
    `cta_barrier` between them does it). Releases at `scope` to the `producer_acquire` that fills the slot next, and to
    `producer_tail` ([PTX ISA,
    "mbarrier.arrive"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-arrive)).

    ```mlir
    sync.consumer_release %h[%it] scope(cluster) : !sync.handoff<i32>
    ```
  }];
}

def Sync_ProducerTailOp : Sync_HandoffUse<"producer_tail"> {
  let summary = "Wait until every published slot has been freed";
  let description = [{
    Executed by the producing thread before its CTA may exit; `iteration` is the number of iterations published. Without
    it a peer may still arrive on a barrier of a CTA that is gone. Acquires from the last `consumer_release` of each slot
    at `scope`. Before a CTA of a cluster exits no peer may have an access to its shared memory outstanding ([PTX ISA,
    "mapa"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-mapa)
    makes such addresses).

    ```mlir
    sync.producer_tail %h[%it] scope(cluster) : !sync.handoff<i32>
    ```
  }];
}

#endif // INTERLOCK_DIALECTS_SYNC_HANDOFF_OPS
