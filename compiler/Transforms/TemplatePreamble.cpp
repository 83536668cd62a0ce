// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Transforms/TemplatePreamble.h"

#include "runtime/Spec/LocalKernels.h"
#include "runtime/Spec/TileTables.h"
#include "runtime/Spec/WindowLayout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace interlock {
namespace {

class Preamble {
public:
  void integer(const char *name, uint64_t value, unsigned bits) {
    text += fmt::format("#{} = {} : i{} ", name, static_cast<int64_t>(value), bits);
  }
  void flag(const char *name, bool value) { text += fmt::format("#{} = {} ", name, value); }
  void line(std::string_view alias) { text.append(alias).append(" "); }
  std::string take() { return std::move(text); }

private:
  std::string text;
};

std::string_view mlirType(DType dtype) {
  switch (dtype) {
  case DType::f32:
    return "f32";
  case DType::f16:
    return "f16";
  case DType::bf16:
    return "bf16";
  case DType::f8e4m3fn:
    return "f8E4M3FN";
  case DType::f8e4m3fnuz:
    return "f8E4M3FNUZ";
  case DType::f8e5m2:
    return "f8E5M2";
  }
  return "none";
}

constexpr uint32_t packetBytes = 16;

void addLayer(Preamble &p, const LayerSpec &layer) {
  p.integer("ranks", layer.ranks, 32);
  p.integer("all_ranks", layer.ranks == 64 ? ~uint64_t(0) : (uint64_t(1) << layer.ranks) - 1, 64);
  p.integer("experts", layer.experts, 32);
  p.integer("experts_per_rank", layer.expertsPerRank(), 32);
  p.integer("topk", layer.topk, 32);
  p.integer("topk_bytes", uint64_t(layer.topk) * 4, 64);
  p.integer("id_packets", layer.topk % 4 ? 0 : layer.topk / 4, 32); // of a token's ids, if they are whole packets
  p.integer("rows_per_source", layer.rowsPerSource(), 32);
  p.integer("rows_per_source_wide", layer.rowsPerSource(), 64);
  p.integer("scale_bytes", layer.scaleBytes, 64);
  p.integer("scale_words", layer.scaleBytes / 4, 32);
  p.flag("expert_rows", layer.expertRows);
  p.flag("own_in_place", layer.ownInPlace);
}

void addWindow(Preamble &p, const KernelSpec &spec) {
  WindowLayout w = windowLayout(spec.layer);
  p.integer("off_control", w.control, 64);
  p.integer("off_result", w.results + sizeof(OpResult) * static_cast<uint64_t>(spec.kernel), 64);
  p.integer("off_started", w.started, 64);
  p.integer("off_arrived", w.arrived, 64);
  p.integer("off_counts", w.counts, 64);
  p.integer("off_landing", w.landing, 64);
  p.integer("off_meta", w.meta, 64);
  p.integer("off_expert_out", w.expertOut, 64);
  p.integer("off_mailboxes", w.mailboxes, 64);
  p.integer("signal_stride", WindowLayout::signalStride, 64);
  p.integer("row_stride", w.rowStride, 64);
  p.integer("combine_row_stride", w.combineRowStride, 64);
  p.integer("out_rows", w.outRows, 64);
  p.integer("meta_stride", w.metaStride, 64);
  p.integer("meta_weights", w.metaWeights, 64);
  p.integer("meta_weights_word", w.metaWeights / 4, 32);
  p.integer("meta_token_word", w.metaToken / 4, 32);
  p.integer("meta_scales_word", w.metaScales / 4, 32);
  p.integer("meta_words", spec.layer.scaleBytes ? (w.metaScales + spec.layer.scaleBytes) / 4 : w.metaToken / 4 + 1, 32);
  p.integer("control_ticket", offsetof(ControlBlock, ticket), 64);
  p.integer("control_claim", offsetof(ControlBlock, claim), 64);
  p.integer("control_status", offsetof(ControlBlock, status), 64);
  p.integer("control_dropped", offsetof(ControlBlock, dropped), 64);
  p.integer("control_lost", offsetof(ControlBlock, lost), 64);
  p.integer("control_dead", offsetof(ControlBlock, dead), 64);
  p.integer("control_last_use", offsetof(ControlBlock, lastUse), 64);
  p.integer("status_overflow", opOverflow, 32);
  p.integer("status_peer_lost", opPeerLost, 32);
  p.integer("status_bad_id", opBadId, 32);
}

void addGeometry(Preamble &p, const KernelSpec &spec, const TargetInfo &target) {
  const LayerSpec &layer = spec.layer;
  bool combine = spec.kernel == KernelKind::combine;
  uint32_t packets = static_cast<uint32_t>((combine ? combineRowBytes(layer) : rowBytes(layer)) / packetBytes);
  uint32_t lanePackets = packetsPerLane(spec.kernel, layer), batch = combineBatch(layer);
  uint32_t segmentPackets = lanePackets * target.warpWidth;
  uint32_t segments = (packets + segmentPackets - 1) / segmentPackets;
  uint32_t tile = spec.tileTokens, warps = spec.blockThreads / target.warpWidth;
  p.integer("block_threads", spec.blockThreads, 32);
  p.integer("warp_width", target.warpWidth, 32);
  p.integer("warps", warps, 32);
  p.integer("cluster", spec.cluster, 32);
  p.line(fmt::format("#schedule = #ep.schedule<{}>", name(spec.schedule)));
  p.flag("remote_shared", target.remoteShared);
  p.flag("unordered_tiles", spec.schedule == Schedule::clc); // a CTA's tiles come in any order
  p.integer("tile_tokens", tile, 32);
  p.flag("even_tiles", spec.schedule == Schedule::gridStride); // as many tokens for every CTA
  p.integer("packets", packets, 32);
  p.integer("last_packet", packets - 1, 32);
  p.integer("segment_packets", segmentPackets, 32);
  p.integer("segments", segments, 32);
  p.flag("whole_segments", packets % segmentPackets == 0);
  // dispatch: a token's segments and one item more for its meta row; tokens whose routing handle a warp writes at a
  // time
  p.integer("items_per_token", segments + 1, 32);
  p.integer("handle_tokens", std::max(1u, target.warpWidth / layer.topk), 32);
  // combine: contributions that are loaded together, and whether that is all that a token can have
  p.integer("batch", batch, 32);
  p.flag("one_batch", (layer.expertRows ? layer.topk : std::min(layer.topk, layer.ranks)) <= batch);
  // combine: lanes that list a token's contributions, as a number and as their bits, and tokens that a warp lists at a
  // time
  uint32_t lanesPerToken = std::bit_ceil(layer.topk), listed = tokensListed(layer, target.warpWidth);
  p.integer("lanes_per_token", lanesPerToken, 32);
  p.integer("token_lanes", (uint64_t(1) << lanesPerToken) - 1, 64);
  p.integer("tokens_listed", listed, 32);
  p.integer("table_rows", listed * layer.topk, 32);
  p.integer("last_listed", layer.topk - 1, 32);
  // bytes of the tables in shared memory
  p.integer("ranks_bytes", uint64_t(layer.ranks) * 4, 64);
  uint32_t groups = (tile + target.warpWidth - 1) / target.warpWidth;
  p.integer("group_counts_bytes", uint64_t(groups) * layer.ranks * 4, 64);
  p.integer("tile_masks_bytes", uint64_t(tile) * 8, 64);
  p.integer("tile_slots_bytes", uint64_t(tile) * layer.ranks * 4, 64);
  p.integer("warps_rows_bytes", uint64_t(warps) * listed * layer.topk * 8, 64);
  p.integer("warps_weights_bytes", uint64_t(warps) * listed * layer.topk * 4, 64);
}

/// What all local kernels know, and local.mlir with them.
void addLocalRows(Preamble &p, const KernelSpec &spec, const TargetInfo &target) {
  uint64_t rowBytes = localRowBytes(spec);
  p.integer("row_stride", rowBytes, 64);
  p.integer("packets", rowBytes / packetBytes, 32);
  p.integer("block_threads", spec.blockThreads, 32);
  p.integer("warp_width", target.warpWidth, 32);
  p.integer("bad_token", localBadToken, 32);
  p.integer("bad_row", localBadRow, 32);
  p.flag("programmatic", spec.programmatic);
}

void addPacking(Preamble &p, const KernelSpec &spec, const TargetInfo &target) {
  const LayerSpec &layer = spec.layer;
  WindowLayout w = windowLayout(layer);
  uint32_t warps = spec.blockThreads / target.warpWidth, experts = layer.expertsPerRank();
  p.integer("meta_stride", w.metaStride, 64);
  p.integer("meta_weights", w.metaWeights, 64);
  p.integer("meta_scales", w.metaScales, 64);
  p.integer("warps", warps, 32);
  p.integer("unit_rows", warps + 2, 32);
  p.integer("last_lane", target.warpWidth - 1, 32);
  p.integer("overflow", localOverflow, 32);
  p.integer("result_received", offsetof(PackResult, received), 64);
  p.integer("result_rows", offsetof(PackResult, rows), 64);
  p.integer("result_wanted", offsetof(PackResult, wanted), 64);
  p.integer("result_dropped", offsetof(PackResult, dropped), 64);
  // bytes of the tables in shared memory, together packTableBytes
  p.integer("starts_bytes", (uint64_t(layer.ranks) + 1) * 4, 64);
  p.integer("unit_counts_bytes", (uint64_t(warps) + 2) * experts * 4, 64);
  p.integer("places_bytes", uint64_t(warps) * experts * 4, 64);
  p.integer("bases_bytes", uint64_t(experts) * 4, 64);
}

void addLocal(Preamble &p, const KernelSpec &spec, const TargetInfo &target) {
  uint32_t warps = spec.blockThreads / target.warpWidth;
  p.integer("topk", spec.layer.topk, 32);
  p.integer("topk_bytes", uint64_t(spec.layer.topk) * 4, 64);
  addLocalRows(p, spec, target);
  p.flag("bulk", spec.stages != 0);
  // Without a ring its constants still stand in what folds away.
  KernelSpec ringed = spec;
  ringed.stages = std::max(spec.stages, 2u);
  ringed.blockThreads = std::max(spec.blockThreads, 2 * target.warpWidth);
  LocalRing ring = localRing(spec.stages ? spec : ringed);
  uint32_t stages = ringed.stages, ahead = stages / 2;
  p.integer("stages", stages, 32);
  // dispatch_epilogue: loads that are in flight; the other stages are being stored from
  p.integer("ahead", ahead, 32);
  p.integer("stores_in_flight", stages - ahead - 1, 32);
  p.integer("consumers", std::max(1u, warps - 1), 32);
  p.integer("chunks", ring.chunks, 32);
  p.integer("last_chunk", ring.chunks - 1, 32);
  p.integer("chunk_packets", ring.chunkPackets, 32);
  p.integer("tail_packets", ring.tailPackets, 32);
  p.integer("chunk_bytes", uint64_t(ring.chunkPackets) * packetBytes, 32);
  p.integer("tail_bytes", uint64_t(ring.tailPackets) * packetBytes, 32);
  p.integer("chunk_stride", uint64_t(ring.chunkPackets) * packetBytes, 64);
  p.integer("ring_bytes", uint64_t(ring.chunkPackets) * packetBytes * stages, 64);
}

} // namespace

std::string templatePreamble(const KernelSpec &spec, const TargetInfo &target) {
  Preamble p;
  if (isLocal(spec.kernel)) {
    DType dtype = spec.kernel == KernelKind::combinePrologue ? spec.layer.combineDType : spec.layer.dtype;
    p.line(fmt::format("!elem = {}", mlirType(dtype)));
    p.line(fmt::format("!acc = vector<{}xf32>", packetBytes / byteSize(dtype)));
    if (worksOnGroups(spec.kernel)) {
      addLocal(p, spec, target);
    } else {
      addLayer(p, spec.layer);
      addLocalRows(p, spec, target);
      addPacking(p, spec, target);
    }
    return p.take();
  }
  DType dtype = spec.kernel == KernelKind::combine ? spec.layer.combineDType : spec.layer.dtype;
  p.line(fmt::format("!elem = {}", mlirType(dtype)));
  p.line(fmt::format("!acc = vector<{}xf32>", packetBytes / byteSize(dtype)));
  addLayer(p, spec.layer);
  addWindow(p, spec);
  addGeometry(p, spec, target);
  return p.take();
}

} // namespace interlock
