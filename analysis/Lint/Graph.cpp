// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Dominators, and loops from the inside out. Nothing recurses on the size of the graph, or takes a step for each block
// and each nesting level.
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

namespace {

/// Immediate dominators after Lengauer and Tarjan, with path compression: almost linear, however deep loops are nested.
/// Vertices are numbered in the order in which a depth-first walk meets them.
class Dominators {
public:
  explicit Dominators(const std::vector<FlatBlock> &blocks) : number(blocks.size(), none) {
    walk(blocks);
    size_t n = vertex.size();
    semi.resize(n);
    best.resize(n);
    ancestor.assign(n, none);
    dominator.assign(n, 0);
    for (uint32_t v = 0; v < n; ++v)
      semi[v] = best[v] = v;
    std::vector<std::vector<uint32_t>> bucket(n);
    for (uint32_t w = uint32_t(n); w-- > 1;) {
      for (uint32_t p : blocks[vertex[w]].predecessors)
        if (number[p] != none)
          semi[w] = std::min(semi[w], semi[evaluate(number[p])]);
      bucket[semi[w]].push_back(w);
      ancestor[w] = parent[w];
      for (uint32_t v : bucket[parent[w]]) {
        uint32_t u = evaluate(v);
        dominator[v] = semi[u] < semi[v] ? u : parent[w];
      }
      bucket[parent[w]].clear();
    }
    for (uint32_t w = 1; w < n; ++w)
      if (dominator[w] != semi[w])
        dominator[w] = dominator[dominator[w]];
  }
  /// Of a block that can be reached; of the start itself.
  uint32_t of(uint32_t block) const { return vertex[dominator[number[block]]]; }

private:
  static constexpr uint32_t none = ~0u;

  void walk(const std::vector<FlatBlock> &blocks) {
    std::vector<uint32_t> next(blocks.size()), stack{0};
    auto meet = [&](uint32_t block, uint32_t from) {
      number[block] = uint32_t(vertex.size());
      vertex.push_back(block);
      parent.push_back(from);
    };
    meet(0, 0);
    while (!stack.empty()) {
      uint32_t b = stack.back();
      if (next[b] == blocks[b].successors.size()) {
        stack.pop_back();
      } else if (uint32_t s = blocks[b].successors[next[b]++]; number[s] == none) {
        meet(s, number[b]);
        stack.push_back(s);
      }
    }
  }
  /// The vertex of the least semidominator on the way up from v, the root of its tree left out.
  uint32_t evaluate(uint32_t v) {
    if (ancestor[v] == none)
      return v;
    std::vector<uint32_t> path;
    for (uint32_t u = v; ancestor[ancestor[u]] != none; u = ancestor[u])
      path.push_back(u);
    for (auto u = path.rbegin(); u != path.rend(); ++u) {
      uint32_t above = ancestor[*u];
      if (semi[best[above]] < semi[best[*u]])
        best[*u] = best[above];
      ancestor[*u] = ancestor[above];
    }
    return best[v];
  }

  std::vector<uint32_t> number;                          ///< by block
  std::vector<uint32_t> vertex, parent;                  ///< by number
  std::vector<uint32_t> semi, best, ancestor, dominator; ///< by number
};

} // namespace

void Graph::findDominators(const std::vector<FlatBlock> &blocks) {
  Dominators dominators(blocks);
  for (uint32_t b : order)
    dominator[b] = dominators.of(b);
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
  std::vector<uint32_t> outer; // by loop: one round it, or itself
  auto outermost = [&](uint32_t l) {
    while (outer[l] != l)
      l = outer[l] = outer[outer[l]];
    return l;
  };
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
    outer.push_back(loop);
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
        loops[inner].parent = outer[inner] = loop;
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
  // A loop comes behind those inside it, so from the back on each has its parent's interval already.
  begin.resize(loops.size());
  end.resize(loops.size());
  std::vector<uint32_t> size(loops.size(), 1), taken(loops.size());
  for (uint32_t l = 0; l < loops.size(); ++l)
    if (loops[l].parent != Loop::none)
      size[loops[l].parent] += size[l];
  uint32_t clock = 0;
  for (uint32_t l = uint32_t(loops.size()); l-- > 0;) {
    uint32_t parent = loops[l].parent;
    begin[l] = parent == Loop::none ? clock : begin[parent] + 1 + taken[parent];
    (parent == Loop::none ? clock : taken[parent]) += size[l];
    end[l] = begin[l] + size[l];
  }
}

bool Graph::inside(uint32_t block, uint32_t loop) const {
  uint32_t l = loopOf[block];
  return l != Loop::none && loop != Loop::none && begin[loop] <= begin[l] && begin[l] < end[loop];
}

} // namespace interlock::lint
