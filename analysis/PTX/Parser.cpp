// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Token handling of the parser, constant expressions, and read().
#include "analysis/PTX/Parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::ptx {

std::string ReadError::str() const { return fmt::format("{}:{}:{}: {}", file, at.line, at.column, message); }

tl::expected<Module, ReadError> read(std::string_view text, std::string_view file) { return Parser(text, file).run(); }

tl::expected<Module, ReadError> Parser::run() {
  pushScope(~0u);
  while (!failed() && peek().kind != TokenKind::end)
    moduleItem();
  if (failed())
    return tl::unexpected(std::move(*error));
  return std::move(module);
}

const Token &Parser::peek(size_t n) {
  if (failed())
    return endToken;
  for (; countAhead <= n; ++countAhead)
    ahead[(firstAhead + countAhead) % ahead.size()] = lexer.next();
  return ahead[(firstAhead + n) % ahead.size()];
}

Token Parser::take() {
  Token token = peek();
  if (!failed()) {
    firstAhead = (firstAhead + 1) % ahead.size();
    --countAhead;
  }
  return token;
}

bool Parser::isPunct(std::string_view text, size_t n) {
  const Token &token = peek(n);
  return token.kind == TokenKind::punct && token.text == text;
}

bool Parser::isDotted(std::string_view text, size_t n) {
  const Token &token = peek(n);
  return token.kind == TokenKind::dotted && token.text == text;
}

bool Parser::acceptPunct(std::string_view text) {
  if (!isPunct(text))
    return false;
  take();
  return true;
}

void Parser::expectPunct(std::string_view text, std::string_view after) {
  if (!acceptPunct(text))
    failHere(fmt::format("'{}' after {}", text, after));
}

std::string_view Parser::expectName(std::string_view what) {
  if (peek().kind == TokenKind::identifier)
    return take().text;
  failHere(what);
  return {};
}

uint64_t Parser::expectInteger(std::string_view what) {
  if (peek().kind == TokenKind::number && peek().number == NumberKind::integer)
    return take().bits;
  failHere(what);
  return 0;
}

void Parser::fail(const Location &at, std::string message) {
  if (failed())
    return;
  constexpr size_t longest = 1000; // names may be of any length
  if (message.size() > longest)
    message = message.substr(0, longest) + "…";
  error = ReadError{file, at, std::move(message)};
}

void Parser::failHere(std::string_view expected) {
  const Token &token = peek();
  std::string found;
  switch (token.kind) {
  case TokenKind::end:
    found = "the end of the text";
    break;
  case TokenKind::error:
    found = token.text;
    break;
  case TokenKind::dotted:
    found = fmt::format("'.{}'", token.text.substr(0, 64));
    break;
  case TokenKind::string:
    found = "a string";
    break;
  default:
    found = fmt::format("'{}'", token.text.substr(0, 64));
  }
  fail(token.at, fmt::format("expected {}, found {}", expected, found));
}

void Parser::skipBalanced() {
  // A stack, not a counter: `{ )` must not pass for balanced.
  std::string stack;
  Location start = peek().at;
  do {
    const Token &token = take();
    if (token.kind == TokenKind::end) {
      fail(start, "expected the bracket opened here to be closed before the end of the text");
      return;
    }
    if (token.kind != TokenKind::punct || token.text.size() != 1)
      continue;
    char c = token.text[0];
    if (c == '{' || c == '(' || c == '[') {
      stack += c == '{' ? '}' : c == '(' ? ')' : ']';
    } else if (c == '}' || c == ')' || c == ']') {
      if (stack.empty() || stack.back() != c) {
        fail(token.at, fmt::format("expected brackets to be balanced, found '{}'", c));
        return;
      }
      stack.pop_back();
    }
  } while (!stack.empty() && !failed());
}

void Parser::countDirective(std::string_view directive) {
  // Those that PTX ISA 9.4 has and that say nothing of what a kernel does.
  static constexpr std::string_view known[] = {"abi_preserve",      "abi_preserve_control", "alias",  "attribute",
                                               "blocksareclusters", "maxnctapersm",         "pragma", "section"};
  if (std::find(std::begin(known), std::end(known), directive) == std::end(known))
    ++module.unknownDirectives[directive];
}

void Parser::skipDirective() {
  const Token directive = take();
  countDirective(directive.text);
  // Only a section has its block on the next line; elsewhere that brace opens a scope.
  bool blockMayFollow = directive.text == "section";
  while (!failed()) {
    bool sameLine = peek().at.line == directive.at.line;
    if (sameLine && peek().kind == TokenKind::end)
      return failHere(fmt::format("the line of .{} to end", directive.text));
    if (isPunct("{") && (sameLine || blockMayFollow))
      return skipBalanced();
    if (!sameLine || isPunct("}"))
      return;
    if (acceptPunct(";"))
      return;
    if (isPunct("(") || isPunct("["))
      skipBalanced();
    else
      take();
  }
}

// --- constant expressions (PTX ISA "Constant Expressions") ---

