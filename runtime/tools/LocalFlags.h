// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The options that describe a local kernel, beside those of a layer that it shares; the same for compile, inspect and
// run.
#pragma once

#include "runtime/tools/LayerFlags.h"

namespace interlock::tool {

struct LocalFlags {
  std::optional<uint32_t> stages;
  bool programmatic = false;

  void addTo(CLI::App &command);
  /// The spec, of a layer's --model, --topk (8 without), --hidden, --dtype, --block; checked.
  [[nodiscard]] Result<KernelSpec> spec(KernelKind kind, const LayerFlags &layer, std::string_view target) const;
};

} // namespace interlock::tool
