// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loads that wait: what they read ends a loop that reads the same place again.
#pragma once

#include "analysis/LintAMDGCN/Pointers.h"

namespace interlock::lint::gcn {

struct Poll {
  uint32_t instruction = 0;
  uint32_t loop = 0;   ///< of the graph
  bool scalar = false; ///< through the scalar cache
};

std::vector<Poll> findPolls(const Code &code, const Graph &graph);

} // namespace interlock::lint::gcn
