// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Levels 2 and 3: shared storage, mbarriers, asynchronous copies that complete on them, and barriers of threads.
#ifndef INTERLOCK_DIALECTS_SYNC_BARRIER_OPS
#define INTERLOCK_DIALECTS_SYNC_BARRIER_OPS

include "dialects/Sync/SyncBase.td"

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

def Sync_SharedAllocOp : Sync_Op<"shared_alloc"> {
  let summary = "Static storage in the CTA's shared memory";
  let description = [{
    One piece of storage for each such operation in the kernel, however often it is executed; it lives as long as the CTA
    and its content is undefined at start. Any thread may execute it; all get the same address. Orders nothing ([PTX ISA,
    "Shared state
    space"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#shared-state-space)).

    ```mlir
    %p = sync.shared_alloc bytes = 128 align = 16 : !sync.ptr<shared>
    ```
  }];
  let arguments = (ins I64Attr:$bytes, I64Attr:$align);
  let results = (outs Res<Sync_SharedPtr, "", [MemAlloc]>:$result);
  let assemblyFormat = "`bytes` `=` $bytes `align` `=` $align attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Sync_BarrierAllocOp : Sync_Op<"barrier_alloc"> {
  let summary = "Static storage for an mbarrier in the CTA's shared memory";
  let description = [{
    One barrier for each such operation in the kernel, however often it is executed. It is not usable before a
    `sync.barrier_init` that its users know of. Any thread may execute it; orders nothing ([PTX ISA, "Size and alignment of
    mbarrier
    object"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-size-alignment)).

    ```mlir
    %bar = sync.barrier_alloc : !sync.barrier
    ```
  }];
  let results = (outs Res<Sync_Barrier, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

def Sync_BarrierInitOp : Sync_Op<"barrier_init"> {
  let summary = "Set a barrier to its first phase, to be completed by `count` arrivals";
  let description = [{
    Executed by one thread of the barrier's CTA, before anyone else uses the barrier. It orders nothing: threads of the own
    CTA learn of it by `cta_barrier`, those of the cluster and asynchronous copies by `init_fence` and a cluster barrier
    ([PTX ISA,
    "mbarrier.init"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-init)).

    ```mlir
    sync.barrier_init %b, count = 1
    ```
  }];
  let arguments = (ins Sync_Barrier:$barrier, I32Attr:$count);
  let assemblyFormat = "$barrier `,` `count` `=` $count attr-dict";
  let hasVerifier = 1;
}

def Sync_BarrierArriveOp : Sync_OrderedOp<"barrier_arrive", ["relaxed", "release"], barrierScope> {
  let summary = "Arrive at a barrier, the own CTA's or that of a CTA of the cluster";
  let description = [{
    Executed by any thread; counts once. With `rank`, the CTA of the cluster whose copy of the barrier is meant; without,
    the own CTA's. `release` orders what the thread did before it for whoever acquires through the phase that it helps
    complete, at `scope` ([PTX ISA,
    "mbarrier.arrive"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-arrive)).
    `sync.shared_only` says that all it must release lies in the own CTA's shared memory.

    ```mlir
    sync.barrier_arrive release cluster %b rank %rank
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_Barrier:$barrier, Optional<I32>:$rank);
  let assemblyFormat = "custom<Sem>($sem) custom<Scope>($scope) $barrier (`rank` $rank^)? attr-dict";
}

def Sync_BarrierExpectTxOp : Sync_OrderedOp<"barrier_expect_tx", ["relaxed", "release"], barrierScope> {
  let summary = "Arrive at the own CTA's barrier and expect bytes of asynchronous copies in this phase";
  let description = [{
    Executed by one thread; counts once. The phase completes when all arrivals and `bytes` more bytes of copies that name
    the barrier are there. `release` as in `barrier_arrive`; an arrival that announces copies only may be `relaxed`, since
    the copies' completion is what orders their bytes ([PTX ISA,
    "mbarrier.arrive"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-arrive),
    `.expect_tx`).

    ```mlir
    sync.barrier_expect_tx relaxed cta %b, bytes = 4
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_Barrier:$barrier, I32Attr:$bytes);
  let assemblyFormat = "custom<Sem>($sem) custom<Scope>($scope) $barrier `,` `bytes` `=` $bytes attr-dict";
  let hasVerifier = 1;
}

def Sync_BarrierWaitOp : Sync_OrderedOp<"barrier_wait", ["relaxed", "acquire"], barrierScope> {
  let summary = "Wait until the barrier's phase of a given parity has completed";
  let description = [{
    Executed by any thread of the barrier's CTA; blocks. `parity` is 0 for a barrier's first phase, 1 for its second, and
    so on; a barrier that was just initialised counts as having completed a phase of parity 1. `acquire` orders what
    comes after it behind everything that was released, at a scope that includes this thread, by arrivals of the phase, if
    `scope` includes those threads ([PTX ISA,
    "mbarrier.try_wait"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait)).
    `sync.shared_only` says that all it must acquire lies in shared memory. `sync-lower-waits` makes a loop of it.

    ```mlir
    sync.barrier_wait acquire cluster %b, %parity
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_Barrier:$barrier, I32:$parity);
  let assemblyFormat = "custom<Sem>($sem) custom<Scope>($scope) $barrier `,` $parity attr-dict";
  let hasVerifier = 1;
}

def Sync_BarrierTryWaitOp : Sync_OrderedOp<"barrier_try_wait", ["relaxed", "acquire"], barrierScope> {
  let summary = "Ask once whether the barrier's phase of a given parity has completed";
  let description = [{
    As `barrier_wait`, but returns after a time that the chip chooses, with false if the phase has not completed. It orders
    only if it returns true. A `relaxed` try that returned true acquires together with an acquire fence after it ([PTX ISA,
    "Release and acquire
    patterns"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#release-acquire-patterns)).

    ```mlir
    %ok = sync.barrier_try_wait relaxed cluster %b, %parity : i1
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_Barrier:$barrier, I32:$parity);
  let results = (outs I1:$done);
  let assemblyFormat = "custom<Sem>($sem) custom<Scope>($scope) $barrier `,` $parity attr-dict `:` type($done)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

def Sync_StoreAsyncOp : Sync_Op<"store_async"> {
  let summary = "Store a value into a CTA of the cluster, completing on that CTA's barrier";
  let description = [{
    Executed by any thread of a cluster. Writes `value`, an integer or a packet of 16 bytes, where `pointer` points, in the CTA of rank `rank`, and adds its
    bytes to that CTA's copy of `barrier` when it is there. It is weak and asynchronous: a thread that waited for the
    barrier's phase sees the value ([PTX ISA,
    "st.async"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-st-async)).

    ```mlir
    sync.store_async %v, %s, %b rank %rank : i32
    ```
  }];
  let arguments = (ins AnyTypeOf<[I32, I64, Sync_Packet]>:$value, Sync_SharedPtr:$pointer, Sync_Barrier:$barrier, I32:$rank);
  let assemblyFormat = "$value `,` $pointer `,` $barrier `rank` $rank attr-dict `:` type($value)";
}

def Sync_BulkCopyOp : Sync_Op<"bulk_copy"> {
  let summary = "Start a copy of a block of bytes between device memory and shared memory";
  let description = [{
    Executed by one thread. Addresses and `bytes` are multiples of 16. Into shared memory it completes on `barrier`; out of
    shared memory it joins the thread's bulk group, for `bulk_commit` and `bulk_wait`. It goes through the async proxy:
    bytes that were written through the generic proxy need a `proxy_fence` before it ([PTX ISA,
    "cp.async.bulk"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-cp-async-bulk)).

    ```mlir
    sync.bulk_copy %s, %g, %bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
    sync.bulk_copy %g, %s, %bytes : !sync.ptr<global>, !sync.ptr<shared>
    ```
  }];
  let arguments = (ins Sync_Ptr:$destination, Sync_Ptr:$source, I32:$bytes, Optional<Sync_Barrier>:$barrier);
  let assemblyFormat = [{
    $destination `,` $source `,` $bytes (`on` $barrier^)? attr-dict `:` qualified(type($destination)) `,` qualified(type($source))
  }];
  let hasVerifier = 1;
}

def Sync_BulkCommitOp : Sync_Op<"bulk_commit"> {
  let summary = "Close the thread's open bulk group";
  let description = [{
    Executed by the thread that started the copies; orders nothing ([PTX ISA,
    "cp.async.bulk.commit_group"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-cp-async-bulk-commit-group)).

    ```mlir
    sync.bulk_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Sync_BulkWaitOp : Sync_Op<"bulk_wait"> {
  let summary = "Wait until at most `pending` of the thread's bulk groups are unfinished";
  let description = [{
    Executed by the thread that committed the groups. Without `read` the copies are complete: their writes are visible to
    this thread, and a release after it publishes them. With `read` only their reads of the source are over, so that the
    source may be overwritten ([PTX ISA,
    "cp.async.bulk.wait_group"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-cp-async-bulk-wait-group)).

    ```mlir
    sync.bulk_wait 0
    sync.bulk_wait 1 read
    ```
  }];
  let arguments = (ins I32Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Cluster launch control
//===----------------------------------------------------------------------===//

def Sync_TryCancelOp : Sync_Op<"try_cancel"> {
  let summary = "Ask for the launch of a cluster that has not begun to be cancelled";
  let description = [{
    Executed by one thread of the cluster. The answer, 16 bytes, comes through the async proxy to `pointer`, a multiple of
    16, and completes on `barrier`; with `multicast`, at these places in every CTA of the cluster. Must not be executed
    after an answer that was no, nor, with `multicast`, when a CTA of the cluster has ended ([PTX ISA,
    "clusterlaunchcontrol.try_cancel"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel)).

    ```mlir
    sync.try_cancel %s, %b
    sync.try_cancel %s, %b multicast
    ```
  }];
  let arguments = (ins Sync_SharedPtr:$pointer, Sync_Barrier:$barrier, UnitAttr:$multicast);
  let assemblyFormat = "$pointer `,` $barrier (`multicast` $multicast^)? attr-dict";
}

def Sync_IsCanceledOp : Sync_Op<"is_canceled", [Pure]> {
  let summary = "Whether an answer to try_cancel is yes: a cluster will not be launched";
  let description = [{
    Executed by any thread; orders nothing ([PTX ISA,
    "clusterlaunchcontrol.query_cancel"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel)).

    ```mlir
    %yes = sync.is_canceled %packet : vector<4xi32> -> i1
    ```
  }];
  let arguments = (ins Sync_Packet:$answer);
  let results = (outs I1:$canceled);
  let assemblyFormat = "$answer attr-dict `:` type($answer) `->` type($canceled)";
}

def Sync_CanceledCtaOp : Sync_Op<"canceled_cta", [Pure]> {
  let summary = "Index in the grid of the first CTA of the cancelled cluster";
  let description = [{
    Executed by any thread; orders nothing. Says something only of an answer that is yes; the grid has one dimension ([PTX
    ISA,
    "clusterlaunchcontrol.query_cancel"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel)).

    ```mlir
    %cta = sync.canceled_cta %packet : vector<4xi32> -> i32
    ```
  }];
  let arguments = (ins Sync_Packet:$answer);
  let results = (outs I32:$cta);
  let assemblyFormat = "$answer attr-dict `:` type($answer) `->` type($cta)";
}

//===----------------------------------------------------------------------===//
// Barriers of threads
//===----------------------------------------------------------------------===//

def Sync_CtaBarrierOp : Sync_Op<"cta_barrier"> {
  let summary = "Wait for all threads of the CTA";
  let description = [{
    Executed by all threads of the CTA, in uniform control flow. What any of them did before it is visible to all of them
    after it, at CTA scope ([PTX ISA,
    "barrier"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-bar)).

    ```mlir
    sync.cta_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Sync_WarpBarrierOp : Sync_Op<"warp_barrier"> {
  let summary = "Wait for all lanes of the warp";
  let description = [{
    Executed by all lanes of the warp together. What any of them did before it is visible to all of them after it ([PTX
    ISA,
    "bar.warp.sync"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-bar-warp-sync)).

    ```mlir
    sync.warp_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Sync_ClusterArriveOp : Sync_Op<"cluster_arrive"> {
  let summary = "Arrive at the cluster's barrier without waiting";
  let description = [{
    Executed by all threads of all CTAs of the cluster, each before its `cluster_wait`. `release` orders what the thread did
    before it, at cluster scope; `relaxed` orders nothing ([PTX ISA,
    "barrier.cluster"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-barrier-cluster)).

    ```mlir
    sync.cluster_arrive release
    sync.cluster_wait acquire
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem);
  let assemblyFormat = "custom<Sem>($sem) attr-dict";
  let hasVerifier = 1;
}

def Sync_ClusterWaitOp : Sync_Op<"cluster_wait"> {
  let summary = "Wait for all threads of the cluster to arrive";
  let description = [{
    Executed by all threads of all CTAs of the cluster, each after its `cluster_arrive`. `acquire` is the only order that
    there is: what was released by the arrivals is visible after it ([PTX ISA,
    "barrier.cluster"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-barrier-cluster)).

    ```mlir
    sync.cluster_arrive relaxed
    sync.cluster_wait acquire
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem);
  let assemblyFormat = "custom<Sem>($sem) attr-dict";
  let hasVerifier = 1;
}

#endif // INTERLOCK_DIALECTS_SYNC_BARRIER_OPS
