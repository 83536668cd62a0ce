// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Instructions: mnemonics with their encodings, operands and modifiers.
#include "analysis/AMDGCN/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace interlock::amdgcn {
namespace {

constexpr unsigned maxNesting = 16;
constexpr uint32_t maxRegister = 4095;

constexpr std::string_view specials[] = {"vcc",
                                         "vcc_lo",
                                         "vcc_hi",
                                         "exec",
                                         "exec_lo",
                                         "exec_hi",
                                         "m0",
                                         "scc",
                                         "vccz",
                                         "execz",
                                         "null",
                                         "off",
                                         "flat_scratch",
                                         "flat_scratch_lo",
                                         "flat_scratch_hi",
                                         "xnack_mask",
                                         "xnack_mask_lo",
                                         "xnack_mask_hi",
                                         "src_shared_base",
                                         "src_shared_limit",
                                         "src_private_base",
                                         "src_private_limit",
                                         "src_pops_exiting_wave_id",
                                         "src_shared_base_lo",
                                         "src_shared_limit_lo",
                                         "src_private_base_lo",
                                         "src_private_limit_lo",
                                         "src_flat_scratch_base_lo",
                                         "src_flat_scratch_base_hi",
                                         "src_vccz",
                                         "src_execz",
                                         "src_scc",
                                         "src_lds_direct",
                                         "lds_direct",
                                         "tba",
                                         "tba_lo",
                                         "tba_hi",
                                         "tma",
                                         "tma_lo",
                                         "tma_hi",
                                         "shared_base",
                                         "shared_limit",
                                         "private_base",
                                         "private_limit"};

struct Prefix {
  std::string_view text;
  RegisterFile file;
};
constexpr Prefix prefixes[] = {{"v", RegisterFile::vgpr},
                               {"a", RegisterFile::agpr},
                               {"s", RegisterFile::sgpr},
                               {"ttmp", RegisterFile::ttmp},
                               {"acc", RegisterFile::agpr}};

bool digits(std::string_view s, uint32_t &out) {
  auto r = std::from_chars(s.data(), s.data() + s.size(), out);
  return !s.empty() && r.ec == std::errc{} && r.ptr == s.data() + s.size();
}

/// `v12`, `v12.l`.
bool plainRegister(std::string_view name, Operand &out) {
  char half = 0;
  if (name.size() > 2 && (name.ends_with(".l") || name.ends_with(".h"))) {
    half = name.back();
    name.remove_suffix(2);
  }
  for (const Prefix &p : prefixes) {
    uint32_t n = 0;
    if (!name.starts_with(p.text) || !digits(name.substr(p.text.size()), n) || n > maxRegister)
      continue;
    out.kind = OperandKind::reg;
    out.file = p.file;
    out.index = n;
    out.count = 1;
    out.half = half;
    return true;
  }
  return false;
}

constexpr std::string_view encodings[] = {"_e64_dpp8", "_e64_dpp", "_e32", "_e64", "_dpp8", "_dpp", "_sdwa"};

/// A call that is the operand of a counter or delay instruction may be followed by the next without a comma.
bool isBare(const Operand &o) { return o.kind == OperandKind::call; }

} // namespace

bool isSpecialRegister(std::string_view name) {
  return std::find(std::begin(specials), std::end(specials), name) != std::end(specials);
}

bool Parser::list(Cursor &c, char close, std::vector<Operand> &out, unsigned depth) {
  if (c.accept(close))
    return true;
  for (;;) {
    if (!operand(c, out.emplace_back(), depth + 1))
      return false;
    if (c.accept(close))
      return true;
    if (!c.accept(',')) {
      failHere(c, fmt::format("',' or '{}' in a list of operands", close));
      return false;
    }
  }
}

