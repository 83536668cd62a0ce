// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Deterministic mutations of PTX, for bounded runs of the fuzz targets: of bytes, which mostly break the syntax, and of
// lines, which mostly do not.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace interlock::fuzz {

inline void mutateBytes(std::string &text, std::mt19937_64 &random) {
  static constexpr std::string_view splices[] = {"{",  "}",  "(", "[",          "\"",       "/*",          ".",
                                                 "::", "%r", "<", "4294967296", "0x",       "0f",          ";",
                                                 "_",  "@",  "-", "~",          "((((((((", "{{{{{{{{{{{{"};
  size_t at = random() % text.size();
  switch (random() % 5) {
  case 0:
    text[at] = char(random());
    break;
  case 1:
    text.erase(at, 1 + random() % 16);
    break;
  case 2:
    text.insert(at, splices[random() % std::size(splices)]);
    break;
  case 3:
    text.insert(at, text.substr(random() % text.size(), random() % 40));
    break;
  default:
    text.resize(at);
  }
}

/// Leaves out, doubles or exchanges whole lines, or makes one operand of a line another's.
inline void mutateLines(std::string &text, std::mt19937_64 &random) {
  auto pick = [&] {
    size_t start = text.rfind('\n', random() % text.size());
    start = start == text.npos ? 0 : start + 1;
    return std::pair(start, std::min(text.find('\n', start), text.size() - 1) + 1 - start);
  };
  auto [at, size] = pick();
  switch (random() % 4) {
  case 0:
    text.erase(at, size);
    break;
  case 1:
    text.insert(at, text.substr(at, size));
    break;
  case 2: {
    auto [from, length] = pick();
    text.insert(at, text.substr(from, length));
    break;
  }
  default:
    for (size_t i = at; i < at + size && i < text.size(); ++i)
      if (text[i] >= '0' && text[i] <= '9' && random() % 4 == 0)
        text[i] = char('0' + random() % 10);
  }
}

/// One of the texts after one to four mutations, of bytes or of lines.
inline std::string mutated(const std::vector<std::string_view> &texts, std::mt19937_64 &random, bool lines) {
  std::string text(texts[random() % texts.size()]);
  for (unsigned n = 1 + unsigned(random() % 4); n-- && !text.empty();)
    lines ? mutateLines(text, random) : mutateBytes(text, random);
  return text;
}

} // namespace interlock::fuzz
