// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/LocalKernels.h"

#include "runtime/Spec/TileTables.h"

#include <algorithm>

namespace interlock {

namespace {
constexpr uint32_t packetBytes = 16;
/// Of static shared memory: 48 KiB less what barriers take.
constexpr uint32_t ringBytes = 47 * 1024;
/// A bulk copy of some kilobytes moves as fast as a larger one (bench/results/single_gpu.json, bulk_fan_out), and
/// several of them in flight hide the latency.
constexpr uint32_t mostChunkPackets = 512, defaultStages = 6;
constexpr uint32_t mostConsumers = 224, plainThreads = 256;

uint32_t ceilDiv(uint64_t value, uint64_t by) { return uint32_t((value + by - 1) / by); }
} // namespace

uint64_t localRowBytes(const KernelSpec &spec) {
  return spec.kernel == KernelKind::combinePrologue ? combineRowBytes(spec.layer) : rowBytes(spec.layer);
}

uint32_t localConsumers(const KernelSpec &spec, uint32_t warpWidth) {
  return spec.stages ? spec.blockThreads - warpWidth : spec.blockThreads;
}

LocalRing localRing(const KernelSpec &spec) {
  uint32_t packets = uint32_t(localRowBytes(spec) / packetBytes);
  uint32_t most = std::min(mostChunkPackets, ringBytes / packetBytes / spec.stages);
  // A thread that reduces has one packet of a piece.
  if (spec.kernel == KernelKind::combinePrologue)
    most = std::min(most, spec.blockThreads - 32);
  LocalRing ring;
  ring.chunks = ceilDiv(packets, most);
  ring.chunkPackets = ceilDiv(packets, ring.chunks);
  // Pieces of equal size may be one fewer.
  ring.chunks = ceilDiv(packets, ring.chunkPackets);
  ring.tailPackets = packets - (ring.chunks - 1) * ring.chunkPackets;
  return ring;
}

KernelSpec localKernel(KernelKind kind, uint32_t topk, uint32_t hidden, DType dtype, std::string_view target) {
  KernelSpec spec;
  spec.kernel = kind;
  spec.target = target;
  spec.layer = {.ranks = 1, .experts = topk, .topk = topk, .hidden = hidden, .dtype = dtype, .maxTokens = 1};
  spec.layer.combineDType = kind == KernelKind::combinePrologue ? dtype : DType::bf16;
  if (kind == KernelKind::dispatchEpilogue && byteSize(dtype) > byteSize(DType::bf16))
    spec.layer.combineDType = dtype;
  spec.tileTokens = 1;
  auto chip = findTarget(target);
  bool bulk = chip && chip->asyncBarrier;
  spec.wait = bulk ? WaitStrategy::relaxedFence : WaitStrategy::acquire;
  spec.stages = bulk ? defaultStages : 0;
  if (kind == KernelKind::dispatchEpilogue) {
    spec.blockThreads = bulk ? 32 : plainThreads;
    return spec;
  }
  uint32_t packets = uint32_t(localRowBytes(spec) / packetBytes);
  uint32_t chunk = ceilDiv(packets, std::max(1u, ceilDiv(packets, mostConsumers)));
  spec.blockThreads = bulk ? 32 * (std::max(1u, ceilDiv(chunk, 32)) + 1) : plainThreads;
  return spec;
}

KernelSpec packKernel(const LayerSpec &layer, std::string_view target) {
  KernelSpec spec;
  spec.kernel = KernelKind::packExperts;
  spec.target = target;
  spec.layer = layer;
  spec.layer.maxTokens = layer.rowsPerSource();
  spec.layer.capacity = 0;
  spec.layer.expertRows = spec.layer.ownInPlace = false;
  spec.layer.combineDType = byteSize(layer.dtype) > byteSize(DType::bf16) ? layer.dtype : DType::bf16;
  spec.tileTokens = 1;
  auto chip = findTarget(target);
  spec.wait = chip && chip->restrictedFence ? WaitStrategy::relaxedFence : WaitStrategy::acquire;
  spec.blockThreads = plainThreads;
  if (!validate(spec.layer))
    return spec; // of a layer that is none nothing can be counted
  // A warp's tables must have room; more threads than these were not needed to hide the reading of ids.
  uint32_t width = chip ? chip->warpWidth : 32;
  while (spec.blockThreads > width && packTableBytes(layer, spec.blockThreads / width) > maxTableBytes)
    spec.blockThreads -= width;
  return spec;
}

uint64_t mostPackedRows(const LayerSpec &layer, uint32_t alignment) {
  uint64_t pairs = uint64_t(layer.ranks) * layer.rowsPerSource() * layer.topk;
  uint64_t experts = std::min<uint64_t>(layer.expertsPerRank(), pairs);
  return (pairs + experts * (alignment - 1) + alignment - 1) / alignment * alignment;
}

uint64_t packTableBytes(const LayerSpec &layer, uint32_t warps) {
  return (2 * uint64_t(warps) + 4) * layer.expertsPerRank() * 4 + (uint64_t(layer.ranks) + 1) * 4;
}

} // namespace interlock
