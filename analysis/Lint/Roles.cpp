// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Reads conditions on %tid, the lane, the warp, elect.sync and the CTA's rank. Of others only this matters: whether all
// threads of a CTA decide alike.
#include "analysis/Lint/Roles.h"

#include "analysis/ScopeModel/Actors.h"

#include <algorithm>

namespace interlock::lint {
namespace {

using ptx::Instruction;
using ptx::OperandKind;
using scope::Actor;
using scope::electedLane;

constexpr uint32_t warpWidth = 32;
constexpr std::pair<std::string_view, scope::CtaNumber> ctaNumbers[] = {
    {"cluster_ctarank", scope::CtaNumber::clusterCtarank},
    {"ctaid", scope::CtaNumber::ctaid},
    {"cluster_ctaid", scope::CtaNumber::clusterCtaid},
    {"clusterid", scope::CtaNumber::clusterid}};

/// A thread, a warp or a lane that an actor is not.
struct Exclusion {
  Actor::Threads threads;
  uint32_t number;
};

struct Role {
  Actor actor;
  std::vector<Exclusion> excluded;
  bool unknown = false; ///< a condition that is not understood

  /// The actor would not be excluded anyway.
  bool without(const Exclusion &e) const {
    auto warp = scope::warpOf(actor, warpWidth), lane = scope::laneOf(actor, warpWidth);
    auto thread = scope::threadOf(actor);
    bool otherWarp = warp && *warp != (e.threads == Actor::Threads::one ? e.number / warpWidth : e.number);
    bool otherLane = lane && *lane != (e.threads == Actor::Threads::one ? e.number % warpWidth : e.number);
    switch (e.threads) {
    case Actor::Threads::one:
      return (thread && *thread != e.number) || otherWarp || otherLane;
    case Actor::Threads::warp:
      return otherWarp;
    default:
      return otherLane;
    }
  }
  Actor result() const {
    Actor out = actor;
    out.some =
        unknown || !std::all_of(excluded.begin(), excluded.end(), [&](const Exclusion &e) { return without(e); });
    return out;
  }
};

class RoleFinder {
public:
  RoleFinder(const Flat &flat, const Graph &graph, const Values &values) : flat(flat), graph(graph), values(values) {
    for (const Node &n : flat.nodes)
      for (const ptx::Operand &o : n.in->operands)
        manyDimensions |= o.kind == OperandKind::special && o.name == "tid" && o.component != 'x';
  }