bool Parser::named(Cursor &c, std::string_view name, Operand &out, unsigned depth) {
  out.name = name;
  if (isSpecialRegister(name)) {
    out.kind = OperandKind::special;
    return true;
  }
  // v[2:5], s[0:1], v[3]
  for (const Prefix &p : prefixes)
    if (name == p.text && c.peek() == '[') {
      ++c.pos;
      auto first = unsignedNumber(c);
      auto last = first;
      if (first && c.accept(':'))
        last = unsignedNumber(c);
      if (!first || !last || *last < *first || *last > maxRegister || !c.accept(']')) {
        failHere(c, "a range of registers such as v[0:3]");
        return false;
      }
      out.kind = OperandKind::reg;
      out.file = p.file;
      out.index = uint32_t(*first);
      out.count = uint32_t(*last - *first + 1);
      return true;
    }
  if (plainRegister(name, out))
    return true;
  if (c.peek() == '(') {
    ++c.pos;
    if (name == "neg" || name == "abs" || name == "sext" || name == "lit" || name == "lit64") {
      if (!operand(c, out, depth + 1))
        return false;
      out.negated |= name == "neg";
      out.absolute |= name == "abs";
      out.sext |= name == "sext";
      if (c.accept(')'))
        return true;
      failHere(c, fmt::format("')' behind the operand of {}", name));
      return false;
    }
    out.kind = OperandKind::call;
    return list(c, ')', out.elements, depth);
  }
  out.kind = OperandKind::symbol;
  if (c.peek() == '@') {
    size_t begin = ++c.pos;
    while (!c.atEnd() && (c.peek() == '@' || c.peek() == '_' || (c.peek() >= '0' && c.peek() <= '9') ||
                          (c.peek() >= 'a' && c.peek() <= 'z') || (c.peek() >= 'A' && c.peek() <= 'Z')))
      ++c.pos;
    out.relocation = c.text.substr(begin, c.pos - begin);
  }
  while (c.peek() == '+' || c.peek() == '-') {
    bool minus = c.peek() == '-';
    ++c.pos;
    if (auto n = unsignedNumber(c)) {
      out.bits += minus ? 0 - *n : *n;
    } else {
      failHere(c, fmt::format("a number behind {}", name.substr(0, 200)));
      return false;
    }
  }
  return true;
}

bool Parser::operand(Cursor &c, Operand &out, unsigned depth) {
  c.skipBlanks();
  out.at = c.here();
  if (depth > maxNesting) {
    failHere(c, "operands that are nested less deep");
    return false;
  }
  if (c.peek() == '-' && !(c.peek(1) >= '0' && c.peek(1) <= '9') && c.peek(1) != '.') {
    ++c.pos;
    bool ok = operand(c, out, depth + 1);
    out.negated = !out.negated;
    return ok;
  }
  if (c.peek() == '|') {
    ++c.pos;
    if (!operand(c, out, depth + 1))
      return false;
    out.absolute = true;
    if (c.accept('|'))
      return true;
    failHere(c, "'|' behind an operand whose absolute value is meant");
    return false;
  }
  if (c.peek() == '[') {
    ++c.pos;
    out.kind = OperandKind::list;
    return list(c, ']', out.elements, depth);
  }
  if (c.peek() == '(') { // (.LBB0_3-.Lpost_getpc0)&4294967295: kept as text
    size_t begin = c.pos;
    unsigned open = 0;
    for (; !c.atEnd(); ++c.pos) {
      if (c.peek() == '(')
        ++open;
      else if (c.peek() == ')' && open-- == 0)
        break;
      else if (open == 0 && (c.peek() == ',' || c.peek() == ' '))
        break;
    }
    out.kind = OperandKind::expression;
    out.name = c.text.substr(begin, c.pos - begin);
    return true;
  }
  bool digit = (c.peek() >= '0' && c.peek() <= '9') ||
               ((c.peek() == '-' || c.peek() == '.') && c.peek(1) >= '0' && c.peek(1) <= '9');
  if (digit) {
    size_t begin = c.pos;
    bool minus = c.peek() == '-';
    if (minus)
      ++c.pos;
    Cursor number = c;
    auto n = unsignedNumber(number);
    char next = number.peek();
    if (!n || next == '.' || next == 'e' || next == 'E') {
      size_t end = c.pos;
      while (end < c.text.size() &&
             ((c.text[end] >= '0' && c.text[end] <= '9') || c.text[end] == '.' || c.text[end] == 'e' ||
              c.text[end] == 'E' || (c.text[end] == '-' && (c.text[end - 1] == 'e' || c.text[end - 1] == 'E'))))
        ++end;
      auto r = std::from_chars(c.text.data() + begin, c.text.data() + end, out.value);
      if (r.ec != std::errc{} || r.ptr != c.text.data() + end) {
        c.pos = begin;
        failHere(c, "a number of at most 64 bits");
        return false;
      }
      c.pos = end;
      out.kind = OperandKind::real;
      return true;
    }
    c = number;
    out.kind = OperandKind::integer;
    out.bits = minus ? 0 - *n : *n;
    return true;
  }
  std::string_view name = c.name();
  if (name.empty()) {
    failHere(c, "an operand");
    return false;
  }
  return named(c, name, out, depth);
}

