// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Dominators after Cooper, Harvey and Kennedy; loops from the inside out, so that each block is walked over once a
// nesting level. Nothing recurses on the size of the graph.
#include "analysis/Lint/Graph.h"

#include <algorithm>

namespace interlock::lint {

Graph::Graph(const std::vector<FlatBlock> &blocks)
    : position(blocks.size(), ~0u), dominator(blocks.size(), ~0u), loopOf(blocks.size(), Loop::none) {
  orderBlocks(blocks);
  findDominators(blocks);
  findLoops(blocks);
}

void Graph::orderBlocks(const std::vector<FlatBlock> &blocks) {
  std::vector<uint32_t> next(blocks.size());
  std::vector<bool> seen(blocks.size());
  std::vector<uint32_t> stack{0};
  seen[0] = true;
  while (!stack.empty()) {
    uint32_t b = stack.back();
    const auto &successors = blocks[b].successors;
    if (next[b] == successors.size()) {
      order.push_back(b);
      stack.pop_back();
    } else if (uint32_t s = successors[next[b]++]; !seen[s]) {
      seen[s] = true;
      stack.push_back(s);
    }
  }
  std::reverse(order.begin(), order.end());
  for (uint32_t i = 0; i < order.size(); ++i)
    position[order[i]] = i;
}

void Graph::findDominators(const std::vector<FlatBlock> &blocks) {
  dominator[0] = 0;
  auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b)
      if (position[a] > position[b])
        a = dominator[a];
      else
        b = dominator[b];
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b : order) {
      if (b == 0)
        continue;
      uint32_t best = ~0u;
      for (uint32_t p : blocks[b].predecessors)
        if (dominator[p] != ~0u)
          best = best == ~0u ? p : meet(best, p);
      if (best != dominator[b]) {
        dominator[b] = best;
        changed = true;
      }
    }
  }
  // Intervals, so that "dominates" is two comparisons.
  std::vector<std::vector<uint32_t>> children(blocks.size());
  for (uint32_t b : order)
    if (b != 0)
      children[dominator[b]].push_back(b);
  enter.assign(blocks.size(), 0);
  leave.assign(blocks.size(), 0);
  std::vector<std::pair<uint32_t, size_t>> stack{{0, 0}};
  uint32_t clock = 0;
  enter[0] = clock++;
  while (!stack.empty()) {
    auto &[b, child] = stack.back();
    if (child == children[b].size()) {
      leave[b] = clock++;
      stack.pop_back();
    } else {
      uint32_t c = children[b][child++];
      enter[c] = clock++;
      stack.push_back({c, 0});
    }
  }
}

bool Graph::dominates(uint32_t a, uint32_t b) const {
  return reachable(a) && reachable(b) && enter[a] <= enter[b] && leave[b] <= leave[a];
}

void Graph::findLoops(const std::vector<FlatBlock> &blocks) {
  // Inner headers come later in the order, so they are met first.
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    uint32_t header = *it;
    std::vector<uint32_t> todo;
    for (uint32_t p : blocks[header].predecessors)
      if (reachable(p) && dominates(header, p))
        todo.push_back(p);
    if (todo.empty())
      continue;
    uint32_t loop = uint32_t(loops.size());
    loops.push_back({header, Loop::none, 0});
    auto outermost = [&](uint32_t l) {
      while (loops[l].parent != Loop::none)
        l = loops[l].parent;
      return l;
    };
    while (!todo.empty()) {
      uint32_t b = todo.back();
      todo.pop_back();
      uint32_t from;
      if (loopOf[b] == Loop::none) {
        loopOf[b] = loop;
        loops[loop].blocks++;
        if (b == header)
          continue;
        from = b;
      } else {
        uint32_t inner = outermost(loopOf[b]);
        if (inner == loop)
          continue;
        loops[inner].parent = loop;
        loops[loop].blocks += loops[inner].blocks;
        from = loops[inner].header;
        if (from == header)
          continue;
      }
      for (uint32_t p : blocks[from].predecessors)
        if (reachable(p))
          todo.push_back(p);
    }
  }
}

bool Graph::inside(uint32_t block, uint32_t loop) const {
  for (uint32_t l = loopOf[block]; l != Loop::none; l = loops[l].parent)
    if (l == loop)
      return true;
  return false;
}

} // namespace interlock::lint
