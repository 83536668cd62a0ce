// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Logic, shifts, bit fields and byte permutation (PTX ISA "Logic and Shift Instructions", and the bit-field
// instructions among the integer ones).
#include "analysis/Emulator/Alu.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace interlock::emu::alu {
namespace {

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes)

ILK_EVAL(bitAnd) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) { out[l] = in[0][l] & in[1][l]; });
}
ILK_EVAL(bitOr) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) { out[l] = in[0][l] | in[1][l]; });
}
ILK_EVAL(bitXor) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) { out[l] = in[0][l] ^ in[1][l]; });
}
ILK_EVAL(bitNot) {
  uint64_t mask = maskOf(op.bits);
  eachLane(active, lanes, [&](unsigned l) { out[l] = ~in[0][l] & mask; });
}
ILK_EVAL(logicalNot) {
  eachLane(active, lanes, [&](unsigned l) { out[l] = (in[0][l] & maskOf(op.bits)) == 0; });
}

/// Any function of three bits, by its truth table in the last operand.
ILK_EVAL(lop3) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t a = in[0][l], b = in[1][l], c = in[2][l], table = in[3][l], result = 0;
    for (unsigned row = 0; row < 8; ++row)
      if (table >> row & 1)
        result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    out[l] = uint32_t(result);
  });
}

/// Shifts by the register's width or more give zero, or the sign (amounts are unsigned 32-bit).
ILK_EVAL(shiftLeft) {
  uint64_t mask = maskOf(op.bits);
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t by = uint32_t(in[1][l]);
    out[l] = by >= op.bits ? 0 : in[0][l] << by & mask;
  });
}
ILK_EVAL(shiftRight) {
  uint64_t mask = maskOf(op.bits);
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t by = uint32_t(in[1][l]);
    out[l] = by >= op.bits ? 0 : (in[0][l] & mask) >> by;
  });
}
ILK_EVAL(shiftRightSigned) {
  uint64_t mask = maskOf(op.bits);
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t by = std::min<uint64_t>(uint32_t(in[1][l]), op.bits - 1);
    out[l] = uint64_t(signExtend(in[0][l], op.bits) >> by) & mask;
  });
}

/// sub: bit 0 set for right, bit 1 for wrap (else clamp).
ILK_EVAL(funnel) {
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t both = uint64_t(uint32_t(in[1][l])) << 32 | uint32_t(in[0][l]);
    uint32_t by = uint32_t(in[2][l]);
    by = op.sub & 2 ? by & 31 : std::min(by, 32u);
    out[l] = uint32_t(op.sub & 1 ? (by == 32 ? both >> 32 : both >> by) : (by == 32 ? both : (both << by) >> 32));
  });
}

ILK_EVAL(countOnes) {
  eachLane(active, lanes, [&](unsigned l) { out[l] = uint64_t(std::popcount(in[0][l] & maskOf(op.bits))); });
}
ILK_EVAL(countLeadingZeros) {
  eachLane(active, lanes,
           [&](unsigned l) { out[l] = uint64_t(std::countl_zero(in[0][l] & maskOf(op.bits))) - (64 - op.bits); });
}
ILK_EVAL(reverse) {
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t value = in[0][l], result = 0;
    for (unsigned bit = 0; bit < op.bits; ++bit)
      result |= (value >> bit & 1) << (op.bits - 1 - bit);
    out[l] = result;
  });
}

/// Position of the highest bit that differs from the sign; sub 1: as a shift amount. All ones if there is none.
ILK_EVAL(findLeading) {
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t value = in[0][l] & maskOf(op.bits);
    if (op.isSigned && value >> (op.bits - 1) & 1)
      value = ~value & maskOf(op.bits);
    if (value == 0) {
      out[l] = uint32_t(-1);
      return;
    }
    uint32_t at = uint32_t(63 - std::countl_zero(value));
    out[l] = op.sub ? op.bits - 1 - at : at;
  });
}

