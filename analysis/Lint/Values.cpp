// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Definitions of registers, and the algebra of values.
#include "analysis/Lint/Values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace interlock::lint {
namespace {

using ptx::Operand;
using ptx::OperandKind;

/// Calls `then` for each register that the instruction writes.
template <class Then> void eachDestination(const ptx::Instruction &in, Then then) {
  static constexpr std::string_view noResult[] = {
      "st", "red",  "bra",  "bar",      "barrier",        "fence", "membar", "ret",     "exit",
      "cp", "trap", "call", "prefetch", "griddepcontrol", "brx",   "wgmma",  "stmatrix"};
  for (std::string_view opcode : noResult)
    if (in.opcode == opcode && !(opcode == "bar" && in.has("red")) && !(opcode == "barrier" && in.has("red")) &&
        opcode != "wgmma")
      return;
  auto one = [&](const Operand &o) {
    if (o.kind == OperandKind::reg)
      then(o);
  };
  if (in.operands.empty())
    return;
  const Operand &o = in.operands[0];
  one(o);
  if (o.kind == OperandKind::pair || o.kind == OperandKind::vector)
    for (const Operand &e : o.elements)
      one(e);
}

bool isInteger(ptx::Type type) {
  return type != ptx::Type::none && !ptx::isFloat(type) && type != ptx::Type::pred && ptx::bitWidth(type) >= 16;
}

} // namespace

const Operand *destination(const ptx::Instruction &in) {
  if (in.operands.empty())
    return nullptr;
  const Operand &o = in.operands[0];
  if (o.kind == OperandKind::reg)
    return &o;
  if ((o.kind == OperandKind::pair || o.kind == OperandKind::vector) && !o.elements.empty() &&
      o.elements[0].kind == OperandKind::reg)
    return &o.elements[0];
  return nullptr;
}

Values::Values(const ptx::Module &module, const Flat &flat, const Graph &graph)
    : module(module), flat(flat), graph(graph), block(flat.nodes.size(), ~0u), results(flat.nodes.size()),
      mergedSymbol(flat.registers, ~0u), opaqueSymbol(flat.nodes.size(), ~0u) {
  for (uint32_t b = 0; b < flat.blocks.size(); ++b)
    for (uint32_t n = flat.blocks[b].first; n < flat.blocks[b].first + flat.blocks[b].count; ++n)
      block[n] = b;
  indexDefinitions();
  for (uint32_t b : graph.order)
    for (uint32_t n = flat.blocks[b].first; n < flat.blocks[b].first + flat.blocks[b].count; ++n)
      evaluate(n);
}

void Values::indexDefinitions() {
  defStart.assign(flat.registers + 1, 0);
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t n = 0; n < flat.nodes.size(); ++n)
      eachDestination(*flat.nodes[n].in, [&](const Operand &o) {
        uint32_t r = flat.reg(flat.nodes[n], o.index);
        if (pass == 0)
          defStart[r + 1]++;
        else
          defList[defStart[r]++] = n;
      });
    if (pass == 0) {
      for (size_t r = 1; r < defStart.size(); ++r)
        defStart[r] += defStart[r - 1];
      defList.resize(defStart.back());
    }
  }
  // The second pass moved each start to the next one's place.
  for (size_t r = defStart.size() - 1; r > 0; --r)
    defStart[r] = defStart[r - 1];
  defStart[0] = 0;
}

uint32_t Values::lastIn(uint32_t b, uint32_t reg, uint32_t before) const {
  auto list = definitions(reg);
  auto it = std::lower_bound(list.begin(), list.end(), before);
  return it != list.begin() && *(it - 1) >= flat.blocks[b].first && block[*(it - 1)] == b ? *(it - 1) : ~0u;
}

