// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Function bodies: scopes, labels, instructions and operands (PTX ISA "Instruction Statements", "Operands").
#include "analysis/PTX/Parser.h"

#include <fmt/format.h>

#include <bit>

namespace interlock::ptx {

void Parser::body(Function &fn) {
  fn.body = peek().at;
  expectPunct("{", "the header of a function");
  std::vector<uint32_t> outer;
  for (;;) {
    if (failed())
      return;
    if (isPunct("{")) {
      Location at = take().at;
      outer.push_back(scope);
      scope = pushScope(scope);
      if (outer.size() > maxNesting)
        return fail(at, fmt::format("expected scopes nested less than {} deep", maxNesting));
    } else if (isPunct("}")) {
      fn.end = take().at;
      if (outer.empty())
        break;
      scope = outer.back();
      outer.pop_back();
    } else if (peek().kind == TokenKind::end) {
      return fail(fn.at, fmt::format("expected the body of {} to be closed before the end of the text", fn.name));
    } else {
      statement(fn);
    }
  }
  resolveLabels(fn);
}

void Parser::statement(Function &fn) {
  const Token &token = peek();
  if (token.kind == TokenKind::line || isPunct(";")) {
    take();
    return;
  }
  if (token.kind == TokenKind::identifier && isPunct(":", 1))
    return label(fn);
  if (token.kind != TokenKind::dotted)
    return instruction(fn);
  std::string_view d = token.text;
  if (d == "reg")
    return registers();
  if (d == "loc")
    return locDirective();
  if (d == "file")
    return fileDirective();
  static constexpr std::pair<std::string_view, Space> spaces[] = {{"shared", Space::shared},
                                                                  {"local", Space::local},
                                                                  {"param", Space::param},
                                                                  {"global", Space::global},
                                                                  {"const", Space::constant}};
  for (auto [name, space] : spaces)
    if (d == name) {
      take();
      return variables(space, Linkage::none, fn.variables, true);
    }
  skipDirective();
}

void Parser::label(Function &fn) {
  Location at = peek().at;
  std::string_view name = expectName("a label");
  take();
  if (isDotted("branchtargets") || isDotted("calltargets") || isDotted("callprototype")) {
    Table table;
    table.name = name;
    table.at = at;
    table.directive = take().text;
    if (table.directive == "callprototype") {
      while (!failed() && !isPunct(";") && peek().kind != TokenKind::end)
        take();
    } else {
      do {
        Operand o;
        o.kind = OperandKind::name;
        o.at = peek().at;
        o.name = expectName("a label");
        table.entries.push_back(std::move(o));
      } while (!failed() && acceptPunct(","));
    }
    expectPunct(";", table.directive);
    names().tables[name] = uint32_t(fn.tables.size());
    fn.tables.push_back(std::move(table));
    tableScopes.push_back(scope);
    return;
  }
  if (auto [it, fresh] = names().labels.try_emplace(name, uint32_t(fn.labels.size())); !fresh)
    return fail(at, fmt::format("expected each label once in a scope, found {} again (first at line {})", name,
                                fn.labels[it->second].at.line));
  fn.labels.push_back({name, uint32_t(fn.instructions.size()), at});
}

void Parser::instruction(Function &fn) {
  Instruction in;
  if (acceptPunct("@")) {
    in.guardNegated = acceptPunct("!");
    Location at = peek().at;
    std::string_view name = expectName("a predicate register after '@'");
    if (failed())
      return;
    auto reg = findRegister(fn, name);
    if (!reg)
      return fail(at, fmt::format("expected a declared predicate register after '@', found {}", name));
    in.guard = *reg;
  }
  in.at = peek().at;
  in.source = source;
  in.opcode = expectName("an instruction");
  // Gathered first, so that what is kept is no larger than it must be: most of the memory of a module is in these
  // lists.
  modScratch.clear();
  operandScratch.clear();
  while (!failed() && peek().kind == TokenKind::dotted)
    modScratch.push_back(take().text);
  bool call = in.opcode == "call";
  if (!isPunct(";")) {
    do {
      operandScratch.push_back(operand(fn, call, 0));
      // tcgen05 and old forms put a second bracket right behind the first one.
      while (!failed() && isPunct("["))
        operandScratch.push_back(operand(fn, call, 0));
    } while (!failed() && acceptPunct(","));
  }
  if (!acceptPunct(";"))
    failHere(fmt::format("';' after the operands of {}", in.opcode));
  if (failed())
    return;
  in.mods.assign(modScratch.begin(), modScratch.end());
  in.operands.assign(std::make_move_iterator(operandScratch.begin()), std::make_move_iterator(operandScratch.end()));
  fn.instructions.push_back(std::move(in));
  instructionScopes.push_back(scope);
}

void Parser::listOf(Function &fn, Operand &into, std::string_view close, bool call, unsigned depth) {
  take();
  while (!failed() && !isPunct(close)) {
    into.elements.push_back(operand(fn, call, depth + 1));
    if (!acceptPunct(","))
      break;
  }
  expectPunct(close, "a list of operands");
}

Operand Parser::operand(Function &fn, bool call, unsigned depth) {
  Operand o;
  o.at = peek().at;
  if (depth > 8) {
    fail(o.at, "expected operands nested less than 8 deep");
    return o;
  }
  if (isPunct("{")) {
    o.kind = OperandKind::vector;
    listOf(fn, o, "}", call, depth);
    return o;
  }
  if (isPunct("(") && call) {
    o.kind = OperandKind::arguments;
    listOf(fn, o, ")", call, depth);
    return o;
  }
  if (acceptPunct("[")) {
    o.kind = OperandKind::address;
    Operand base = operand(fn, false, depth + 1);
    if (base.kind == OperandKind::symbol || base.kind == OperandKind::name || base.kind == OperandKind::reg)
      std::swap(o.bits, base.bits);
    o.elements.push_back(std::move(base));
    while (!failed() && acceptPunct(","))
      o.elements.push_back(operand(fn, false, depth + 1));
    expectPunct("]", "an address");
    return o;
  }
  // `-a` of the video instructions is kept as the same mark.
  bool negated = (isPunct("!") || isPunct("-")) && peek(1).kind == TokenKind::identifier;
  if (negated)
    take();
  const Token &token = peek();
  if (token.kind == TokenKind::identifier) {
    o = named(fn);
    o.negated = negated;
    if (isPunct("|")) {
      take();
      Operand pair;
      pair.kind = OperandKind::pair;
      pair.at = o.at;
      pair.elements.push_back(std::move(o));
      pair.elements.push_back(operand(fn, call, depth + 1));
      return pair;
    }
    if (isPunct("+") || isPunct("-")) {
      // `sym+4-8`: each sign belongs to a multiplicative term.
      while (!failed() && (isPunct("+") || isPunct("-"))) {
        bool minus = take().text == "-";
        uint64_t value = constant(9);
        o.bits += minus ? -value : value;
      }
    }
    return o;
  }
  bool minus =
      (isPunct("-") || isPunct("+")) && peek(1).kind == TokenKind::number && peek(1).number != NumberKind::integer;
  bool negative = minus && take().text == "-";
  if (peek().kind == TokenKind::number && peek().number != NumberKind::integer) {
    const Token &literal = take();
    bool single = literal.number == NumberKind::float32;
    o.kind = single ? OperandKind::float32 : OperandKind::float64;
    o.bits = literal.bits;
    if (negative)
      o.bits ^= single ? uint64_t(1) << 31 : uint64_t(1) << 63;
    return o;
  }
  if (peek().kind == TokenKind::number || isPunct("-") || isPunct("+") || isPunct("~") || isPunct("!") ||
      isPunct("(")) {
    o.kind = OperandKind::integer;
    o.bits = constant();
    return o;
  }
  failHere("an operand");
  return o;
}

Operand Parser::named(Function &fn) {
  Operand o;
  const Token &token = take();
  o.at = token.at;
  o.name = token.text;
  if (o.name == "_") {
    o.kind = OperandKind::sink;
    return o;
  }
  auto component = [&] {
    static constexpr std::string_view letters = "xyzwrgba";
    if (peek().kind != TokenKind::dotted || !peek().glued)
      return;
    std::string_view part = peek().text;
    if (part.size() == 1 && letters.find(part[0]) != std::string_view::npos) {
      o.component = "xyzwxyzw"[letters.find(take().text[0])];
    } else if (part.size() > 1 && (part[0] == 'b' || part[0] == 'h')) {
      // Bytes or halves that a video instruction selects: no opcode that anybody reads uses them, so the name has them.
      o.name = {o.name.data(), o.name.size() + 1 + part.size()};
      take();
    }
  };
  if (auto reg = findRegister(fn, o.name)) {
    o.kind = OperandKind::reg;
    o.index = *reg;
    component();
    return o;
  }
  if (const SymbolDecl *symbol = findSymbol(o.name, scope)) {
    o.kind = OperandKind::symbol;
    o.symbolScope = symbol->scope;
    o.index = symbol->index;
    return o;
  }
  if (o.name == "WARP_SZ") {
    o.kind = OperandKind::special;
    return o;
  }
  if (o.name.size() > 1 && o.name[0] == '%' && isSpecialRegister(o.name.substr(1))) {
    o.kind = OperandKind::special;
    o.name = o.name.substr(1);
    component();
    return o;
  }
  o.kind = OperandKind::name; // a label, or a function that is declared further down
  return o;
}

void Parser::resolveName(Function &fn, Operand &o, uint32_t from) {
  for (Operand &e : o.elements)
    resolveName(fn, e, from);
  if (o.kind != OperandKind::name)
    return;
  for (uint32_t s = from; s != ~0u; s = scopes[s].parent) {
    const Names *in = scopes[s].names.get();
    if (!in)
      continue;
    if (auto it = in->labels.find(o.name); it != in->labels.end()) {
      o.kind = OperandKind::label;
      o.index = fn.labels[it->second].instruction;
      return;
    }
    if (auto it = in->tables.find(o.name); it != in->tables.end()) {
      o.kind = OperandKind::table;
      o.index = it->second;
      return;
    }
  }
  if (const SymbolDecl *symbol = findSymbol(o.name, from)) {
    o.kind = OperandKind::symbol;
    o.symbolScope = symbol->scope;
    o.index = symbol->index;
  }
}

void Parser::resolveLabels(Function &fn) {
  for (size_t i = 0; i < fn.instructions.size(); ++i)
    for (Operand &o : fn.instructions[i].operands)
      resolveName(fn, o, instructionScopes[i]);
  for (size_t i = 0; i < fn.tables.size(); ++i)
    for (Operand &o : fn.tables[i].entries)
      resolveName(fn, o, tableScopes[i]);
  for (const Instruction &in : fn.instructions)
    if (in.opcode == "bra" && !in.operands.empty() && in.operands[0].kind != OperandKind::label)
      return fail(in.at, fmt::format("expected a label of {} after bra, found {}", fn.name, in.operands[0].name));
}

bool isSpecialRegister(std::string_view name) {
  static constexpr std::string_view names[] = {"tid",
                                               "ntid",
                                               "laneid",
                                               "warpid",
                                               "nwarpid",
                                               "ctaid",
                                               "nctaid",
                                               "smid",
                                               "nsmid",
                                               "gridid",
                                               "is_explicit_cluster",
                                               "clusterid",
                                               "nclusterid",
                                               "cluster_ctaid",
                                               "cluster_nctaid",
                                               "cluster_ctarank",
                                               "cluster_nctarank",
                                               "lanemask_eq",
                                               "lanemask_le",
                                               "lanemask_lt",
                                               "lanemask_ge",
                                               "lanemask_gt",
                                               "clock",
                                               "clock_hi",
                                               "clock64",
                                               "globaltimer",
                                               "globaltimer_lo",
                                               "globaltimer_hi",
                                               "reserved_smem_offset_begin",
                                               "reserved_smem_offset_end",
                                               "reserved_smem_offset_cap",
                                               "total_smem_size",
                                               "aggr_smem_size",
                                               "dynamic_smem_size",
                                               "current_graph_exec"};
  for (std::string_view n : names)
    if (n == name)
      return true;
  for (std::string_view prefix : {"envreg", "pm", "reserved_smem_offset_"})
    if (name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix && name[prefix.size()] >= '0' &&
        name[prefix.size()] <= '9')
      return true;
  return false;
}

} // namespace interlock::ptx
