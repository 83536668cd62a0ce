// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The sync dialect itself, its attributes and types, and the classes its operations are made from.
#ifndef INTERLOCK_DIALECTS_SYNC_BASE
#define INTERLOCK_DIALECTS_SYNC_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sync_Dialect : Dialect {
  let name = "sync";
  let summary = "Who hands what to whom, how far apart, through which proxy";
  let description = [{
    Synchronisation between threads, CTAs and GPUs, in three levels. Each is lowered to the next, so that a person reads
    the one that fits.

    1. *Hand-off*: a value passes from one thread to every CTA of a cluster. The scope follows from the placement and
       may be left out; `sync-infer-scopes` fills it in.
    2. *Barrier and signal*: mbarriers in shared memory, signals in memory that peers can see, fences, bulk copies.
       Order and scope come first in the text, are mandatory and have no default.
    3. *Poll*: single tries, which loops are made of.

    The words are those of the [PTX memory consistency
    model](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#memory-consistency-model): an operation
    that *releases* orders everything its thread did or observed before it, for whoever *acquires* through it; both
    sides count only if the scope of each includes the thread of the other.

    The operations name no vendor. What a chip lacks is refused or widened by the conversion to its dialect.

    In the examples `%h` is a hand-off, `%b` a barrier, `%s` a pointer to shared and `%g` one to device memory, `%it`,
    `%parity`, `%rank`, `%bytes` and `%v` are of type i32, `%w`, `%value` and `%timeout` of type i64.
  }];
  let cppNamespace = "::interlock::sync";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Sync_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::interlock::sync";
}
class Sync_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Sync_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Sync_Scope : Sync_Enum<"Scope", "threads that an operation takes part with", [
  I32EnumAttrCase<"cta", 0>, I32EnumAttrCase<"cluster", 1>, I32EnumAttrCase<"gpu", 2>, I32EnumAttrCase<"sys", 3>]>;
