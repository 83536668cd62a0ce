// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// How a forward dataflow goes through a program's blocks.
#pragma once

#include "analysis/ScopeModel/Program.h"

#include <vector>

namespace interlock::scope {

/// Calls `visit(block, changed)` for the blocks of `order` (reverse postorder), again and again until a pass finds
/// nothing to do: loops need one pass a nesting level. `changed(successor)` says that what holds there has changed.
/// False if the program was too twisted for that to end soon.
template <class Visit>
bool visitUntilNothingChanges(const Program &program, const std::vector<uint32_t> &order, Visit visit) {
  // Of a block, on average: loops are nested, and entered from the side, so often that no more are needed.
  constexpr size_t visitsPerBlock = 24;
  std::vector<uint32_t> position(program.blocks.size(), ~0u);
  for (uint32_t i = 0; i < order.size(); ++i)
    position[order[i]] = i;
  std::vector<bool> waiting(order.size(), true);
  size_t visits = visitsPerBlock * order.size();
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < order.size(); ++i) {
      if (!waiting[i])
        continue;
      waiting[i] = false;
      if (visits-- == 0)
        return false;
      visit(order[i], [&](uint32_t successor) {
        waiting[position[successor]] = true;
        again |= position[successor] <= i;
      });
    }
  }
  return true;
}

} // namespace interlock::scope
