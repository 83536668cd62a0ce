// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Function headers: linkage, parameters and performance-tuning directives (PTX ISA "Kernel and Function Directives",
// "Performance-Tuning Directives", "Cluster Dimension Directives").
#include "analysis/PTX/Parser.h"

#include <fmt/format.h>

namespace interlock::ptx {

void Parser::functionDeclaration(bool entry, Linkage linkage, Location begin) {
  Function fn;
  fn.entry = entry;
  fn.linkage = linkage;
  fn.begin = begin;
  scopes.resize(1); // function scopes end with the function
  for (RegisterDecl *decl : usedModuleRegisters)
    decl->index = ~0u;
  usedModuleRegisters.clear();
  if (Names *ofModule = scopes[0].names.get())
    ofModule->members = {};
  const uint32_t own = scope = pushScope(0);
  instructionScopes.clear();
  tableScopes.clear();
  source = {};
  callers.clear();
  if (isPunct("("))
    parameters(fn.returns, fn);
  if (peek().kind == TokenKind::dotted && isPunct("(", 1)) { // .attribute(…) before the name
    take();
    skipBalanced();
  }
  fn.at = peek().at;
  fn.name = expectName("the name of a function");
  if (isPunct("("))
    parameters(fn.params, fn);
  functionDirectives(fn);
  // Its place in the module is known before its body is read, so that it can call itself.
  auto [known, isNew] = functionIndex.try_emplace(fn.name, uint32_t(module.functions.size()));
  uint32_t index = known->second;
  if (isNew && !failed()) {
    module.functions.emplace_back().name = fn.name;
    module.functions.back().at = fn.at;
    scope = 0;
    declareSymbol(fn.name, SymbolScope::callee, index);
    scope = own;
  }
  if (isPunct("{")) {
    fn.defined = true;
    body(fn);
  } else {
    expectPunct(";", "the header of a function");
  }
  scope = 0;
  if (failed())
    return;
  Function &old = module.functions[index];
  if (old.defined && fn.defined)
    return fail(fn.at, fmt::format("expected one definition of {}, found a second one (the first is at line {})",
                                   fn.name, old.at.line));
  if (!old.defined)
    old = std::move(fn);
}

void Parser::parameters(std::vector<Variable> &into, Function &fn) {
  expectPunct("(", "the name of a function");
  bool isReturn = &into == &fn.returns;
  uint64_t offset = 0;
  while (!failed() && !isPunct(")")) {
    Variable v;
    v.space = Space::param;
    uint64_t align = 0;
    bool pointee = false;
    while (!failed() && peek().kind == TokenKind::dotted) {
      std::string_view d = take().text;
      if (d == "reg")
        v.space = Space::reg;
      else if (d == "v2" || d == "v4")
        v.vector = uint32_t(d[1] - '0');
      else if (d == "align") {
        uint64_t n = expectInteger("an alignment after .align");
        if (n == 0 || n > (1u << 20) || (n & (n - 1)))
          return fail(peek().at, "expected .align to be a power of two up to 1048576");
        if (!pointee) // behind .ptr it speaks of what the parameter points to
          align = n;
      } else if (d == "ptr") {
        pointee = true;
      } else if (Type t = parseType(d); t != Type::none) {
        v.type = t;
      }
    }
    v.at = peek().at;
    if (acceptPunct(".")) { // a variadic tail: `...`
      while (acceptPunct(".")) {
      }
      break;
    }
    v.name = expectName("the name of a parameter");
    if (failed())
      return;
    if (v.type == Type::none)
      return fail(v.at, fmt::format("expected a type before the parameter {}", v.name));
    v.size = uint64_t((std::max(8u, bitWidth(v.type)) + 7) / 8) * v.vector;
    v.align = align ? uint32_t(align) : uint32_t(v.size);
    dimensions(v);
    if (failed())
      return;
    offset = (offset + v.align - 1) & ~uint64_t(v.align - 1);
    v.offset = offset;
    offset += v.size;
    if (offset >> 48)
      return fail(v.at, "expected parameters of less than 2^48 bytes together");
    if (v.space == Space::reg)
      names().registers[v.name] = {v.type, uint8_t(v.vector), 0, v.at};
    else
      declareSymbol(v.name, isReturn ? SymbolScope::returns : SymbolScope::parameter, into.size());
    into.push_back(std::move(v));
    if (!acceptPunct(","))
      break;
  }
  expectPunct(")", "the parameters of a function");
  if (!isReturn)
    fn.paramBytes = offset;
}

void Parser::functionDirectives(Function &fn) {
  while (!failed() && peek().kind == TokenKind::dotted) {
    std::string_view d = take().text;
    LaunchBounds &b = fn.bounds;
    if (d == "noreturn")
      fn.noReturn = true;
    else if (d == "maxntid")
      b.maxThreads = extent3();
    else if (d == "reqntid")
      b.requiredThreads = extent3();
    else if (d == "reqnctapercluster")
      b.requiredCluster = extent3();
    else if (d == "explicitcluster")
      b.explicitCluster = true;
    else if (d == "minnctapersm")
      b.minCtasPerSm = uint32_t(constant());
    else if (d == "maxclusterrank")
      b.maxCluster = uint32_t(constant());
    else if (d == "maxnreg")
      b.maxRegisters = uint32_t(constant());
    else
      skipHeaderDirective(d);
  }
}

/// `.pragma "…";`, `.attribute(…)`, `.abi_preserve n` and whatever a later ISA adds: up to the next directive, the body
/// or the `;` of a prototype.
void Parser::skipHeaderDirective(std::string_view directive) {
  countDirective(directive);
  while (!failed() && peek().kind != TokenKind::dotted && peek().kind != TokenKind::end && !isPunct("{") &&
         !isPunct(";")) {
    if (isPunct("(") || isPunct("["))
      skipBalanced();
    else
      take();
  }
  if (directive == "pragma")
    acceptPunct(";");
}

} // namespace interlock::ptx
