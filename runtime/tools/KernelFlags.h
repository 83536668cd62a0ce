// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One kernel as the options of `compile` and `inspect` describe it.
#pragma once

#include "runtime/tools/LocalFlags.h"

#include <string>

namespace interlock::tool {

struct KernelFlags {
  LayerFlags layer;
  LocalFlags local;
  std::string kernel, target = "sm_90a";

  /// Adds what describes the layer and the chip to the subcommand, and `--kernel` to `choice`: a group of what can
  /// stand in its place, or the subcommand itself.
  void addTo(CLI::App &command, CLI::App &choice);
  [[nodiscard]] Result<KernelSpec> spec() const;
};

} // namespace interlock::tool
