// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Cuts a PTX text into tokens (PTX ISA "Syntax"). Any bytes are accepted: what is no token becomes an error token.
#pragma once

#include "analysis/PTX/Module.h"

#include <functional>
#include <string_view>

namespace interlock::ptx {

enum class TokenKind : uint8_t {
  identifier, ///< `ld`, `%r1`, `$L__BB0_1`, `_`
  dotted,     ///< `.global`, `.shared::cta`; text is without the first dot
  number,     ///< value parsed: see Token::number
  string,     ///< text is without the quotes
  punct,      ///< one character, or `<<`, `>>`, `<=`, `>=`, `==`, `!=`, `&&`, `||`
  line,       ///< a whole line that starts with `@@` (old DWARF sections) or `#` (preprocessor remains)
  error,      ///< an unterminated comment or string, a malformed number or a byte outside the syntax
  end,
};

enum class NumberKind : uint8_t { integer, float32, float64 };

struct Token {
  TokenKind kind = TokenKind::end;
  NumberKind number = NumberKind::integer;
  bool glued = false; ///< nothing stands between this token and the one before: `%tid.x`
  Location at;
  std::string_view text; ///< points into the lexed text
  uint64_t bits = 0;     ///< value of a number
};

/// Hands out the tokens of a text one by one, so that a text of any size takes no memory but its own. The tokens point
/// into the text.
class Lexer {
public:
  /// NULs behind the text are not part of it: an API's string ends in one, a file's section is padded with them.
  explicit Lexer(std::string_view text) : text(text.substr(0, text.find_last_not_of('\0') + 1)) {}

  /// The next token; at the end of the text `end`, however often it is asked.
  Token next();
  /// A `//` comment without its slashes, where it stands, and whether anything stands before it on its line.
  struct Comment {
    Location at;
    std::string_view text;
    bool behindCode = false;
  };
  /// Called with each `//` comment, before the token that follows it is returned.
  std::function<void(const Comment &)> onComment;

private:
  char peek(size_t ahead = 0) const { return pos + ahead < text.size() ? text[pos + ahead] : '\0'; }
  bool atEnd() const { return pos >= text.size(); }
  Location here() const { return {line, uint32_t(pos - lineStart) + 1}; }
  void newline();
  bool skipSpace();
  void skipLine();
  void string(Token &token);
  void punct(Token &token);
  void number(Token &token);
  void digits(Token &token, unsigned base);
  void bad(Token &token, std::string_view why);

  std::string_view text;
  size_t pos = 0;
  size_t lineStart = 0;
  uint32_t line = 1;
  bool tokenOnLine = false; ///< a token stands before `pos` on its line
};

} // namespace interlock::ptx
