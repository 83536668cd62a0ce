// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Comparison and selection (PTX ISA "Comparison and Selection Instructions").
#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::alu {
namespace {

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *out2, uint64_t active, unsigned lanes)

template <typename T> bool compareOrdered(Compare compare, T a, T b) {
  switch (compare) {
  case Compare::eq:
  case Compare::equ:
    return a == b;
  case Compare::ne:
  case Compare::neu:
    return a != b;
  case Compare::lt:
  case Compare::ltu:
    return a < b;
  case Compare::le:
  case Compare::leu:
    return a <= b;
  case Compare::gt:
  case Compare::gtu:
    return a > b;
  case Compare::ge:
  case Compare::geu:
    return a >= b;
  case Compare::num:
    return true;
  case Compare::nan:
    return false;
  }
  return false;
}

/// With a NaN the unordered comparisons hold and the ordered ones do not.
bool compareFloats(Compare compare, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return compare >= Compare::equ && compare != Compare::num;
  return compareOrdered(compare, a, b);
}

double floatOf(ptx::Type type, uint64_t bits) {
  switch (type) {
  case ptx::Type::f64:
    return std::bit_cast<double>(bits);
  case ptx::Type::f16:
    return decode(formatF16, uint32_t(bits));
  case ptx::Type::bf16:
    return decode(formatBf16, uint32_t(bits));
  default:
    return double(std::bit_cast<float>(uint32_t(bits)));
  }
}

bool holds(const Op &op, uint64_t a, uint64_t b) {
  if (!ptx::isFloat(op.type))
    return op.isSigned ? compareOrdered(op.compare, signExtend(a, op.bits), signExtend(b, op.bits))
                       : compareOrdered(op.compare, a & maskOf(op.bits), b & maskOf(op.bits));
  double x = floatOf(op.type, a), y = floatOf(op.type, b);
  if (op.ftz) {
    double smallest = op.type == ptx::Type::f16 ? 0x1p-14 : 0x1p-126;
    x = std::fabs(x) < smallest ? 0 : x;
    y = std::fabs(y) < smallest ? 0 : y;
  }
  return compareFloats(op.compare, x, y);
}

bool combine(Combine combine, bool value, bool with) {
  switch (combine) {
  case Combine::none:
    return value;
  case Combine::land:
    return value && with;
  case Combine::lor:
    return value || with;
  case Combine::lxor:
    return value != with;
  }
  return value;
}

/// p|q = (a op b) and its opposite, each combined with c.
ILK_EVAL(setPredicate) {
  eachLane(active, lanes, [&](unsigned l) {
    bool value = holds(op, in[0][l], in[1][l]), with = op.combine != Combine::none && in[2][l];
    out[l] = combine(op.combine, value, with);
    out2[l] = combine(op.combine, !value, with);
  });
}

/// The common case: no second predicate is combined.
template <typename T, Compare compare> ILK_EVAL(quickSet) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) {
    bool value = compareOrdered(compare, T(in[0][l]), T(in[1][l]));
    out[l] = value;
    out2[l] = !value;
  });
}

/// The value of .f16x2 and .bf16x2 operands' halves as scalars of their own.
Op halfOf(const Op &op) {
  Op half = op;
  half.type = op.type == ptx::Type::f16x2 ? ptx::Type::f16 : ptx::Type::bf16;
  return half;
}

/// setp.f16x2 p|q: the lower and the upper halves' comparisons.
ILK_EVAL(setPredicatePair) {
  Op half = halfOf(op);
  eachLane(active, lanes, [&](unsigned l) {
    bool with = op.combine != Combine::none && in[2][l];
    bool low = holds(half, in[0][l] & 0xffff, in[1][l] & 0xffff);
    bool high = holds(half, in[0][l] >> 16 & 0xffff, in[1][l] >> 16 & 0xffff);
    out[l] = combine(op.combine, low, with);
    out2[l] = combine(op.combine, high, with);
  });
}

