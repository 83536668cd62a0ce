// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// LLVM emits each such group as a bundle, into which only waits come and, where s_getpc_b64 gives 48 bits, an extension
// of its sign. So each is looked for in the few lines behind, as long as nothing else has the registers.
#include "compiler/Disassembly/References.h"

#include <fmt/format.h>

#include <charconv>

namespace interlock::disassembly {
namespace {

/// Lines from s_getpc_b64 to the last addition, all waits counted.
constexpr size_t reach = 12;

struct Pair {
  std::string low, high, both;
};

std::vector<std::string_view> operandsOf(const Line &line) {
  std::string_view rest = line.text;
  std::vector<std::string_view> operands;
  size_t at = rest.find(' ');
  while (at != rest.npos) {
    rest.remove_prefix(rest.find_first_not_of(", ", at));
    at = rest.find(", ");
    operands.push_back(rest.substr(0, at));
  }
  return operands;
}

/// s[4:5] or vcc.
std::optional<Pair> pairOf(std::string_view name) {
  if (name == "vcc")
    return Pair{"vcc_lo", "vcc_hi", "vcc"};
  unsigned first = 0;
  if (!name.starts_with("s[") || !name.ends_with("]") ||
      std::from_chars(name.data() + 2, name.data() + name.size(), first).ec != std::errc())
    return std::nullopt;
  return Pair{fmt::format("s{}", first), fmt::format("s{}", first + 1), std::string(name)};
}

/// 0x1234, -8, lit(0xffffffff), lit64(0x10).
std::optional<uint64_t> literalOf(std::string_view text) {
  for (std::string_view wrapper : {"lit(", "lit64("})
    if (text.starts_with(wrapper) && text.ends_with(")"))
      text = text.substr(wrapper.size(), text.size() - wrapper.size() - 1);
  bool minus = text.starts_with("-");
  text.remove_prefix(minus);
  bool hex = text.starts_with("0x");
  text.remove_prefix(hex ? 2 : 0);
  uint64_t value = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return minus ? 0 - value : value;
}

bool names(std::string_view operand, const Pair &pair) {
  return operand == pair.low || operand == pair.high || operand == pair.both;
}

bool isLowAddition(std::string_view mnemonic) { return mnemonic == "s_add_u32" || mnemonic == "s_add_co_u32"; }
bool isHighAddition(std::string_view mnemonic) { return mnemonic == "s_addc_u32" || mnemonic == "s_add_co_ci_u32"; }

} // namespace

std::map<size_t, Reference> findReferences(const std::vector<Line> &lines) {
  std::map<size_t, Reference> found;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view getter = lines[i].mnemonic();
    if (getter != "s_getpc_b64" && getter != "s_get_pc_i64")
      continue;
    auto operands = operandsOf(lines[i]);
    auto pair = operands.empty() ? std::nullopt : pairOf(operands[0]);
    if (!pair)
      continue;
    uint64_t base = lines[i].end();
    std::optional<std::pair<size_t, uint64_t>> low; // the line, its literal
    for (size_t k = i + 1; k < lines.size() && k <= i + reach && !lines[k].branch; ++k) {
      std::string_view mnemonic = lines[k].mnemonic();
      operands = operandsOf(lines[k]);
      auto literal = operands.size() == 3 ? literalOf(operands[2]) : std::nullopt;
      // A literal is 4 or 8 bytes behind the instruction's own 4: an inline constant is none that a linker filled in.
      bool addsTo = literal && lines[k].size > 4;
      if (addsTo && mnemonic == "s_add_nc_u64" && operands[1] == pair->both) {
        uint64_t distance = lines[k].size == 8 ? uint64_t(int64_t(int32_t(*literal))) : *literal;
        found[k] = {base + distance, base, "rel64"};
        break;
      }
      if (addsTo && isLowAddition(mnemonic) && operands[1] == pair->low && !low) {
        low = {k, *literal};
        continue;
      }
      if (addsTo && isHighAddition(mnemonic) && operands[1] == pair->high && low) {
        uint64_t target = base + ((low->second & 0xffffffff) | *literal << 32);
        found[low->first] = {target, base, "rel32@lo"};
        found[k] = {target, base, "rel32@hi"};
        break;
      }
      bool extends = mnemonic == "s_sext_i32_i16" && operands.size() == 2 && operands[0] == pair->high &&
                     operands[1] == pair->high;
      bool touches = false;
      for (std::string_view operand : operands)
        touches |= names(operand, *pair);
      if (touches && !extends)
        break;
    }
  }
  return found;
}

} // namespace interlock::disassembly
