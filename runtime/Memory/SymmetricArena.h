// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The symmetric arena: the windows of all ranks side by side, each in the memory of its rank's own device.
#pragma once

#include "interlock/device.hpp"
#include "interlock/group.hpp"
#include "interlock/spec.hpp"
#include "runtime/Spec/WindowLayout.h"

namespace interlock {

class Windows;

/// Maps `layer.ranks` windows of one layer, `stride()` bytes apart, and computes addresses in them. The stride is the
/// same in every process of the group, the base need not be. A window's memory lives while any process maps it, so
/// arenas may go in any order. The driver must outlive it. Const calls may come from any thread.
class SymmetricArena {
public:
  /// Makes the windows of the group's own ranks, their control areas (everything before the rows) zero and their rows
  /// uninitialised, and maps those of the other processes beside them: two exchanges where there are several, in which
  /// all fail together. The layer is validated first, so that a layer that cannot be is refused before any memory is
  /// taken (`badInput`); memory that is not there says how much was asked for. A process may use the others' windows
  /// only when all have returned from here.
  [[nodiscard]] static Result<SymmetricArena> create(Driver &driver, const LayerSpec &layer, const ProcessGroup &group);

  SymmetricArena(SymmetricArena &&other) noexcept;
  SymmetricArena &operator=(SymmetricArena &&other) noexcept;
  ~SymmetricArena();

  const LayerSpec &layer() const { return spec; }
  const WindowLayout &layout() const { return regions; }
  /// Base of rank 0's window, bytes between two windows, and bytes of all of them.
  DeviceAddress base() const { return address; }
  uint64_t stride() const { return bytesPerRank; }
  uint64_t size() const { return bytesPerRank * spec.ranks; }

  DeviceAddress window(uint32_t rank) const { return address + rank * bytesPerRank; }
  DeviceAddress control(uint32_t rank) const { return window(rank) + regions.control; }
  DeviceAddress result(uint32_t rank, KernelKind kind) const;
  /// u32[ranks] of one buffer.
  DeviceAddress counts(uint32_t rank, uint32_t buffer) const;
  /// Rows that `source` sent to `rank`, or their meta rows, or the expert rows for them: row 0 of rowsPerSource().
  DeviceAddress landing(uint32_t rank, uint32_t buffer, uint32_t source) const;
  DeviceAddress meta(uint32_t rank, uint32_t buffer, uint32_t source) const;
  DeviceAddress expertOut(uint32_t rank, uint32_t buffer, uint32_t source) const;

  /// Bytes of one source's region in one buffer.
  uint64_t landingBytes() const { return spec.rowsPerSource() * regions.rowStride; }
  uint64_t metaBytes() const { return spec.rowsPerSource() * regions.metaStride; }
  uint64_t expertOutBytes() const { return spec.rowsPerSource() * regions.outRows * regions.combineRowStride; }
  /// Bytes at the start of every window that are zeroed at set-up.
  uint64_t controlBytes() const;

private:
  SymmetricArena(Driver &driver, const LayerSpec &layer);
  Status makeWindows(const ProcessGroup &group, Windows &windows);

  Driver *driver = nullptr;
  LayerSpec spec;
  WindowLayout regions{};
  DeviceAddress address = 0;
  uint64_t bytesPerRank = 0;
};

} // namespace interlock