uint32_t Values::reaching(uint32_t node, uint32_t reg) const {
  auto list = definitions(reg);
  if (list.size() <= 1)
    return list.empty() ? ~0u : list[0];
  auto guarded = [&](uint32_t d) {
    return flat.nodes[d].in->guard != ptx::Instruction::noGuard && block[d] == block[node];
  };
  if (uint32_t d = lastIn(block[node], reg, node); d != ~0u)
    return guarded(d) ? ~0u : d;
  uint64_t key = uint64_t(block[node]) << 32 | reg;
  if (auto it = reachingMemo.find(key); it != reachingMemo.end())
    return it->second;
  // Backwards until each path has met a definition; more than one, or too long a way, is no answer.
  constexpr size_t maxBlocks = 32;
  uint32_t found = ~0u;
  std::vector<uint32_t> seen{block[node]};
  bool unique = true;
  for (size_t i = 0; i < seen.size() && unique; ++i) {
    const auto &predecessors = flat.blocks[seen[i]].predecessors;
    unique = !predecessors.empty();
    for (uint32_t p : predecessors) {
      if (!graph.reachable(p))
        continue;
      const FlatBlock &b = flat.blocks[p];
      uint32_t d = lastIn(p, reg, b.first + b.count);
      if (d != ~0u) {
        unique &= (found == ~0u || found == d) && flat.nodes[d].in->guard == ptx::Instruction::noGuard;
        found = d;
      } else if (std::find(seen.begin(), seen.end(), p) == seen.end()) {
        seen.push_back(p);
      }
    }
    unique &= seen.size() <= maxBlocks;
  }
  return reachingMemo[key] = unique ? found : ~0u;
}

uint32_t Values::addSymbol(const Symbol &symbol) const {
  symbols.push_back(symbol);
  return uint32_t(symbols.size() - 1);
}

uint32_t Values::internSymbol(const std::string &key, const Symbol &symbol) const {
  auto [it, fresh] = symbolIndex.try_emplace(key, uint32_t(symbols.size()));
  if (fresh)
    symbols.push_back(symbol);
  return it->second;
}

uint32_t Values::internRoot(const std::string &key, const Root &root) const {
  auto [it, fresh] = rootIndex.try_emplace(key, uint32_t(roots.size()));
  if (fresh)
    roots.push_back(root);
  return it->second;
}

namespace {
Value ofSymbol(uint32_t symbol) {
  Value v;
  v.known = true;
  v.terms[0] = {symbol, 1};
  v.count = 1;
  return v;
}
Value ofConstant(int64_t constant) {
  Value v;
  v.known = true;
  v.constant = constant;
  return v;
}
} // namespace

Value Values::opaque(uint32_t node, uint32_t root) const {
  if (opaqueSymbol[node] == ~0u)
    opaqueSymbol[node] = addSymbol({SymbolKind::opaque, {}, 0, node});
  Value v = ofSymbol(opaqueSymbol[node]);
  v.root = root;
  return v;
}

Value Values::merged(uint32_t reg) const {
  if (mergedSymbol[reg] == ~0u)
    mergedSymbol[reg] = addSymbol({SymbolKind::merged, {}, 0, reg});
  return ofSymbol(mergedSymbol[reg]);
}

Value Values::special(std::string_view name, char component) const {
  static constexpr std::string_view uniform[] = {
      "ntid",           "ctaid",           "nctaid",           "clusterid", "nclusterid", "cluster_ctaid",
      "cluster_nctaid", "cluster_ctarank", "cluster_nctarank", "gridid",    "WARP_SZ"};
  Symbol symbol{SymbolKind::special, name, component};
  symbol.uniform = std::find(std::begin(uniform), std::end(uniform), name) != std::end(uniform);
  symbol.perCta = name == "ctaid" || name == "clusterid" || name == "cluster_ctaid" || name == "cluster_ctarank";
  return ofSymbol(internSymbol(fmt::format("{}.{}", name, component), symbol));
}

bool Values::is(const Value &v, std::string_view special) const {
  return v.known && v.root == Value::noRoot && v.constant == 0 && v.count == 1 && v.terms[0].factor == 1 &&
         symbols[v.terms[0].symbol].kind == SymbolKind::special && symbols[v.terms[0].symbol].special == special &&
         (special != "tid" || symbols[v.terms[0].symbol].component == 'x');
}

