// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The options that describe which kernels a deployment can ask for: a list of kernels, or a layer with lists of values.
#pragma once

#include "interlock/prepare.hpp"
#include "runtime/tools/LayerFlags.h"

namespace interlock::tool {

/// As typed. Every combination of the lists is meant.
struct DeploymentFlags {
  std::string specs; ///< a file of kernels (SpecList.h), or - for stdin; instead of everything below
  LayerFlags layer;  ///< what has one value
  std::vector<uint32_t> ranks, tokens, ranksPerDevice = {1}, clusters = {1};
  std::vector<std::string> dtypes = {"bf16"}, targets = {"sm_90a"}, schedules = {"grid_stride"};
  uint32_t multiprocessors = 132;

  void addTo(CLI::App &command);
  /// The kernels, each once; every name and number checked.
  [[nodiscard]] Result<std::vector<KernelSpec>> kernels() const;
};

} // namespace interlock::tool