bool Parser::modifier(Cursor &c, std::string_view name, const Location &at, Instruction &in) {
  Modifier m;
  m.name = name;
  m.at = at;
  if (c.peek() == ':' && c.peek(1) != ':') {
    size_t begin = ++c.pos;
    unsigned open = 0;
    for (; !c.atEnd(); ++c.pos) {
      char k = c.peek();
      if (k == '[' || k == '(')
        ++open;
      else if ((k == ']' || k == ')') && open && --open == 0) {
        ++c.pos;
        break;
      } else if (!open && (k == ' ' || k == '\t' || k == ','))
        break;
    }
    if (open) {
      failHere(c, fmt::format("the value of {} to be closed", name.substr(0, 200)));
      return false;
    }
    m.value = c.text.substr(begin, c.pos - begin);
    // Names in the value (swizzle(SWAP,16)) are left to who reads the text.
    Cursor v{m.value.starts_with('[') ? m.value.substr(1, m.value.size() - 2) : m.value, 0, at};
    while (!v.atEnd()) {
      v.skipBlanks();
      bool minus = v.peek() == '-';
      if (minus)
        ++v.pos;
      auto n = unsignedNumber(v);
      if (!n) {
        m.numbers.clear();
        break;
      }
      m.numbers.push_back(int64_t(minus ? 0 - *n : *n));
      if (!v.accept(','))
        break;
    }
  }
  in.modifiers.push_back(std::move(m));
  return true;
}

/// One instruction up to the end of the line, or to the `::` that a second one follows.
bool Parser::half(Cursor &c, Instruction &in, bool &second) {
  second = false;
  bool comma = true; ///< the next thing is an operand
  for (;;) {
    c.skipBlanks();
    if (c.atEnd()) {
      if (!in.operands.empty() && comma) {
        failHere(c, "an operand behind ','");
        return false;
      }
      return true;
    }
    if (c.peek() == ':' && c.peek(1) == ':') {
      c.pos += 2;
      second = true;
      return true;
    }
    Location at = c.here();
    bool bare = !in.operands.empty() && isBare(in.operands.back());
    if (!comma && bare && (c.accept('|') || c.accept('&')))
      continue;
    if (comma || (bare && in.modifiers.empty())) {
      Cursor before = c;
      Operand o;
      bool wasComma = comma;
      if (!operand(c, o, 0))
        return false;
      // `s_nop` and `buffer_wbl2 sc1`: a flag is no operand, and neither is what has a value behind a colon.
      bool flag = o.kind == OperandKind::symbol && o.relocation.empty() && o.bits == 0 && !o.negated && !o.absolute;
      if (flag && ((c.peek() == ':' && c.peek(1) != ':') || (!wasComma && bare) ||
                   (in.operands.empty() && (o.name == "sc0" || o.name == "sc1" || o.name == "nt" || o.name == "glc" ||
                                            o.name == "slc" || o.name == "dlc")))) {
        c = before;
        std::string_view name = c.name();
        if (!modifier(c, name, at, in))
          return false;
        comma = false;
        continue;
      }
      in.operands.push_back(std::move(o));
      comma = c.accept(',');
      continue;
    }
    std::string_view name = c.name();
    if (name.empty()) {
      failHere(c, fmt::format("',', a modifier or the end of the line behind {}", in.mnemonic.substr(0, 200)));
      return false;
    }
    if (!modifier(c, name, at, in))
      return false;
    c.accept(','); // `row_shr:1, bound_ctrl:0`: some write commas between modifiers
  }
}

void Parser::instruction(std::string_view mnemonic, Cursor c, const Location &at) {
  Instruction in;
  for (Instruction *into = &in;;) {
    into->mnemonic = into->opcode = mnemonic;
    into->at = at;
    into->source = source;
    into->comment = lineComment;
    for (std::string_view e : encodings)
      if (mnemonic.ends_with(e) && mnemonic.size() > e.size()) {
        into->opcode = mnemonic.substr(0, mnemonic.size() - e.size());
        into->encoding = e.substr(1);
        break;
      }
    bool second = false;
    if (!half(c, *into, second))
      return;
    if (!second)
      break;
    if (into != &in)
      return failHere(c, "at most two instructions in a pair");
    c.skipBlanks();
    mnemonic = c.name();
    if (mnemonic.empty())
      return failHere(c, "the second instruction of a pair behind '::'");
    into = &in.second.emplace_back();
  }
  module.instructions.push_back(std::move(in));
}

} // namespace interlock::amdgcn