Value Values::symbolAddress(const Node &node, const Operand &o) const {
  const ptx::Function &function = flat.function(node);
  const ptx::Variable *v = nullptr;
  if (o.symbolScope == ptx::SymbolScope::module)
    v = &module.variables[o.index];
  else if (o.symbolScope == ptx::SymbolScope::function)
    v = &function.variables[o.index];
  if (!v)
    return {};
  Root root;
  root.variable = v;
  root.space = v->space;
  root.name = std::string(v->name);
  root.moduleScope = o.symbolScope == ptx::SymbolScope::module;
  std::string key;
  if (v->space == ptx::Space::shared && v->unsized) {
    root.kind = RootKind::dynamic;
    key = "dynamic";
  } else {
    key = fmt::format("v{}", fmt::ptr(v));
  }
  Value out = ofConstant(int64_t(o.bits));
  out.root = internRoot(key, root);
  return out;
}

Value Values::of(uint32_t node, const Operand &o) const {
  switch (o.kind) {
  case OperandKind::integer:
    return ofConstant(int64_t(o.bits));
  case OperandKind::special:
    return special(o.name, o.component);
  case OperandKind::symbol:
    return symbolAddress(flat.nodes[node], o);
  case OperandKind::reg: {
    uint32_t reg = flat.reg(flat.nodes[node], o.index);
    uint32_t d = reaching(node, reg);
    if (d == ~0u)
      return merged(reg);
    const Operand *first = destination(*flat.nodes[d].in);
    if (first && flat.reg(flat.nodes[d], first->index) == reg && !first->component && results[d].known)
      return results[d];
    return merged(reg);
  }
  default:
    return {};
  }
}

Value Values::address(uint32_t node, const Operand &o) const {
  if (o.kind != OperandKind::address || o.elements.empty())
    return {};
  Value v = of(node, o.elements[0]);
  if (!v.known)
    return v;
  v.constant += int64_t(o.bits);
  if (v.root != Value::noRoot)
    return v;
  // A pointer of unknown origin is a root of its own, as long as one symbol holds all of it.
  for (unsigned i = 0; i < v.count; ++i) {
    const Symbol &s = symbols[v.terms[i].symbol];
    if (v.terms[i].factor != 1 || (s.kind != SymbolKind::merged && s.kind != SymbolKind::opaque))
      continue;
    Root root;
    root.kind = RootKind::computed;
    root.name = "memory behind a computed pointer";
    root.definedAt = s.kind == SymbolKind::opaque ? s.a : ~0u;
    v.root = internRoot(fmt::format("s{}", v.terms[i].symbol), root);
    std::copy(v.terms.begin() + i + 1, v.terms.begin() + v.count, v.terms.begin() + i);
    v.count--;
    return v;
  }
  return {};
}

/// A place as a number: its root becomes a symbol.
Value Values::asNumber(const Value &v) const {
  if (v.root == Value::noRoot)
    return v;
  Symbol symbol{SymbolKind::parameter, {}, 0, v.root};
  symbol.uniform = roots[v.root].kind == RootKind::parameter;
  Value number = v;
  number.root = Value::noRoot;
  return sum(number, ofSymbol(internSymbol(fmt::format("r{}", v.root), symbol)), 1, ~0u);
}

