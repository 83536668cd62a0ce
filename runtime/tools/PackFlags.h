// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The options of rows packed by expert.
#pragma once

#include "interlock/packing.hpp"

#include <CLI/CLI.hpp>

#include <optional>

namespace interlock::tool {

struct PackFlags {
  bool packed = false;
  std::optional<uint32_t> alignment, rows;
  bool zeroPadding = false;

  void addTo(CLI::App &command);
  /// None without --packed; the other options are refused then.
  [[nodiscard]] Result<std::optional<PackingOptions>> options() const;
};

} // namespace interlock::tool
