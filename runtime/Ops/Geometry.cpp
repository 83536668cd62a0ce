// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The table of launch geometries: what was found to be good for a number of tokens, cut to what a device can hold.
#include "interlock/operation.hpp"

#include <algorithm>

namespace interlock {

namespace {
/// A row serves layers of at most `tokens` tokens. Few tokens: one a tile, so that every CTA has one; many: larger
/// tiles, so that the scan that finds slots is shared by more rows.
struct GeometryRow {
  uint32_t tokens, blockThreads, tileTokens;
};
constexpr GeometryRow dispatchTable[] = {{32, 512, 1}, {256, 512, 2}, {2048, 512, 4}, {UINT32_MAX, 512, 8}};
constexpr GeometryRow combineTable[] = {{256, 512, 1}, {2048, 512, 2}, {UINT32_MAX, 512, 4}};

uint32_t roundUp(uint64_t value, uint32_t step) { return uint32_t((value + step - 1) / step * step); }
} // namespace

LaunchGeometry defaultGeometry(const LayerSpec &layer, KernelKind kind, uint32_t cluster, const DeviceInfo &device,
                               uint32_t ranksOnDevice, LaunchGeometry asked) {
  cluster = std::max(1u, cluster); // a size that cannot be is for validate() to refuse
  const GeometryRow *row = kind == KernelKind::dispatch ? dispatchTable : combineTable;
  while (row->tokens < layer.maxTokens)
    ++row;
  if (!asked.blockThreads)
    asked.blockThreads = row->blockThreads;
  if (!asked.tileTokens)
    asked.tileTokens = row->tileTokens;
  if (!asked.grid) {
    // One CTA a multiprocessor, shared among the ranks: all of them must be resident at once, whoever starts first.
    uint32_t share = std::max(1u, device.multiprocessors / std::max(1u, ranksOnDevice));
    uint64_t tiles = std::max<uint64_t>(1, (uint64_t(layer.maxTokens) + asked.tileTokens - 1) / asked.tileTokens);
    asked.grid = std::max(cluster, std::min(share / cluster * cluster, roundUp(tiles, cluster)));
  }
  return asked;
}

} // namespace interlock
