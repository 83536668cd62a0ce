// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The symmetric arena: one allocation that holds the windows of all ranks of a process, side by side.
#pragma once

#include "interlock/device.hpp"
#include "interlock/spec.hpp"
#include "runtime/Spec/WindowLayout.h"

namespace interlock {

/// Owns `layer.ranks` windows of one layer, `stride()` bytes apart, and computes addresses in them. The control area of
/// every window (everything before the rows) is zero from the start; rows are uninitialised. The driver must outlive
/// it. Const calls may come from any thread.
class SymmetricArena {
public:
  /// Allocates on `device` of `driver` and zeroes the control areas. The layer is validated first, so that a layer that
  /// cannot be is refused before any memory is taken (`badInput`); an allocation that fails says how much was asked
  /// for.
  [[nodiscard]] static Result<SymmetricArena> create(Driver &driver, uint32_t device, const LayerSpec &layer);

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

  Driver *driver = nullptr;
  LayerSpec spec;
  WindowLayout regions{};
  DeviceAddress address = 0;
  uint64_t bytesPerRank = 0;
};

} // namespace interlock
