// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The local kernels: dispatch_epilogue copies every received token's row to the rows of its local experts,
// combine_prologue reduces those to the one row that goes back, and pack_experts makes the lists of both from what a
// dispatch left. What the kernels fold in and what the host hands them.
#pragma once

#include "interlock/spec.hpp"

namespace interlock {

/// Parameters of dispatch_epilogue and combine_prologue. Work is a list of dedup groups: group g is the token in row
/// `tokens[g]` of the token rows and the expert rows `rows[g][0 … topk-1]`, of which -1 names none. An expert row
/// belongs to one group at most, and each token row to one. All pointers are device addresses.
struct LocalParams {
  uint64_t tokenRows;  ///< [tokenRowCount][rowBytes]: read by dispatch_epilogue, written by combine_prologue
  uint64_t expertRows; ///< [expertRowCount][rowBytes]: written by dispatch_epilogue, read by combine_prologue
  uint64_t tokens;     ///< i32 [groups], or 0: the token of group g is g
  uint64_t rows;       ///< i32 [groups][topk]
  uint64_t weights;    ///< combine_prologue: f32 [groups][topk], or 0 for a plain sum
  uint64_t count;      ///< u32 in device memory, the number of groups if less than `groups`; or 0
  uint64_t status;     ///< u32 in device memory: LocalStatus bits are added
  uint32_t groups;
  uint32_t tokenRowCount, expertRowCount;
  uint32_t reserved;
};
static_assert(sizeof(LocalParams) == 72);

enum LocalStatus : uint32_t {
  localOk = 0,
  localBadToken = 1, ///< a group named a token row beyond tokenRowCount: the group was left out
  localBadRow = 2,   ///< a group named an expert row beyond expertRowCount, or below -1: it was taken for -1
  localOverflow = 4, ///< pack_experts: not all expert rows had room; those without are -1 in the slot map
};

/// Parameters of pack_experts: where a dispatch left its rows, then the lists that are made of them. Received row g is
/// the g-th of all sources' rows, source by source, each source's in the order of its slots. All pointers are device
/// addresses.
struct PackParams {
  uint64_t counts;       ///< u32 [ranks]: rows that each source wanted to send here
  uint64_t meta;         ///< [ranks][rowsPerSource][metaStride]: the received rows' ids, weights and scales
  uint64_t absent;       ///< u64 [2]: a bit per source that is left out, in either word; or 0
  uint64_t tokens;       ///< out, i32 [received]: where row g lies in the landing buffer, source * rowsPerSource + slot
  uint64_t rows;         ///< out, i32 [received][topk]: the packed row of each local expert, -1 for the others
  uint64_t weights;      ///< out, f32 [received][topk]
  uint64_t expertCounts; ///< out, u32 [expertsPerRank]
  uint64_t offsets;      ///< out, u32 [expertsPerRank + 1]: where each expert's rows begin; the last: all rows
  uint64_t sources;      ///< out, i32 [capacity]: the received row that lies there, -1 for padding
  uint64_t expertRows;   ///< [capacity][rowBytes]: padding rows are zeroed; or 0: they stay as they are
  uint64_t scales;       ///< out, [capacity][scaleBytes]; or 0
  uint64_t result;       ///< out, PackResult
  uint32_t rank;
  uint32_t alignment; ///< of offsets, in rows; at least 1
  uint32_t capacity;  ///< packed rows that there is room for
  uint32_t reserved;
};
static_assert(sizeof(PackParams) == 112);

/// What pack_experts says of its work. `received` is what LocalParams::count points to.
struct PackResult {
  uint32_t status;   ///< LocalStatus bits
  uint32_t received; ///< rows that came from all sources: groups of the lists
  uint32_t rows;     ///< packed rows, padding among them
  uint32_t wanted;   ///< the same, had the capacity been large enough
  uint32_t dropped;  ///< (row, expert) pairs without room
};
static_assert(sizeof(PackResult) == 20);

/// Alignment at most: keeps a packed row's number in 32 bits, whatever the counts are.
inline constexpr uint32_t maxPackAlignment = 1u << 16;

/// Packed rows that a layer's dispatch can need at a rank at most: every received row at as many local experts as it
/// can name, and each expert's rows rounded up.
uint64_t mostPackedRows(const LayerSpec &layer, uint32_t alignment);

/// Bytes of pack_experts' tables in shared memory: for each local expert a count of each warp's rows, of those before
/// and those behind the CTA's and of all, where its rows begin and where each warp goes on; for each source where its
/// rows begin.
uint64_t packTableBytes(const LayerSpec &layer, uint32_t warps);

/// How a row goes through the ring of a local kernel with bulk copies: in `chunks` pieces of `chunkPackets`, the last
/// of `tailPackets`. A row of any length fits, since a stage holds a piece.
struct LocalRing {
  uint32_t chunks, chunkPackets, tailPackets;
};
/// Of a valid spec with stages.
LocalRing localRing(const KernelSpec &spec);

/// Bytes of a local kernel's rows.
uint64_t localRowBytes(const KernelSpec &spec);

/// Threads of a local kernel's warps that reduce; one more warp issues its copies.
uint32_t localConsumers(const KernelSpec &spec, uint32_t warpWidth);

} // namespace interlock
