// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/LocalKernels.h"

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

} // namespace interlock
