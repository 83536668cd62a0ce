// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/CopyRing.h"

#include <algorithm>

namespace interlock {

namespace {
constexpr uint32_t packetBytes = 16, packetsPerLane = 4;
/// What one bulk copy of a dispatch moves at most: more would leave a ring of few stages.
constexpr uint32_t longestPiece = 8192;
/// Stages of a dispatch: two that are read ahead, and two whose writes are on their way.
constexpr uint32_t dispatchStages = 4, dispatchAhead = 2;
constexpr uint32_t mostStages = 16;
/// Stages begin at multiples of a cache line.
constexpr uint32_t stageAlignment = 128;
/// Static storage beside the tables: barriers, counters, the hand-off of tiles; and what the system keeps for itself.
constexpr uint32_t reserved = 4096;

uint32_t ceilDiv(uint64_t value, uint32_t by) { return uint32_t((value + by - 1) / by); }
uint32_t roundUp(uint64_t value, uint32_t step) { return ceilDiv(value, step) * step; }

CopyRing cut(uint64_t row, uint32_t pieceBytes) {
  CopyRing ring;
  ring.pieceBytes = pieceBytes;
  ring.pieces = ceilDiv(row, pieceBytes);
  ring.lastBytes = uint32_t(row - uint64_t(ring.pieces - 1) * pieceBytes);
  return ring;
}
} // namespace

uint64_t tableBytes(const KernelSpec &spec, const TargetInfo &target) {
  if (spec.kernel == KernelKind::dispatch)
    return uint64_t(spec.tileTokens) * (spec.layer.ranks * 4 + 8) + spec.layer.ranks * 4;
  return uint64_t(spec.blockThreads / target.warpWidth) * spec.layer.topk * 12;
}

CopyRing copyRing(const KernelSpec &spec, const TargetInfo &target) {
  bool combine = spec.kernel == KernelKind::combine;
  uint64_t row = combine ? combineRowBytes(spec.layer) : rowBytes(spec.layer);
  uint32_t lanePieces = packetsPerLane * target.warpWidth * packetBytes;
  if (spec.copy == RowCopy::packets)
    return cut(row, lanePieces);

  uint32_t warps = spec.blockThreads / target.warpWidth;
  uint64_t taken = tableBytes(spec, target) + reserved;
  uint64_t perWarp = target.maxSharedBytes > taken ? (target.maxSharedBytes - taken) / warps : 0;
  uint32_t piece = lanePieces, stages = uint32_t(std::min<uint64_t>(mostStages, perWarp / lanePieces));
  if (!combine) {
    stages = dispatchStages;
    uint32_t most = uint32_t(std::min<uint64_t>(longestPiece, perWarp / stages)) / stageAlignment * stageAlignment;
    if (most == 0)
      stages = 0;
    else // pieces of equal size, as far as that goes
      piece = roundUp(ceilDiv(row, ceilDiv(row, most)), stageAlignment);
  }
  CopyRing ring = cut(row, piece);
  ring.stages = stages;
  ring.ahead = combine ? stages : dispatchAhead;
  ring.ringBytes = uint64_t(stages) * piece * warps;
  return ring;
}

} // namespace interlock
