// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which releases and waits can meet: those of one word, or of one barrier of the CTA that different threads pass at
// different places.
#pragma once

#include "analysis/ScopeModel/Program.h"

namespace interlock::scope {

struct Signals {
  static constexpr uint32_t none = ~0u;
  std::vector<uint32_t> groupOf; ///< by event: releases and waits that may meet have the same one
  uint32_t count = 0;
};

/// `order` has the blocks that can be reached. Time is proportional to the number of events, but for sorting.
Signals groupSignals(const Program &program, const std::vector<uint32_t> &order);

} // namespace interlock::scope
