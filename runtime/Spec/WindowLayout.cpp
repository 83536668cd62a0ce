// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/WindowLayout.h"

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
  w.size = carve.end;
  return w;
}

} // namespace interlock