ILK_EVAL(extractField) {
  unsigned top = op.bits - 1;
  eachLane(active, lanes, [&](unsigned l) {
    unsigned at = in[1][l] & 0xff, length = in[2][l] & 0xff;
    uint64_t value = in[0][l] & maskOf(op.bits), result = 0;
    bool sign = op.isSigned && length && (value >> std::min(at + length - 1, top) & 1);
    for (unsigned bit = 0; bit < op.bits; ++bit)
      result |= uint64_t(bit < length && at + bit <= top ? value >> (at + bit) & 1 : sign) << bit;
    out[l] = result;
  });
}
/// bfi d, a, b, at, length: the low bits of a into b.
ILK_EVAL(insertField) {
  eachLane(active, lanes, [&](unsigned l) {
    unsigned at = in[2][l] & 0xff, length = in[3][l] & 0xff;
    uint64_t field = 0;
    for (unsigned bit = 0; bit < length && at + bit < op.bits; ++bit)
      field |= uint64_t(1) << (at + bit);
    uint64_t shifted = at >= 64 ? 0 : in[0][l] << at;
    out[l] = ((in[1][l] & ~field) | (shifted & field)) & maskOf(op.bits);
  });
}
/// szext.mode: keeps the low bits and extends them; sub 1: positions wrap, else they clamp.
ILK_EVAL(extendFrom) {
  eachLane(active, lanes, [&](unsigned l) {
    uint32_t at = uint32_t(in[1][l]);
    at = op.sub ? at & 31 : std::min(at, 32u);
    uint64_t low = in[0][l] & maskOf(at);
    out[l] = at == 0 ? 0 : op.isSigned ? uint32_t(signExtend(low, at)) : low;
  });
}
/// bmsk.mode: `length` ones from bit `at`; sub 1: wrap, else clamp.
ILK_EVAL(makeMask) {
  eachLane(active, lanes, [&](unsigned l) {
    uint32_t at = uint32_t(in[0][l]), length = uint32_t(in[1][l]);
    at = op.sub ? at & 31 : std::min(at, 32u);
    length = op.sub ? length & 31 : std::min(length, 32u);
    out[l] = at >= 32 ? 0 : uint32_t(maskOf(length) << at);
  });
}
/// fns: the n-th set bit of a mask from a base, upwards or downwards.
ILK_EVAL(findNth) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) {
    uint32_t mask = uint32_t(in[0][l]), base = uint32_t(in[1][l]) & 31;
    int32_t offset = int32_t(in[2][l]);
    uint32_t result = uint32_t(-1);
    if (offset == 0) {
      result = mask >> base & 1 ? base : uint32_t(-1);
    } else {
      int step = offset > 0 ? 1 : -1, count = std::abs(offset);
      for (int at = int(base); at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --count == 0) {
          result = uint32_t(at);
          break;
        }
    }
    out[l] = result;
  });
}

/// prmt: sub 0 is the selector form, 1 … 6 are f4e, b4e, rc8, ecl, ecr, rc16.
ILK_EVAL(permute) {
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t bytes = uint64_t(uint32_t(in[1][l])) << 32 | uint32_t(in[0][l]);
    uint32_t selector = uint32_t(in[2][l]), result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      unsigned m = selector & 3, pick = 0;
      bool sign = false;
      switch (op.sub) {
      case 0:
        pick = selector >> (4 * i) & 7;
        sign = selector >> (4 * i + 3) & 1;
        break;
      case 1:
        pick = m + i;
        break;
      case 2:
        pick = (8 + m - i) & 7;
        break;
      case 3:
        pick = m;
        break;
      case 4:
        pick = std::max(m, i);
        break;
      case 5:
        pick = std::min(m, i);
        break;
      default:
        pick = (m & 1) * 2 + (i & 1);
        break;
      }
      uint32_t byte = uint32_t(bytes >> (8 * pick) & 0xff);
      if (sign)
        byte = byte & 0x80 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    out[l] = result;
  });
}

struct Entry {
  EvalFn eval;
  uint8_t sub;
};

} // namespace

tl::expected<Op, std::string> resolveBits(const ptx::Instruction &in) {
  Op op;
  op.type = in.type();
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.isSigned = ptx::isSigned(op.type);
  static const std::unordered_map<std::string_view, Entry> table = {
      {"and", {bitAnd, 0}},       {"or", {bitOr, 0}},          {"xor", {bitXor, 0}},
      {"not", {bitNot, 0}},       {"cnot", {logicalNot, 0}},   {"lop3", {lop3, 0}},
      {"shl", {shiftLeft, 0}},    {"popc", {countOnes, 0}},    {"clz", {countLeadingZeros, 0}},
      {"brev", {reverse, 0}},     {"bfind", {findLeading, 0}}, {"bfe", {extractField, 0}},
      {"bfi", {insertField, 0}},  {"fns", {findNth, 0}},       {"prmt", {permute, 0}},
      {"szext", {extendFrom, 0}}, {"bmsk", {makeMask, 0}},     {"shr", {shiftRight, 0}},
      {"shf", {funnel, 0}},
  };
  auto found = table.find(in.opcode);
  if (found == table.end() || ptx::isFloat(op.type))
    return Op{};
  op.eval = found->second.eval;
  if (in.opcode == "shr" && op.isSigned)
    op.eval = shiftRightSigned;
  if (in.opcode == "shf")
    op.sub = uint8_t((in.has("r") ? 1 : 0) | (in.has("wrap") ? 2 : 0));
  if (in.opcode == "bfind")
    op.sub = in.has("shiftamt");
  if (in.opcode == "szext" || in.opcode == "bmsk")
    op.sub = in.has("wrap");
  if (in.opcode == "prmt") {
    uint8_t mode = 0;
    for (std::string_view name : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) {
      ++mode;
      if (in.has(name))
        op.sub = mode;
    }
  }
  if (in.opcode == "lop3" && (in.has("and") || in.has("or")))
    return tl::unexpected("the emulator does not know " + in.mnemonic());
  return op;
}

} // namespace interlock::emu::alu
