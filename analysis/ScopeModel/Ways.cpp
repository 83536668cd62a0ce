// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Solves it in passes over the blocks; if those do not end soon, nothing is certain.
#include "analysis/ScopeModel/Ways.h"

#include "analysis/ScopeModel/Worklist.h"

namespace interlock::scope {

Ways::Ways(const Program &program, const std::vector<uint32_t> &order, std::vector<uint32_t> itemOf, size_t count,
           std::function<bool(const Event &)> between)
    : program(program), order(order), itemOf(std::move(itemOf)), between(std::move(between)),
      in(program.blocks.size()) {
  solve((count + 63) / 64);
}

void Ways::solve(size_t words) {
  for (uint32_t b : order)
    in[b] = {std::vector<uint64_t>(words), std::vector<uint64_t>(words)};
  complete = visitUntilNothingChanges(program, order, [&](uint32_t b, auto changed) {
    const Block &block = program.blocks[b];
    Since since = in[b];
    for (uint32_t e = block.first; e < block.first + block.count; ++e)
      apply(since, e);
    for (uint32_t s : block.successors)
      if (merge(in[s], since))
        changed(s);
  });
}

bool Ways::merge(Since &into, const Since &from) {
  bool fresh = false;
  for (size_t w = 0; w < from.nothing.size(); ++w) {
    fresh |= (from.nothing[w] & ~into.nothing[w]) || (from.something[w] & ~into.something[w]);
    into.nothing[w] |= from.nothing[w];
    into.something[w] |= from.something[w];
  }
  return fresh;
}

void Ways::apply(Since &since, uint32_t event) const {
  if (between(program.events[event]))
    for (size_t w = 0; w < since.nothing.size(); ++w) {
      since.something[w] |= since.nothing[w];
      since.nothing[w] = 0;
    }
  if (uint32_t item = itemOf[event]; item != ~0u) {
    since.nothing[item / 64] |= uint64_t(1) << (item % 64);
    since.something[item / 64] &= ~(uint64_t(1) << (item % 64));
  }
}

} // namespace interlock::scope
