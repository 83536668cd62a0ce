// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loads that wait: what they read ends a loop that reads the same place again.
#pragma once

#include "analysis/LintAMDGCN/Pointers.h"

namespace interlock::lint::gcn {

struct Poll {
  uint32_t instruction = 0;
  std::optional<uint32_t> loop;   ///< of the graph; none: a first try before the loop, or a ticket
  bool scalar = false;            ///< through the scalar cache
  std::optional<uint32_t> before; ///< the loop that waits again where a first try has failed
  bool ticket = false;            ///< an atomic counter: who sees the last value goes on for all
};

std::vector<Poll> findPolls(const Code &code, const Graph &graph);

} // namespace interlock::lint::gcn
