// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The symmetric window: where everything that ranks write into each other lies. The compiler folds these offsets into
// the kernels as constants and the runtime allocates and reads by them, so this file is their only contract.
#pragma once

#include "interlock/spec.hpp"

namespace interlock {

/// Byte offsets of the regions of one rank's window. A peer's address is `base + rank*stride + offset`.
/// Regions start at multiples of 256 bytes. `B` below is `buffers` (2): the host alternates them from step to step.
struct WindowLayout {
  static constexpr uint32_t buffers = 2;
  static constexpr uint32_t signalStride = 128; ///< bytes between two ranks' signals: one cache line each

  uint64_t control;   ///< ControlBlock; only its owner's kernels touch it
  uint64_t results;   ///< OpResult[2], indexed by KernelKind: written by the kernel's last CTA
  uint64_t started;   ///< per source rank, signalStride apart: u64 count of operations that the source has started
  uint64_t arrived;   ///< per source rank, signalStride apart: u64 number of the source's last dispatch whose rows are
                      ///< all here
  uint64_t counts;    ///< u32[B][ranks]: rows that each source wanted to send (may exceed the capacity)
  uint64_t landing;   ///< [B][ranks][rowsPerSource][rowStride]: dispatched token rows, in the source's token order
  uint64_t meta;      ///< [B][ranks][rowsPerSource][metaStride]: see below
  uint64_t expertOut; ///< [B][ranks][rowsPerSource][outRows][combineRowStride]: what combine gathers
  uint64_t mailboxes; ///< u32 per cluster that has tiles: the next unit of the claimed schedule, where a cluster's CTAs
                      ///< cannot write each other's shared memory; only its owner's kernels touch it
  uint64_t size;      ///< bytes of one window; the stride is this, rounded up by the allocator

  uint64_t rowStride;        ///< bytes between dispatched rows (= row bytes, whole 16-byte packets)
  uint64_t combineRowStride; ///< bytes between combine rows
  uint64_t outRows;          ///< expertOut rows per landed token: 1, or topk with expertRows

  // One meta row: i32 ids[topk], f32 weights[topk], i32 source token index, then the scales at a multiple of 16 bytes.
  uint64_t metaStride, metaWeights, metaToken, metaScales;
};

WindowLayout windowLayout(const LayerSpec &layer);

/// The owner's private block at `control`. Zeroed at set-up; every launch leaves it ready for the next one.
struct ControlBlock {
  uint64_t op;         ///< operations (dispatch or combine) completed by this rank; the running one is op+1
  uint32_t ticket;     ///< CTAs of the running launch that are done; the last one finishes the operation
  uint32_t claim;      ///< next unit of the claimed schedule
  uint32_t status;     ///< OpStatus bits gathered by the running launch
  uint32_t dropped;    ///< rows dropped by the running launch because their destination was full
  uint64_t lost;       ///< bit per rank whose signal did not come in time; stays set until reset
  uint64_t dead;       ///< bit per rank to leave out; written by the host
  uint64_t lastUse[2]; ///< per buffer: number of the dispatch that last wrote it, on any rank
  uint64_t reserved;   ///< zero
};
static_assert(sizeof(ControlBlock) == 64);

/// Bits of OpResult::status.
enum OpStatus : uint32_t {
  opOk = 0,
  opOverflow = 1, ///< a row was dropped at its source because the destination's region was full
  opPeerLost = 2, ///< `lost` is not empty: a bounded wait ran out, now or earlier, and the rank was left out
  opBadId = 4,    ///< an id was neither -1 nor a global expert: the pair was treated as masked
};

/// What an operation tells the host.
struct OpResult {
  uint64_t op;       ///< the operation's number
  uint32_t status;   ///< OpStatus bits
  uint32_t dropped;  ///< (token, rank) pairs that this rank could not send
  uint64_t lost;     ///< ranks given up on
  uint32_t received; ///< dispatch: rows that landed here, all sources together (after the cap)
  uint32_t wanted;   ///< dispatch: rows that the sources wanted to land here (before the cap)
};
static_assert(sizeof(OpResult) == 32);

/// Kernel parameters, in order; all pointers are device addresses. Kinds without a field use 0.
struct DispatchParams {
  uint64_t window;    ///< base of rank 0's window
  uint64_t stride;    ///< bytes between windows
  uint64_t x;         ///< [tokens][rowBytes]
  uint64_t scales;    ///< [tokens][scaleBytes], or 0 when scaleBytes is 0
  uint64_t ids;       ///< i32 [tokens][topk]: global experts, -1 is masked
  uint64_t weights;   ///< f32 [tokens][topk]
  uint64_t slots;     ///< out, i32 [maxTokens][topk]: row at the expert's rank, or -1 (masked, dropped, dead)
  uint64_t timeoutNs; ///< bound of every wait, in nanoseconds of the device's global timer
  uint32_t rank;
  uint32_t tokens; ///< at most maxTokens
  uint32_t buffer; ///< 0 or 1
  /// Not 0: no combine came behind the buffer's last dispatch, so its rows may be read until each rank begins this one.
  uint32_t givenUp;
};
struct CombineParams {
  uint64_t window, stride;
  uint64_t out;        ///< [tokens][combineRowBytes]
  uint64_t outWeights; ///< f32 [tokens][topk], or 0
  uint64_t ids;
  uint64_t weights; ///< f32 [tokens][topk] applied to the gathered rows, or 0 for a plain sum
  uint64_t slots;   ///< i32 [maxTokens][topk] from the dispatch
  uint64_t timeoutNs;
  uint32_t rank, tokens, buffer, reserved;
};
static_assert(sizeof(DispatchParams) == 80 && sizeof(CombineParams) == 80);

/// A parameter of a kernel, as whoever launches it without this library has to lay it out.
struct KernelParam {
  const char *name;
  const char *type; ///< u64 or u32
  uint32_t offset, bytes;
};
std::vector<KernelParam> kernelParams(KernelKind kind);

/// A region of a window, by the name of its offset above; it reaches to the next one.
struct WindowRegion {
  const char *name;
  uint64_t offset, bytes;
};
/// In the order of their offsets.
std::vector<WindowRegion> windowRegions(const LayerSpec &layer);

} // namespace interlock