/// What set writes where the comparison holds: 1.0, or all ones.
uint64_t trueOf(ptx::Type type) {
  switch (type) {
  case ptx::Type::f32:
    return 0x3f800000;
  case ptx::Type::f16:
  case ptx::Type::f16x2:
    return 0x3c00;
  case ptx::Type::bf16:
  case ptx::Type::bf16x2:
    return 0x3f80;
  default:
    return maskOf(ptx::bitWidth(type));
  }
}

ILK_EVAL(setValue) {
  (void)out2;
  uint64_t yes = trueOf(op.from);
  eachLane(active, lanes, [&](unsigned l) {
    bool value = combine(op.combine, holds(op, in[0][l], in[1][l]), op.combine != Combine::none && in[2][l]);
    out[l] = value ? yes : 0;
  });
}

/// set of two halves: each half of the result for itself.
ILK_EVAL(setValuePair) {
  (void)out2;
  Op half = halfOf(op);
  uint64_t yes = ptx::isFloat(op.from) ? trueOf(op.from) : 0xffff;
  eachLane(active, lanes, [&](unsigned l) {
    bool with = op.combine != Combine::none && in[2][l];
    uint64_t result = 0;
    for (unsigned at = 0; at < 32; at += 16)
      if (combine(op.combine, holds(half, in[0][l] >> at & 0xffff, in[1][l] >> at & 0xffff), with))
        result |= yes << at;
    out[l] = result;
  });
}

ILK_EVAL(select) {
  (void)op, (void)out2;
  eachLane(active, lanes, [&](unsigned l) { out[l] = in[2][l] ? in[0][l] : in[1][l]; });
}

/// slct: by the sign of c; -0.0 counts as not negative, NaN as negative.
ILK_EVAL(selectBySign) {
  (void)out2;
  eachLane(active, lanes, [&](unsigned l) {
    float c = std::bit_cast<float>(uint32_t(in[2][l]));
    bool first = op.from != ptx::Type::f32 ? int32_t(in[2][l]) >= 0 : c >= 0 || (op.ftz && std::fabs(c) < 0x1p-126f);
    out[l] = first ? in[0][l] : in[1][l];
  });
}

/// f32 without .ftz, ordered: the host's comparisons are the same.
template <Compare compare> ILK_EVAL(quickSetF32) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) {
    bool value =
        compareOrdered(compare, std::bit_cast<float>(uint32_t(in[0][l])), std::bit_cast<float>(uint32_t(in[1][l])));
    out[l] = value;
    out2[l] = !value;
  });
}

EvalFn quickForF32(Compare compare) {
  switch (compare) {
  case Compare::eq:
    return quickSetF32<Compare::eq>;
  case Compare::lt:
    return quickSetF32<Compare::lt>;
  case Compare::le:
    return quickSetF32<Compare::le>;
  case Compare::gt:
    return quickSetF32<Compare::gt>;
  case Compare::ge:
    return quickSetF32<Compare::ge>;
  default: // an ordered .ne does not hold with a NaN, unlike the host's
    return nullptr;
  }
}

template <typename T> EvalFn quickFor(Compare compare) {
  switch (compare) {
  case Compare::eq:
    return quickSet<T, Compare::eq>;
  case Compare::ne:
    return quickSet<T, Compare::ne>;
  case Compare::lt:
    return quickSet<T, Compare::lt>;
  case Compare::le:
    return quickSet<T, Compare::le>;
  case Compare::gt:
    return quickSet<T, Compare::gt>;
  case Compare::ge:
    return quickSet<T, Compare::ge>;
  default:
    return nullptr;
  }
}

EvalFn quickFor(ptx::Type type, Compare compare) {
  using ptx::Type;
  switch (type) {
  case Type::u32:
  case Type::b32:
    return quickFor<uint32_t>(compare);
  case Type::s32:
    return quickFor<int32_t>(compare);
  case Type::u64:
  case Type::b64:
    return quickFor<uint64_t>(compare);
  case Type::s64:
    return quickFor<int64_t>(compare);
  default:
    return nullptr;
  }
}

