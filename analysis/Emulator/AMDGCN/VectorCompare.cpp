// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// v_cmp and v_cmpx: a lane's result is its bit of a mask.
#include "analysis/Emulator/AMDGCN/Define.h"
#include "analysis/Emulator/AMDGCN/Float.h"
#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::gcn {
namespace {

/// f16 as a number, for comparisons.
struct HalfValue {
  using T = float;
  static constexpr Ty ty = Ty::f16;
  static T get(const uint32_t *p, unsigned lane) { return float(alu::decode(alu::formatF16, p[lane] & 0xffff)); }
};

/// v_cmp_class: which kinds of number bits of the second source ask for (ISA manuals, "V_CMP_CLASS").
template <typename T> bool classOf(T v, uint32_t mask) {
  bool negative = std::signbit(v);
  unsigned bit;
  switch (std::fpclassify(v)) {
  case FP_NAN:
    bit = (bitsOf(v) & FloatBits<T>::quiet) ? 1 : 0;
    break;
  case FP_INFINITE:
    bit = negative ? 2 : 9;
    break;
  case FP_NORMAL:
    bit = negative ? 3 : 8;
    break;
  case FP_SUBNORMAL:
    bit = negative ? 4 : 7;
    break;
  default:
    bit = negative ? 5 : 6;
  }
  return mask >> bit & 1;
}

template <typename A, typename B, auto f> constexpr Entry to(std::string_view name) {
  return {name, runCompare, Form::plain, Ty::mask, {A::ty, B::ty}, nullptr, compare2<A, B, f>};
}
template <typename A, typename B, auto f> constexpr Entry exec(std::string_view name) {
  return {name, runCompareExec, Form::plain, Ty::mask, {A::ty, B::ty}, nullptr, compare2<A, B, f>};
}

#define ILK_ONE(type, name, suffix, test)                                                                              \
  to<type, type, [](typename type::T a, typename type::T b) { return (test); }>("v_cmp_" name "_" suffix),             \
      exec<type, type, [](typename type::T a, typename type::T b) { return (test); }>("v_cmpx_" name "_" suffix)
#define ILK_INTEGERS(type, suffix)                                                                                     \
  ILK_ONE(type, "f", suffix, ((void)a, (void)b, false)), ILK_ONE(type, "lt", suffix, a < b),                           \
      ILK_ONE(type, "eq", suffix, a == b), ILK_ONE(type, "le", suffix, a <= b), ILK_ONE(type, "gt", suffix, a > b),    \
      ILK_ONE(type, "ne", suffix, a != b), ILK_ONE(type, "ge", suffix, a >= b),                                        \
      ILK_ONE(type, "t", suffix, ((void)a, (void)b, true))
#define ILK_FLOATS(type, suffix)                                                                                       \
  ILK_ONE(type, "f", suffix, ((void)a, (void)b, false)), ILK_ONE(type, "lt", suffix, a < b),                           \
      ILK_ONE(type, "eq", suffix, a == b), ILK_ONE(type, "le", suffix, a <= b), ILK_ONE(type, "gt", suffix, a > b),    \
      ILK_ONE(type, "lg", suffix, a<b || a> b), ILK_ONE(type, "ge", suffix, a >= b),                                   \
      ILK_ONE(type, "o", suffix, a == a && b == b), ILK_ONE(type, "u", suffix, a != a || b != b),                      \
      ILK_ONE(type, "nge", suffix, !(a >= b)), ILK_ONE(type, "nlg", suffix, !(a < b || a > b)),                        \
      ILK_ONE(type, "ngt", suffix, !(a > b)), ILK_ONE(type, "nle", suffix, !(a <= b)),                                 \
      ILK_ONE(type, "neq", suffix, !(a == b)), ILK_ONE(type, "nlt", suffix, !(a < b)),                                 \
      ILK_ONE(type, "tru", suffix, ((void)a, (void)b, true)), ILK_ONE(type, "t", suffix, ((void)a, (void)b, true))

constexpr Entry table[] = {
    ILK_INTEGERS(U32, "u32"),
    ILK_INTEGERS(I32, "i32"),
    ILK_INTEGERS(U64, "u64"),
    ILK_INTEGERS(I64, "i64"),
    ILK_INTEGERS(B16, "u16"),
    ILK_INTEGERS(S16, "i16"),
    ILK_FLOATS(F32, "f32"),
    ILK_FLOATS(F64, "f64"),
    ILK_FLOATS(HalfValue, "f16"),
    to<F32, U32, [](float a, uint32_t m) { return classOf(a, m); }>("v_cmp_class_f32"),
    exec<F32, U32, [](float a, uint32_t m) { return classOf(a, m); }>("v_cmpx_class_f32"),
    to<F64, U32, [](double a, uint32_t m) { return classOf(a, m); }>("v_cmp_class_f64"),
    exec<F64, U32, [](double a, uint32_t m) { return classOf(a, m); }>("v_cmpx_class_f64"),
};

} // namespace

std::span<const Entry> vectorCompareEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
