// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Follows conditions back to what they were made of.
#include "analysis/Lint/Waits.h"

#include <algorithm>

namespace interlock::lint {
namespace {

/// A loop that only waits is small.
constexpr uint32_t maxPollBlocks = 48;
/// A condition is made of few instructions.
constexpr size_t maxSlice = 24;

} // namespace

Waits::Waits(const Flat &flat, const Graph &graph, const Values &values)
    : flat(flat), graph(graph), values(values), branches(graph.loops.size()) {
  for (uint32_t b : graph.order)
    if (flat.blocks[b].condition != ~0u)
      for (uint32_t l = graph.loopOf[b]; l != Loop::none && graph.loops[l].blocks <= maxPollBlocks;
           l = graph.loops[l].parent)
        branches[l].push_back(b);
}

/// The condition at the end of `block` is made of what `node` returned.
bool Waits::decides(uint32_t node, uint32_t block) const {
  std::vector<uint32_t> slice(values.definitions(flat.blocks[block].condition).begin(),
                              values.definitions(flat.blocks[block].condition).end());
  for (size_t i = 0; i < slice.size() && i < maxSlice; ++i) {
    if (slice[i] == node)
      return true;
    const ptx::Instruction &in = *flat.nodes[slice[i]].in;
    auto follow = [&](const ptx::Operand &o) {
      if (o.kind != ptx::OperandKind::reg)
        return;
      for (uint32_t d : values.definitions(flat.reg(flat.nodes[slice[i]], o.index)))
        if (slice.size() < maxSlice && std::find(slice.begin(), slice.end(), d) == slice.end())
          slice.push_back(d);
    };
    if (in.guard != ptx::Instruction::noGuard)
      for (uint32_t d : values.definitions(flat.reg(flat.nodes[slice[i]], in.guard)))
        if (slice.size() < maxSlice && std::find(slice.begin(), slice.end(), d) == slice.end())
          slice.push_back(d);
    if (isSideEffect(in) && in.opcode != "shfl" && in.opcode != "vote")
      continue;
    for (size_t k = 1; k < in.operands.size(); ++k) {
      follow(in.operands[k]);
      for (const ptx::Operand &e : in.operands[k].elements)
        follow(e);
    }
  }
  return false;
}

WaitShape Waits::shapeOf(uint32_t node, const Decoded &decoded, const Value &place) const {
  WaitShape shape;
  if (!decoded.result)
    return shape;
  uint32_t block = values.blockOf(node);
  for (uint32_t l = graph.loopOf[block]; l != Loop::none && graph.loops[l].blocks <= maxPollBlocks;
       l = graph.loops[l].parent) {
    if (!decoded.loopsAsPoll || (place.known && values.varies(place, l)))
      break;
    bool stays = true;
    for (const ptx::Operand *o : decoded.mustStay)
      stays &= !values.varies(values.of(node, *o), l);
    if (!stays)
      break;
    // The innermost loop only: one round it that it also ends does more than wait.
    bool ends = std::any_of(branches[l].begin(), branches[l].end(), [&](uint32_t b) {
      bool leaves = std::any_of(flat.blocks[b].successors.begin(), flat.blocks[b].successors.end(),
                                [&](uint32_t s) { return !graph.inside(s, l) || s == graph.loops[l].header; });
      return leaves && decides(node, b);
    });
    if (ends)
      return {scope::Poll::loop, l};
    break;
  }
  // A branch near by that depends on it.
  uint32_t b = block;
  for (int hops = 0; hops < 4; ++hops) {
    if (flat.blocks[b].condition != ~0u) {
      if (decides(node, b))
        return {scope::Poll::test, Loop::none};
      break;
    }
    if (flat.blocks[b].successors.size() != 1)
      break;
    b = flat.blocks[b].successors[0];
  }
  return shape;
}

/// The loop round the retries of a wait.
uint32_t Waits::outerLoop(uint32_t node, const WaitShape &shape) const {
  uint32_t own = shape.poll == scope::Poll::loop ? shape.loop : Loop::none;
  return own != Loop::none ? graph.loops[own].parent : graph.loopOf[values.blockOf(node)];
}

/// How often a trip of the loop flips a register: 1 is right. -1: it is set in another way.
int Waits::flips(uint32_t reg, uint32_t loop) const {
  int count = 0;
  for (uint32_t d : values.definitions(reg)) {
    if (!graph.inside(values.blockOf(d), loop))
      continue;
    const ptx::Instruction &in = *flat.nodes[d].in;
    auto isSelf = [&](size_t i) {
      return i < in.operands.size() && in.operands[i].kind == ptx::OperandKind::reg &&
             flat.reg(flat.nodes[d], in.operands[i].index) == reg;
    };
    auto isOne = [&](size_t i) {
      return i < in.operands.size() && in.operands[i].kind == ptx::OperandKind::integer && in.operands[i].bits == 1;
    };
    bool plain = in.guard == ptx::Instruction::noGuard && graph.loopOf[values.blockOf(d)] == loop &&
                 graph.dominates(values.blockOf(d), flat.blocks[graph.loops[loop].header].predecessors.back());
    if (in.opcode != "xor" || !isSelf(1) || !isOne(2) || !plain)
      return -1;
    count++;
  }
  return count;
}

scope::Parity Waits::parityOf(uint32_t node, const Decoded &decoded, const WaitShape &shape) const {
  uint32_t loop = outerLoop(node, shape);
  if (!decoded.parity || loop == Loop::none)
    return scope::Parity::unknown;
  Value v = values.of(node, *decoded.parity);
  if (!values.varies(v, loop))
    return v.known ? scope::Parity::constant : scope::Parity::unknown;
  if (decoded.parity->kind != ptx::OperandKind::reg)
    return scope::Parity::unknown;
  int times = flips(flat.reg(flat.nodes[node], decoded.parity->index), loop);
  return times > 0 && times % 2 == 0 ? scope::Parity::constant
         : times % 2 == 1            ? scope::Parity::changing
                                     : scope::Parity::unknown;
}

bool Waits::reusesBarrier(uint32_t node, const Value &place, const WaitShape &shape) const {
  uint32_t loop = outerLoop(node, shape);
  return loop != Loop::none && place.isPlace() && !values.varies(place, loop);
}

} // namespace interlock::lint