def Sync_ScopeAttr : Sync_EnumAttr<Sync_Scope, "scope"> {
  let summary = "which other threads an operation is ordered with";
  let description = [{
    From the nearest to the farthest: threads of the same `cta`, of the same `cluster` of CTAs, of the same `gpu`, of the
    whole `sys`tem (host and peer GPUs). Two operations synchronise only if each one's scope includes the other's
    thread ([PTX ISA, "Morally strong
    operations"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#morally-strong-operations)).

    ```mlir
    sync.fence acq_rel gpu {example = #sync.scope<gpu>}
    ```
  }];
}

def Sync_Sem : Sync_Enum<"Sem", "what an operation orders", [
  I32EnumAttrCase<"relaxed", 0>, I32EnumAttrCase<"acquire", 1>, I32EnumAttrCase<"release", 2>,
  I32EnumAttrCase<"acq_rel", 3>, I32EnumAttrCase<"sc", 4>]>;
def Sync_SemAttr : Sync_EnumAttr<Sync_Sem, "sem"> {
  let summary = "which of its thread's other accesses an operation orders";
  let description = [{
    `relaxed` orders nothing, `release` what comes before it, `acquire` what comes after it, `acq_rel` both; `sc` also
    takes part in one total order of all such operations ([PTX ISA, "Release and acquire
    patterns"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#release-acquire-patterns)).

    ```mlir
    sync.fence acq_rel gpu {example = #sync.sem<acq_rel>}
    ```
  }];
}

def Sync_Proxy : Sync_Enum<"Proxy", "path that an access takes to memory", [
  I32EnumAttrCase<"generic", 0>, I32EnumAttrCase<"async", 1>, I32EnumAttrCase<"tensormap", 2>]>;
def Sync_ProxyAttr : Sync_EnumAttr<Sync_Proxy, "proxy"> {
  let summary = "the path that an access takes to memory";
  let description = [{
    Loads, stores and atomics go through the `generic` proxy, bulk copies through the `async` proxy, reads of a tensor
    map through `tensormap`. Accesses through different proxies are ordered only with a proxy fence between them ([PTX
    ISA, "Proxies"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#proxies)).

    ```mlir
    sync.proxy_fence generic async {example = #sync.proxy<async>}
    ```
  }];
}

def Sync_Space : Sync_Enum<"Space", "memory that a pointer points into", [
  I32EnumAttrCase<"global", 0>, I32EnumAttrCase<"shared", 1>]>;
def Sync_SpaceAttr : Sync_EnumAttr<Sync_Space, "space"> {
  let summary = "the memory that is meant";
  let description = [{
    `global` is device memory, the own or a peer's; `shared` the CTA's shared memory ([PTX ISA, "State
    spaces"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#state-spaces)).

    ```mlir
    sync.proxy_fence generic async shared {example = #sync.space<shared>}
    ```
  }];
}

def Sync_AtomicKind : Sync_Enum<"AtomicKind", "what an atomic does to the value in memory", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"or_", 1, "or">, I32EnumAttrCase<"max", 2>,
  I32EnumAttrCase<"exch", 3>]>;
def Sync_AtomicKindAttr : Sync_EnumAttr<Sync_AtomicKind, "atomic_kind"> {
  let summary = "what an atomic operation does to the value in memory";
  let description = [{
    `add` adds modulo 2^n, `or` sets bits, `max` keeps the larger of two unsigned values, `exch` replaces ([PTX ISA,
    "atom"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-atom)).

    ```mlir
    %old = sync.atomic add relaxed gpu %g, %v {example = #sync.atomic_kind<add>} : !sync.ptr<global>, i32
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Sync_Type<string name, string typeMnemonic> : TypeDef<Sync_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Sync_Ptr : Sync_Type<"Ptr", "ptr"> {
  let summary = "address of a byte in device memory or in this CTA's shared memory";
  let description = [{
    A `global` pointer may point into any device memory that the thread can reach, a peer GPU's included. A `shared`
    pointer points into the shared memory of the CTA that made it; operations that reach into another CTA of the cluster
    take such a pointer and that CTA's rank ([PTX ISA, "State
    spaces"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#state-spaces)).

    ```mlir
    %p = sync.shared_alloc bytes = 128 align = 16 : !sync.ptr<shared>
    ```
  }];
  let parameters = (ins EnumParameter<Sync_Space>:$space);
  let assemblyFormat = "`<` $space `>`";
}
class Sync_PtrIn<string where, string what>
    : Type<CPred<"::llvm::isa<::interlock::sync::PtrType>($_self) && "
                 "::llvm::cast<::interlock::sync::PtrType>($_self).getSpace() == ::interlock::sync::Space::" # where>,
           what, "::interlock::sync::PtrType">,
      BuildableType<"::interlock::sync::PtrType::get($_builder.getContext(), ::interlock::sync::Space::" # where # ")">;
def Sync_GlobalPtr : Sync_PtrIn<"global", "pointer to device memory">;
def Sync_SharedPtr : Sync_PtrIn<"shared", "pointer to shared memory">;

def Sync_Barrier : Sync_Type<"Barrier", "barrier">, BuildableType<"$_builder.getType<::interlock::sync::BarrierType>()"> {
  let summary = "an mbarrier in this CTA's shared memory";
  let description = [{
    It counts arrivals and the bytes of asynchronous copies, phase by phase, and one waits for a phase's parity ([PTX ISA,
    "mbarrier"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier)).
    Every CTA of a cluster has its own copy at the same place.

    ```mlir
    %b = sync.barrier_alloc : !sync.barrier
    ```
  }];
}

def Sync_Handoff : Sync_Type<"Handoff", "handoff"> {
  let summary = "a ring of slots through which one thread hands values to every CTA of its cluster";
  let description = [{
    The payload is i32, i64, or a vector of i32 that is one to sixteen 16-byte packets; a wider one than a single
    asynchronous store carries travels in several, which complete on one phase. What an iteration's full and empty directions order is said at the operations; the argument
    rests on [PTX ISA, "Causality
    order"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#causality-order).

    ```mlir
    %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
    ```
  }];
  let parameters = (ins "::mlir::Type":$payload);
  let assemblyFormat = "`<` $payload `>`";
  let genVerifyDecl = 1;
}

def Sync_Word : AnyTypeOf<[I32, I64], "32- or 64-bit integer">;
def Sync_Packet : VectorOfLengthAndType<[4], [I32]>;
/// HandoffType's verifier knows the lengths.
def Sync_Payload : AnyTypeOf<[I32, I64, VectorOfRankAndType<[1], [I32]>], "32- or 64-bit integer or vector of i32">;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Sync_Op<string mnemonic, list<Trait> traits = []> : Op<Sync_Dialect, mnemonic, traits>;

/// Checks `sem` and `scope` against the lists that the operation's class gives.
def Sync_LegalOrder : NativeOpTrait<"LegalOrder"> {
  let cppNamespace = "::interlock::sync";
}
/// An operation with a `sem` and a `scope`, and which of them are legal.
class Sync_OrderedOp<string mnemonic, list<string> sems, list<string> scopes, list<Trait> traits = []>
    : Sync_Op<mnemonic, !listconcat([Sync_LegalOrder], traits)> {
  let extraClassDeclaration =
      "static ::llvm::ArrayRef<Sem> legalSems() { static constexpr Sem all[] = {" #
      !interleave(!foreach(sem, sems, "Sem::" # sem), ", ") # "}; return all; }\n" #
      "static ::llvm::ArrayRef<Scope> legalScopes() { static constexpr Scope all[] = {" #
      !interleave(!foreach(scope, scopes, "Scope::" # scope), ", ") # "}; return all; }";
}
defvar anySem = ["relaxed", "acquire", "release", "acq_rel", "sc"];
defvar anyScope = ["cta", "cluster", "gpu", "sys"];
defvar barrierScope = ["cta", "cluster"];

#endif // INTERLOCK_DIALECTS_SYNC_BASE
