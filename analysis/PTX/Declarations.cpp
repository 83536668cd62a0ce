// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Directives and declarations (PTX ISA "Directives", "State Spaces, Types, and Variables").
#include "analysis/PTX/Parser.h"

#include <fmt/format.h>

#include <cstring>

namespace interlock::ptx {
namespace {

std::optional<Space> spaceOf(std::string_view dotted) {
  if (dotted == "global")
    return Space::global;
  if (dotted == "shared")
    return Space::shared;
  if (dotted == "const")
    return Space::constant;
  if (dotted == "local")
    return Space::local;
  if (dotted == "param")
    return Space::param;
  if (dotted == "tex")
    return Space::tex;
  return std::nullopt;
}

uint32_t elementBytes(const Variable &v) {
  unsigned bits = v.type == Type::opaque ? 64 : bitWidth(v.type);
  return (bits + 7) / 8 * v.vector;
}

} // namespace

void Parser::moduleItem() {
  const Token &token = peek();
  if (token.kind == TokenKind::line) {
    take();
    return;
  }
  if (acceptPunct(";"))
    return;
  if (token.kind != TokenKind::dotted)
    return failHere("a directive at module scope");
  std::string_view d = token.text;
  if (d == "version")
    return version();
  if (d == "target")
    return target();
  if (d == "address_size") {
    take();
    module.addressSize = uint32_t(expectInteger("32 or 64 after .address_size"));
    return;
  }
  if (d == "file")
    return fileDirective();
  if (d == "loc")
    return locDirective();
  if (d == "reg")
    return registers();
  if (d == "entry" || d == "func" || d == "visible" || d == "extern" || d == "weak" || d == "common" || spaceOf(d))
    return linked();
  skipDirective();
}

void Parser::version() {
  take();
  const Token &token = peek();
  if (token.kind != TokenKind::number || token.number != NumberKind::float64)
    return failHere("a version such as 8.6 after .version");
  // Digits, a dot, digits: 86 for 8.6. What a minor number of two digits would mean is not known; it is at least x.9.
  std::string_view text = token.text;
  size_t dot = text.find('.');
  std::string_view minor = text.substr(std::min(dot + 1, text.size()));
  bool digits = text.find_first_not_of("0123456789.") == text.npos;
  if (!digits || dot > 3 || minor.empty() || minor.size() > 2)
    return failHere("a version such as 8.6 after .version");
  uint32_t major = 0;
  for (char c : text.substr(0, dot))
    major = major * 10 + uint32_t(c - '0');
  module.version = major * 10 + (minor.size() == 1 ? uint32_t(minor[0] - '0') : 9);
  take();
}

void Parser::target() {
  take();
  do {
    module.targets.push_back(expectName("a target such as sm_90a"));
  } while (!failed() && acceptPunct(","));
}

void Parser::fileDirective() {
  take();
  SourceFile entry;
  entry.number = uint32_t(expectInteger("a number after .file"));
  if (peek().kind != TokenKind::string)
    return failHere("a quoted path after the number of .file");
  const Token path = take();
  entry.path = path.text;
  // A time stamp and a size may follow, or what a later ISA adds.
  while (!failed() && peek().kind != TokenKind::end && peek().at.line == path.at.line && !acceptPunct(";"))
    take();
  module.files.push_back(entry);
}

void Parser::locDirective() {
  take();
  SourceLine at, caller;
  at.file = uint32_t(expectInteger("a file number after .loc"));
  at.line = uint32_t(expectInteger("a line number after the file of .loc"));
  at.column = peek().kind == TokenKind::number ? uint32_t(expectInteger("a column after the line of .loc")) : 0;
  while (!failed() && isPunct(",")) {
    take();
    std::string_view what = expectName("function_name or inlined_at");
    if (what == "function_name") {
      expectName("a label after function_name");
      if (acceptPunct("+"))
        expectInteger("an offset");
    } else if (what == "inlined_at") {
      caller.file = uint32_t(expectInteger("a file number after inlined_at"));
      caller.line = uint32_t(expectInteger("a line number after inlined_at"));
      caller.column = uint32_t(expectInteger("a column after inlined_at"));
    }
  }
  acceptPunct(";");
  source = inOwnFile(at, caller);
}

/// Of a place and the calls that it was inlined by, the innermost that lies in the file of the outermost: what stands
/// in a library's header is rarely what a reader looks for.
SourceLine Parser::inOwnFile(SourceLine at, SourceLine caller) {
  // A caller that was itself inlined has had a .loc of its own before.
  callers[at] = caller;
  constexpr size_t longest = 64;
  std::vector<SourceLine> chain = {at};
  while (caller.line && chain.size() < longest) {
    chain.push_back(caller);
    auto found = callers.find(caller);
    caller = found == callers.end() ? SourceLine() : found->second;
  }
  for (const SourceLine &place : chain)
    if (place.file == chain.back().file)
      return place;
  return at;
}

void Parser::linked() {
  const Location begin = peek().at;
  Linkage linkage = Linkage::none;
  for (;;) {
    std::string_view d = peek().kind == TokenKind::dotted ? peek().text : std::string_view();
    if (d == "visible")
      linkage = Linkage::visible;
    else if (d == "extern")
      linkage = Linkage::external;
    else if (d == "weak")
      linkage = Linkage::weak;
    else if (d == "common")
      linkage = Linkage::common;
    else
      break;
    take();
  }
  if (isDotted("entry") || isDotted("func"))
    return functionDeclaration(take().text == "entry", linkage, begin);
  if (peek().kind == TokenKind::dotted)
    if (auto space = spaceOf(peek().text)) {
      take();
      return variables(*space, linkage, module.variables, false);
    }
  failHere(".entry, .func or a state space after a linking directive");
}

void Parser::variables(Space space, Linkage linkage, std::vector<Variable> &into, bool inBody) {
  Variable proto;
  proto.space = space;
  proto.linkage = linkage;
  uint64_t align = 0;
  if (space == Space::constant && isPunct("[")) // `.const[2]` of old: the bank
    skipBalanced();
  while (!failed() && peek().kind == TokenKind::dotted) {
    std::string_view d = peek().text;
    if (d == "align") {
      take();
      align = expectInteger("an alignment after .align");
      if (align == 0 || align > (1u << 20) || (align & (align - 1)))
        return fail(peek().at, "expected .align to be a power of two up to 1048576");
      continue;
    }
    if (d == "v2" || d == "v4" || d == "v8")
      proto.vector = uint32_t(d[1] - '0');
    else if (Type t = parseType(d); t != Type::none)
      proto.type = t;
    take();
    if (isPunct("(")) // .attribute(.managed)
      skipBalanced();
  }
  do {
    Variable v = proto;
    v.at = peek().at;
    v.name = expectName("the name of a variable");
    if (!failed() && v.type == Type::none)
      return fail(v.at, fmt::format("expected a type before the variable {}", v.name));
    v.size = elementBytes(v);
    v.align = align ? uint32_t(align) : uint32_t(std::max<uint64_t>(1, v.size));
    dimensions(v);
    if (acceptPunct("=")) {
      uint64_t at = 0;
      if (isPunct("{") && v.type == Type::opaque) {
        skipBalanced(); // { addr_mode_0 = clamp_to_edge, … }
      } else if (isPunct("{")) {
        initializer(v, 0, at);
        if (v.unsized) {
          v.size = std::max<uint64_t>(v.initial.size(), at);
          v.unsized = false;
        }
      } else {
        initialValue(v, 0);
      }
      if (!failed() && v.initial.size() > v.size)
        return fail(
            v.at, fmt::format("expected at most {} initial bytes for {}, found {}", v.size, v.name, v.initial.size()));
    }
    into.push_back(std::move(v));
    declareSymbol(into.back().name, inBody ? SymbolScope::function : SymbolScope::module, into.size() - 1);
  } while (!failed() && acceptPunct(","));
  expectPunct(";", "the declaration of a variable");
}

void Parser::dimensions(Variable &v) {
  while (!failed() && isPunct("[")) {
    Location at = take().at;
    if (acceptPunct("]")) {
      v.dims.push_back(0);
      v.unsized = true;
      continue;
    }
    uint64_t n = constant();
    expectPunct("]", "the size of an array");
    v.dims.push_back(n);
    unsigned __int128 size = (unsigned __int128)v.size * n;
    if (size >> 48)
      return fail(at, fmt::format("expected an array of less than 2^48 bytes, found {} elements", n));
    v.size = uint64_t(size);
  }
  if (v.unsized)
    v.size = 0;
}

void Parser::initializer(Variable &v, size_t level, uint64_t &at) {
  if (level > 16)
    return fail(peek().at, "expected an initialiser nested less than 16 deep");
  // A nested list fills one element of the dimension it stands in.
  uint64_t start = at, extent = elementBytes(v);
  for (size_t i = level + 1; i < v.dims.size(); ++i)
    extent *= v.dims[i];
  expectPunct("{", "'='");
  uint64_t n = 0;
  while (!failed() && !isPunct("}")) {
    at = start + n * (level + 1 < v.dims.size() && isPunct("{") ? extent : elementBytes(v) / v.vector);
    if (isPunct("{")) {
      initializer(v, level + 1, at);
    } else {
      initialValue(v, at);
      at += elementBytes(v) / v.vector;
    }
    ++n;
    if (!acceptPunct(","))
      break;
  }
  if (level > 0)
    at = start + extent;
  expectPunct("}", "an initialiser");
}

void Parser::initialValue(Variable &v, uint64_t at) {
  uint32_t width = std::max(1u, elementBytes(v) / v.vector);
  Location where = peek().at;
  uint64_t value = 0;
  auto symbol = [&](Relocation r) { // `sym`, `sym+4`, `generic(sym)+4`
    r.offset = at;
    r.width = uint8_t(width);
    if (peek().text == "generic" && isPunct("(", 1)) {
      take(), take();
      r.generic = true;
      r.symbol = expectName("a symbol in an initialiser");
      expectPunct(")", "generic(…");
    } else {
      r.symbol = expectName("a symbol in an initialiser");
    }
    if (acceptPunct("+") || isPunct("-"))
      r.addend = int64_t(constant());
    v.relocations.push_back(r);
  };
  bool negative = isPunct("-") && peek(1).kind == TokenKind::number && peek(1).number != NumberKind::integer;
  if (negative)
    take();
  const Token &token = peek();
  if (token.kind == TokenKind::identifier) {
    symbol({});
  } else if (token.kind == TokenKind::number && token.number == NumberKind::integer && isPunct("(", 1)) {
    uint64_t mask = take().bits; // 0xff00(sym): the second byte of the address
    take();
    Relocation r;
    while (r.shift < 56 && mask && !(mask >> r.shift & 0xff))
      r.shift = uint8_t(r.shift + 8);
    symbol(r);
    expectPunct(")", "a masked symbol");
  } else if (token.kind == TokenKind::number && token.number != NumberKind::integer) {
    bool isFloat32 = token.number == NumberKind::float32;
    value = take().bits;
    if (!isFloat32 && v.type == Type::f32) {
      double d;
      std::memcpy(&d, &value, 8);
      float f = float(d);
      uint32_t bits;
      std::memcpy(&bits, &f, 4);
      value = bits;
      isFloat32 = true;
    }
    if (negative)
      value ^= isFloat32 ? uint64_t(1) << 31 : uint64_t(1) << 63;
  } else {
    value = constant();
  }
  if (failed())
    return;
  if (v.size && at + width > v.size && !v.unsized)
    return fail(where, fmt::format("expected at most {} bytes of initial values for {}", v.size, v.name));
  // An initialiser is as long as the text that spells it; gaps come only from nested lists.
  if (at > (uint64_t(1) << 32))
    return fail(where, "expected initial values in the first 2^32 bytes of a variable");
  if (v.initial.size() < at + width) {
    if (at > v.initial.size() + (uint64_t(1) << 20))
      return fail(where, "expected initial values without gaps of more than 1048576 bytes");
    v.initial.resize(at + width);
  }
  for (uint32_t i = 0; i < width && i < 8; ++i)
    v.initial[at + i] = uint8_t(value >> (8 * i));
}

void Parser::registers() {
  take();
  RegisterDecl proto;
  while (!failed() && peek().kind == TokenKind::dotted) {
    std::string_view d = take().text;
    if (d == "v2" || d == "v4")
      proto.lanes = uint8_t(d[1] - '0');
    else if (Type t = parseType(d); t != Type::none)
      proto.type = t;
  }
  if (!failed() && proto.type == Type::none)
    return failHere("a type after .reg");
  do {
    RegisterDecl decl = proto;
    decl.at = peek().at;
    std::string_view name = expectName("the name of a register");
    if (acceptPunct("<")) {
      decl.count = expectInteger("the number of registers after '<'");
      expectPunct(">", "the number of registers");
      if (failed())
        return;
      // Redeclared in the same scope: the later one counts, as for a shadowing scope.
      names().families[name] = decl;
    } else if (!failed()) {
      names().registers[name] = decl;
    }
  } while (!failed() && acceptPunct(","));
  expectPunct(";", "the declaration of registers");
}

std::array<uint32_t, 3> Parser::extent3() {
  std::array<uint32_t, 3> out = {1, 1, 1};
  for (size_t i = 0; i < 3; ++i) {
    out[i] = uint32_t(std::min<uint64_t>(constant(), ~0u));
    if (i == 2 || !acceptPunct(","))
      break;
  }
  return out;
}

} // namespace interlock::ptx
