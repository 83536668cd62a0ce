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

Value Values::opaque(uint32_t node, uint32_t root) const {
  if (opaqueSymbol[node] == ~0u)
    opaqueSymbol[node] = addSymbol({SymbolKind::opaque, {}, 0, node});
  Value v = Value::ofSymbol(opaqueSymbol[node]);
  v.root = root;
  return v;
}

Value Values::merged(uint32_t reg) const {
  if (mergedSymbol[reg] == ~0u)
    mergedSymbol[reg] = addSymbol({SymbolKind::merged, {}, 0, reg});
  return Value::ofSymbol(mergedSymbol[reg]);
}

Value Values::special(std::string_view name, char component) const {
  static constexpr std::string_view uniform[] = {
      "ntid",           "ctaid",           "nctaid",           "clusterid", "nclusterid", "cluster_ctaid",
      "cluster_nctaid", "cluster_ctarank", "cluster_nctarank", "gridid",    "WARP_SZ"};
  Symbol symbol{SymbolKind::special, name, component};
  symbol.uniform = std::find(std::begin(uniform), std::end(uniform), name) != std::end(uniform);
  symbol.perCta = name == "ctaid" || name == "clusterid" || name == "cluster_ctaid" || name == "cluster_ctarank";
  return Value::ofSymbol(internSymbol(fmt::format("{}.{}", name, component), symbol));
}

bool Values::is(const Value &v, std::string_view special) const {
  return v.known && v.root == Value::noRoot && v.constant == 0 && v.count == 1 && v.terms[0].factor == 1 &&
         symbols[v.terms[0].symbol].kind == SymbolKind::special && symbols[v.terms[0].symbol].special == special &&
         (special != "tid" || symbols[v.terms[0].symbol].isThread());
}

/// The place of a kernel parameter: a struct is often read through its address.
Value Values::argument(const Operand &o) const {
  Root root;
  root.kind = RootKind::argument;
  root.space = ptx::Space::param;
  root.parameter = o.index;
  root.name = fmt::format("param {}", o.index);
  Value out = Value::ofConstant(int64_t(o.bits));
  out.root = internRoot(fmt::format("a{}", o.index), root);
  return out;
}

Value Values::symbolAddress(const Node &node, const Operand &o) const {
  const ptx::Function &function = flat.function(node);
  const ptx::Variable *v = nullptr;
  if (o.symbolScope == ptx::SymbolScope::module)
    v = &module.variables[o.index];
  else if (o.symbolScope == ptx::SymbolScope::function)
    v = &function.variables[o.index];
  else if (o.symbolScope == ptx::SymbolScope::parameter && flat.frames[node.frame].parent == Frame::none)
    return argument(o);
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
  Value out = Value::ofConstant(int64_t(o.bits));
  out.root = internRoot(key, root);
  return out;
}

Value Values::of(uint32_t node, const Operand &o) const {
  switch (o.kind) {
  case OperandKind::integer:
    return Value::ofConstant(int64_t(o.bits));
  case OperandKind::special:
    return special(o.name, o.component);
  case OperandKind::symbol:
    return symbolAddress(flat.nodes[node], o);
  case OperandKind::reg: {
    uint32_t reg = flat.reg(flat.nodes[node], o.index);
    uint32_t d = reaching(node, reg);
    if (d == ~0u)
      return merged(reg);
    const ptx::Instruction &in = *flat.nodes[d].in;
    const Operand *first = destination(in);
    if (first && flat.reg(flat.nodes[d], first->index) == reg && !first->component && results[d].known)
      return results[d];
    // The fields of a struct are often loaded two or four at a time.
    if (in.opcode == "ld" && in.has("param") && in.operands[0].kind == OperandKind::vector)
      for (uint32_t i = 1; i < in.operands[0].elements.size(); ++i)
        if (const Operand &e = in.operands[0].elements[i];
            e.kind == OperandKind::reg && flat.reg(flat.nodes[d], e.index) == reg)
          if (Value v = loadParameter(d, i); v.known)
            return v;
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
  return sum(number, Value::ofSymbol(internSymbol(fmt::format("r{}", v.root), symbol)), 1, ~0u);
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
  // Threads that count from another than the first, behind the warps of another role: what they index starts at 0 all
  // the same, so `4 * (tid - 32)` is no place before the array.
  if (factor > 1 && v.constant < 0) {
    Value thread = v;
    thread.constant = 0;
    if (is(thread, "tid")) {
      Symbol symbol{SymbolKind::special, "tid", 'x'};
      symbol.a = uint32_t(-v.constant);
      v = Value::ofSymbol(internSymbol(fmt::format("tid.x-{}", symbol.a), symbol));
    }
  }
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
  return scaled(Value::ofSymbol(internSymbol(fmt::format("{}*{}", s, t), symbol)),
                a.terms[0].factor * b.terms[0].factor);
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
