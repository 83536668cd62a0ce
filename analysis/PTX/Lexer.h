// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Cuts a PTX text into tokens (PTX ISA "Syntax"). Any bytes are accepted: what is no token becomes an error token.
#pragma once

#include "analysis/PTX/Module.h"

#include <string_view>
#include <vector>

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

/// The whole text as tokens; the last one is `end`. The tokens point into `text`.
std::vector<Token> tokenize(std::string_view text);

} // namespace interlock::ptx
