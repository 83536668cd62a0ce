// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#ifndef INTERLOCK_COMPILER_TRANSFORMS_PASSES
#define INTERLOCK_COMPILER_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ExpandStages : Pass<"ep-expand-stages", "mlir::ModuleOp"> {
  let summary = "Replace each stage operation by its template, specialised to the stage's attributes";
  let description = [{
    A stage (`ep.dispatch`, `ep.combine`) becomes a kernel function of the same name. Its template is parsed behind a
    preamble of type and attribute aliases that is made from the stage's attributes, so every parameter is a constant
    from here on. Diagnostics in a template carry the template's file name and line.

    ```mlir
    module attributes {ep.target = "sm_90a"} {
      ep.dispatch @dispatch {…}
    }
    // becomes
    module attributes {ep.target = "sm_90a"} {
      func.func @dispatch(%window: i64, …) attributes {ep.kernel, ep.block_threads = 512 : i32, …} {…}
    }
    ```
  }];
  let options = [
    Option<"templateDir", "template-dir", "std::string", /*default=*/"\"\"",
           "Directory whose .mlir files override the embedded templates">
  ];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::math::MathDialect", "mlir::vector::VectorDialect", "interlock::sync::SyncDialect",
                           "interlock::ep::EPDialect"];
}

def InlineTemplates : Pass<"ep-inline-templates", "mlir::ModuleOp"> {
  let summary = "Inline every call of a template's functions, and drop the functions";
  let description = [{
    Afterwards a kernel is one function. MLIR's own inliner decides by a call graph, which it brings up to date after each
    function: twice the work of the inlining itself, where everything is to be inlined anyway. A function that calls
    itself is refused.

    ```mlir
    func.func private @twice(%a: i32) -> i32 {…}
    func.func @kernel(%a: i32) attributes {ep.kernel, …} {
      %b = func.call @twice(%a) : (i32) -> i32
    }
    // becomes
    func.func @kernel(%a: i32) attributes {ep.kernel, …} {
      %b = arith.addi %a, %a : i32
    }
    ```
  }];
}

