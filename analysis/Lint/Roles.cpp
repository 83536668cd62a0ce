// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Reads conditions on %tid, the lane, the warp, elect.sync and the CTA's rank. Of others only this matters: whether all
// threads of a CTA decide alike.
#include "analysis/Lint/Roles.h"

#include <algorithm>

namespace interlock::lint {
namespace {

using ptx::Instruction;
using ptx::OperandKind;
using scope::Actor;

class RoleFinder {
public:
  RoleFinder(const Flat &flat, const Graph &graph, const Values &values) : flat(flat), graph(graph), values(values) {
    for (const Node &n : flat.nodes)
      for (const ptx::Operand &o : n.in->operands)
        manyDimensions |= o.kind == OperandKind::special && o.name == "tid" && o.component != 'x';
  }

  std::vector<Actor> run() {
    std::vector<Actor> actors(flat.blocks.size());
    for (uint32_t b : graph.order) {
      if (b == 0)
        continue;
      uint32_t above = graph.dominator[b];
      actors[b] = actors[above];
      const FlatBlock &from = flat.blocks[above];
      if (from.condition == ~0u || from.successors.size() != 2 || from.successors[0] == from.successors[1])
        continue;
      // Leaving a loop is no choice between threads: sooner or later all of them do.
      if (uint32_t loop = graph.loopOf[above]; loop != Loop::none && !graph.inside(b, loop))
        continue;
      for (bool taken : {true, false})
        if (from.successors[taken ? 0 : 1] == b && onlyFrom(b, above))
          refine(actors[b], lastNode(above), from.condition, taken != from.conditionNegated, 0);
    }
    return actors;
  }

private:
  /// All other edges into the block are back edges.
  bool onlyFrom(uint32_t b, uint32_t above) const {
    const auto &predecessors = flat.blocks[b].predecessors;
    return std::all_of(predecessors.begin(), predecessors.end(),
                       [&](uint32_t p) { return p == above || !graph.reachable(p) || graph.dominates(b, p); });
  }
  uint32_t lastNode(uint32_t block) const {
    const FlatBlock &b = flat.blocks[block];
    return b.count ? b.first + b.count - 1 : ~0u;
  }

  void refine(Actor &actor, uint32_t at, uint32_t predicate, bool value, unsigned depth) const;
  void compare(Actor &actor, uint32_t node, std::string_view comparison, bool value, unsigned depth) const;
  bool compareValues(Actor &actor, const Value &a, int64_t constant, bool equal) const;
  void narrow(Actor &actor, Actor::Threads threads, uint32_t which) const;

