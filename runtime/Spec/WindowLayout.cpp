// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/WindowLayout.h"

#include "runtime/Spec/LocalKernels.h"

#include <cstddef>

namespace interlock {
namespace {

constexpr uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

/// Hands out regions one after the other.
struct Carver {
  uint64_t end = 0;
  uint64_t region(uint64_t bytes) {
    uint64_t at = end;
    end = align(end + bytes, 256);
    return at;
  }
};

/// The most clusters of at least two CTAs that get a unit: it has as many tiles, and a tile has at least a token.
uint64_t clustersWithTiles(const LayerSpec &layer) { return (uint64_t(layer.maxTokens) + 1) / 2; }

} // namespace

WindowLayout windowLayout(const LayerSpec &layer) {
  WindowLayout w{};
  w.rowStride = rowBytes(layer);
  w.combineRowStride = combineRowBytes(layer);
  w.outRows = layer.expertRows ? layer.topk : 1;
  uint64_t idBytes = uint64_t(layer.topk) * 4;
  w.metaWeights = idBytes;
  w.metaToken = 2 * idBytes;
  w.metaScales = align(w.metaToken + 4, 16);
  w.metaStride = align(w.metaScales + layer.scaleBytes, 16);

  uint64_t rows = uint64_t(WindowLayout::buffers) * layer.ranks * layer.rowsPerSource();
  Carver carve;
  w.control = carve.region(sizeof(ControlBlock));
  w.results = carve.region(2 * sizeof(OpResult));
  w.started = carve.region(uint64_t(layer.ranks) * WindowLayout::signalStride);
  w.arrived = carve.region(uint64_t(layer.ranks) * WindowLayout::signalStride);
  w.counts = carve.region(uint64_t(WindowLayout::buffers) * layer.ranks * 4);
  w.landing = carve.region(rows * w.rowStride);
  w.meta = carve.region(rows * w.metaStride);
  w.expertOut = carve.region(rows * w.outRows * w.combineRowStride);
  w.mailboxes = carve.region(clustersWithTiles(layer) * 4);
  w.size = carve.end;
  return w;
}

#define ILK_PARAM(params, field)                                                                                       \
  KernelParam { #field, sizeof(params::field) == 8 ? "u64" : "u32", offsetof(params, field), sizeof(params::field) }

std::vector<KernelParam> kernelParams(KernelKind kind) {
  switch (kind) {
  case KernelKind::dispatch:
    return {
        ILK_PARAM(DispatchParams, window), ILK_PARAM(DispatchParams, stride),    ILK_PARAM(DispatchParams, x),
        ILK_PARAM(DispatchParams, scales), ILK_PARAM(DispatchParams, ids),       ILK_PARAM(DispatchParams, weights),
        ILK_PARAM(DispatchParams, slots),  ILK_PARAM(DispatchParams, timeoutNs), ILK_PARAM(DispatchParams, rank),
        ILK_PARAM(DispatchParams, tokens), ILK_PARAM(DispatchParams, buffer),    ILK_PARAM(DispatchParams, givenUp)};
  case KernelKind::combine:
    return {
        ILK_PARAM(CombineParams, window),     ILK_PARAM(CombineParams, stride),    ILK_PARAM(CombineParams, out),
        ILK_PARAM(CombineParams, outWeights), ILK_PARAM(CombineParams, ids),       ILK_PARAM(CombineParams, weights),
        ILK_PARAM(CombineParams, slots),      ILK_PARAM(CombineParams, timeoutNs), ILK_PARAM(CombineParams, rank),
        ILK_PARAM(CombineParams, tokens),     ILK_PARAM(CombineParams, buffer),    ILK_PARAM(CombineParams, reserved)};
  case KernelKind::dispatchEpilogue:
  case KernelKind::combinePrologue:
    return {ILK_PARAM(LocalParams, tokenRows),     ILK_PARAM(LocalParams, expertRows),
            ILK_PARAM(LocalParams, tokens),        ILK_PARAM(LocalParams, rows),
            ILK_PARAM(LocalParams, weights),       ILK_PARAM(LocalParams, count),
            ILK_PARAM(LocalParams, status),        ILK_PARAM(LocalParams, groups),
            ILK_PARAM(LocalParams, tokenRowCount), ILK_PARAM(LocalParams, expertRowCount)};
  case KernelKind::packExperts:
    return {ILK_PARAM(PackParams, counts),       ILK_PARAM(PackParams, meta),      ILK_PARAM(PackParams, absent),
            ILK_PARAM(PackParams, tokens),       ILK_PARAM(PackParams, rows),      ILK_PARAM(PackParams, weights),
            ILK_PARAM(PackParams, expertCounts), ILK_PARAM(PackParams, offsets),   ILK_PARAM(PackParams, sources),
            ILK_PARAM(PackParams, expertRows),   ILK_PARAM(PackParams, scales),    ILK_PARAM(PackParams, result),
            ILK_PARAM(PackParams, rank),         ILK_PARAM(PackParams, alignment), ILK_PARAM(PackParams, capacity)};
  }
  return {};
}
#undef ILK_PARAM

std::vector<WindowRegion> windowRegions(const LayerSpec &layer) {
  WindowLayout w = windowLayout(layer);
  std::vector<WindowRegion> regions = {
      {"control", w.control, 0}, {"results", w.results, 0},      {"started", w.started, 0},
      {"arrived", w.arrived, 0}, {"counts", w.counts, 0},        {"landing", w.landing, 0},
      {"meta", w.meta, 0},       {"expert_out", w.expertOut, 0}, {"mailboxes", w.mailboxes, 0}};
  for (size_t i = 0; i < regions.size(); ++i)
    regions[i].bytes = (i + 1 < regions.size() ? regions[i + 1].offset : w.size) - regions[i].offset;
  return regions;
}

} // namespace interlock
