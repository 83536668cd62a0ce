// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a kernel is generated from: plain values with one canonical byte form, which the cache key hashes.
#pragma once

#include "interlock/status.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace interlock INTERLOCK_API {

/// Element types of a token row. fp8 rows travel as bytes; their scales are forwarded verbatim.
enum class DType : uint8_t { f32, f16, bf16, f8e4m3fn, f8e4m3fnuz, f8e5m2 };
/// The generated kernels. All but the first two are local: they stand between dispatch or combine and the experts of
/// one rank, and wait for nobody.
enum class KernelKind : uint8_t { dispatch, combine, dispatchEpilogue, combinePrologue, packExperts };
/// Where a cluster takes its next tile from: a fixed stride; a counter claimed by the cluster's leader CTA, which hands
/// the tile to its peers through the hand-off of the sync dialect, or through the window where a CTA cannot write its
/// peers' shared memory; or cluster launch control (`clc`, sm_100 and later),
/// by which the leader cancels the launch of a cluster that has not begun and its cluster does that one's tile.
enum class Schedule : uint8_t { gridStride, claimed, clc };
/// How a wait on an mbarrier that a peer CTA completes is lowered: a relaxed try_wait loop with one restricted acquire
/// fence behind it (PTX ISA 8.6, sm_90), or `.acquire.cluster` on the wait itself.
enum class WaitStrategy : uint8_t { relaxedFence, acquire };
/// What a launch must grant a kernel so that its waits end; the compiler derives it from the kernel's code. Each grants
/// what those before it do: nothing; that a cluster's CTAs run together, which clusters always do; that CTAs are
/// started in the order of their index; that the kernels of other ranks run meanwhile; that the whole grid is resident
/// at once.
enum class LaunchMode : uint8_t { any, cluster, forward, peers, cooperative };

/// Which 8-bit floats a chip converts: the OCP ones, or AMD's e4m3fnuz and e5m2fnuz. Bytes are forwarded on any chip.
enum class F8 : uint8_t { none, ocp, fnuz };

/// The MoE layer and its wire format: what dispatch and combine have in common, and what the symmetric window depends
/// on.
struct LayerSpec {
  uint32_t ranks = 0;               ///< ranks of the expert-parallel group, 1 to 64
  uint32_t experts = 0;             ///< global experts; rank r owns [r*ceil(E/R), min(E, (r+1)*ceil(E/R)))
  uint32_t topk = 0;                ///< experts per token, 1 to 32
  uint32_t hidden = 0;              ///< elements per token row; the row must be whole 16-byte packets
  DType dtype = DType::bf16;        ///< dispatched rows
  DType combineDType = DType::bf16; ///< rows that combine reads and writes: f32, f16 or bf16
  uint32_t scaleBytes = 0;          ///< bytes of quantisation scales that travel with each token, 0 if none
  uint32_t maxTokens = 0;           ///< most tokens that one rank dispatches at a time
  uint32_t capacity = 0;            ///< rows that one rank accepts from each source; 0 means maxTokens
  bool expertRows = false;          ///< combine's input has a row per (token, expert) instead of per (token, rank)
  /// The rows that a rank dispatches lie where its own rows land (Operation::ownRows), so dispatch copies none of them:
  /// all its tokens count as received from itself, in their order, whatever their experts. Takes no capacity.
  bool ownInPlace = false;

  bool operator==(const LayerSpec &) const = default;
  uint32_t expertsPerRank() const { return (experts + ranks - 1) / ranks; }
  uint32_t rowsPerSource() const { return capacity ? capacity : maxTokens; }
};

/// One kernel to generate.
struct KernelSpec {
  KernelKind kernel = KernelKind::dispatch;
  LayerSpec layer;
  std::string target = "sm_90a"; ///< a chip of targets()
  Schedule schedule = Schedule::gridStride;
  uint32_t cluster = 1;        ///< CTAs per cluster: 1, 2, 4 or 8
  uint32_t blockThreads = 512; ///< threads per CTA: a multiple of the warp width, at most 1024
  uint32_t tileTokens = 8;     ///< tokens per tile at most, 1 to 1024; with gridStride a CTA's share if that is less
  WaitStrategy wait = WaitStrategy::relaxedFence;
  uint32_t stages = 0; ///< local kernels: of the ring in shared memory that bulk copies go through; 0: plain packets
  bool programmatic = false; ///< local kernels: may start before its predecessor on the stream ends (sm_90)

  bool operator==(const KernelSpec &) const = default;
};

/// A local kernel of rows of `dtype` with the geometry that was found good for its target. What a local kernel does not
/// depend on is at its least, so that equal kernels have equal specs.
KernelSpec localKernel(KernelKind kind, uint32_t topk, uint32_t hidden, DType dtype,
                       std::string_view target = "sm_90a");
