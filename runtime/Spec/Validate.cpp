// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What can be generated: every rule with the sentence that says what would do.
#include "interlock/spec.hpp"

#include "runtime/Spec/WindowLayout.h"

#include <fmt/format.h>

namespace interlock {
namespace {

constexpr uint32_t packetBytes = 16;
constexpr uint32_t maxRanks = 64, maxTopk = 32, maxThreads = 1024, maxTileTokens = 32;
/// Keeps every product below in 64 bits; the address arithmetic of the kernels is 64-bit throughout.
constexpr uint32_t maxHidden = 1u << 20, maxTokensPerRank = 1u << 24, maxExperts = 1u << 20, maxScaleBytes = 1u << 20;
/// More than any machine maps: 57 bits are the widest virtual addresses.
constexpr uint64_t addressSpace = uint64_t(1) << 57;
/// A CTA's static shared memory on every NVIDIA chip (CUDA C++ Programming Guide, "Compute Capabilities"). AMD's have
/// no such limit below the CTA's own.
constexpr uint64_t maxStaticShared = 48 * 1024;

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
  return requireAddressable(layer);
}

Status validate(const KernelSpec &spec) {
  ILK_RETURN_IF_ERROR(validate(spec.layer));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  if (!isPowerOfTwo(spec.cluster) || spec.cluster > 8)
    return refuse("expected a cluster of 1, 2, 4 or 8 CTAs, got {}", spec.cluster);
  if (spec.cluster > 1 && !target.clusters)
    return lacks("{} has no thread-block clusters: expected a cluster of 1, got {}", target.name, spec.cluster);
  if (spec.cluster > 1 && spec.schedule == Schedule::claimed && !target.remoteShared)
    return lacks(
        "{} has no access to the shared memory of a cluster's other CTAs, which a claimed schedule hands tiles "
        "through: expected a cluster of 1 or the schedule grid_stride, got a cluster of {}",
        target.name, spec.cluster);
  if (spec.schedule == Schedule::clc && !hasLaunchControl(target))
    return lacks("{} has no cluster launch control: expected schedule grid_stride or claimed, got {}", target.name,
                 name(spec.schedule));
  if (spec.blockThreads == 0 || spec.blockThreads % target.warpWidth || spec.blockThreads > maxThreads)
    return refuse("expected threads per CTA to be a multiple of {} and at most {}, got {}", target.warpWidth,
                  maxThreads, spec.blockThreads);
  if (!isPowerOfTwo(spec.tileTokens) || spec.tileTokens > maxTileTokens)
    return refuse("expected 1, 2, 4, 8, 16 or 32 tokens per tile, got {}", spec.tileTokens);
  if (spec.wait == WaitStrategy::relaxedFence && spec.cluster > 1 && !target.restrictedFence && !target.isAMD())
    return lacks("{} has no restricted fences: expected the wait strategy acquire, got relaxed-fence", target.name);
  // The tables: slots per rank of a tile (dispatch), or rows and weights per expert of each warp's token (combine).
  uint64_t shared = spec.kernel == KernelKind::dispatch
                        ? uint64_t(spec.tileTokens) * (spec.layer.ranks * 4 + 8) + spec.layer.ranks * 4
                        : uint64_t(spec.blockThreads / target.warpWidth) * spec.layer.topk * 12;
  uint64_t most = target.isAMD() ? target.maxSharedBytes : maxStaticShared;
  if (shared + 256 > most)
    return refuse("expected a tile's tables to fit {} bytes of shared memory, got {}: fewer tokens per tile would do",
                  most, shared);
  return {};
}

} // namespace interlock
