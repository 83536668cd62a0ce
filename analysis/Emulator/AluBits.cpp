// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Logic, shifts, bit fields and byte permutation (PTX ISA "Logic and Shift Instructions", and the bit-field
// instructions among the integer ones).
#include "analysis/Emulator/Alu.h"

#include <algorithm>
#include <bit>

namespace interlock::emu::alu {
namespace {

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, [[maybe_unused]] uint64_t *out2, uint64_t active,  \
            unsigned lanes)

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
      result |= (0 - (table >> row & 1)) & (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    out[l] = uint32_t(result);
  });
}
/// lop3.and, lop3.or: p = (d != 0) op q.
ILK_EVAL(lop3Predicate) {
  uint64_t unused[64];
  lop3(op, in, out, unused, active, lanes);
  eachLane(active, lanes, [&](unsigned l) {
    bool some = uint32_t(out[l]) != 0, with = in[4][l] & 1;
    out2[l] = op.sub ? some || with : some && with;
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

/// Position and length of a bit field: 0 to 255, of which 32-bit instructions read the low 8 bits and 64-bit ones all.
unsigned fieldOperand(uint64_t value, unsigned bits) {
  return bits == 32 ? unsigned(value & 0xff) : unsigned(std::min<uint64_t>(uint32_t(value), 255));
}

/// The bits of a from `at`; those above the field, or above the register, are copies of the field's last bit.
ILK_EVAL(extractField) {
  unsigned bits = op.bits;
  eachLane(active, lanes, [&](unsigned l) {
    unsigned at = fieldOperand(in[1][l], bits), length = fieldOperand(in[2][l], bits);
    uint64_t value = in[0][l] & maskOf(bits);
    if (length == 0) {
      out[l] = 0;
      return;
    }
    unsigned last = std::min(at + length - 1, bits - 1);
    uint64_t field = at >= bits ? 0 : (value >> at) & maskOf(std::min(length, bits - at));
    uint64_t above = at >= bits ? 0 : std::min(length, bits - at); // first bit that is not in the field
    bool sign = op.isSigned && (value >> last & 1);
    out[l] = (sign && above < 64 ? field | ~uint64_t(0) << above : field) & maskOf(bits);
  });
}
/// bfi d, a, b, at, length: the low bits of a into b.
ILK_EVAL(insertField) {
  unsigned bits = op.bits;
  eachLane(active, lanes, [&](unsigned l) {
    unsigned at = fieldOperand(in[2][l], bits), length = fieldOperand(in[3][l], bits);
    uint64_t field = at >= bits ? 0 : maskOf(length) << at, shifted = at >= bits ? 0 : in[0][l] << at;
    out[l] = ((in[1][l] & ~field) | (shifted & field)) & maskOf(bits);
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
    uint32_t mask = uint32_t(in[0][l]), base = uint32_t(in[1][l]);
    int64_t offset = int32_t(in[2][l]);
    uint32_t result = uint32_t(-1);
    if (base > 31) {
      out[l] = result;
      return;
    }
    if (offset == 0) {
      result = mask >> base & 1 ? base : uint32_t(-1);
    } else {
      int step = offset > 0 ? 1 : -1;
      int64_t count = offset > 0 ? offset : -offset;
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

/// The types that an opcode has, by width and kind.
enum Types : uint8_t { bits1 = 1, bits16 = 2, bits32 = 4, bits64 = 8, signedOnes = 16 };

struct Entry {
  EvalFn eval;
  uint8_t types;
};

bool hasType(const Op &op, uint8_t types) {
  uint8_t width = op.bits == 1 ? bits1 : op.bits == 16 ? bits16 : op.bits == 32 ? bits32 : op.bits == 64 ? bits64 : 0;
  return (types & width) && (!op.isSigned || (types & signedOnes)) && !ptx::isFloat(op.type);
}

/// prmt's modes, in the order of permute()'s sub.
uint8_t permuteMode(const ptx::Instruction &in) {
  uint8_t mode = 0;
  for (std::string_view name : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) {
    ++mode;
    if (in.has(name))
      return mode;
  }
  return 0;
}

} // namespace

tl::expected<Op, std::string> resolveBits(const ptx::Instruction &in) {
  constexpr uint8_t any = bits16 | bits32 | bits64, large = bits32 | bits64;
  static constexpr Named<Entry> table[] = {
      {"and", {bitAnd, any | bits1}},
      {"or", {bitOr, any | bits1}},
      {"xor", {bitXor, any | bits1}},
      {"not", {bitNot, any | bits1}},
      {"cnot", {logicalNot, any}},
      {"lop3", {lop3, bits32}},
      {"shl", {shiftLeft, any}},
      {"shr", {shiftRight, any | signedOnes}},
      {"shf", {funnel, bits32}},
      {"popc", {countOnes, large}},
      {"clz", {countLeadingZeros, large}},
      {"brev", {reverse, large}},
      {"bfind", {findLeading, large | signedOnes}},
      {"bfe", {extractField, large | signedOnes}},
      {"bfi", {insertField, large}},
      {"fns", {findNth, bits32}},
      {"prmt", {permute, bits32}},
      {"szext", {extendFrom, bits32 | signedOnes}},
      {"bmsk", {makeMask, bits32}},
  };
  const Entry *entry = rowOf(table, in.opcode);
  if (!entry)
    return Op{};
  Op op;
  op.type = in.type();
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.isSigned = ptx::isSigned(op.type);
  op.eval = entry->eval;
  bool known = hasType(op, entry->types), wrap = in.has("wrap");
  if (in.opcode == "shf") {
    known = known && hasOnly(in, {"l", "r", "wrap", "clamp"}) && in.has("l") != in.has("r") && wrap != in.has("clamp");
    op.sub = uint8_t((in.has("r") ? 1 : 0) | (wrap ? 2 : 0));
  } else if (in.opcode == "bfind") {
    known = known && hasOnly(in, {"shiftamt"});
    op.sub = in.has("shiftamt");
  } else if (in.opcode == "szext" || in.opcode == "bmsk") {
    known = known && hasOnly(in, {"wrap", "clamp"}) && wrap != in.has("clamp");
    op.sub = wrap;
  } else if (in.opcode == "prmt") {
    op.sub = permuteMode(in);
    known = known && in.mods.size() == (op.sub ? 2u : 1u);
  } else if (in.opcode == "lop3") {
    known = known && hasOnly(in, {"and", "or"});
    if (in.mods.size() == 2) {
      op.eval = lop3Predicate;
      op.sub = in.has("or");
    }
  } else {
    known = known && hasOnly(in, {});
    if (in.opcode == "shr" && op.isSigned)
      op.eval = shiftRightSigned;
  }
  return known ? tl::expected<Op, std::string>(op) : unknownInstruction(in);
}

} // namespace interlock::emu::alu