/// The local kernel that makes the lists of the other two: received rows, packed by expert.
KernelSpec packKernel(const LayerSpec &layer, std::string_view target = "sm_90a");
inline bool isLocal(KernelKind kind) { return kind != KernelKind::dispatch && kind != KernelKind::combine; }
/// The local kernels whose work is a list of dedup groups.
inline bool worksOnGroups(KernelKind kind) {
  return kind == KernelKind::dispatchEpilogue || kind == KernelKind::combinePrologue;
}

/// Checks every field against every other and against the target's features. The message says what would do.
[[nodiscard]] Status validate(const LayerSpec &layer);
[[nodiscard]] Status validate(const KernelSpec &spec);

/// The canonical byte form: `field=value` lines in a fixed order, the same on every machine. parseSpec is its inverse
/// and refuses unknown, missing and repeated fields.
std::string canonicalForm(const KernelSpec &spec);
[[nodiscard]] Result<KernelSpec> parseSpec(std::string_view canonical);

/// Bytes of one element, and of one token row.
uint32_t byteSize(DType dtype);
inline uint64_t rowBytes(const LayerSpec &l) { return uint64_t(l.hidden) * byteSize(l.dtype); }
inline uint64_t combineRowBytes(const LayerSpec &l) { return uint64_t(l.hidden) * byteSize(l.combineDType); }

/// Names as users write them (`bf16`, `grid_stride`, `relaxed-fence`, …) and back; parsing lists what would do.
std::string_view name(DType);
std::string_view name(KernelKind);
std::string_view name(Schedule);
std::string_view name(WaitStrategy);
std::string_view name(LaunchMode);
std::string_view name(F8);
[[nodiscard]] Result<DType> parseDType(std::string_view);
[[nodiscard]] Result<KernelKind> parseKernelKind(std::string_view);
[[nodiscard]] Result<Schedule> parseSchedule(std::string_view);
[[nodiscard]] Result<WaitStrategy> parseWaitStrategy(std::string_view);
[[nodiscard]] Result<LaunchMode> parseLaunchMode(std::string_view);

/// A chip that kernels can be generated for, from Targets.def.
struct TargetInfo {
  std::string_view name;      ///< as the back end spells it: sm_90a, gfx942
  std::string_view vendor;    ///< nvptx or amdgcn
  uint32_t computeCapability; ///< 90 for sm_90a; 0 for amdgcn
  uint32_t warpWidth;         ///< lanes
  uint32_t minPtxIsa;         ///< 10*major+minor: the lowest PTX ISA that knows the chip; 0 for amdgcn
  bool clusters;              ///< clusters of CTAs that are resident together
  bool asyncBarrier;          ///< mbarrier with transaction counts, try_wait, st.async, bulk copies
  bool restrictedFence;       ///< fence.acquire/release.sync_restrict
  uint32_t maxSharedBytes;    ///< shared memory that a CTA can ask for
  bool remoteShared;          ///< shared memory of the cluster's other CTAs: hand-offs across CTAs
  std::string_view features;  ///< features of an amdgcn chip, as the back end spells them
  uint32_t codeObject;        ///< version of an amdgcn code object; 0 for nvptx
  F8 f8;                      ///< 8-bit floats that it converts

  bool isAMD() const { return codeObject != 0; }
  /// What the compiler calls a kernel's text and its binary.
  const char *textPart() const { return isAMD() ? "asm" : "ptx"; }
  const char *binaryPart() const { return isAMD() ? "hsaco" : "cubin"; }
};
/// Whether the chip has clusterlaunchcontrol (PTX ISA, "clusterlaunchcontrol.try_cancel": sm_100 or later).
inline bool hasLaunchControl(const TargetInfo &target) {
  return target.vendor == "nvptx" && target.computeCapability >= 100;
}
std::span<const TargetInfo> targets();
/// The cheaper wait that the chip has. On AMD chips a relaxed loop with a fence behind it always is.
inline WaitStrategy cheapestWait(const TargetInfo &target) {
  return target.restrictedFence || target.isAMD() ? WaitStrategy::relaxedFence : WaitStrategy::acquire;
}
[[nodiscard]] Result<TargetInfo> findTarget(std::string_view name);

/// A published model configuration, from Models.def.
struct ModelPreset {
  std::string_view name; ///< deepseek-v3
  uint32_t hidden, experts, topk;
  std::string_view source; ///< where the figures were published
};
std::span<const ModelPreset> models();
[[nodiscard]] Result<ModelPreset> findModel(std::string_view name);

} // namespace interlock INTERLOCK_API
