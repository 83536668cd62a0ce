// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a kernel keeps in shared memory, and with it how many tokens a tile can have.
#pragma once

#include "interlock/spec.hpp"

#include <algorithm>
#include <bit>

namespace interlock {

/// Bytes for the tables on NVIDIA chips: a CTA's static shared memory (CUDA C++ Programming Guide, "Compute
/// Capabilities"; AMD's have no such limit below the CTA's own), less what barriers, hand-offs and single words take.
constexpr uint64_t maxTableBytes = 48 * 1024 - 256;
/// Tokens of a tile at most.
constexpr uint32_t maxTileTokens = 1024;

/// Tokens whose contributions a warp of a combine lists at a time: each takes a lane an expert.
inline uint32_t tokensListed(const LayerSpec &layer, uint32_t warpWidth) {
  return std::max(1u, warpWidth / std::bit_ceil(std::max(1u, layer.topk)));
}

/// Bytes of the tables of a tile. Dispatch: ranks and slots of every token, two counts per rank of every group
/// of `warpWidth` tokens and one of all before the tile. Combine: rows and weights per expert of each warp's tokens.
inline uint64_t tableBytes(KernelKind kernel, const LayerSpec &layer, uint32_t tileTokens, uint32_t warps,
                           uint32_t warpWidth) {
  if (kernel == KernelKind::combine)
    return uint64_t(warps) * tokensListed(layer, warpWidth) * layer.topk * 12;
  uint64_t groups = (uint64_t(tileTokens) + warpWidth - 1) / warpWidth;
  return tileTokens * (uint64_t(layer.ranks) * 4 + 8) + (2 * groups + 1) * layer.ranks * 4;
}

/// Packets of 16 bytes that a lane loads before it uses the first: of one row in a dispatch, and in a combine of up to
/// combineBatch() rows, which leaves fewer packets of each. The templates spell the places out.
constexpr uint32_t dispatchPacketsPerLane = 4, combinePlaces = 8;

/// Contributions to a token that a combine loads together.
inline uint32_t combineBatch(const LayerSpec &layer) {
  uint32_t most = layer.expertRows ? layer.topk : std::min(layer.topk, layer.ranks);
  return std::min(std::bit_ceil(std::max(1u, most)), combinePlaces);
}

/// Packets of a row that a lane takes at a time.
inline uint32_t packetsPerLane(KernelKind kernel, const LayerSpec &layer) {
  return kernel == KernelKind::combine ? combinePlaces / combineBatch(layer) : dispatchPacketsPerLane;
}

} // namespace interlock
