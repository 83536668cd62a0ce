// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The local kernels: dispatch_epilogue copies every received token's row to the rows of its local experts,
// combine_prologue reduces those to the one row that goes back. What the kernels fold in and what the host hands them.
#pragma once

#include "interlock/spec.hpp"

namespace interlock {

/// Parameters of both. Work is a list of dedup groups: group g is the token in row `tokens[g]` of the token rows and
/// the expert rows `rows[g][0 … topk-1]`, of which -1 names none. An expert row belongs to one group at most, and each
/// token row to one. All pointers are device addresses.
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
};

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