  const Flat &flat;
  const Graph &graph;
  const Values &values;
  bool manyDimensions = false; ///< %tid.x alone does not name a thread
};

/// What is known already and what is new, together.
void RoleFinder::narrow(Actor &actor, Actor::Threads threads, uint32_t which) const {
  using Threads = Actor::Threads;
  if (actor.threads == Threads::one)
    return;
  if ((actor.threads == Threads::warp && threads == Threads::lanes) ||
      (actor.threads == Threads::lanes && threads == Threads::warp)) {
    actor.which =
        actor.threads == Threads::warp ? actor.which << 8 | (which & 0xff) : which << 8 | (actor.which & 0xff);
    actor.threads = Threads::one;
    return;
  }
  if (threads == Threads::one || actor.threads == Threads::all) {
    actor.threads = threads;
    actor.which = which;
  }
}

void RoleFinder::refine(Actor &actor, uint32_t at, uint32_t predicate, bool value, unsigned depth) const {
  auto definitions = values.definitions(predicate);
  uint32_t d = definitions.size() == 1 || at == ~0u ? (definitions.size() == 1 ? definitions[0] : ~0u)
                                                    : values.reaching(at, predicate);
  // `mov p, 0; @q mov p, 1`, as elect is often written: q.
  if (d == ~0u && definitions.size() == 2 && flat.nodes[definitions[1]].in->guard != Instruction::noGuard &&
      depth < 6) {
    const Node &second = flat.nodes[definitions[1]];
    return refine(actor, definitions[1], flat.reg(second, second.in->guard), value != second.in->guardNegated,
                  depth + 1);
  }
  if (d == ~0u || depth >= 6) {
    actor.some = true;
    return;
  }
  const Instruction &in = *flat.nodes[d].in;
  auto reg = [&](size_t i) { return flat.reg(flat.nodes[d], in.operands[i].index); };
  auto isReg = [&](size_t i) { return i < in.operands.size() && in.operands[i].kind == OperandKind::reg; };
  if (in.opcode == "not" && isReg(1))
    return refine(actor, d, reg(1), !value, depth + 1);
  if (in.opcode == "mov" && isReg(1))
    return refine(actor, d, reg(1), value, depth + 1);
  if ((in.opcode == "and" && value) || (in.opcode == "or" && !value)) {
    for (size_t i : {1, 2})
      if (isReg(i))
        refine(actor, d, reg(i), value != in.operands[i].negated, depth + 1);
    return;
  }
  if (in.opcode == "elect") {
    // The destination is `lane|p`.
    value ? narrow(actor, Actor::Threads::lanes, 0xe1) : void(actor.some = true);
    return;
  }
  if (in.opcode == "setp" && !in.mods.empty()) {
    bool both = in.has("and") && in.operands.size() == 4, either = in.has("or") && in.operands.size() == 4;
    if ((both && !value) || (either && value)) {
      actor.some = true;
      return;
    }
    if ((both || either) && in.operands[3].kind == OperandKind::reg)
      refine(actor, d, reg(3), value != in.operands[3].negated, depth + 1);
    // `a|b` writes the opposite to b.
    bool second = in.operands[0].kind == OperandKind::pair && in.operands[0].elements.size() == 2 &&
                  in.operands[0].elements[1].kind == OperandKind::reg &&
                  flat.reg(flat.nodes[d], in.operands[0].elements[1].index) == predicate;
    return compare(actor, d, in.mods[0], value != second, depth);
  }
  actor.some = true;
}

/// What it tells of the actor that `a` is `constant`, or is not; false: nothing.
bool RoleFinder::compareValues(Actor &actor, const Value &a, int64_t constant, bool equal) const {
  if (!a.known || a.root != Value::noRoot || a.count != 1 || a.terms[0].factor != 1)
    return false;
  const Symbol &s = values.symbol(a.terms[0].symbol);
  if (s.kind != SymbolKind::special)
    return false;
  uint32_t which = uint32_t(constant - a.constant);
  bool cta = s.special == "cluster_ctarank" || s.special == "ctaid" || s.special == "cluster_ctaid" ||
             s.special == "clusterid";
  if (cta) {
    if (actor.ctas == Actor::Ctas::all || equal) {
      actor.ctas = equal ? Actor::Ctas::only : Actor::Ctas::except;
      actor.cta = which + (s.special == "cluster_ctarank" ? 0 : 64 * uint32_t(s.special.size()));
    }
    return true;
  }
  bool tid = s.special == "tid" && s.component == 'x' && s.a == 0 && !manyDimensions;
  if (!equal || (!tid && s.special != "laneid" && s.special != "warp"))
    return false;
  if (tid)
    narrow(actor, Actor::Threads::one, which + 1);
  else
    narrow(actor, s.special == "warp" ? Actor::Threads::warp : Actor::Threads::lanes, which + 1);
  return true;
}

void RoleFinder::compare(Actor &actor, uint32_t node, std::string_view comparison, bool value, unsigned depth) const {
  const Instruction &in = *flat.nodes[node].in;
  if (in.operands.size() < 3) {
    actor.some = true;
    return;
  }
  Value a = values.of(node, in.operands[1]), b = values.of(node, in.operands[2]);
  const ptx::Operand *left = &in.operands[1];
  if (a.isConstant() && !b.isConstant()) {
    std::swap(a, b);
    left = &in.operands[2];
  }
  bool equal = comparison == "eq" ? value : !value;
  bool equality = comparison == "eq" || comparison == "ne";
  // `tid < 1`, `tid > 0`: as good as an equality.
  if (a.known && b.isConstant() && !equality) {
    bool less = (comparison == "lt" || comparison == "lo") && b.constant == 1;
    bool greater = (comparison == "gt" || comparison == "hi") && b.constant == 0;
    if (less || greater) {
      equality = true;
      equal = less == value;
      b.constant = 0;
    }
  }
  if (equality && b.isConstant() && compareValues(actor, a, b.constant, equal))
    return;
  // `a | b` is zero if both are.
  if (b.isConstant() && b.constant == 0 && equality && left->kind == OperandKind::reg) {
    uint32_t d = values.reaching(node, flat.reg(flat.nodes[node], left->index));
    if (d != ~0u && flat.nodes[d].in->opcode == "or" && flat.nodes[d].in->operands.size() == 3) {
      actor.some |= !equal;
      for (size_t i : {1, 2})
        if (equal)
          compareValues(actor, values.of(d, flat.nodes[d].in->operands[i]), 0, true);
      return;
    }
  }
  // A predicate that went through a register.
  if (b.isConstant() && b.constant == 0 && equality && left->kind == OperandKind::reg && depth < 6) {
    uint32_t reg = flat.reg(flat.nodes[node], left->index);
    auto definitions = values.definitions(reg);
    if (definitions.size() == 1) {
      const Instruction &from = *flat.nodes[definitions[0]].in;
      Value one = from.opcode == "selp" ? values.of(definitions[0], from.operands[1]) : Value{};
      if (from.opcode == "selp" && from.operands.size() == 4 && from.operands[3].kind == OperandKind::reg &&
          one.isConstant()) {
        bool trueIsZero = one.constant == 0;
        return refine(actor, definitions[0], flat.reg(flat.nodes[definitions[0]], from.operands[3].index),
                      equal == trueIsZero, depth + 1);
      }
    } else if (definitions.size() == 2 && flat.nodes[definitions[1]].in->guard != Instruction::noGuard) {
      const Node &second = flat.nodes[definitions[1]];
      return refine(actor, definitions[1], flat.reg(second, second.in->guard), equal == second.in->guardNegated,
                    depth + 1);
    }
  }
  if (!values.uniform(a) || !values.uniform(b))
    actor.some = true;
}

} // namespace

std::vector<Actor> findActors(const Flat &flat, const Graph &graph, const Values &values) {
  return RoleFinder(flat, graph, values).run();
}

} // namespace interlock::lint
