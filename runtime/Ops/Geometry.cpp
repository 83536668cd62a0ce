// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Launch geometry where none is asked for: what was found to be good on an H200 (bench/results/sweep.json), cut to
// what a device can hold.
#include "interlock/operation.hpp"
#include "runtime/Spec/TileTables.h"

#include <algorithm>
#include <bit>

namespace interlock {

namespace {
/// What the templates do with a tile: a warp takes some packets a lane at a time, and a dispatch one item more per
/// token for its meta row.
constexpr uint32_t packetBytes = 16;
/// Lanes of a warp; a chip that is not known is refused elsewhere.
uint32_t warpWidthOf(const std::string &chip) {
  Result<TargetInfo> target = findTarget(chip);
  return target ? target->warpWidth : 32;
}
/// Tokens per tile at most: beyond these nothing was gained. Few CTAs over a link have a tile each, as far as the
/// tables go: a dispatch's warps meet once a tile to give out slots, and a combine's warps ask for their next token's
/// lists within a tile. More CTAs of a dispatch are faster side by side.
constexpr uint32_t claimedTile = 8, dispatchTile = 32, combineTile = 32, linkDispatchTile = 16;
/// A rank alone on its device sends to others over a link, which few multiprocessors fill: more of them win little or
/// lose (bench/results/two_gpus.json). Where own rows stay in place all that is written goes over the link, and fewer
/// still do. Few tokens are bound by latency, and take more.
constexpr uint32_t linkDispatchCtas = 14, linkInPlaceCtas = 8, linkCombineCtas = 16, linkLatencyCtas = 64,
                   linkLatencyTokens = 1024;
/// A warp has two items at least once there are some warps: more threads only make the barriers of a short tile slower.
constexpr uint32_t itemsPerWarp = 2, severalWarps = 8;
/// A dispatch of many tokens is bound by memory and gains nothing from more threads; a short one and a combine hide
/// their latency with them.
constexpr uint32_t leastThreads = 128, streamingThreads = 512, mostThreads = 1024, streamingTokens = 16;

uint32_t ceilDiv(uint64_t value, uint64_t by) { return uint32_t((value + by - 1) / by); }
uint32_t roundUp(uint64_t value, uint32_t step) { return uint32_t((value + step - 1) / step * step); }
/// Tokens of a dispatch's tile whose tables still fit.
uint32_t mostTokens(const LayerSpec &layer) {
  uint32_t tokens = maxTileTokens;
  while (tokens > 1 && tableBytes(KernelKind::dispatch, layer, tokens, 0, 32) > maxTableBytes)
    tokens /= 2;
  return tokens;
}
} // namespace

LaunchGeometry defaultGeometry(const LayerSpec &layer, KernelKind kind, uint32_t cluster, const DeviceInfo &device,
                               uint32_t ranksOnDevice, LaunchGeometry asked, Schedule schedule) {
  cluster = std::max(1u, cluster); // a size that cannot be is for validate() to refuse
  bool combine = kind == KernelKind::combine;
  // One CTA a multiprocessor, shared among the ranks: all of them must be resident at once, whoever starts first.
  uint32_t share = std::max(1u, device.multiprocessors / std::max(1u, ranksOnDevice));
  bool overLink = ranksOnDevice == 1 && layer.ranks > 1;
  if (overLink)
    share = std::min(share, layer.maxTokens <= linkLatencyTokens ? linkLatencyCtas
                            : combine                            ? linkCombineCtas
                            : layer.ownInPlace                   ? linkInPlaceCtas
                                                                 : linkDispatchCtas);
  uint32_t ctas = asked.grid ? asked.grid : share, tokensPerCta = std::max(1u, ceilDiv(layer.maxTokens, ctas));
  if (!asked.tileTokens) {
    uint32_t most = schedule != Schedule::gridStride ? (combine ? combineTile : claimedTile)
                    : !overLink                      ? (combine ? combineTile : dispatchTile)
                    : combine                        ? maxTileTokens
                    : ctas <= linkDispatchCtas       ? mostTokens(layer)
                                                     : linkDispatchTile;
    asked.tileTokens = std::min(tokensPerCta, most);
  }
  if (!asked.blockThreads) {
    uint32_t width = warpWidthOf(device.target);
    uint64_t row = combine ? combineRowBytes(layer) : rowBytes(layer);
    uint64_t items = uint64_t(asked.tileTokens) *
                     (ceilDiv(row, width * packetsPerLane(kind, layer) * packetBytes) + (combine ? 0 : 1));
    bool streaming = !combine && !overLink && tokensPerCta > streamingTokens;
    uint32_t most = streaming ? streamingThreads : mostThreads;
    uint64_t warps = std::max(ceilDiv(items, itemsPerWarp), uint32_t(std::min<uint64_t>(items, severalWarps)));
    asked.blockThreads = uint32_t(std::clamp<uint64_t>(std::bit_ceil(width * warps), leastThreads, most));
  }
  if (!asked.grid) {
    uint64_t tiles = std::max<uint64_t>(1, (uint64_t(layer.maxTokens) + asked.tileTokens - 1) / asked.tileTokens);
    uint32_t all = roundUp(tiles, cluster);
    // With cluster launch control each tile is a CTA that some running one may take over, so all of them are launched.
    asked.grid = schedule == Schedule::clc ? all : std::max(cluster, std::min(share / cluster * cluster, all));
  }
  return asked;
}

} // namespace interlock
