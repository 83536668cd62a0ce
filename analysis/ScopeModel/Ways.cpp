// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Solves it in passes over the blocks, as Flow does.
#include "analysis/ScopeModel/Ways.h"

namespace interlock::scope {
namespace {

/// Of one block, on average; beyond that nothing is certain.
constexpr size_t visitsPerBlock = 24;

} // namespace

Ways::Ways(const Program &program, const std::vector<uint32_t> &order, std::vector<uint32_t> itemOf, size_t count,
           std::function<bool(const Event &)> between)
    : program(program), order(order), itemOf(std::move(itemOf)), between(std::move(between)),
      in(program.blocks.size()) {
  solve((count + 63) / 64);
}

void Ways::solve(size_t words) {
  std::vector<uint32_t> position(program.blocks.size(), ~0u);
  for (uint32_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    in[order[i]] = {std::vector<uint64_t>(words), std::vector<uint64_t>(words)};
  }
  std::vector<bool> todo(order.size(), true);
  size_t visits = visitsPerBlock * order.size();
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < order.size(); ++i) {
      if (!todo[i])
        continue;
      todo[i] = false;
      if (visits-- == 0) {
        complete = false;
        return;
      }
      const Block &block = program.blocks[order[i]];
      Since changed = in[order[i]];
      for (uint32_t e = block.first; e < block.first + block.count; ++e)
        apply(changed, e);
      for (uint32_t s : block.successors)
        if (merge(in[s], changed)) {
          todo[position[s]] = true;
          again |= position[s] <= i;
        }
    }
  }
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
