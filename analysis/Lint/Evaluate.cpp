// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What an instruction leaves in its destination, as far as it can be folded.
#include "analysis/Lint/Values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace interlock::lint {
namespace {

using ptx::Operand;
using ptx::OperandKind;

bool isInteger(ptx::Type type) {
  return type != ptx::Type::none && !ptx::isFloat(type) && type != ptx::Type::pred && ptx::bitWidth(type) >= 16;
}

} // namespace

void Values::evaluate(uint32_t node) {
  const Node &n = flat.nodes[node];
  const ptx::Instruction &in = *n.in;
  // What calls hand over.
  if (in.opcode == "st" && in.has("param") && !in.operands.empty() && !in.operands[0].elements.empty()) {
    const Operand &base = in.operands[0].elements[0];
    if (base.kind == OperandKind::symbol) {
      uint32_t variable = base.symbolScope == ptx::SymbolScope::returns ? base.index | 1u << 31 : base.index;
      uint64_t offset = in.operands[0].bits, width = ptx::bitWidth(in.type()) / 8;
      for (size_t i = 1; i < in.operands.size(); ++i)
        if (const Operand &value = in.operands[i]; value.kind != OperandKind::vector)
          stored[{n.frame, variable, offset}] = {node, &value};
        else
          for (size_t e = 0; e < value.elements.size(); ++e)
            stored[{n.frame, variable, offset + e * width}] = {node, &value.elements[e]};
    }
  }
  if (destination(in)) {
    results[node] = compute(node);
    inheritUniformity(node);
  }
}

/// A number that only arithmetic on uniform ones made is uniform, whatever it is: the bound of a loop, for one.
void Values::inheritUniformity(uint32_t node) {
  static constexpr std::string_view arithmetic[] = {"abs", "add", "and", "bfe", "cvt", "div", "lop3",
                                                    "mad", "max", "min", "mul", "neg", "not", "or",
                                                    "rem", "shl", "shr", "sub", "xor"};
  const ptx::Instruction &in = *flat.nodes[node].in;
  uint32_t own = opaqueSymbol[node];
  if (own == ~0u || in.guard != ptx::Instruction::noGuard ||
      std::find(std::begin(arithmetic), std::end(arithmetic), in.opcode) == std::end(arithmetic))
    return;
  bool perCta = false;
  for (size_t i = 1; i < in.operands.size(); ++i) {
    Value v = of(node, in.operands[i]);
    if (!uniform(v))
      return;
    for (unsigned t = 0; t < v.count; ++t)
      perCta |= symbols[v.terms[t].symbol].perCta;
  }
  symbols[own].uniform = true;
  symbols[own].perCta = perCta;
}

Value Values::compute(uint32_t node) {
  const ptx::Instruction &in = *flat.nodes[node].in;
  std::string_view op = in.opcode;
  auto arg = [&](size_t i) { return i < in.operands.size() ? of(node, in.operands[i]) : Value{}; };
  if (op == "mov") {
    Value v = arg(1);
    return v.known ? v : opaque(node);
  }
  if (op == "cvta") {
    Value v = arg(1);
    if (v.isPlace() && roots[v.root].space == ptx::Space::none)
      for (ptx::Space space :
           {ptx::Space::global, ptx::Space::shared, ptx::Space::local, ptx::Space::constant, ptx::Space::param})
        if (in.has(ptx::name(space)))
          roots[v.root].space = space;
    return v.known ? v : opaque(node);
  }
  if (op == "ld") {
    Value v = in.has("param") ? loadParameter(node, 0) : loadPointer(node);
    return v.known ? v : opaque(node);
  }
  if (op == "mapa") {
    Value v = arg(1);
    if (!v.known)
      return opaque(node);
    v.remote = true;
    return v;
  }
  if (op == "cvt" && in.mods.size() >= 2 && isInteger(in.type(0)) && isInteger(in.type(1))) {
    Value v = arg(1);
    return v.known ? v : opaque(node);
  }
  if (!isInteger(in.type()))
    return opaque(node);
  if (op == "add")
    return sum(arg(1), arg(2), 1, node);
  if (op == "sub")
    return sum(arg(1), arg(2), -1, node);
  if ((op == "mul" || op == "mul24" || op == "mad" || op == "mad24") && !in.has("hi")) {
    Value p = product(arg(1), arg(2), node);
    return op.substr(0, 3) == "mul" ? p : sum(p, arg(3), 1, node);
  }
  return computeLogic(node);
}

