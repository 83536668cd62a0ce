// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The options that describe a layer, the same for compile and run.
#pragma once

#include "interlock/operation.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace interlock::tool {

/// Options as typed. A model gives hidden, experts and top-k; options beside it override.
struct LayerFlags {
  std::string model, dtype = "bf16", combineDType, schedule = "grid_stride", wait;
  std::optional<uint32_t> ranks, experts, topk, hidden;
  std::vector<uint32_t> tokens;
  uint32_t scaleBytes = 0, capacity = 0, cluster = 1;
  bool expertRows = false, ownInPlace = false;
  LaunchGeometry geometry;

  void addTo(CLI::App &command);
  /// The layer, with maxTokens from the largest count; every name and number checked.
  [[nodiscard]] Result<LayerSpec> layer() const;
  /// Cluster, schedule, wait and geometry (for both kernels).
  [[nodiscard]] Result<OperationOptions> operation() const;
};

} // namespace interlock::tool
