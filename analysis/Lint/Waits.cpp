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
/// So many registers of a waiting loop can hold what it read.
constexpr size_t maxMade = 64;
/// A register that is written in more places tells nothing.
constexpr size_t maxDefinitions = 8;
/// A result is told to others soon after it came.
constexpr uint32_t maxTellDistance = 32;

} // namespace

Waits::Waits(const Flat &flat, const Graph &graph, const Values &values)
    : flat(flat), graph(graph), values(values), branches(graph.loops.size()), initialises(graph.loops.size()) {
  for (uint32_t b : graph.order)
    if (flat.blocks[b].condition != ~0u)
      for (uint32_t l = graph.loopOf[b]; l != Loop::none && graph.loops[l].blocks <= maxPollBlocks;
           l = graph.loops[l].parent)
        branches[l].push_back(b);
  for (uint32_t n = 0; n < flat.nodes.size(); ++n)
    if (const ptx::Instruction &in = *flat.nodes[n].in; in.opcode == "mbarrier" && (in.has("init") || in.has("inval")))
      for (uint32_t l = graph.loopOf[values.blockOf(n)]; l != Loop::none; l = graph.loops[l].parent)
        initialises[l] = true;
}

/// The condition at the end of `block` is made of what `node` returned.
bool Waits::decides(uint32_t node, uint32_t block) const {
  const FlatBlock &b = flat.blocks[block];
  return feeds(node, b.count ? b.first + b.count - 1 : ~0u, b.condition);
}

/// What the register holds at node `at` is made of what `node` returned.
bool Waits::feeds(uint32_t node, uint32_t at, uint32_t reg) const {
  std::vector<uint32_t> slice;
  auto follow = [&](uint32_t from, uint32_t r) {
    auto list = values.definitions(r);
    uint32_t d = from == ~0u ? ~0u : values.reaching(from, r);
    if (d != ~0u)
      list = {list.data() + (std::lower_bound(list.begin(), list.end(), d) - list.begin()), 1};
    else if (list.size() > maxDefinitions)
      return;
    for (uint32_t one : list)
      if (slice.size() < maxSlice && std::find(slice.begin(), slice.end(), one) == slice.end())
        slice.push_back(one);
  };
  // The last instruction of a block may itself write what the block branches on.
  if (at != ~0u && destination(*flat.nodes[at].in) &&
      flat.reg(flat.nodes[at], destination(*flat.nodes[at].in)->index) == reg)
    slice.push_back(at);
  else
    follow(at, reg);
  for (size_t i = 0; i < slice.size(); ++i) {
    uint32_t d = slice[i];
    if (d == node)
      return true;
    const ptx::Instruction &in = *flat.nodes[d].in;
    if (in.guard != ptx::Instruction::noGuard)
      follow(d, flat.reg(flat.nodes[d], in.guard));
    if (isSideEffect(in) && in.opcode != "shfl" && in.opcode != "vote")
      continue;
    for (size_t k = 1; k < in.operands.size(); ++k) {
      if (in.operands[k].kind == ptx::OperandKind::reg)
        follow(d, flat.reg(flat.nodes[d], in.operands[k].index));
      for (const ptx::Operand &e : in.operands[k].elements)
        if (e.kind == ptx::OperandKind::reg)
          follow(d, flat.reg(flat.nodes[d], e.index));
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
    // Or it is told to the other threads through shared memory, who branch on it.
    const FlatBlock &here = flat.blocks[b];
    uint32_t from = hops ? here.first : node + 1, to = std::min(here.first + here.count, from + maxTellDistance);
    for (uint32_t n = from; n < to && decoded.event.kind == scope::EventKind::atomic; ++n) {
      const ptx::Instruction &in = *flat.nodes[n].in;
      if (in.opcode == "st" && (in.has("shared") || in.has("shared::cta")) && in.operands.size() == 2 &&
          in.operands[1].kind == ptx::OperandKind::reg && feeds(node, n, flat.reg(flat.nodes[n], in.operands[1].index)))
        return {scope::Poll::test, Loop::none};
    }
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

bool Waits::carriesData(uint32_t node, const WaitShape &shape) const {
  if (shape.poll != scope::Poll::loop)
    return false;
  // Registers of the loop that are made of the result, predicates aside: these only say whether to go on.
  std::vector<uint32_t> made;
  auto isMade = [&](const ptx::Operand &o, uint32_t n) {
    return o.kind == ptx::OperandKind::reg &&
           std::find(made.begin(), made.end(), flat.reg(flat.nodes[n], o.index)) != made.end();
  };
  auto readsMade = [&](uint32_t n) {
    const ptx::Instruction &in = *flat.nodes[n].in;
    bool any = false;
    for (size_t k = destination(in) ? 1 : 0; k < in.operands.size(); ++k) {
      any |= isMade(in.operands[k], n);
      for (const ptx::Operand &e : in.operands[k].elements)
        any |= isMade(e, n);
    }
    return any;
  };
  auto add = [&](const ptx::Operand &o, uint32_t n) {
    if (o.kind == ptx::OperandKind::reg && flat.function(flat.nodes[n]).registers[o.index].type != ptx::Type::pred &&
        made.size() < maxMade && !isMade(o, n))
      made.push_back(flat.reg(flat.nodes[n], o.index));
  };
  for (uint32_t b = 0; b < flat.blocks.size(); ++b) {
    if (!graph.reachable(b) || !graph.inside(b, shape.loop))
      continue;
    for (uint32_t n = flat.blocks[b].first; n < flat.blocks[b].first + flat.blocks[b].count; ++n) {
      const ptx::Instruction &in = *flat.nodes[n].in;
      if ((n != node && !readsMade(n)) || in.operands.empty())
        continue;
      add(in.operands[0], n);
      for (const ptx::Operand &e : in.operands[0].elements)
        add(e, n);
    }
  }
  for (uint32_t n = 0; n < flat.nodes.size(); ++n)
    if (!graph.inside(values.blockOf(n), shape.loop) && flat.nodes[n].in->opcode != "setp" && readsMade(n))
      return true;
  return false;
}

bool Waits::reusesBarrier(uint32_t node, const Value &place, const WaitShape &shape) const {
  uint32_t loop = outerLoop(node, shape);
  // A barrier that is set up again in each trip starts with the same phase each time.
  return loop != Loop::none && !initialises[loop] && place.isPlace() && !values.varies(place, loop);
}

} // namespace interlock::lint
