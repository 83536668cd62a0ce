// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Driver/PtxVersion.h"

#include <charconv>

namespace interlock {

uint32_t ptxVersionOf(std::string_view ptx) {
  constexpr std::string_view directive = ".version";
  // The directive begins a line; anywhere else, as in a comment, the word means nothing.
  size_t at = ptx.find(directive);
  while (at != std::string_view::npos) {
    size_t before = at == 0 ? std::string_view::npos : ptx.find_last_not_of(" \t", at - 1);
    if (before == std::string_view::npos || ptx[before] == '\n')
      break;
    at = ptx.find(directive, at + 1);
  }
  if (at == std::string_view::npos)
    return 0;
  ptx.remove_prefix(at + directive.size());
  size_t digits = ptx.find_first_not_of(" \t");
  if (digits == std::string_view::npos)
    return 0;
  ptx.remove_prefix(digits);
  uint32_t major = 0, minor = 0;
  auto [dot, error] = std::from_chars(ptx.data(), ptx.data() + ptx.size(), major);
  if (error != std::errc() || dot == ptx.data() + ptx.size() || *dot != '.')
    return 0;
  std::from_chars(dot + 1, ptx.data() + ptx.size(), minor);
  return major * 10 + minor;
}

size_t ptxParamCount(std::string_view ptx, std::string_view entry) {
  constexpr std::string_view directive = ".entry", param = ".param";
  for (size_t at = ptx.find(directive); at != std::string_view::npos; at = ptx.find(directive, at + 1)) {
    std::string_view rest = ptx.substr(at + directive.size());
    size_t open = rest.find_first_of("({;");
    size_t begin = rest.find_first_not_of(" \t\r\n");
    if (open == std::string_view::npos || rest[open] != '(' || begin >= open)
      continue;
    std::string_view name = rest.substr(begin, open - begin);
    name = name.substr(0, name.find_last_not_of(" \t\r\n") + 1);
    if (name != entry)
      continue;
    std::string_view list = rest.substr(open, rest.find(')', open) - open);
    size_t count = 0;
    for (size_t found = list.find(param); found != std::string_view::npos; found = list.find(param, found + 1))
      ++count;
    return count;
  }
  return 0;
}

} // namespace interlock
