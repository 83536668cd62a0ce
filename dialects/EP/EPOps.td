// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// All operations of the ep dialect; this file has those that templates are written with.
#ifndef INTERLOCK_DIALECTS_EP_OPS
#define INTERLOCK_DIALECTS_EP_OPS

include "dialects/EP/EPBase.td"
include "dialects/EP/EPStageOps.td"

//===----------------------------------------------------------------------===//
// Where a thread is
//===----------------------------------------------------------------------===//

class EP_IdOp<string mnemonic, string what, string more, string register, string anchor> : EP_Op<mnemonic, [Pure]> {
  let summary = what;
  let description = what # ". " # more # " Executed by any thread; orders nothing ([PTX ISA, \"" # register #
                    "\"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#special-registers-" #
                    anchor # ")).\n\n```mlir\n%id = ep." # mnemonic # " : i32\n```\n";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def EP_ThreadIdOp : EP_IdOp<"thread_id", "Index of the thread in its CTA", "", "%tid", "tid">;
def EP_LaneIdOp : EP_IdOp<"lane_id", "Index of the thread in its warp", "", "%laneid", "laneid">;
def EP_WarpIdOp : EP_IdOp<"warp_id", "Index of the thread's warp in its CTA",
                          "It is the thread's index divided by the warp's width.", "%tid", "tid">;
def EP_CtaIdOp : EP_IdOp<"cta_id", "Index of the CTA in the grid", "", "%ctaid", "ctaid">;
def EP_CtaCountOp : EP_IdOp<"cta_count", "CTAs in the grid", "", "%nctaid", "nctaid">;
def EP_ClusterIdOp : EP_IdOp<"cluster_id", "Index of the CTA's cluster in the grid",
                             "In a kernel without clusters it is the CTA's index.", "%clusterid", "clusterid">;
def EP_ClusterCountOp : EP_IdOp<"cluster_count", "Clusters in the grid",
                                "In a kernel without clusters it is the number of CTAs.", "%nclusterid", "nclusterid">;
def EP_ClusterRankOp : EP_IdOp<"cluster_rank", "Index of the CTA in its cluster",
                               "In a kernel without clusters it is 0.", "%cluster_ctarank", "cluster-ctarank">;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

def EP_OffsetOp : EP_Op<"offset", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "A pointer, moved by bytes";
  let description = [{
    Executed by any thread; orders nothing. The result must point into the same allocation ([PTX ISA, "Addresses as
    operands"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#addresses-as-operands)).

    ```mlir
    %q = ep.offset %g, %w : !sync.ptr<global>
    ```
  }];
  let arguments = (ins Sync_Ptr:$pointer, I64:$bytes);
  let results = (outs Sync_Ptr:$result);
  let assemblyFormat = "$pointer `,` $bytes attr-dict `:` qualified(type($pointer))";
}

def EP_GlobalPtrOp : EP_Op<"global_ptr", [Pure]> {
  let summary = "The pointer to an address in device memory";
  let description = [{
    Executed by any thread; orders nothing. The address is one that the host handed over ([PTX ISA, "Global state
    space"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#global-state-space)).

    ```mlir
    %p = ep.global_ptr %w : !sync.ptr<global>
    ```
  }];
  let arguments = (ins I64:$address);
  let results = (outs Sync_GlobalPtr:$result);
  let assemblyFormat = "$address attr-dict `:` qualified(type($result))";
}

def EP_PeerPtrOp : EP_Op<"peer_ptr", [Pure]> {
  let summary = "The pointer to a place in a rank's symmetric window";
  let description = [{
    `window + rank · stride + offset`, in 64 bits: window is where rank 0's window begins in this process, stride the bytes
    between two ranks' windows; the own rank's is reached alike. Executed by any thread; orders nothing ([PTX ISA, "Global
    state space"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#global-state-space)).

    ```mlir
    %p = ep.peer_ptr %window, %stride, %rank, %offset : !sync.ptr<global>
    ```
  }];
  let arguments = (ins I64:$window, I64:$stride, I32:$rank, I64:$offset);
  let results = (outs Sync_GlobalPtr:$result);
  let assemblyFormat = "$window `,` $stride `,` $rank `,` $offset attr-dict `:` qualified(type($result))";
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

defvar weakText = [{
    Executed by any thread. The access is weak: it must not race with another ([PTX ISA, "Data
    races"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#operation-types)), and `sync` operations
    alone order it.
}];

def EP_LoadOp : EP_Op<"load"> {
  let summary = "Read a scalar";
  let description = weakText # [{
    The address is a multiple of the scalar's size.

    ```mlir
    %x = ep.load %g : !sync.ptr<global> -> i32
    ```
  }];
  let arguments = (ins Arg<Sync_Ptr, "", [MemRead]>:$pointer);
  let results = (outs EP_Scalar:$result);
  let assemblyFormat = "$pointer attr-dict `:` qualified(type($pointer)) `->` type($result)";
}

def EP_StoreOp : EP_Op<"store"> {
  let summary = "Write a scalar";
  let description = weakText # [{
    The address is a multiple of the scalar's size.

    ```mlir
    ep.store %v, %s : i32, !sync.ptr<shared>
    ```
  }];
  let arguments = (ins EP_Scalar:$value, Arg<Sync_Ptr, "", [MemWrite]>:$pointer);
  let assemblyFormat = "$value `,` $pointer attr-dict `:` type($value) `,` qualified(type($pointer))";
}

def EP_PacketLoadOp : EP_Op<"packet_load"> {
  let summary = "Read 16 bytes";
  let description = weakText # [{
    The address is a multiple of 16. `streaming` hints that the bytes are read once, so that they need no place in the
    nearest cache.

    ```mlir
    %x = ep.packet_load %g : !sync.ptr<global> -> vector<4xi32>
    %y = ep.packet_load %g streaming : !sync.ptr<global> -> vector<4xi32>
    ```
  }];
  let arguments = (ins Arg<Sync_Ptr, "", [MemRead]>:$pointer, UnitAttr:$streaming);
  let results = (outs EP_Packet:$result);
  let assemblyFormat = "$pointer (`streaming` $streaming^)? attr-dict `:` qualified(type($pointer)) `->` type($result)";
  let hasVerifier = 1;
}

def EP_PacketStoreOp : EP_Op<"packet_store"> {
  let summary = "Write 16 bytes";
  let description = weakText # [{
    The address is a multiple of 16. `streaming` hints that this GPU does not read the bytes again soon.

    ```mlir
    ep.packet_store %packet, %g : vector<4xi32>, !sync.ptr<global>
    ep.packet_store %packet, %g streaming : vector<4xi32>, !sync.ptr<global>
    ```
  }];
  let arguments = (ins EP_Packet:$value, Arg<Sync_Ptr, "", [MemWrite]>:$pointer, UnitAttr:$streaming);
  let assemblyFormat = "$value `,` $pointer (`streaming` $streaming^)? attr-dict `:` type($value) `,` qualified(type($pointer))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elements: the only operations that know a dtype
//===----------------------------------------------------------------------===//

def EP_UnpackOp : EP_Op<"unpack", [Pure]> {
  let summary = "The elements of a packet, as f32";
  let description = [{
    Element 0 is at the packet's lowest address. Exact for every `dtype`: f32, f16, bf16. Executed by any thread; orders
    nothing ([PTX ISA,
    "cvt"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-cvt)).

    ```mlir
    %x = ep.unpack %packet as bf16 : vector<8xf32>
    ```
  }];
  let arguments = (ins EP_Packet:$packet, EP_ElementAttr:$dtype);
  let results = (outs EP_Accumulator:$result);
  let assemblyFormat = "$packet `as` $dtype attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def EP_PacketWordsOp : EP_Op<"packet_words", [Pure]> {
  let summary = "The four 32-bit words of a packet";
  let description = [{
    The word at the packet's lowest address comes first. Executed by any thread; orders nothing.

    ```mlir
    %w0, %w1, %w2, %w3 = ep.packet_words %packet
    ```
  }];
  let arguments = (ins EP_Packet:$packet);
  let results = (outs I32:$word0, I32:$word1, I32:$word2, I32:$word3);
  let assemblyFormat = "$packet attr-dict";
}

def EP_PackOp : EP_Op<"pack", [Pure]> {
  let summary = "A packet of elements, rounded from f32";
  let description = [{
    Each element is rounded once, to the nearest, ties to even; what is too large becomes infinity. Element 0 goes to the
    packet's lowest address. Executed by any thread; orders nothing ([PTX ISA,
    "cvt"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-cvt),
    `.rn`).

    ```mlir
    %x = ep.pack %acc as bf16 : vector<8xf32>
    ```
  }];
  let arguments = (ins EP_Accumulator:$values, EP_ElementAttr:$dtype);
  let results = (outs EP_Packet:$result);
  let assemblyFormat = "$values `as` $dtype attr-dict `:` type($values)";
  let hasVerifier = 1;
}

