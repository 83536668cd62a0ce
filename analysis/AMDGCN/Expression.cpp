// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Numbers and expressions.
#include "analysis/AMDGCN/Expression.h"

#include <vector>

namespace interlock::amdgcn {
namespace {

constexpr unsigned maxNesting = 64;

using Lookup = std::function<std::optional<int64_t>(std::string_view)>;
using Value = std::optional<int64_t>;

Value binary(Cursor &c, const Lookup &lookup, unsigned minPrecedence, unsigned depth);

/// max(…), or(…) and what LLVM writes for resources that depend on callees.
Value function(std::string_view name, const std::vector<int64_t> &args) {
  auto fold = [&](auto f) -> Value {
    if (args.empty())
      return {};
    int64_t v = args[0];
    for (size_t i = 1; i < args.size(); ++i)
      v = f(v, args[i]);
    return v;
  };
  if (name == "max")
    return fold([](int64_t a, int64_t b) { return a > b ? a : b; });
  if (name == "or")
    return fold([](int64_t a, int64_t b) { return a | b; });
  if (name == "alignto" && args.size() == 2 && args[1] > 0)
    return int64_t((uint64_t(args[0]) + uint64_t(args[1]) - 1) / uint64_t(args[1]) * uint64_t(args[1]));
  if (name == "totalnumvgprs" && args.size() == 2) // of AGPRs and VGPRs: the first AGPR stands at a multiple of 4
    return args[0] ? int64_t((uint64_t(args[1]) + 3) / 4 * 4 + uint64_t(args[0])) : args[1];
  if (name == "extrasgprs" && args.size() == 3)
    return args[0] ? 2 : 0;
  return {};
}

Value primary(Cursor &c, const Lookup &lookup, unsigned depth) {
  if (depth > maxNesting)
    return {};
  c.skipBlanks();
  if (c.accept('-')) {
    auto v = primary(c, lookup, depth + 1);
    return v ? Value(int64_t(0 - uint64_t(*v))) : Value();
  }
  if (c.accept('~')) {
    auto v = primary(c, lookup, depth + 1);
    return v ? Value(~*v) : Value();
  }
  if (c.accept('+'))
    return primary(c, lookup, depth + 1);
  if (c.accept('(')) {
    auto v = binary(c, lookup, 0, depth + 1);
    return v && c.accept(')') ? v : Value();
  }
  if (auto n = unsignedNumber(c))
    return int64_t(*n);
  std::string_view name = c.name();
  if (name.empty())
    return {};
  if (c.peek() != '(')
    return lookup(name);
  ++c.pos;
  std::vector<int64_t> args;
  while (!c.accept(')')) {
    if (!args.empty() && !c.accept(','))
      return {};
    auto v = binary(c, lookup, 0, depth + 1);
    if (!v)
      return {};
    args.push_back(*v);
  }
  return function(name, args);
}

struct Operator {
  std::string_view text;
  unsigned precedence;
};
constexpr Operator operators[] = {{"<<", 4}, {">>", 4}, {"|", 1}, {"^", 2}, {"&", 3},
                                  {"+", 5},  {"-", 5},  {"*", 6}, {"/", 6}, {"%", 6}};

Value apply(std::string_view op, int64_t a, int64_t b) {
  auto x = uint64_t(a), y = uint64_t(b);
  switch (op[0]) {
  case '<':
    return y < 64 ? int64_t(x << y) : 0;
  case '>':
    return a >> (y < 64 ? y : 63);
  case '|':
    return a | b;
  case '^':
    return a ^ b;
  case '&':
    return a & b;
  case '+':
    return int64_t(x + y);
  case '-':
    return int64_t(x - y);
  case '*':
    return int64_t(x * y);
  default:
    if (b == 0 || (a == INT64_MIN && b == -1))
      return {};
    return op[0] == '/' ? a / b : a % b;
  }
}

Value binary(Cursor &c, const Lookup &lookup, unsigned minPrecedence, unsigned depth) {
  Value left = primary(c, lookup, depth + 1);
  while (left) {
    c.skipBlanks();
    const Operator *found = nullptr;
    for (const Operator &o : operators)
      if (c.rest().starts_with(o.text)) {
        found = &o;
        break;
      }
    if (!found || found->precedence < minPrecedence)
      break;
    c.pos += found->text.size();
    Value right = binary(c, lookup, found->precedence + 1, depth + 1);
    left = right ? apply(found->text, *left, *right) : Value();
  }
  return left;
}

} // namespace

std::optional<uint64_t> unsignedNumber(Cursor &c) {
  c.skipBlanks();
  unsigned base = 10;
  size_t at = c.pos;
  auto digit = [&](size_t i) -> unsigned {
    char k = i < c.text.size() ? c.text[i] : '\0';
    return k >= '0' && k <= '9'   ? unsigned(k - '0')
           : k >= 'a' && k <= 'f' ? unsigned(k - 'a') + 10
           : k >= 'A' && k <= 'F' ? unsigned(k - 'A') + 10
                                  : 99;
  };
  if (digit(at) > 9)
    return {};
  if (c.peek() == '0' && (c.peek(1) == 'x' || c.peek(1) == 'X')) {
    base = 16;
    at += 2;
  } else if (c.peek() == '0' && (c.peek(1) == 'b' || c.peek(1) == 'B') && digit(at + 2) < 2) {
    base = 2;
    at += 2;
  } else if (c.peek() == '0' && digit(at + 1) < 8) {
    base = 8;
    ++at;
  }
  if (digit(at) >= base)
    return {};
  uint64_t v = 0;
  for (; digit(at) < base; ++at) {
    if (v > (~uint64_t(0) - digit(at)) / base)
      return {};
    v = v * base + digit(at);
  }
  c.pos = at;
  return v;
}

std::optional<int64_t> evaluate(Cursor &c, const Lookup &lookup) { return binary(c, lookup, 0, 0); }

} // namespace interlock::amdgcn
