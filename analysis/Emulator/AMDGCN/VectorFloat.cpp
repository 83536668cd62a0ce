// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// f32 and f64 instructions of the vector units.
#include "analysis/Emulator/AMDGCN/Define.h"
#include "analysis/Emulator/AMDGCN/Float.h"

namespace interlock::emu::gcn {
namespace {

using f = float;
using d = double;

// The transcendental functions are approximations on the hardware (1 ulp); here they are rounded from double.
f viaDouble(f a, double (*fn)(double)) {
  f r = f(fn(double(a)));
  return r == r ? r : nanOf(a);
}
double turn(double a) { return 6.283185307179586476925 * (a - std::trunc(a)); }
double rootOf(double a) { return std::sqrt(a); }
double reciprocal(double a) { return 1.0 / a; }
double reciprocalRoot(double a) { return 1.0 / std::sqrt(a); }
double sine(double a) { return std::sin(turn(a)); }
double cosine(double a) { return std::cos(turn(a)); }
double exp2Of(double a) { return std::exp2(a); }
double log2Of(double a) { return std::log2(a); }

template <typename T> int exponentOf(T v) {
  return int(bitsOf(v) >> FloatBits<T>::mantissa & ((1 << FloatBits<T>::exponent) - 1));
}
template <typename T> bool isDenormal(T v) { return v != 0 && exponentOf(v) == 0; }

template <typename T> T scaled(T v, int e) { return v != v ? quieted(v) : std::ldexp(v, e); }

template <typename T> T mantissaOf(T v) {
  if (v != v)
    return quieted(v);
  if (std::isinf(v) || v == 0)
    return v;
  int e;
  return std::frexp(v, &e);
}
template <typename T> int32_t exponentNumber(T v) {
  if (v != v || std::isinf(v) || v == 0)
    return 0;
  int e;
  std::frexp(v, &e);
  return e;
}
template <typename T> T fraction(T v) {
  if (v != v || std::isinf(v))
    return nanOf(v);
  T r = v - std::floor(v);
  return std::min(r, std::nextafter(T(1), T(0)));
}
template <typename T> T median(T a, T b, T c) {
  if (a != a || b != b || c != c)
    return minNumber(minNumber(a, b), c);
  return maxNumber(minNumber(a, b), minNumber(maxNumber(a, b), c));
}

/// v_div_fixup: the quotient S0 of S2 / S1, with the special cases put right.
template <typename T> T divFixup(T q, T den, T num) {
  bool negative = std::signbit(den) != std::signbit(num);
  T sign = negative ? T(-1) : T(1), inf = std::numeric_limits<T>::infinity();
  if (num != num)
    return quieted(num);
  if (den != den)
    return quieted(den);
  if ((num == 0 && den == 0) || (std::isinf(num) && std::isinf(den)))
    return std::bit_cast<T>(FloatBits<T>::nan | FloatBits<T>::sign);
  if (den == 0 || std::isinf(num))
    return sign * inf;
  if (num == 0 || std::isinf(den))
    return sign * T(0);
  if (q != q) // the steps before have overflowed
    return sign * inf;
  return negative ? -std::fabs(q) : std::fabs(q);
}

/// v_div_scale: numerator or denominator, scaled so that the steps that follow neither overflow nor lose bits; a mask
/// says whose quotient v_div_fmas has to scale back.
template <typename T, typename W> Flow divScale(WaveExec &x, const Op &op) {
  constexpr int amount = sizeof(T) == 4 ? 64 : 128, far = sizeof(T) == 4 ? 96 : 768, small = sizeof(T) == 4 ? 23 : 53;
  Lanes l = x.sources(op);
  uint64_t mask = 0;
  for (unsigned i = 0; i < l.n; ++i) {
    T s0 = W::get(l.src[0], i), den = W::get(l.src[1], i), num = W::get(l.src[2], i), r = s0;
    bool flag = false, isDen = bitsOf(s0) == bitsOf(den);
    if (num == 0 || den == 0) {
      r = std::bit_cast<T>(FloatBits<T>::nan);
    } else if (exponentOf(num) - exponentOf(den) >= far) {
      flag = true;
      if (isDen)
        r = std::ldexp(s0, amount);
    } else if (isDenormal(den)) {
      r = std::ldexp(s0, amount);
    } else if (isDenormal(T(1) / den) && isDenormal(num / den)) {
      flag = true;
      if (isDen)
        r = std::ldexp(s0, amount);
    } else if (isDenormal(T(1) / den)) {
      r = std::ldexp(s0, -amount);
    } else if (isDenormal(num / den)) {
      flag = true;
      if (bitsOf(s0) == bitsOf(num))
        r = std::ldexp(s0, amount);
    } else if (exponentOf(num) <= small) {
      r = std::ldexp(s0, amount);
    }
    W::put(x.out, i, r);
    mask |= uint64_t(flag) << i;
  }
  x.write(op);
  if (op.dst2.kind == SrcKind::scalar)
    x.wave.setMask(op.dst2.index, mask & x.enabled);
  return Flow::next;
}
template <typename T, typename W> Flow divFmas(WaveExec &x, const Op &op) {
  constexpr int amount = sizeof(T) == 4 ? 64 : 128, middle = sizeof(T) == 4 ? 127 : 1023;
  Lanes l = x.sources(op);
  uint64_t mask = x.wave.mask(sreg::vcc);
  for (unsigned i = 0; i < l.n; ++i) {
    T c = W::get(l.src[2], i), r = fmaFloat(W::get(l.src[0], i), W::get(l.src[1], i), c);
    if (mask >> i & 1)
      r = scaled(r, exponentOf(c) > middle ? amount : -amount);
    W::put(x.out, i, r);
  }
  x.write(op);
  return Flow::next;
}

template <auto fn> constexpr Entry f1(std::string_view name) { return vector1<F32, F32, fn>(name); }
template <auto fn> constexpr Entry f2(std::string_view name) { return vector2<F32, F32, F32, fn>(name); }
template <auto fn> constexpr Entry f3(std::string_view name, uint32_t flags = 0) {
  return vector3<F32, F32, F32, F32, fn>(name, flags);
}
template <auto fn> constexpr Entry d1(std::string_view name) { return vector1<F64, F64, fn>(name); }
template <auto fn> constexpr Entry d2(std::string_view name) { return vector2<F64, F64, F64, fn>(name); }
template <auto fn> constexpr Entry d3(std::string_view name, uint32_t flags = 0) {
  return vector3<F64, F64, F64, F64, fn>(name, flags);
}

constexpr auto fmaF = [](f a, f b, f c) { return fmaFloat(a, b, c); };
constexpr auto minF = [](f a, f b) { return minNumber(a, b); };
constexpr auto maxF = [](f a, f b) { return maxNumber(a, b); };
constexpr auto minD = [](d a, d b) { return minNumber(a, b); };
constexpr auto maxD = [](d a, d b) { return maxNumber(a, b); };

constexpr Entry table[] = {
    f2<[](f a, f b) { return addFloat(a, b); }>("v_add_f32"),
    f2<[](f a, f b) { return subFloat(a, b); }>("v_sub_f32"),
    f2<[](f a, f b) { return subFloat(b, a); }>("v_subrev_f32"),
    f2<[](f a, f b) { return mulFloat(a, b); }>("v_mul_f32"),
    f2<[](f a, f b) { return a == 0 || b == 0 ? 0.0f : mulFloat(a, b); }>("v_mul_legacy_f32"),
    f2<[](f a, f b) { return a == 0 || b == 0 ? 0.0f : mulFloat(a, b); }>("v_mul_dx9_zero_f32"),
    f3<fmaF>("v_fma_f32"),
    {"v_fmac_f32",
     runVector,
     Form::plain,
     Ty::f32,
     {Ty::f32, Ty::f32, Ty::f32},
     lanes3<F32, F32, F32, F32, fmaF>,
     nullptr,
     0,
     tied},
    f3<fmaF>("v_fmaak_f32"),
    f3<[](f a, f k, f b) { return fmaFloat(a, k, b); }>("v_fmamk_f32"),
    f3<[](f a, f b, f c) { return addFloat(mulFloat(a, b), c); }>("v_mad_f32"),
    f3<[](f a, f b, f c) { return addFloat(mulFloat(a, b), c); }>("v_madak_f32"),
    f3<[](f a, f k, f b) { return addFloat(mulFloat(a, k), b); }>("v_madmk_f32"),
    {"v_mac_f32",
     runVector,
     Form::plain,
     Ty::f32,
     {Ty::f32, Ty::f32, Ty::f32},
     lanes3<F32, F32, F32, F32, [](f a, f b, f c) { return addFloat(mulFloat(a, b), c); }>,
     nullptr,
     0,
     tied},
    f2<minF>("v_min_f32"),
    f2<maxF>("v_max_f32"),
    f2<minF>("v_min_num_f32"),
    f2<maxF>("v_max_num_f32"),
    f2<[](f a, f b) { return minimum(a, b); }>("v_minimum_f32"),
    f2<[](f a, f b) { return maximum(a, b); }>("v_maximum_f32"),
    f3<[](f a, f b, f c) { return minNumber(minNumber(a, b), c); }>("v_min3_f32"),
    f3<[](f a, f b, f c) { return maxNumber(maxNumber(a, b), c); }>("v_max3_f32"),
    f3<[](f a, f b, f c) { return minNumber(minNumber(a, b), c); }>("v_min3_num_f32"),
    f3<[](f a, f b, f c) { return maxNumber(maxNumber(a, b), c); }>("v_max3_num_f32"),
    f3<[](f a, f b, f c) { return minimum(minimum(a, b), c); }>("v_minimum3_f32"),
    f3<[](f a, f b, f c) { return maximum(maximum(a, b), c); }>("v_maximum3_f32"),
    f3<[](f a, f b, f c) { return median(a, b, c); }>("v_med3_f32"),
    f3<[](f a, f b, f c) { return median(a, b, c); }>("v_med3_num_f32"),
    f3<[](f a, f b, f c) { return maxNumber(minNumber(a, b), c); }>("v_minmax_f32"),
    f3<[](f a, f b, f c) { return minNumber(maxNumber(a, b), c); }>("v_maxmin_f32"),
    f3<[](f a, f b, f c) { return maxNumber(minNumber(a, b), c); }>("v_minmax_num_f32"),
    f3<[](f a, f b, f c) { return minNumber(maxNumber(a, b), c); }>("v_maxmin_num_f32"),
    f1<[](f a) { return viaDouble(a, reciprocal); }>("v_rcp_f32"),
    f1<[](f a) { return viaDouble(a, reciprocal); }>("v_rcp_iflag_f32"),
    f1<[](f a) { return viaDouble(a, reciprocalRoot); }>("v_rsq_f32"),
    f1<[](f a) { return viaDouble(a, rootOf); }>("v_sqrt_f32"),
    f1<[](f a) { return viaDouble(a, exp2Of); }>("v_exp_f32"),
    f1<[](f a) { return viaDouble(a, log2Of); }>("v_log_f32"),
    f1<[](f a) { return viaDouble(a, sine); }>("v_sin_f32"),
    f1<[](f a) { return viaDouble(a, cosine); }>("v_cos_f32"),
    f1<[](f a) { return rounded<f>(a, std::floor); }>("v_floor_f32"),
    f1<[](f a) { return rounded<f>(a, std::ceil); }>("v_ceil_f32"),
    f1<[](f a) { return rounded<f>(a, std::trunc); }>("v_trunc_f32"),
    f1<[](f a) { return nearestEven(a); }>("v_rndne_f32"),
    f1<[](f a) { return fraction(a); }>("v_fract_f32"),
    f1<[](f a) { return mantissaOf(a); }>("v_frexp_mant_f32"),
    vector1<I32, F32, [](f a) { return exponentNumber(a); }>("v_frexp_exp_i32_f32"),
    vector2<F32, F32, I32, [](f a, int32_t e) { return scaled(a, std::clamp(e, -300, 300)); }>("v_ldexp_f32"),
    f3<[](f q, f b, f c) { return divFixup(q, b, c); }>("v_div_fixup_f32"),
    {"v_div_scale_f32",
     divScale<f, F32>,
     Form::plain,
     Ty::f32,
     {Ty::f32, Ty::f32, Ty::f32},
     nullptr,
     nullptr,
     0,
     secondDst},
    {"v_div_fmas_f32", divFmas<f, F32>, Form::plain, Ty::f32, {Ty::f32, Ty::f32, Ty::f32}},

    d2<[](d a, d b) { return addFloat(a, b); }>("v_add_f64"),
    d2<[](d a, d b) { return mulFloat(a, b); }>("v_mul_f64"),
    d3<[](d a, d b, d c) { return fmaFloat(a, b, c); }>("v_fma_f64"),
    {"v_fmac_f64",
     runVector,
     Form::plain,
     Ty::f64,
     {Ty::f64, Ty::f64, Ty::f64},
     lanes3<F64, F64, F64, F64, [](d a, d b, d c) { return fmaFloat(a, b, c); }>,
     nullptr,
     0,
     tied},
    d3<[](d a, d b, d c) { return fmaFloat(a, b, c); }>("v_fmaak_f64"),
    d3<[](d a, d k, d b) { return fmaFloat(a, k, b); }>("v_fmamk_f64"),
    d2<minD>("v_min_f64"),
    d2<maxD>("v_max_f64"),
    d2<minD>("v_min_num_f64"),
    d2<maxD>("v_max_num_f64"),
    d1<[](d a) { return a != a ? quieted(a) : 1.0 / a; }>("v_rcp_f64"),
    d1<[](d a) { return (a != a || a < 0 ? nanOf(a) : 1.0 / std::sqrt(a)); }>("v_rsq_f64"),
    d1<[](d a) { return (a != a || a < 0 ? nanOf(a) : std::sqrt(a)); }>("v_sqrt_f64"),
    d1<[](d a) { return rounded<d>(a, std::floor); }>("v_floor_f64"),
    d1<[](d a) { return rounded<d>(a, std::ceil); }>("v_ceil_f64"),
    d1<[](d a) { return rounded<d>(a, std::trunc); }>("v_trunc_f64"),
    d1<[](d a) { return nearestEven(a); }>("v_rndne_f64"),
    d1<[](d a) { return fraction(a); }>("v_fract_f64"),
    d1<[](d a) { return mantissaOf(a); }>("v_frexp_mant_f64"),
    vector1<I32, F64, [](d a) { return exponentNumber(a); }>("v_frexp_exp_i32_f64"),
    vector2<F64, F64, I32, [](d a, int32_t e) { return scaled(a, std::clamp(e, -2200, 2200)); }>("v_ldexp_f64"),
    d3<[](d q, d b, d c) { return divFixup(q, b, c); }>("v_div_fixup_f64"),
    {"v_div_scale_f64",
     divScale<d, F64>,
     Form::plain,
     Ty::f64,
     {Ty::f64, Ty::f64, Ty::f64},
     nullptr,
     nullptr,
     0,
     secondDst},
    {"v_div_fmas_f64", divFmas<d, F64>, Form::plain, Ty::f64, {Ty::f64, Ty::f64, Ty::f64}},
};

} // namespace

std::span<const Entry> vectorFloatEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
