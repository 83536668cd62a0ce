// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The ep dialect itself, its attributes, and the classes its operations are made from.
#ifndef INTERLOCK_DIALECTS_EP_BASE
#define INTERLOCK_DIALECTS_EP_BASE

include "dialects/EP/EPEnums.td"
include "dialects/Sync/SyncBase.td"
include "mlir/IR/SymbolInterfaces.td"

def EP_Dialect : Dialect {
  let name = "ep";
  let summary = "The stages of expert parallelism, and what their templates are written with";
  let description = [{
    Two kinds of operations. A *stage* stands in a module and describes a whole kernel: which tokens go where, in which
    types, how the kernel is cut up. `ep-expand-stages` replaces it by its template. The others stand in templates: where
    a thread is, addresses in the symmetric window of each rank, accesses to memory, and the operations that know an
    element type or the width of a warp, so that a template is written once for all types and targets.

    Attributes on others' operations: `ep.target` names the chip of a module, `ep.kernel` marks a function as a kernel,
    `ep.block_threads` says how many threads its CTAs have and `ep.cluster` how many CTAs its clusters. How a kernel waits
    and releases across CTAs is said by `ep.wait` ("relaxed-fence" or "acquire") and `ep.release` ("restricted-fence" or
    "arrive"), which `sync-lower-waits` reads. `ep.launch_mode` and `ep.launch_waits` are what `ep-derive-launch-mode` found
    out about a kernel, and never anybody's to state.

    The plain accesses here are *weak*: they are ordered only by the operations of the `sync` dialect around them ([PTX
    memory consistency
    model](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#memory-consistency-model)).

    In the examples `%g` is a pointer to device and `%s` one to shared memory, `%v`, `%lane`, `%rank` and `%count` are of
    type i32, `%w`, `%window`, `%stride` and `%offset` of type i64, `%f` is an f32, `%flag` an i1, `%packet` a vector of
    four i32 and `%acc` one of eight f32.
  }];
  let cppNamespace = "::interlock::ep";
  let dependentDialects = ["::interlock::sync::SyncDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class EP_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<EP_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def EP_ScheduleAttr : EP_EnumAttr<EP_Schedule, "schedule"> {
  let summary = "where a cluster takes its next tile from";
  let description = [{
    `grid_stride`: a fixed stride through the tiles. `claimed`: a counter in device memory, from which the cluster's
    leader claims and which it hands on ([`sync.handoff`](Sync.md#synchandoff-interlocksynchandoffop), or mailboxes:
    [`ep.for_each_tile`](#epfor_each_tile-interlockepforeachtileop)). `clc`: cluster launch control.

    ```mlir
    ep.for_each_tile %tile in %count claim %g {schedule = #ep.schedule<claimed>, cluster = 2 : i32} {
    }
    ```
  }];
}

def EP_CombineModeAttr : EP_EnumAttr<EP_CombineMode, "combine_mode"> {
  let summary = "who moves the experts' rows";
  let description = [{
    `gather`: the rank that owns the tokens reads the rows from the ranks that made them (see
    [`ep.combine`](#epcombine-interlockepcombineop)).

    ```mlir
    %id = ep.cta_id {example = #ep.combine_mode<gather>} : i32
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Types and classes of operations
//===----------------------------------------------------------------------===//

class EP_Op<string mnemonic, list<Trait> traits = []> : Op<EP_Dialect, mnemonic, traits>;

def EP_Scalar : AnyTypeOf<[I8, I16, I32, I64, F32], "i8, i16, i32, i64 or f32">;
def EP_Lane : AnyTypeOf<[I32, I64, F32], "i32, i64 or f32">;
def EP_Packet : VectorOfLengthAndType<[4], [I32]>, BuildableType<"::mlir::VectorType::get({4}, $_builder.getI32Type())">;
def EP_Accumulator : VectorOfLengthAndType<[4, 8], [F32]>;

def EP_Codes : AnyTypeOf<[I32, I64, EP_Packet], "i32, i64 or a packet">;
def EP_Values : VectorOfLengthAndType<[4, 8, 16], [F32]>;
/// 8-bit floats that f32 is quantised to. Which one it is always stands there: they share no code but a zero.
def EP_QuantizedAttr : TypeAttrOf<AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ], "f8E4M3FN or f8E4M3FNUZ", "::mlir::FloatType">>;

/// Element types that a packet can be computed with.
def EP_ElementAttr : TypeAttrOf<AnyTypeOf<[F32, F16, BF16], "f32, f16 or bf16", "::mlir::FloatType">>;

#endif // INTERLOCK_DIALECTS_EP_BASE
