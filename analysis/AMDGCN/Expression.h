// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A place in a line, and the expressions that may stand there.
#pragma once

#include "analysis/AMDGCN/Module.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace interlock::amdgcn {

/// The rest of one line, without its comment.
struct Cursor {
  std::string_view text;
  size_t pos = 0;
  Location start; ///< of the text's first byte

  bool atEnd() const { return pos >= text.size(); }
  char peek(size_t ahead = 0) const { return pos + ahead < text.size() ? text[pos + ahead] : '\0'; }
  /// Over blanks and comments within the line.
  void skipBlanks() {
    for (; pos < text.size(); ++pos) {
      if (text.substr(pos, 2) == "/*")
        pos = std::min(text.find("*/", pos + 2), text.size() - 1) + 1;
      else if (text[pos] != ' ' && text[pos] != '\t' && text[pos] != '\r')
        break;
    }
    pos = std::min(pos, text.size());
  }
  bool accept(char c) {
    skipBlanks();
    if (peek() != c || atEnd())
      return false;
    ++pos;
    return true;
  }
  Location here() const { return {start.line, start.column + uint32_t(pos)}; }
  std::string_view rest() const { return text.substr(pos); }
  /// A name: letters, digits, `_`, `.`, `$`; empty if none stands here.
  std::string_view name();
};

/// Value of an expression over numbers and names (MCExpr: + - * / % << >> & | ^ ~ - ( ), and the functions max, or,
/// alignto, totalnumvgprs). Nothing if it is malformed or `lookup` does not know a name.
std::optional<int64_t> evaluate(Cursor &c, const std::function<std::optional<int64_t>(std::string_view)> &lookup);

/// Reads the number at the cursor: decimal, 0x, 0b, 0 octal; two's complement, 64 bits. Nothing if none stands there
/// or it needs more bits.
std::optional<uint64_t> unsignedNumber(Cursor &c);

} // namespace interlock::amdgcn
