// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The scalar oracle: what dispatch and combine must produce, bit for bit, written as plainly as it can be said and
// sharing nothing with the kernels. Tests and `interlock run --check` compare with it.
#pragma once

#include "interlock/spec.hpp"
#include "runtime/Spec/WindowLayout.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace interlock {

/// What one rank hands to dispatch, in host memory.
struct SourceTokens {
  uint32_t tokens = 0;
  std::span<const std::byte> x;      ///< [tokens][rowBytes]
  std::span<const std::byte> scales; ///< [tokens][scaleBytes]
  std::span<const int32_t> ids;      ///< [tokens][topk]
  std::span<const float> weights;    ///< [tokens][topk]
};

/// What a dispatch must leave behind at one rank.
struct ReferenceRank {
  std::vector<int32_t> slots;                ///< [tokens][topk]: row at the expert's rank, or -1
  std::vector<uint32_t> counts;              ///< [source]: rows that the source wanted to send here
  std::vector<std::vector<uint32_t>> landed; ///< [source][slot]: the source's token index in that row, after the cap
  uint32_t status = opOk;                    ///< OpStatus bits without opPeerLost
  uint32_t dropped = 0;                      ///< (token, rank) pairs of this rank's tokens that did not fit
  uint32_t received = 0, wanted = 0;         ///< sums over the live sources, after and before the cap
};

/// Dispatch over all ranks. `dead` has a bit per rank that neither sends nor receives.
std::vector<ReferenceRank> referenceDispatch(const LayerSpec &layer, std::span<const SourceTokens> sources,
                                             uint64_t dead = 0);

/// Rows that the dispatch of `source` writes: one at each rank that a token goes to, but none that is in its place.
uint64_t sentRows(const LayerSpec &layer, std::span<const ReferenceRank> dispatched, uint32_t source);

/// Rows that a combine reads: one of each rank, or with expertRows of each expert, that a token was sent to.
uint64_t gatheredRows(const LayerSpec &layer, const SourceTokens &source, std::span<const int32_t> slots);

/// The bytes of the meta row that `token` of `source` lands with; bytes between its fields are left as they are.
void referenceMetaRow(const LayerSpec &layer, const SourceTokens &source, uint32_t token, std::span<std::byte> row);

/// An expert's output row (combineDType) for a landed row: at `rank`, from `source`, in `slot`, for top-k index `k`
/// (0 without expertRows).
using ExpertRow = std::function<const std::byte *(uint32_t rank, uint32_t slot, uint32_t k)>;

/// What combine must return to one rank.
struct ReferenceCombined {
  std::vector<std::byte> out;    ///< [tokens][combineRowBytes]
  std::vector<float> outWeights; ///< [tokens][topk]
};

/// Combine for one rank: `slots` are its own from the dispatch; with `weighted` the source's weights are applied, else
/// the rows are summed. Contributions are added in f32 by fused multiply-add from +0, in the order that is part of the
/// specification, and rounded once.
ReferenceCombined referenceCombine(const LayerSpec &layer, const SourceTokens &source, std::span<const int32_t> slots,
                                   bool weighted, const ExpertRow &expertRow);

/// The row that a test expert writes, in combineDType: its input times `factor`, which is 1 for identity experts. fp8
/// rows are first scaled by their scales, read as one f32 per block of hidden*4/scaleBytes elements.
void scaledExpertRow(const LayerSpec &layer, std::span<const std::byte> row, std::span<const std::byte> scales,
                     float factor, std::span<std::byte> out);

} // namespace interlock