/// Bits: shifts and masks by constants, and what is known of the thread's index.
Value Values::computeLogic(uint32_t node) {
  const ptx::Instruction &in = *flat.nodes[node].in;
  std::string_view op = in.opcode;
  auto arg = [&](size_t i) { return i < in.operands.size() ? of(node, in.operands[i]) : Value{}; };
  Value a = arg(1), b = arg(2);
  // What bits are left of a place still belongs to it: an aligned base, a matrix descriptor.
  Value rest = opaque(node, a.isPlace() ? a.root : b.isPlace() ? b.root : Value::noRoot);
  rest.remote = a.remote || b.remote;
  if (op == "shl" && b.isConstant() && b.constant >= 0 && b.constant < 63 && a.known && !a.isPlace())
    return scaled(a, int64_t(1) << b.constant);
  if (op == "shr" && b.isConstant() && b.constant == 5 && is(a, "tid"))
    return special("warp", 0);
  if (op == "div" && b.isConstant() && b.constant == 32 && is(a, "tid"))
    return special("warp", 0);
  if (op == "and" && b.isConstant()) {
    if (uint32_t(b.constant) == 31 && is(a, "tid"))
      return special("laneid", 0);
    // Two CTAs on one pair of multiprocessors: this mask makes the address one in the even CTA.
    if (uint32_t(b.constant) == 0xfeffffffu && a.isPlace()) {
      a.remote = true;
      return a;
    }
    return rest;
  }
  if (op == "rem" && b.isConstant() && b.constant == 32 && is(a, "tid"))
    return special("laneid", 0);
  if (op == "or" && a.known && b.isConstant() && b.constant >= 0 && b.constant <= INT32_MAX) {
    // An addition, if no bit of the constant can be set in the other one.
    int64_t low = int64_t(std::bit_ceil(uint64_t(b.constant) + 1));
    bool apart = a.constant % low == 0 && !a.isPlace();
    for (unsigned i = 0; i < a.count; ++i)
      apart &= a.terms[i].factor % low == 0;
    return apart ? sum(a, b, 1, node) : rest;
  }
  if (op == "selp" && a.known && b.known && a.root == b.root && a.constant == b.constant && a.count == b.count &&
      a.terms == b.terms)
    return a;
  if (op == "selp" && a.known && b.known && a.root != b.root)
    return opaque(node);
  // The warp's index, made uniform by a shuffle.
  if (op == "shfl" && in.has("idx") && (is(a, "warp") || uniform(a)))
    return a;
  return rest;
}

/// What an element of a load from the parameters gets; nothing if that is not known.
Value Values::loadParameter(uint32_t node, uint32_t element) const {
  const Node &n = flat.nodes[node];
  const ptx::Instruction &in = *n.in;
  const Frame &frame = flat.frames[n.frame];
  if (in.operands.size() < 2 || in.operands[1].elements.empty())
    return {};
  const Operand &address = in.operands[1], &base = address.elements[0];
  if (base.kind != OperandKind::symbol)
    return element == 0 ? loadPointer(node) : Value{};
  uint64_t offset = address.bits + element * (ptx::bitWidth(in.type()) / 8);
  auto handed = [&](uint32_t in, uint32_t variable) {
    auto it = stored.find({in, variable, offset});
    return it == stored.end() ? Value{} : of(it->second.first, *it->second.second);
  };
  if (base.symbolScope == ptx::SymbolScope::function) { // a result of a call before it
    for (uint32_t f = uint32_t(flat.frames.size()); f-- > 0;) {
      const Frame &callee = flat.frames[f];
      if (callee.parent != n.frame || callee.callNode > node)
        continue;
      const Operand &results = flat.nodes[callee.callNode].in->operands[0];
      for (uint32_t i = 0; results.kind == OperandKind::arguments && i < results.elements.size(); ++i)
        if (results.elements[i].kind == OperandKind::symbol && results.elements[i].index == base.index)
          return handed(f, i | 1u << 31);
    }
    return {};
  }
  if (base.symbolScope != ptx::SymbolScope::parameter)
    return {};
  if (frame.parent != Frame::none) {
    const auto &operands = flat.nodes[frame.callNode].in->operands;
    if (operands.empty() || operands.back().kind != OperandKind::arguments ||
        base.index >= operands.back().elements.size())
      return {};
    const Operand &argument = operands.back().elements[base.index];
    if (argument.kind == OperandKind::symbol)
      return handed(frame.parent, argument.index);
    return of(frame.callNode, argument);
  }
  return kernelParameter(base.index, offset, in.type());
}

Value Values::kernelParameter(uint32_t index, uint64_t offset, ptx::Type type) const {
  if (ptx::bitWidth(type) < 64 && module.addressSize == 64) {
    Symbol symbol{SymbolKind::parameter, {}, 0, ~0u};
    symbol.uniform = true;
    return Value::ofSymbol(internSymbol(fmt::format("p{}+{}", index, offset), symbol));
  }
  Root root;
  root.kind = RootKind::parameter;
  root.parameter = index;
  root.offset = offset;
  root.space = flat.frames[0].function->entry ? ptx::Space::global : ptx::Space::none;
  root.name = offset ? fmt::format("param {} at {}", index, offset) : fmt::format("param {}", index);
  Value v = Value::ofConstant(0);
  v.root = internRoot(fmt::format("p{}+{}", index, offset), root);
  return v;
}

/// A pointer that is loaded is a root of its own; loads of the same place give the same one.
Value Values::loadPointer(uint32_t node) const {
  const ptx::Instruction &in = *flat.nodes[node].in;
  if (in.operands.size() < 2 || in.vectorLength() != 1)
    return {};
  Value place = address(node, in.operands[1]);
  if (!place.isPlace())
    return {};
  if (roots[place.root].kind == RootKind::argument && place.count == 0)
    return kernelParameter(roots[place.root].parameter, uint64_t(place.constant), in.type());
  if (ptx::bitWidth(in.type()) != 64 || ptx::isFloat(in.type()))
    return {};
  std::string key = fmt::format("l{}+{}", place.root, place.constant);
  for (unsigned i = 0; i < place.count; ++i)
    key += fmt::format("+{}*{}", place.terms[i].symbol, place.terms[i].factor);
  const Root from = roots[place.root];
  Root root;
  root.kind = RootKind::loaded;
  root.parameter = from.parameter;
  root.definedAt = node;
  root.name = from.name.empty() ? "memory behind a loaded pointer" : fmt::format("memory that {} points to", from.name);
  Value v = Value::ofConstant(0);
  v.root = internRoot(key, root);
  return v;
}

} // namespace interlock::lint
