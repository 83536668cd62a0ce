// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What can be generated: every rule with the sentence that says what would do.
#include "interlock/spec.hpp"

#include "runtime/Spec/LocalKernels.h"
#include "runtime/Spec/TileTables.h"
#include "runtime/Spec/WindowLayout.h"

#include <fmt/format.h>

namespace interlock {
namespace {

constexpr uint32_t packetBytes = 16;
constexpr uint32_t maxRanks = 64, maxTopk = 32, maxThreads = 1024;
/// Keeps every product below in 64 bits; the address arithmetic of the kernels is 64-bit throughout.
constexpr uint32_t maxHidden = 1u << 20, maxTokensPerRank = 1u << 24, maxExperts = 1u << 20, maxScaleBytes = 1u << 20;
/// More than any machine maps: 57 bits are the widest virtual addresses.
constexpr uint64_t addressSpace = uint64_t(1) << 57;

template <typename... Args> tl::unexpected<Error> refuse(fmt::format_string<Args...> text, Args &&...args) {
  return makeError(Code::badInput, fmt::format(text, std::forward<Args>(args)...));
}

template <typename... Args> tl::unexpected<Error> lacks(fmt::format_string<Args...> text, Args &&...args) {
  return makeError(Code::unsupported, fmt::format(text, std::forward<Args>(args)...));
}

bool isPowerOfTwo(uint32_t n) { return n && (n & (n - 1)) == 0; }

Status requireBetween(const char *what, uint32_t value, uint32_t low, uint32_t high) {
  if (value < low || value > high)
    return refuse("expected {} from {} to {}, got {}", what, low, high, value);
  return {};
}

bool combines(DType dtype) {
  switch (dtype) {
#define ILK_DTYPE(enumerator, name, bytes, combines)                                                                   \
  case DType::enumerator:                                                                                              \
    return combines;
#include "runtime/Spec/DTypes.def"
#undef ILK_DTYPE
  }
  return false;
}

/// Both kinds of row at once, so that what the message proposes does for both.
Status requireWholePackets(const LayerSpec &layer) {
  DType narrower = byteSize(layer.dtype) < byteSize(layer.combineDType) ? layer.dtype : layer.combineDType;
  uint32_t perPacket = packetBytes / byteSize(narrower);
  uint32_t over = layer.hidden % perPacket, below = layer.hidden - over;
  if (over == 0)
    return {};
  return refuse("expected hidden to be a multiple of {} so that a row of {} is whole 16-byte packets, got {}: {}{} "
                "would do",
                perPacket, name(narrower), layer.hidden, below ? fmt::format("{} or ", below) : std::string(),
                below + perPacket);
}

/// The kernels' addresses are base + rank*stride + offset in 64 bits.
Status requireAddressable(const LayerSpec &layer) {
  uint64_t size = windowLayout(layer).size;
  if (size > addressSpace / layer.ranks)
    return refuse("expected the windows of {} ranks to fit 2^57 bytes of addresses, got {} bytes each: fewer tokens "
                  "per rank or a smaller capacity would do",
                  layer.ranks, size);
  return {};
}

Status validateLocal(const KernelSpec &spec, const TargetInfo &target) {
  constexpr uint32_t leastStages = 2, mostStages = 8;
  if (spec.stages && !target.asyncBarrier)
    return lacks("{} has no bulk copies: expected 0 stages, which means plain packets, got {}", target.name,
                 spec.stages);
  if (spec.stages && (spec.stages < leastStages || spec.stages > mostStages))
    return refuse("expected 0 stages (plain packets) or {} to {}, got {}", leastStages, mostStages, spec.stages);
  if (spec.programmatic && target.computeCapability < 90)
    return lacks("{} has no programmatic dependent launch: expected a kernel that starts behind its predecessor's end",
                 target.name);
  if (spec.stages && spec.kernel == KernelKind::dispatchEpilogue && spec.blockThreads != target.warpWidth)
    return refuse("expected one warp of {} threads per CTA, which issues all bulk copies, got {}", target.warpWidth,
                  spec.blockThreads);
  if (spec.stages && spec.kernel == KernelKind::combinePrologue && spec.blockThreads < 2 * target.warpWidth)
    return refuse("expected at least {} threads per CTA, a warp that copies and one that reduces, got {}",
                  2 * target.warpWidth, spec.blockThreads);
  if (spec.cluster != 1)
    return refuse("expected a cluster of 1 CTA for a local kernel, got {}", spec.cluster);
  return {};
}

Status validatePacking(const KernelSpec &spec, const TargetInfo &target) {
  const LayerSpec &layer = spec.layer;
  if (spec.stages || spec.programmatic)
    return refuse("expected 0 stages and no programmatic launch for {}, got {}{}", name(spec.kernel), spec.stages,
                  spec.programmatic ? ", programmatic" : "");
  if (spec.cluster != 1)
    return refuse("expected a cluster of 1 CTA for a local kernel, got {}", spec.cluster);
  uint64_t pairs = uint64_t(layer.ranks) * layer.rowsPerSource() * layer.topk;
  if (pairs > INT32_MAX)
    return refuse("expected at most {} pairs of a received row and an expert, got {}: fewer tokens per rank or a "
                  "smaller capacity would do",
                  INT32_MAX, pairs);
  uint64_t shared = packTableBytes(layer, spec.blockThreads / target.warpWidth);
  if (shared > maxTableBytes)
    return refuse("expected the counts of {} experts per rank to fit {} bytes of shared memory with {} threads per "
                  "CTA, got {}: fewer threads or more ranks would do",
                  layer.expertsPerRank(), maxTableBytes, spec.blockThreads, shared);
  return {};
}

} // namespace

Status validate(const LayerSpec &layer) {
  ILK_RETURN_IF_ERROR(requireBetween("ranks", layer.ranks, 1, maxRanks));
  ILK_RETURN_IF_ERROR(requireBetween("experts", layer.experts, 1, maxExperts));
  ILK_RETURN_IF_ERROR(requireBetween("top-k", layer.topk, 1, maxTopk));
  ILK_RETURN_IF_ERROR(requireBetween("hidden", layer.hidden, 1, maxHidden));
  ILK_RETURN_IF_ERROR(requireBetween("tokens per rank", layer.maxTokens, 1, maxTokensPerRank));
  if (layer.topk > layer.experts)
    return refuse("expected top-k to be at most the number of experts, {}, got {}", layer.experts, layer.topk);
  if (!combines(layer.combineDType))
    return refuse("expected combine to work on f32, f16 or bf16 rows, got {}", name(layer.combineDType));
  if (byteSize(layer.dtype) == 0)
    return refuse("expected a dtype of this library, got number {}", static_cast<unsigned>(layer.dtype));
  ILK_RETURN_IF_ERROR(requireWholePackets(layer));
  if (layer.scaleBytes % 4 || layer.scaleBytes > maxScaleBytes)
    return refuse("expected the scales of a token to be a multiple of 4 bytes and at most {}, got {}", maxScaleBytes,
                  layer.scaleBytes);
  if (layer.capacity > layer.maxTokens)
    return refuse("expected a capacity of at most the tokens per rank, {}, got {}", layer.maxTokens, layer.capacity);
  if (layer.ownInPlace && layer.rowsPerSource() < layer.maxTokens)
    return refuse("expected room for all {} tokens of a rank whose own rows stay in place, got a capacity of {}: 0 "
                  "would do",
                  layer.maxTokens, layer.capacity);
  return requireAddressable(layer);
}

Status validate(const KernelSpec &spec) {
  ILK_RETURN_IF_ERROR(validate(spec.layer));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  if (!isPowerOfTwo(spec.cluster) || spec.cluster > 8)
    return refuse("expected a cluster of 1, 2, 4 or 8 CTAs, got {}", spec.cluster);
  if (spec.cluster > 1 && !target.clusters)
    return lacks("{} has no thread-block clusters: expected a cluster of 1, got {}", target.name, spec.cluster);
  if (spec.schedule == Schedule::clc && !hasLaunchControl(target))
    return lacks("{} has no cluster launch control: expected schedule grid_stride or claimed, got {}", target.name,
                 name(spec.schedule));
  if (spec.blockThreads == 0 || spec.blockThreads % target.warpWidth || spec.blockThreads > maxThreads)
    return refuse("expected threads per CTA to be a multiple of {} and at most {}, got {}", target.warpWidth,
                  maxThreads, spec.blockThreads);
  if (spec.kernel == KernelKind::packExperts)
    return validatePacking(spec, target);
  if (isLocal(spec.kernel))
    return validateLocal(spec, target);
  if (spec.stages || spec.programmatic)
    return refuse("expected 0 stages and no programmatic launch for {}, got {}{}: they are for local kernels",
                  name(spec.kernel), spec.stages, spec.programmatic ? ", programmatic" : "");
  ILK_RETURN_IF_ERROR(requireBetween("tokens per tile", spec.tileTokens, 1, maxTileTokens));
  if (spec.wait == WaitStrategy::relaxedFence && spec.cluster > 1 && !target.restrictedFence && !target.isAMD())
    return lacks("{} has no restricted fences: expected the wait strategy acquire, got relaxed-fence", target.name);
  uint64_t shared =
      tableBytes(spec.kernel, spec.layer, spec.tileTokens, spec.blockThreads / target.warpWidth, target.warpWidth);
  uint64_t most = target.isAMD() ? target.maxSharedBytes - 256 : maxTableBytes;
  if (shared > most)
    return refuse("expected a tile's tables to fit {} bytes of shared memory, got {}: fewer tokens per tile would do",
                  most, shared);
  return {};
}

} // namespace interlock
