// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The lexer of PTX. It never reads beyond the text and never fails: bad bytes become error tokens, and the parser
// says what is wrong with them.
#include "analysis/PTX/Lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace interlock::ptx {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isFollow(char c) { return isLetter(c) || isDigit(c) || c == '_' || c == '$'; }
bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

int hexValue(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

} // namespace

void Lexer::newline() {
  ++line;
  lineStart = pos + 1;
  tokenOnLine = false;
}

void Lexer::skipLine() { pos = std::min(text.find('\n', pos), text.size()); }

/// Skips space and comments; false if a comment never ends.
bool Lexer::skipSpace() {
  for (;;) {
    char c = peek();
    if (atEnd()) {
      return true;
    } else if (isSpace(c)) {
      if (c == '\n')
        newline();
      ++pos;
    } else if (c == '/' && peek(1) == '/') {
      Comment comment{here(), {}, tokenOnLine};
      size_t start = pos + 2;
      skipLine();
      comment.text = text.substr(start, pos - start);
      if (onComment)
        onComment(comment);
    } else if (c == '/' && peek(1) == '*') {
      pos += 2;
      while (!(peek() == '*' && peek(1) == '/')) {
        if (atEnd())
          return false;
        if (peek() == '\n')
          newline();
        ++pos;
      }
      pos += 2;
    } else {
      return true;
    }
  }
}

Token Lexer::next() {
  size_t before = pos;
  bool closed = skipSpace();
  Token token;
  token.at = here();
  token.glued = pos == before && pos != 0;
  if (!closed) {
    token.kind = TokenKind::error;
    token.text = "a comment that is never closed";
    return token;
  }
  if (atEnd())
    return token;
  size_t start = pos;
  bool first = !tokenOnLine;
  tokenOnLine = true;
  char c = peek();
  if ((c == '@' && peek(1) == '@') || (c == '#' && first)) {
    skipLine();
    token.kind = TokenKind::line;
  } else if (isLetter(c) || c == '_' || c == '$' || (c == '%' && isFollow(peek(1)))) {
    ++pos;
    while (isFollow(peek()))
      ++pos;
    token.kind = TokenKind::identifier;
  } else if (c == '.' && isFollow(peek(1))) {
    ++pos;
    ++start;
    while (isFollow(peek()) || (peek() == ':' && peek(1) == ':' && isFollow(peek(2))))
      pos += peek() == ':' ? 2 : 1;
    token.kind = TokenKind::dotted;
  } else if (isDigit(c)) {
    number(token);
  } else if (c == '"') {
    string(token);
    return token;
  } else {
    punct(token);
  }
  if (token.text.empty())
    token.text = text.substr(start, pos - start);
  return token;
}

void Lexer::string(Token &token) {
  size_t start = ++pos;
  while (!atEnd() && peek() != '"' && peek() != '\n')
    pos += peek() == '\\' && pos + 1 < text.size() && peek(1) != '\n' ? 2 : 1;
  token.kind = TokenKind::string;
  token.text = text.substr(start, pos - start);
  if (peek() == '"') {
    ++pos;
  } else {
    token.kind = TokenKind::error;
    token.text = "a string that is never closed";
  }
}

void Lexer::punct(Token &token) {
  static constexpr std::string_view single = "{}()[]<>,;:|!@+-*/%~&^?=.";
  static constexpr std::string_view doubles[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  for (std::string_view two : doubles)
    if (text.substr(pos, 2) == two) {
      token.kind = TokenKind::punct;
      pos += 2;
      return;
    }
  token.kind = single.find(peek()) != std::string_view::npos ? TokenKind::punct : TokenKind::error;
  if (token.kind == TokenKind::error)
    token.text = peek() == '\0' ? "a NUL byte" : "a byte that PTX does not use";
  ++pos;
}

void Lexer::number(Token &token) {
  token.kind = TokenKind::number;
  char c = peek(1);
  if (peek() == '0' && (c == 'f' || c == 'F' || c == 'd' || c == 'D')) {
    bool isFloat = c == 'f' || c == 'F';
    unsigned digits = isFloat ? 8 : 16;
    pos += 2;
    unsigned seen = 0;
    for (; hexValue(peek()) >= 0; ++pos, ++seen)
      token.bits = token.bits << 4 | unsigned(hexValue(peek()));
    token.number = isFloat ? NumberKind::float32 : NumberKind::float64;
    if (seen != digits || isFollow(peek()))
      bad(token, isFloat ? "a 0f literal without exactly 8 hexadecimal digits"
                         : "a 0d literal without exactly 16 hexadecimal digits");
    return;
  }
  if (peek() == '0' && (c == 'x' || c == 'X')) {
    pos += 2;
    digits(token, 16);
    return;
  }
  if (peek() == '0' && (c == 'b' || c == 'B')) {
    pos += 2;
    digits(token, 2);
    return;
  }
  size_t start = pos;
  while (isDigit(peek()))
    ++pos;
  bool real = false;
  if (peek() == '.' && (isDigit(peek(1)) || !isFollow(peek(1)))) {
    real = true;
    ++pos;
    while (isDigit(peek()))
      ++pos;
  }
  if ((peek() == 'e' || peek() == 'E') &&
      (isDigit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && isDigit(peek(2))))) {
    real = true;
    pos += 2;
    while (isDigit(peek()))
      ++pos;
  }
  if (real) {
    double value = 0;
    auto r = std::from_chars(text.data() + start, text.data() + pos, value);
    if (r.ec != std::errc{})
      return bad(token, "a floating-point literal out of range");
    token.number = NumberKind::float64;
    token.bits = std::bit_cast<uint64_t>(value);
    if (isFollow(peek()))
      bad(token, "a malformed number");
    return;
  }
  pos = start;
  digits(token, peek() == '0' ? 8 : 10);
}

void Lexer::digits(Token &token, unsigned base) {
  unsigned seen = 0;
  bool overflow = false;
  for (;; ++pos, ++seen) {
    int digit = hexValue(peek());
    if (digit < 0 || unsigned(digit) >= base)
      break;
    unsigned __int128 value = (unsigned __int128)token.bits * base + unsigned(digit);
    overflow |= value >> 64 != 0;
    token.bits = uint64_t(value);
  }
  if (peek() == 'U')
    ++pos;
  if (overflow)
    return bad(token, "an integer literal that needs more than 64 bits");
  if (seen == 0 || isFollow(peek()))
    bad(token, "a malformed number");
}

void Lexer::bad(Token &token, std::string_view why) {
  token.kind = TokenKind::error;
  token.text = why;
  while (isFollow(peek()))
    ++pos;
}

} // namespace interlock::ptx