def LowerTiles : Pass<"ep-lower-tiles", "mlir::func::FuncOp"> {
  let summary = "Turn ep.for_each_tile into a strided loop, or into a loop fed by the cluster's leader";
  let description = [{
    `grid_stride`: cluster c takes the units c, c + clusters, …; CTA r of it the tile `unit * cluster + r`.

    `claimed`: one thread of the leader CTA takes the next unit from a counter in device memory and publishes it through
    a `sync.handoff` to every CTA of the cluster; the loop ends when the unit is beyond the last, and the leader drains the
    hand-off before it goes on. Where `remote_shared` is false and a cluster has several CTAs, the unit goes through the
    cluster's mailbox: a word of device memory that its leader writes and its CTAs read between barriers of the cluster.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "interlock::sync::SyncDialect"];
}

def NameSteps : Pass<"sync-name-steps", "mlir::func::FuncOp"> {
  let summary = "Give every sync operation the whole name of the protocol step that it is";
  let description = [{
    Names that templates gave to operations and to calls (`sync.step`) are in the locations of inlined operations; joined,
    callers first, they become the operation's `sync.step`. It is what the emitted text calls the instruction.

    ```mlir
    func.call @await(%p) {sync.step = "started"} : (!sync.ptr<global>) -> ()   // its wait is {sync.step = "await"}
    // becomes, after inlining
    %ok = sync.signal_wait acquire sys %p, %v, %t {sync.step = "started.await"} : i64
    ```
  }];
}

def InferScopes : Pass<"sync-infer-scopes", "mlir::func::FuncOp"> {
  let summary = "Give every hand-off operation without a scope the smallest one that includes producer and consumers";
  let description = [{
    A hand-off within a cluster of one CTA gets `cta`, any larger cluster `cluster`. A scope that is already there stays
    as it is: `sync-verify-scopes` judges it. Each inference is said in a remark.

    ```mlir
    %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
    %v = sync.consumer_wait %h[%i] : !sync.handoff<i32>
    // becomes
    %v = sync.consumer_wait %h[%i] scope(cluster) : !sync.handoff<i32>
    ```
  }];
}

def VerifyScopes : Pass<"sync-verify-scopes", "mlir::func::FuncOp"> {
  let summary = "Refuse a hand-off whose release or acquire does not include the thread on the other side";
  let description = [{
    For each hand-off both directions are judged: the full direction (`publish` releases, `consumer_wait` acquires) and
    the empty direction (`consumer_release` releases, `producer_acquire` and `producer_tail` acquire). Each side is
    compared with the distance between the two actors, never with the other side's scope (PTX ISA, "Morally strong
    operations"). A hand-off that is published but never drained, or waited for but never freed, is refused too.

    If they are right, the whole function is told to `analysis/ScopeModel` in its events, and every finding stands at its
    operation, with the rule's id and what would do: signals between ranks, barriers, fences, proxies, asynchronous copies,
    and accesses that nothing orders at all. What would cost more than needed is a remark. The pass rewrites nothing.
  }];
}

def DeriveLaunchMode : Pass<"ep-derive-launch-mode", "mlir::func::FuncOp"> {
  let summary = "Say of each kernel what a launch must grant it so that its waits end";
  let description = [{
    Every wait of a kernel is looked at: for whom can it wait? Each answer names what the launch must grant, and the
    kernel's mode is the most demanding of them.

    | mode | a CTA waits | the launch grants |
    | --- | --- | --- |
    | `any` | for threads of its own CTA at most | nothing: any grid, resident or not |
    | `cluster` | for CTAs of its cluster | a cluster launch, whose CTAs always run together |
    | `forward` | for CTAs that were started before it: those with a lower ticket, or CTA 0 | that CTAs are started in the order of their index, as they are on all chips we know |
    | `peers` | for a signal that another rank's kernel sets, or nobody in sight | that those kernels run meanwhile: on GPUs of their own, or with the sum of the grids resident |
    | `cooperative` | for CTAs of its grid that may come later | a cooperative launch: the whole grid resident at once |

    Waits are those of hand-offs and barriers, of `sync.signal_wait`, and loops that end by what they read from memory. Who
    can end one is found by who writes the place: a CTA that is the only one with its ticket or index waits for itself
    only; what is not understood is taken for the whole grid. The mode becomes the kernel's `ep.launch_mode`, the waits
    that ask for more than `any` its `ep.launch_waits`, each with its place. A mode that a module states must be the
    derived one.

    ```mlir
    func.func @k(%a: i64, …) attributes {ep.kernel, …} {…}
    // becomes
    func.func @k(%a: i64, …) attributes {ep.kernel, …, ep.launch_mode = "cooperative", ep.launch_waits = [
      {at = "k.mlir:12:5", because = "…", mode = "cooperative", operation = "sync.signal_wait"} ]} {…}
    ```
  }];
}

def EvenRounds : Pass<"ep-even-rounds", "mlir::func::FuncOp"> {
  let summary = "Let all lanes of a warp go through a loop equally often";
  let description = [{
    A loop that each thread begins at its own index, or at as much from the end, is left by the lanes of a warp after
    different numbers of rounds. It becomes one that counts rounds, in which a lane that has nothing left does nothing:
    ptxas does not always bring the lanes together again behind the other. Of a loop whose beginning is not understood
    nothing is changed.

    ```mlir
    scf.for %i = %tid to %n step %threads : i32 {…}
    // becomes
    scf.for %round = %zero to %n step %threads : i32 {
      %i = arith.addi %round, %tid : i32
      %has = arith.cmpi slt, %i, %n : i32
      scf.if %has {…}
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def LowerHandoffs : Pass<"sync-lower-handoffs", "mlir::func::FuncOp"> {
  let summary = "Turn hand-offs into a full and an empty barrier per stage, slots, and operations on them";
  let description = [{
    Within a cluster the leader publishes by `sync.store_async` into every CTA's slot, completing on that CTA's full
    barrier, and a consumer frees the slot by a remote arrive on the leader's empty barrier. Within a CTA a plain store and
    an arrive do. Waits and arrives whose payload is in shared memory alone are marked `shared_only`, which lets
    `sync-lower-waits` choose a restricted fence.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "interlock::sync::SyncDialect",
                           "mlir::vector::VectorDialect", "interlock::ep::EPDialect"];
}

def LowerWaits : Pass<"sync-lower-waits", "mlir::func::FuncOp"> {
  let summary = "Turn barrier waits into try_wait loops, in one of two strategies";
  let description = [{
    `relaxed-fence`: a wait at cluster scope becomes a loop of relaxed tries and one acquire fence behind it, restricted to
    shared memory where the wait is `shared_only`. (PTX ISA 8.6, "fence", "mbarrier.try_wait".)
    `acquire`: the tries acquire at the wait's own scope, and arrives release by themselves.
    Waits at CTA scope always acquire in the try, which costs nothing there.

    The release side has the same choice where waits are `relaxed-fence`: with `restricted-fence` a `shared_only` release
    arrive at cluster scope becomes a restricted release fence and a relaxed arrive; with `arrive` it stays as it is.
  }];
  let options = [
    Option<"strategy", "strategy", "std::string", /*default=*/"\"\"",
           "relaxed-fence or acquire; if empty the function's `ep.wait`, else relaxed-fence">,
    Option<"release", "release", "std::string", /*default=*/"\"\"",
           "restricted-fence or arrive; if empty the function's `ep.release`, else restricted-fence">
  ];
  let dependentDialects = ["mlir::scf::SCFDialect", "interlock::sync::SyncDialect"];
}

#endif // INTERLOCK_COMPILER_TRANSFORMS_PASSES