bool readCompare(const ptx::Instruction &in, Op &op) {
  struct Row {
    std::string_view name;
    Compare compare;
    bool isUnsigned;
  };
  static constexpr Row rows[] = {
      {"eq", Compare::eq, false},   {"ne", Compare::ne, false},   {"lt", Compare::lt, false},
      {"le", Compare::le, false},   {"gt", Compare::gt, false},   {"ge", Compare::ge, false},
      {"lo", Compare::lt, true},    {"ls", Compare::le, true},    {"hi", Compare::gt, true},
      {"hs", Compare::ge, true},    {"equ", Compare::equ, false}, {"neu", Compare::neu, false},
      {"ltu", Compare::ltu, false}, {"leu", Compare::leu, false}, {"gtu", Compare::gtu, false},
      {"geu", Compare::geu, false}, {"num", Compare::num, false}, {"nan", Compare::nan, false}};
  for (const Row &row : rows)
    if (in.has(row.name)) {
      op.compare = row.compare;
      op.isSigned = op.isSigned && !row.isUnsigned;
      return true;
    }
  return false;
}

} // namespace

tl::expected<Op, std::string> resolveCompare(const ptx::Instruction &in) {
  using ptx::Type;
  Op op;
  op.ftz = in.has("ftz");
  bool setp = in.opcode == "setp", set = in.opcode == "set";
  if (in.opcode == "selp" || in.opcode == "slct") {
    bool slct = in.opcode == "slct";
    op.type = in.type();
    op.bits = uint8_t(ptx::bitWidth(op.type));
    op.from = in.type(1);
    bool known = op.bits >= 16 && op.bits <= 64 && hasOnly(in, {slct ? "ftz" : ""}) &&
                 (slct ? op.from == Type::s32 || op.from == Type::f32 : op.from == Type::none);
    op.eval = slct ? selectBySign : select;
    return known ? tl::expected<Op, std::string>(op) : unknownInstruction(in);
  }
  if (!setp && !set)
    return Op{};
  // set.cmp.dtype.stype compares values of the second type.
  op.type = in.type(set ? 1 : 0);
  op.from = set ? in.type(0) : Type::none;
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.isSigned = ptx::isSigned(op.type);
  op.combine = in.has("and")   ? Combine::land
               : in.has("or")  ? Combine::lor
               : in.has("xor") ? Combine::lxor
                               : Combine::none;
  bool pair = op.type == Type::f16x2 || op.type == Type::bf16x2;
  bool scalar = op.type == Type::f16 || op.type == Type::bf16 || op.type == Type::f32 || op.type == Type::f64;
  bool integer = !ptx::isFloat(op.type) && op.bits >= 16 && op.bits <= 64;
  size_t mods = 2u + set + op.ftz + (op.combine != Combine::none); // the comparison and the types, and what may be
  if (!readCompare(in, op) || in.mods.size() != mods || !(pair || scalar || integer) ||
      (integer && op.compare >= Compare::equ))
    return unknownInstruction(in);
  if (set && ptx::bitWidth(op.from) != 16 && ptx::bitWidth(op.from) != 32)
    return unknownInstruction(in);
  op.eval = set ? (pair ? setValuePair : setValue) : pair ? setPredicatePair : setPredicate;
  // .lo and its kin compare without sign whatever the type says.
  bool signless = in.has("lo") || in.has("ls") || in.has("hi") || in.has("hs");
  if (setp && op.combine == Combine::none && !signless) {
    EvalFn quick = op.type == Type::f32 ? (op.ftz ? nullptr : quickForF32(op.compare)) : quickFor(op.type, op.compare);
    op.eval = quick ? quick : op.eval;
  }
  return op;
}

} // namespace interlock::emu::alu