Value Values::sum(const Value &a, const Value &b, int sign, uint32_t node) const {
  if (!a.known || !b.known)
    return node == ~0u ? Value{} : opaque(node, a.known ? a.root : Value::noRoot);
  Value x = a, y = b;
  if (y.root != Value::noRoot) {
    if (sign < 0 && x.root == y.root)
      x.root = y.root = Value::noRoot; // the distance of two places
    else if (x.root == Value::noRoot && sign > 0)
      std::swap(x, y);
    else
      y = asNumber(y);
  }
  Value out = x;
  out.remote |= y.remote;
  out.constant = int64_t(uint64_t(x.constant) + uint64_t(sign) * uint64_t(y.constant));
  for (unsigned i = 0; i < y.count; ++i) {
    Term t = y.terms[i];
    t.factor *= sign;
    unsigned at = 0;
    while (at < out.count && out.terms[at].symbol < t.symbol)
      ++at;
    if (at < out.count && out.terms[at].symbol == t.symbol) {
      out.terms[at].factor += t.factor;
      if (out.terms[at].factor == 0) {
        std::copy(out.terms.begin() + at + 1, out.terms.begin() + out.count, out.terms.begin() + at);
        out.count--;
      }
      continue;
    }
    if (out.count == out.terms.size()) { // too long: one symbol for all of it
      if (node == ~0u)
        return {};
      Value whole = opaque(node, out.root);
      whole.remote = out.remote;
      return whole;
    }
    std::copy_backward(out.terms.begin() + at, out.terms.begin() + out.count, out.terms.begin() + out.count + 1);
    out.terms[at] = t;
    out.count++;
  }
  return out;
}

Value Values::scaled(Value v, int64_t factor) const {
  v.constant = int64_t(uint64_t(v.constant) * uint64_t(factor));
  for (unsigned i = 0; i < v.count; ++i)
    v.terms[i].factor = int64_t(uint64_t(v.terms[i].factor) * uint64_t(factor));
  if (factor == 0)
    v.count = 0;
  return v;
}

Value Values::product(const Value &first, const Value &second, uint32_t node) const {
  Value a = asNumber(first), b = asNumber(second);
  if (!a.known || !b.known)
    return opaque(node);
  if (b.isConstant())
    return scaled(a, b.constant);
  if (a.isConstant())
    return scaled(b, a.constant);
  if (a.count != 1 || b.count != 1 || a.constant || b.constant)
    return opaque(node);
  uint32_t s = std::min(a.terms[0].symbol, b.terms[0].symbol), t = std::max(a.terms[0].symbol, b.terms[0].symbol);
  Symbol symbol{SymbolKind::product, {}, 0, s, t};
  symbol.perCta = symbols[s].perCta || symbols[t].perCta;
  symbol.uniform = symbols[s].uniform && symbols[t].uniform;
  return scaled(ofSymbol(internSymbol(fmt::format("{}*{}", s, t), symbol)), a.terms[0].factor * b.terms[0].factor);
}

