// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a kernel keeps in shared memory, and with it how many tokens a tile can have.
#pragma once

#include "interlock/spec.hpp"

namespace interlock {

/// Bytes for the tables on NVIDIA chips: a CTA's static shared memory (CUDA C++ Programming Guide, "Compute
/// Capabilities"; AMD's have no such limit below the CTA's own), less what barriers, hand-offs and single words take.
constexpr uint64_t maxTableBytes = 48 * 1024 - 256;
/// Tokens of a tile at most.
constexpr uint32_t maxTileTokens = 1024;

/// Bytes of the tables of a tile. Dispatch: ranks and slots of every token, two counts per rank of every group
/// of `warpWidth` tokens and one of all before the tile. Combine: rows and weights per expert of each warp's token.
inline uint64_t tableBytes(KernelKind kernel, const LayerSpec &layer, uint32_t tileTokens, uint32_t warps,
                           uint32_t warpWidth) {
  if (kernel == KernelKind::combine)
    return uint64_t(warps) * layer.topk * 12;
  uint64_t groups = (uint64_t(tileTokens) + warpWidth - 1) / warpWidth;
  return tileTokens * (uint64_t(layer.ranks) * 4 + 8) + (2 * groups + 1) * layer.ranks * 4;
}

} // namespace interlock