namespace {
struct BinaryOperator {
  std::string_view text;
  unsigned precedence;
};
constexpr BinaryOperator binaryOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                                              {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                                              {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
} // namespace

uint64_t Parser::constant(unsigned minPrecedence) {
  uint64_t left = constantUnary();
  for (;;) {
    const BinaryOperator *op = nullptr;
    if (isPunct(",") || isPunct(";") || isPunct("]")) // what nearly always follows
      return left;
    for (const BinaryOperator &candidate : binaryOperators)
      if (isPunct(candidate.text) && candidate.precedence > minPrecedence)
        op = &candidate;
    if (!op)
      return left;
    Location at = take().at;
    uint64_t right = constant(op->precedence);
    switch (op->text[0]) {
    case '|':
      left = op->precedence == 1 ? (left || right) : (left | right);
      break;
    case '&':
      left = op->precedence == 2 ? (left && right) : (left & right);
      break;
    case '^':
      left ^= right;
      break;
    case '=':
      left = left == right;
      break;
    case '!':
      left = left != right;
      break;
    case '<':
      if (op->text == "<<")
        left = right < 64 ? left << right : 0;
      else
        left = op->text == "<=" ? int64_t(left) <= int64_t(right) : int64_t(left) < int64_t(right);
      break;
    case '>':
      if (op->text == ">>")
        left = right < 64 ? left >> right : 0;
      else
        left = op->text == ">=" ? int64_t(left) >= int64_t(right) : int64_t(left) > int64_t(right);
      break;
    case '+':
      left += right;
      break;
    case '-':
      left -= right;
      break;
    case '*':
      left *= right;
      break;
    default:
      if (right == 0 || (int64_t(right) == -1 && op->text[0] == '/')) {
        if (right == 0)
          fail(at, "expected a divisor other than 0 in a constant expression");
        left = -left;
      } else if (int64_t(right) == -1) {
        left = 0;
      } else {
        left = uint64_t(op->text[0] == '/' ? int64_t(left) / int64_t(right) : int64_t(left) % int64_t(right));
      }
    }
  }
}

uint64_t Parser::constantUnary() {
  if (++constantDepth > 64) {
    fail(peek().at, "expected a constant expression nested less than 64 deep");
    return 0;
  }
  uint64_t value = 0;
  if (acceptPunct("-")) {
    value = -constantUnary();
  } else if (acceptPunct("+")) {
    value = constantUnary();
  } else if (acceptPunct("~")) {
    value = ~constantUnary();
  } else if (acceptPunct("!")) {
    value = !constantUnary();
  } else if (isPunct("(") && (isDotted("s64", 1) || isDotted("u64", 1)) && isPunct(")", 2)) {
    take(), take(), take();
    value = constantUnary();
  } else if (acceptPunct("(")) {
    value = constant();
    if (acceptPunct("?")) {
      uint64_t a = constant();
      expectPunct(":", "the second operand of '?'");
      uint64_t b = constant();
      value = value ? a : b;
    }
    expectPunct(")", "a constant expression");
  } else {
    value = expectInteger("an integer constant");
  }
  --constantDepth;
  return value;
}

// --- scopes ---

uint32_t Parser::pushScope(uint32_t parent) {
  scopes.push_back({parent, nullptr});
  return uint32_t(scopes.size() - 1);
}

Parser::Names &Parser::names() {
  auto &own = scopes[scope].names;
  if (!own)
    own = std::make_unique<Names>();
  return *own;
}

void Parser::declareSymbol(std::string_view name, SymbolScope kind, size_t index) {
  names().symbols[name] = {kind, uint32_t(index)};
}

const Parser::SymbolDecl *Parser::findSymbol(std::string_view name, uint32_t from) const {
  for (uint32_t s = from; s != ~0u; s = scopes[s].parent)
    if (const Names *in = scopes[s].names.get())
      if (auto it = in->symbols.find(name); it != in->symbols.end())
        return &it->second;
  return nullptr;
}

std::optional<uint32_t> Parser::findRegister(Function &fn, std::string_view name) {
  for (uint32_t s = scope; s != ~0u; s = scopes[s].parent) {
    Names *in = scopes[s].names.get();
    if (!in)
      continue;
    if (auto found = findRegisterIn(fn, *in, name))
      return found;
    if (in->symbols.count(name))
      return std::nullopt; // a variable of an inner scope hides the register
  }
  return std::nullopt;
}

std::optional<uint32_t> Parser::findRegisterIn(Function &fn, Names &in, std::string_view name) {
  auto add = [&](const RegisterDecl &decl) {
    fn.registers.push_back({name, decl.type, decl.lanes, decl.at});
    return uint32_t(fn.registers.size() - 1);
  };
  if (auto it = in.registers.find(name); it != in.registers.end()) {
    RegisterDecl &decl = it->second;
    if (decl.index == ~0u) {
      decl.index = add(decl);
      if (&in == scopes[0].names.get())
        usedModuleRegisters.push_back(&decl);
    }
    return decl.index;
  }
  if (auto it = in.members.find(name); it != in.members.end())
    return it->second;
  if (in.families.empty())
    return std::nullopt;
  // `%r1<10>` declares %r10 to %r19: every split of the trailing digits may be the family's.
  uint64_t number = 0, scale = 1;
  for (size_t cut = name.size(); cut > 1 && name.size() - cut < 10;) {
    char c = name[--cut];
    if (c < '0' || c > '9')
      break;
    number += scale * uint64_t(c - '0');
    scale *= 10;
    bool leadingZero = c == '0' && cut + 1 != name.size();
    auto it = in.families.find(name.substr(0, cut));
    if (!leadingZero && it != in.families.end() && number < it->second.count) {
      uint32_t index = add(it->second);
      in.members[fn.registers[index].name] = index;
      return index;
    }
  }
  return std::nullopt;
}

} // namespace interlock::ptx