  std::vector<Actor> run() {
    std::vector<Role> roles(flat.blocks.size());
    for (uint32_t b : graph.order) {
      if (b == 0)
        continue;
      uint32_t above = graph.dominator[b];
      roles[b] = roles[above];
      const FlatBlock &from = flat.blocks[above];
      if (from.condition == ~0u || from.successors.size() != 2 || from.successors[0] == from.successors[1])
        continue;
      // Leaving a loop is no choice between threads: sooner or later all of them do.
      if (uint32_t loop = graph.loopOf[above]; loop != Loop::none && !graph.inside(b, loop))
        continue;
      for (bool taken : {true, false})
        if (from.successors[taken ? 0 : 1] == b && onlyFrom(b, above))
          refine(roles[b], lastNode(above), from.condition, taken != from.conditionNegated, 0);
    }
    std::vector<Actor> actors(flat.blocks.size());
    for (uint32_t b = 0; b < actors.size(); ++b)
      actors[b] = roles[b].result();
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

  void refine(Role &role, uint32_t at, uint32_t predicate, bool value, unsigned depth) const;
  void compare(Role &role, uint32_t node, std::string_view comparison, bool value, unsigned depth) const;
  bool compareValues(Role &role, const Value &a, int64_t constant, bool equal) const;

  void is(Role &role, Actor::Threads threads, uint32_t number, bool equal) const;
  bool compareWithWarp(Role &role, const Instruction &in, const Value &a, int64_t constant, std::string_view comparison,
                       bool value) const;

  static constexpr size_t maxExcluded = 16;
  const Flat &flat;
  const Graph &graph;
  const Values &values;
  bool manyDimensions = false; ///< %tid.x alone does not name a thread
};

void RoleFinder::refine(Role &role, uint32_t at, uint32_t predicate, bool value, unsigned depth) const {
  auto definitions = values.definitions(predicate);
  uint32_t d = definitions.size() == 1 || at == ~0u ? (definitions.size() == 1 ? definitions[0] : ~0u)
                                                    : values.reaching(at, predicate);
  // `mov p, 0; @q mov p, 1`, as elect is often written: q.
  if (d == ~0u && definitions.size() == 2 && flat.nodes[definitions[1]].in->guard != Instruction::noGuard &&
      depth < 6) {
    const Node &second = flat.nodes[definitions[1]];
    return refine(role, definitions[1], flat.reg(second, second.in->guard), value != second.in->guardNegated,
                  depth + 1);
  }
  if (d == ~0u || depth >= 6) {
    role.unknown = true;
    return;
  }
  const Instruction &in = *flat.nodes[d].in;
  auto reg = [&](size_t i) { return flat.reg(flat.nodes[d], in.operands[i].index); };
  auto isReg = [&](size_t i) { return i < in.operands.size() && in.operands[i].kind == OperandKind::reg; };
  if (in.opcode == "not" && isReg(1))
    return refine(role, d, reg(1), !value, depth + 1);
  if (in.opcode == "mov" && isReg(1))
    return refine(role, d, reg(1), value, depth + 1);
  if ((in.opcode == "and" && value) || (in.opcode == "or" && !value)) {
    for (size_t i : {1, 2})
      if (isReg(i))
        refine(role, d, reg(i), value != in.operands[i].negated, depth + 1);
    return;
  }
  if (in.opcode == "elect") {
    // The destination is `lane|p`.
    value ? narrow(role.actor, Actor::Threads::lanes, electedLane, warpWidth) : void(role.unknown = true);
    return;
  }
  if (in.opcode == "setp" && !in.mods.empty()) {
    bool both = in.has("and") && in.operands.size() == 4, either = in.has("or") && in.operands.size() == 4;
    if ((both && !value) || (either && value)) {
      role.unknown = true;
      return;
    }
    if ((both || either) && in.operands[3].kind == OperandKind::reg)
      refine(role, d, reg(3), value != in.operands[3].negated, depth + 1);
    // `a|b` writes the opposite to b.
    bool second = in.operands[0].kind == OperandKind::pair && in.operands[0].elements.size() == 2 &&
                  in.operands[0].elements[1].kind == OperandKind::reg &&
                  flat.reg(flat.nodes[d], in.operands[0].elements[1].index) == predicate;
    return compare(role, d, in.mods[0], value != second, depth);
  }
  role.unknown = true;
}

/// What it tells of the actor that `a` is `constant`, or is not; false: nothing.
bool RoleFinder::compareValues(Role &role, const Value &a, int64_t constant, bool equal) const {
  if (!a.known || a.root != Value::noRoot || a.count != 1 || a.terms[0].factor != 1)
    return false;
  const Symbol &s = values.symbol(a.terms[0].symbol);
  if (s.kind != SymbolKind::special)
    return false;
  uint32_t number = uint32_t(constant - a.constant);
  for (auto [name, by] : ctaNumbers)
    if (s.special == name) {
      narrowCta(role.actor, by, number, equal);
      return true;
    }
  bool tid = s.isThread() && !manyDimensions;
  if (!tid && s.special != "laneid" && s.special != "warp")
    return false;
  is(role,
     tid                   ? Actor::Threads::one
     : s.special == "warp" ? Actor::Threads::warp
                           : Actor::Threads::lanes,
     number, equal);
  return true;
}

void RoleFinder::is(Role &role, Actor::Threads threads, uint32_t number, bool equal) const {
  if (equal)
    narrow(role.actor, threads, number, warpWidth);
  else if (role.excluded.size() < maxExcluded)
    role.excluded.push_back({threads, number});
  else
    role.unknown = true;
}

/// `%tid.x < 32` is the first warp, and `%tid.x - 32 < 32`, without a sign, the second.
bool RoleFinder::compareWithWarp(Role &role, const Instruction &in, const Value &a, int64_t constant,
                                 std::string_view comparison, bool value) const {
  bool below = comparison == "lt" || comparison == "lo", upTo = comparison == "le" || comparison == "ls";
  bool from = comparison == "ge" || comparison == "hs", above = comparison == "gt" || comparison == "hi";
  bool sign = ptx::isSigned(in.type());
  if (!(below || upTo || from || above) || manyDimensions || constant + (upTo || above) != warpWidth || !a.known ||
      a.root != Value::noRoot || a.count != 1 || a.terms[0].factor != 1 ||
      !values.symbol(a.terms[0].symbol).isThread() || a.constant > 0 || a.constant % int64_t(warpWidth) != 0 ||
      (a.constant != 0 && sign))
    return false;
  is(role, Actor::Threads::warp, uint32_t(-a.constant / int64_t(warpWidth)), value == (below || upTo));
  return true;
}

void RoleFinder::compare(Role &role, uint32_t node, std::string_view comparison, bool value, unsigned depth) const {
  const Instruction &in = *flat.nodes[node].in;
  if (in.operands.size() < 3) {
    role.unknown = true;
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
  if (b.isConstant() && compareWithWarp(role, in, a, b.constant, comparison, value))
    return;
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
  if (equality && b.isConstant() && compareValues(role, a, b.constant, equal))
    return;
  // `a | b` is zero if both are.
  if (b.isConstant() && b.constant == 0 && equality && left->kind == OperandKind::reg) {
    uint32_t d = values.reaching(node, flat.reg(flat.nodes[node], left->index));
    if (d != ~0u && flat.nodes[d].in->opcode == "or" && flat.nodes[d].in->operands.size() == 3) {
      role.unknown |= !equal;
      for (size_t i : {1, 2})
        if (equal)
          compareValues(role, values.of(d, flat.nodes[d].in->operands[i]), 0, true);
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
        return refine(role, definitions[0], flat.reg(flat.nodes[definitions[0]], from.operands[3].index),
                      equal == trueIsZero, depth + 1);
      }
    } else if (definitions.size() == 2 && flat.nodes[definitions[1]].in->guard != Instruction::noGuard) {
      const Node &second = flat.nodes[definitions[1]];
      return refine(role, definitions[1], flat.reg(second, second.in->guard), equal == second.in->guardNegated,
                    depth + 1);
    }
  }
  if (!values.uniform(a) || !values.uniform(b))
    role.unknown = true;
}

} // namespace

std::vector<Actor> findActors(const Flat &flat, const Graph &graph, const Values &values) {
  return RoleFinder(flat, graph, values).run();
}

} // namespace interlock::lint
