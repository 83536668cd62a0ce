// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel as one control-flow graph: its own instructions and those of the functions that it calls, in place of the
// calls, as far as they are known and the result stays small.
#pragma once

#include "analysis/PTX/Module.h"

#include <vector>

namespace interlock::lint {

/// One copy of a function's body.
struct Frame {
  static constexpr uint32_t none = ~0u;
  const ptx::Function *function = nullptr;
  uint32_t registerBase = 0; ///< its register r is register registerBase + r of the whole
  uint32_t parent = none;    ///< the frame that calls
  uint32_t callNode = none;  ///< the call in that
};

struct Node {
  const ptx::Instruction *in = nullptr;
  uint32_t frame = 0;
};

/// nodes[first … first+count). Where a condition decides, successors[0] is for true and [1] for false.
struct FlatBlock {
  uint32_t first = 0, count = 0;
  std::vector<uint32_t> successors, predecessors;
  uint32_t condition = ~0u; ///< register of the whole
  bool conditionNegated = false;
  bool endsThread = false; ///< a return of the kernel, or exit
};

struct Flat {
  std::vector<Frame> frames;
  std::vector<Node> nodes;
  std::vector<FlatBlock> blocks; ///< 0 is the start
  uint32_t registers = 0;

  const ptx::Function &function(const Node &node) const { return *frames[node.frame].function; }
  uint32_t reg(const Node &node, uint32_t index) const { return frames[node.frame].registerBase + index; }
};

/// True for an instruction that the judgement may have an event for, so that its guard matters.
bool isSideEffect(const ptx::Instruction &in);

/// Calls are followed 8 deep and as long as the whole has no more than `budget` instructions; beyond that they stay
/// calls. `inlined` has true for the functions that were put in somewhere.
Flat flatten(const ptx::Module &module, const ptx::Function &function, size_t budget, std::vector<bool> &inlined);

} // namespace interlock::lint