def EP_AccumulateOp : EP_Op<"accumulate", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Add a packet's elements, times a weight, to an accumulator";
  let description = [{
    `fma(weight, element, accumulator)` for each element, each rounded once. Executed by any thread; orders nothing ([PTX
    ISA,
    "fma"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#floating-point-instructions-fma),
    `.rn`).

    ```mlir
    %x = ep.accumulate %acc, %packet, %f as bf16 : vector<8xf32>
    ```
  }];
  let arguments = (ins EP_Accumulator:$accumulator, EP_Packet:$packet, F32:$weight, EP_ElementAttr:$dtype);
  let results = (outs EP_Accumulator:$result);
  let assemblyFormat = "$accumulator `,` $packet `,` $weight `as` $dtype attr-dict `:` type($accumulator)";
  let hasVerifier = 1;
}

def EP_QuantizeOp : EP_Op<"quantize", [Pure]> {
  let summary = "f32 as 8-bit floats";
  let description = [{
    A byte a value, the first one's lowest: 4 values make an i32, 8 an i64, 16 a packet. Each value is rounded once, to the nearest, ties to even; what
    is too large, infinity too, becomes the largest finite value of its sign: 448 of `f8E4M3FN` (OCP's e4m3), 240 of
    `f8E4M3FNUZ` (AMD's). Subnormals are kept. NaN becomes NaN: 0x7f of the one, 0x80 of the other, which has no negative
    zero: what rounds to that is 0. A chip that converts to the other type, or to none, gets the same codes by integer
    arithmetic. Executed by any thread; orders nothing ([PTX ISA,
    "cvt"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-cvt),
    `.rn.satfinite.e4m3x2.f32`; [OCP 8-bit floating point
    specification](https://www.opencompute.org/documents/ocp-8-bit-floating-point-specification-ofp8-revision-1-0-2023-12-01-pdf-1)).

    ```mlir
    %x = ep.quantize %acc as f8E4M3FN : vector<8xf32> -> i64
    ```
  }];
  let arguments = (ins EP_Values:$values, EP_QuantizedAttr:$dtype);
  let results = (outs EP_Codes:$result);
  let assemblyFormat = "$values `as` $dtype attr-dict `:` type($values) `->` type($result)";
  let hasVerifier = 1;
}

def EP_DequantizeOp : EP_Op<"dequantize", [Pure]> {
  let summary = "8-bit floats as f32";
  let description = [{
    Exact for each of the 256 codes; a NaN becomes a NaN, of which only that is said. A byte a value, the first one's
    lowest: an i32 has 4, an i64 8, a packet 16. Executed by any thread; orders nothing ([PTX ISA,
    "cvt"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-cvt)).

    ```mlir
    %x = ep.dequantize %w as f8E4M3FNUZ : i64 -> vector<8xf32>
    ```
  }];
  let arguments = (ins EP_Codes:$codes, EP_QuantizedAttr:$dtype);
  let results = (outs EP_Values:$result);
  let assemblyFormat = "$codes `as` $dtype attr-dict `:` type($codes) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Across the lanes of a warp
//===----------------------------------------------------------------------===//

def EP_BallotOp : EP_Op<"ballot"> {
  let summary = "For which lanes of the warp a predicate holds";
  let description = [{
    Bit l of the result is lane l's predicate; a warp of 32 lanes leaves the upper half 0. All lanes of the warp must
    execute it together. Orders nothing ([PTX ISA,
    "vote.sync"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-vote-sync)).

    ```mlir
    %votes = ep.ballot %flag : i64
    ```
  }];
  let arguments = (ins I1:$predicate);
  let results = (outs I64:$result);
  let assemblyFormat = "$predicate attr-dict `:` type($result)";
}

def EP_ShuffleOp : EP_Op<"shuffle", [AllTypesMatch<["value", "result"]>]> {
  let summary = "Another lane's value";
  let description = [{
    The value that lane `lane` of the warp brought. All lanes of the warp must execute it together; `lane` is less than the
    warp's width and may differ from lane to lane. Orders nothing ([PTX ISA,
    "shfl.sync"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-shfl-sync)).

    ```mlir
    %x = ep.shuffle %v, %lane : i32
    ```
  }];
  let arguments = (ins EP_Lane:$value, I32:$lane);
  let results = (outs EP_Lane:$result);
  let assemblyFormat = "$value `,` $lane attr-dict `:` type($value)";
}

def EP_ScanOp : EP_Op<"scan"> {
  let summary = "The sum of the values of all lower lanes";
  let description = [{
    An exclusive prefix sum over the warp, modulo 2^32; 0 in lane 0. All lanes of the warp must execute it together. Orders
    nothing ([PTX ISA,
    "shfl.sync"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-shfl-sync)).

    ```mlir
    %x = ep.scan %v : i32
    ```
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def EP_ForEachTileOp : EP_Op<"for_each_tile", [SingleBlock, NoTerminator, AttrSizedOperandSegments]> {
  let summary = "Do something for every tile of the work, each in one CTA of the grid";
  let description = [{
    Executed by all threads of all CTAs of the grid, in uniform control flow. Each index in [0, count) is given to exactly
    one CTA, in increasing order within a CTA (with schedule `clc`: in any order); the body is executed by all its threads. Neither CTAs nor tiles are ordered
    with each other. `cluster` is the number of CTAs in a cluster, which take neighbouring tiles.

    With schedule `claimed`, `claim` points to a 32-bit counter in device memory that is 0 when the first CTA begins; tiles
    go to whoever comes first ([PTX ISA,
    "atom"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-atom)).
    The cluster's leader claims for it and hands the tile on ([`sync.handoff`](Sync.md#synchandoff-interlocksynchandoffop)).
    Where `remote_shared` is false, so that a CTA cannot write the shared memory of its cluster's others, the hand-off of a
    cluster of several CTAs goes through `mailboxes` instead: words of device memory, one for each cluster that gets a
    tile. The body then runs between an arrival at the cluster's barrier and the wait for it, and has none of its own.

    With schedule `clc` (cluster launch control) the grid has a cluster for every `cluster` tiles. A cluster that is done
    with its own cancels the launch of one that has not begun and does its tiles ([PTX ISA,
    "clusterlaunchcontrol.try_cancel"](https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel)),
    so that work is spread as with `claimed`, without a counter, and gives way to another kernel between two tiles.

    The result says for how many CTAs of the grid this one has stood, itself included: more than 1 only with `clc`. Over
    the CTAs that run, the results add up to the CTAs of the grid. `ep-lower-tiles` makes a loop of it.

    ```mlir
    %ctas = ep.for_each_tile %tile in %count claim %g {schedule = #ep.schedule<claimed>, cluster = 4 : i32} {
      sync.cta_barrier
    }
    %two = ep.for_each_tile %tile in %count claim %g through %g {schedule = #ep.schedule<claimed>, cluster = 2 : i32, remote_shared = false} {
    }
    %one = ep.for_each_tile %tile in %count {schedule = #ep.schedule<grid_stride>, cluster = 1 : i32} {
    }
    %many = ep.for_each_tile %tile in %count {schedule = #ep.schedule<clc>, cluster = 2 : i32} {
    }
    ```
  }];
  let arguments = (ins I32:$count, Optional<Sync_GlobalPtr>:$claim, Optional<Sync_GlobalPtr>:$mailboxes,
                   EP_ScheduleAttr:$schedule, I32Attr:$cluster, DefaultValuedAttr<BoolAttr, "true">:$remote_shared);
  let results = (outs I32:$ctas);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether a tile is handed on through `mailboxes`.
    bool usesMailboxes() { return getSchedule() == Schedule::claimed && getCluster() > 1 && !getRemoteShared(); }
  }];
}

#endif // INTERLOCK_DIALECTS_EP_OPS
