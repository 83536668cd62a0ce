// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The convert pair of an operation: pack_experts and dispatch_epilogue behind a dispatch, combine_prologue before a
// combine, and the lists that they share.
#pragma once

#include "interlock/group.hpp"
#include "interlock/operation.hpp"
#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/LocalKernel.h"
#include "runtime/Spec/WindowLayout.h"

#include <array>
#include <map>

namespace interlock {

/// What is asked for, with the capacity filled in; `badInput` for what cannot be.
[[nodiscard]] Result<PackingOptions> resolvePacking(const LayerSpec &layer, const PackingOptions &asked);

/// The kernels of a conversion on a chip, in the order in which they run.
std::array<KernelSpec, 3> conversionKernels(const LayerSpec &layer, std::string_view target);

/// Of the own ranks of a group. Move-only; the driver must outlive it. `allocate` comes before the calls.
class Conversion {
public:
  /// Refuses what cannot be, then gets the kernels and loads them.
  [[nodiscard]] static Result<Conversion> get(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                              const ProcessGroup &group, const PackingOptions &options);
  /// Memory for the lists of one rank's landing buffers.
  [[nodiscard]] Status allocate(const OwnRank &own);

  const KernelReport &report(KernelKind kind) const;
  [[nodiscard]] Status dispatchOutput(uint32_t rank, uint32_t buffer, StreamId stream, const LandedRows &landed,
                                      const PackArguments &arguments) const;
  [[nodiscard]] Status combineInput(uint32_t rank, uint32_t buffer, StreamId stream, const LandedRows &landed,
                                    const UnpackArguments &arguments) const;
  PackedRows packed(uint32_t rank, uint32_t buffer) const;
  /// Waits for the stream.
  [[nodiscard]] Result<PackingResult> result(uint32_t rank, uint32_t buffer, StreamId stream) const;

private:
  struct OnDevice {
    std::vector<LocalKernel> kernels; ///< in the order of conversionKernels
    std::vector<KernelReport> reports;
    template <typename Params> Status launch(size_t which, StreamId stream, const Params &params) const {
      return kernels[which].launch(stream, reports[which].grid, params);
    }
  };
  /// Of one rank and landing buffer.
  struct Lists {
    DeviceBuffer memory;
    PackedRows at;
    DeviceAddress result = 0;
  };
  struct OfRank {
    uint32_t device = 0;
    std::array<Lists, WindowLayout::buffers> lists;
  };
  Conversion(Driver &driver, const LayerSpec &layer, const PackingOptions &options)
      : driver(&driver), layer(layer), options(options) {}
  uint32_t landingRows() const { return layer.ranks * layer.rowsPerSource(); }
  LocalParams localParams(const Lists &lists) const;
  const Lists &listsOf(uint32_t rank, uint32_t buffer) const { return ranks.at(rank).lists[buffer]; }

  Driver *driver;
  LayerSpec layer;
  PackingOptions options;
  std::map<uint32_t, OnDevice> devices;
  std::map<uint32_t, OfRank> ranks;
};

} // namespace interlock