void Values::evaluate(uint32_t node) {
  const Node &n = flat.nodes[node];
  const ptx::Instruction &in = *n.in;
  // What calls hand over.
  if (in.opcode == "st" && in.has("param") && !in.operands.empty() && !in.operands[0].elements.empty()) {
    const Operand &base = in.operands[0].elements[0];
    if (base.kind == OperandKind::symbol) {
      uint32_t variable = base.symbolScope == ptx::SymbolScope::returns ? base.index | 1u << 31 : base.index;
      stored[{n.frame, variable, in.operands[0].bits}] = node;
    }
  }
  if (destination(in))
    results[node] = compute(node);
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
  if (op == "ld")
    return in.has("param") ? loadParameter(node) : loadPointer(node);
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

Value Values::loadParameter(uint32_t node) {
  const Node &n = flat.nodes[node];
  const ptx::Instruction &in = *n.in;
  const Frame &frame = flat.frames[n.frame];
  if (in.operands.size() < 2 || in.operands[1].elements.empty() || in.vectorLength() != 1)
    return opaque(node);
  const Operand &address = in.operands[1], &base = address.elements[0];
  if (base.kind != OperandKind::symbol)
    return loadPointer(node);
  auto handed = [&](uint32_t in, uint32_t variable) {
    auto it = stored.find({in, variable, address.bits});
    return it == stored.end() || flat.nodes[it->second].in->operands.size() < 2
               ? opaque(node)
               : of(it->second, flat.nodes[it->second].in->operands[1]);
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
    return opaque(node);
  }
  if (base.symbolScope != ptx::SymbolScope::parameter)
    return opaque(node);
  if (frame.parent != Frame::none) {
    const auto &operands = flat.nodes[frame.callNode].in->operands;
    if (operands.empty() || operands.back().kind != OperandKind::arguments ||
        base.index >= operands.back().elements.size())
      return opaque(node);
    const Operand &argument = operands.back().elements[base.index];
    if (argument.kind == OperandKind::symbol)
      return handed(frame.parent, argument.index);
    Value v = of(frame.callNode, argument);
    return v.known ? v : opaque(node);
  }
  uint64_t offset = address.bits;
  if (ptx::bitWidth(in.type()) < 64 && module.addressSize == 64) {
    Symbol symbol{SymbolKind::parameter, {}, 0, ~0u};
    symbol.uniform = true;
    return ofSymbol(internSymbol(fmt::format("p{}+{}", base.index, offset), symbol));
  }
  Root root;
  root.kind = RootKind::parameter;
  root.parameter = base.index;
  root.offset = offset;
  root.space = frame.function->entry ? ptx::Space::global : ptx::Space::none;
  root.name = offset ? fmt::format("param {} at {}", base.index, offset) : fmt::format("param {}", base.index);
  Value v = ofConstant(0);
  v.root = internRoot(fmt::format("p{}+{}", base.index, offset), root);
  return v;
}

/// A pointer that is loaded is a root of its own; loads of the same place give the same one.
Value Values::loadPointer(uint32_t node) {
  const ptx::Instruction &in = *flat.nodes[node].in;
  if (ptx::bitWidth(in.type()) != 64 || ptx::isFloat(in.type()) || in.operands.size() < 2 || in.vectorLength() != 1)
    return opaque(node);
  Value place = address(node, in.operands[1]);
  if (!place.isPlace())
    return opaque(node);
  std::string key = fmt::format("l{}+{}", place.root, place.constant);
  for (unsigned i = 0; i < place.count; ++i)
    key += fmt::format("+{}*{}", place.terms[i].symbol, place.terms[i].factor);
  const Root &from = roots[place.root];
  Root root;
  root.kind = RootKind::loaded;
  root.parameter = from.parameter;
  root.definedAt = node;
  root.name = from.name.empty() ? "memory behind a loaded pointer" : fmt::format("memory that {} points to", from.name);
  Value v = ofConstant(0);
  v.root = internRoot(key, root);
  return v;
}

bool Values::varies(const Value &v, uint32_t loop) const {
  auto within = [&](uint32_t node) { return node != ~0u && graph.inside(block[node], loop); };
  auto symbolVaries = [&](uint32_t index) {
    const Symbol &s = symbols[index];
    if (s.kind == SymbolKind::opaque)
      return within(s.a);
    if (s.kind != SymbolKind::merged)
      return false;
    auto list = definitions(s.a);
    return std::any_of(list.begin(), list.end(), within);
  };
  if (v.root != Value::noRoot && within(roots[v.root].definedAt))
    return true;
  for (unsigned i = 0; i < v.count; ++i) {
    const Symbol &s = symbols[v.terms[i].symbol];
    if (s.kind == SymbolKind::product ? symbolVaries(s.a) || symbolVaries(s.b) : symbolVaries(v.terms[i].symbol))
      return true;
  }
  return !v.known;
}

bool Values::uniformSymbol(uint32_t index, unsigned depth) const {
  const Symbol s = symbols[index];
  if (s.uniform)
    return true;
  if (s.kind != SymbolKind::merged || depth > 3)
    return false;
  // A counter: all that is ever put into it is uniform, or itself and something uniform.
  auto list = definitions(s.a);
  if (list.empty() || list.size() > 4)
    return false;
  for (uint32_t d : list) {
    const Value &v = results[d];
    if (!v.known || v.root != Value::noRoot)
      return false;
    for (unsigned i = 0; i < v.count; ++i)
      if (v.terms[i].symbol != index && !uniformSymbol(v.terms[i].symbol, depth + 1))
        return false;
  }
  return true;
}

bool Values::uniform(const Value &v) const {
  if (!v.known || v.root != Value::noRoot)
    return false;
  for (unsigned i = 0; i < v.count; ++i)
    if (!uniformSymbol(v.terms[i].symbol, 0))
      return false;
  return true;
}

} // namespace interlock::lint
