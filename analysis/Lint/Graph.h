// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The shape of a control-flow graph: order, dominators, natural loops. Loops with more than one entry are not loops
// here.
#pragma once

#include "analysis/Lint/Flat.h"

namespace interlock::lint {

struct Loop {
  static constexpr uint32_t none = ~0u;
  uint32_t header = 0;
  uint32_t parent = none;
  uint32_t blocks = 0; ///< with those of inner loops
};

struct Graph {
  std::vector<uint32_t> order;     ///< reachable blocks in reverse postorder
  std::vector<uint32_t> position;  ///< of a block in `order`, or ~0u
  std::vector<uint32_t> dominator; ///< immediate; of the start itself
  std::vector<Loop> loops;
  std::vector<uint32_t> loopOf; ///< innermost loop of a block, or Loop::none

  explicit Graph(const Flat &flat) : Graph(flat.blocks) {}
  /// Block 0 is the start. Only the edges matter.
  explicit Graph(const std::vector<FlatBlock> &blocks);
  bool reachable(uint32_t block) const { return position[block] != ~0u; }
  bool dominates(uint32_t a, uint32_t b) const;
  /// `block` is in `loop` or in one inside it.
  bool inside(uint32_t block, uint32_t loop) const;

private:
  std::vector<uint32_t> enter, leave; ///< intervals of the dominator tree
  std::vector<uint32_t> begin, end;   ///< intervals of the loop tree
  void orderBlocks(const std::vector<FlatBlock> &blocks);
  void findDominators(const std::vector<FlatBlock> &blocks);
  void findLoops(const std::vector<FlatBlock> &blocks);
};

} // namespace interlock::lint
