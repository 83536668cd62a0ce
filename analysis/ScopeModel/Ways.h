// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A small dataflow for rules that must be certain: what lies between two events on all paths, or on none.
#pragma once

#include "analysis/ScopeModel/Program.h"

#include <functional>

namespace interlock::scope {

/// Which of some events came before, on the way of one thread, with something between or nothing.
class Ways {
public:
  struct Since {
    std::vector<uint64_t> nothing, something; ///< there is a path with nothing between; with something between
    /// There is a path from the item to here, and none with something between.
    bool neverBetween(uint32_t item) const { return bit(nothing, item) && !bit(something, item); }
    /// There is a path from the item to here, and none with nothing between.
    bool alwaysBetween(uint32_t item) const { return bit(something, item) && !bit(nothing, item); }
    /// There is a path from the item to here.
    bool any(uint32_t item) const { return bit(something, item) || bit(nothing, item); }

  private:
    static bool bit(const std::vector<uint64_t> &set, uint32_t item) { return set[item / 64] >> (item % 64) & 1; }
  };

  /// `order` has the blocks that can be reached, in reverse postorder; `itemOf` the number of an event, below `count`,
  /// or ~0u.
  Ways(const Program &program, const std::vector<uint32_t> &order, std::vector<uint32_t> itemOf, size_t count,
       std::function<bool(const Event &)> between);

  /// Calls `visit(event, since)` for each event that can be reached, with what holds before it. For none if the
  /// program was too twisted to follow all paths.
  template <class Visit> void walk(Visit visit) const {
    if (!complete)
      return;
    for (uint32_t b : order) {
      if (program.blocks[b].count == 0)
        continue;
      Since since = in[b];
      const Block &block = program.blocks[b];
      for (uint32_t i = block.first; i < block.first + block.count; ++i) {
        visit(i, static_cast<const Since &>(since));
        apply(since, i);
      }
    }
  }

private:
  static bool merge(Since &into, const Since &from);
  void apply(Since &since, uint32_t event) const;

  void solve(size_t words);

  const Program &program;
  const std::vector<uint32_t> &order;
  std::vector<uint32_t> itemOf; ///< by event
  std::function<bool(const Event &)> between;
  std::vector<Since> in; ///< by block
  bool complete = true;
};

} // namespace interlock::scope
