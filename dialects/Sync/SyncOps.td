// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// All operations of the sync dialect; this file has those of memory: fences, signals, atomics, the clock.
#ifndef INTERLOCK_DIALECTS_SYNC_OPS
#define INTERLOCK_DIALECTS_SYNC_OPS

include "dialects/Sync/SyncBase.td"
include "dialects/Sync/SyncHandoffOps.td"
include "dialects/Sync/SyncBarrierOps.td"

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

def Sync_FenceOp : Sync_OrderedOp<"fence", ["acquire", "release", "acq_rel", "sc"], anyScope> {
  let summary = "Order the thread's own accesses around it";
  let description = [{
    Executed by any thread. `acquire` makes relaxed reads before it acquire, `release` makes relaxed writes after it
    release, at `scope` ([PTX ISA,
    "membar/fence"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-membar)).
    `restrict` limits it to objects in shared memory: after `acquire` that of the cluster, before `release` that of the own
    CTA. A restricted fence has cluster scope, and costs far less.

    ```mlir
    sync.fence acq_rel gpu
    sync.fence acquire cluster restrict
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, UnitAttr:$restrict);
  let assemblyFormat = "custom<Sem>($sem) custom<Scope>($scope) (`restrict` $restrict^)? attr-dict";
  let hasVerifier = 1;
}

def Sync_ProxyFenceOp : Sync_Op<"proxy_fence"> {
  let summary = "Order the thread's accesses through one proxy with those through another";
  let description = [{
    Executed by any thread. Accesses through either proxy before it are ordered before accesses through the other after it.
    With a space, only accesses to that memory ([PTX ISA,
    "membar/fence"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-membar),
    `fence.proxy`).

    ```mlir
    sync.proxy_fence generic async
    sync.proxy_fence generic async shared
    ```
  }];
  let arguments = (ins Sync_ProxyAttr:$first, Sync_ProxyAttr:$second, OptionalAttr<Sync_SpaceAttr>:$space);
  let assemblyFormat = "custom<Proxy>($first) custom<Proxy>($second) (custom<OptionalSpace>($space)^)? attr-dict";
  let hasVerifier = 1;
}

def Sync_InitFenceOp : Sync_Op<"init_fence"> {
  let summary = "Make the thread's barrier initialisations visible to the cluster and to asynchronous copies";
  let description = [{
    Executed by the thread that initialised the barriers. It releases those initialisations, and nothing else, at cluster
    scope; a cluster barrier after it acquires them ([PTX ISA,
    "membar/fence"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-membar),
    `fence.mbarrier_init.release.cluster`).

    ```mlir
    sync.init_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Signals and atomics
//===----------------------------------------------------------------------===//

def Sync_SignalSetOp : Sync_OrderedOp<"signal_set", ["relaxed", "release"], anyScope> {
  let summary = "Set a signal, in the own or a peer's device memory, to a value";
  let description = [{
    Executed by the one thread that sets this signal; its value only grows. `release` orders what the thread did or
    observed before it for whoever acquires the value at a scope that includes this thread ([PTX ISA,
    "st"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-st)).

    ```mlir
    sync.signal_set release sys %g, %w : i64
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_GlobalPtr:$pointer, Sync_Word:$value);
  let assemblyFormat = "custom<Sem>($sem) custom<Scope>($scope) $pointer `,` $value attr-dict `:` type($value)";
}

def Sync_SignalAddOp : Sync_OrderedOp<"signal_add", ["relaxed", "release"], anyScope> {
  let summary = "Add to a signal, in the own or a peer's device memory";
  let description = [{
    Executed by any thread; the addition is atomic and its order is that of `signal_set`. Several adders to one signal form
    one release sequence, so a waiter that sees their sum acquires from all of them ([PTX ISA,
    "red"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-red)).

    ```mlir
    sync.signal_add release sys %g, %w : i64
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_GlobalPtr:$pointer, Sync_Word:$value);
  let assemblyFormat = "custom<Sem>($sem) custom<Scope>($scope) $pointer `,` $value attr-dict `:` type($value)";
}

def Sync_SignalLoadOp : Sync_OrderedOp<"signal_load", ["relaxed", "acquire"], anyScope> {
  let summary = "Read a signal once";
  let description = [{
    Executed by any thread. `acquire` orders what comes after it behind what was released with the value that it returns
    ([PTX ISA,
    "ld"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-ld)).

    ```mlir
    %seen = sync.signal_load acquire sys %g : i64
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_GlobalPtr:$pointer);
  let results = (outs Sync_Word:$value);
  let assemblyFormat = "custom<Sem>($sem) custom<Scope>($scope) $pointer attr-dict `:` type($value)";
}

def Sync_SignalWaitOp : Sync_OrderedOp<"signal_wait", ["relaxed", "acquire"], anyScope> {
  let summary = "Wait, for a bounded time, until a signal has reached a value";
  let description = [{
    Executed by any thread; blocks until the signal is at least `value` (unsigned) or `timeout` nanoseconds of the
    device's clock have passed, and says which: true if the value was reached. It looks at least once. `acquire` orders what
    comes after it behind what was released with the value that was seen; also after a timeout ([PTX ISA, "Release and
    acquire
    patterns"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#release-acquire-patterns): relaxed reads
    and one fence after them).

    ```mlir
    %ok = sync.signal_wait acquire sys %g, %value, %timeout : i64
    ```
  }];
  let arguments = (ins Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_GlobalPtr:$pointer, Sync_Word:$value, I64:$timeout);
  let results = (outs I1:$reached);
  let assemblyFormat = [{
    custom<Sem>($sem) custom<Scope>($scope) $pointer `,` $value `,` $timeout attr-dict `:` type($value)
  }];
}

def Sync_AtomicOp : Sync_OrderedOp<"atomic", ["relaxed", "acquire", "release", "acq_rel"], anyScope,
                                   [AllTypesMatch<["value", "old"]>]> {
  let summary = "Change a value in memory atomically and return what it was";
  let description = [{
    Executed by any thread. The change is atomic with respect to accesses whose scope and its own include each other's
    threads; `acquire`, `release` and `acq_rel` order as in `signal_load` and `signal_set` ([PTX ISA,
    "atom"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-atom)).
    `max` compares unsigned values.

    ```mlir
    %old = sync.atomic add acq_rel gpu %g, %v : !sync.ptr<global>, i32
    ```
  }];
  let arguments = (ins Sync_AtomicKindAttr:$kind, Sync_SemAttr:$sem, Sync_ScopeAttr:$scope, Sync_Ptr:$pointer,
                       Sync_Word:$value);
  let results = (outs Sync_Word:$old);
  let assemblyFormat = [{
    custom<AtomicKind>($kind) custom<Sem>($sem) custom<Scope>($scope) $pointer `,` $value attr-dict
    `:` qualified(type($pointer)) `,` type($value)
  }];
}

def Sync_ClockOp : Sync_Op<"clock"> {
  let summary = "The device's clock, in nanoseconds";
  let description = [{
    Executed by any thread. It grows with time and is meant for bounds of waits, not for timing; orders nothing ([PTX ISA,
    "%globaltimer"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#special-registers-globaltimer)).

    ```mlir
    %now = sync.clock : i64
    ```
  }];
  let results = (outs I64:$ns);
  let assemblyFormat = "attr-dict `:` type($ns)";
}

//===----------------------------------------------------------------------===//
// Kernels of one stream
//===----------------------------------------------------------------------===//

def Sync_DependencyWaitOp : Sync_Op<"dependency_wait"> {
  let summary = "Wait for the kernels before this one on its stream";
  let description = [{
    Executed by any thread; every thread that reads what an earlier kernel wrote executes it before, or is told by one
    that did. All writes of the kernels that this one depends on are visible after it. In a launch that is not programmatic
    they are so from the start and it returns at once ([PTX ISA,
    "griddepcontrol"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-griddepcontrol),
    `.wait`).

    ```mlir
    sync.dependency_wait
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Sync_LaunchDependentsOp : Sync_Op<"launch_dependents"> {
  let summary = "Let the next kernel of the stream start, if it was launched programmatically";
  let description = [{
    Executed by any thread; the next kernel may start once every CTA of this one has executed it or has ended. It hands
    nothing over: what this kernel writes, before or after it, is visible there only behind `dependency_wait` ([PTX ISA,
    "griddepcontrol"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-griddepcontrol),
    `.launch_dependents`).

    ```mlir
    sync.launch_dependents
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // INTERLOCK_DIALECTS_SYNC_OPS
