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

/// set: all ones, or 1.0, where the comparison holds.
ILK_EVAL(setValue) {
  (void)out2;
  eachLane(active, lanes, [&](unsigned l) {
    bool value = combine(op.combine, holds(op, in[0][l], in[1][l]), op.combine != Combine::none && in[2][l]);
    out[l] = !value ? 0 : op.from == ptx::Type::f32 ? 0x3f800000 : 0xffffffff;
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
    bool first = op.from == ptx::Type::f32 ? std::bit_cast<float>(uint32_t(in[2][l])) >= 0.0f : int32_t(in[2][l]) >= 0;
    out[l] = first ? in[0][l] : in[1][l];
  });
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
  Op op;
  bool setp = in.opcode == "setp", set = in.opcode == "set";
  if (in.opcode == "selp") {
    op.eval = select;
    return op;
  }
  if (in.opcode == "slct") {
    op.from = in.type(1);
    op.eval = selectBySign;
    return op;
  }
  if (!setp && !set)
    return Op{};
  // set.cmp.dtype.stype compares the second type; a packed comparison is another instruction.
  op.type = in.type(set ? 1 : 0);
  op.from = set ? in.type(0) : ptx::Type::none;
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.isSigned = ptx::isSigned(op.type);
  op.ftz = in.has("ftz");
  op.combine = in.has("and")   ? Combine::land
               : in.has("or")  ? Combine::lor
               : in.has("xor") ? Combine::lxor
                               : Combine::none;
  bool packed = op.type == ptx::Type::f16x2 || op.type == ptx::Type::bf16x2;
  if (!readCompare(in, op) || packed || op.type == ptx::Type::none)
    return tl::unexpected("the emulator does not know " + in.mnemonic());
  op.eval = set ? setValue : setPredicate;
  if (setp && op.combine == Combine::none)
    if (EvalFn quick = quickFor(op.type, op.compare))
      op.eval = quick;
  // .lo and its kin compare without sign whatever the type says.
  if (in.has("lo") || in.has("ls") || in.has("hi") || in.has("hs"))
    op.eval = set ? setValue : setPredicate;
  return op;
}

} // namespace interlock::emu::alu
