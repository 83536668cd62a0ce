// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16 instructions, packed ones too (VOP3P), and packed f32.
#include "analysis/Emulator/AMDGCN/Define.h"
#include "analysis/Emulator/AMDGCN/Float.h"
#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::gcn {
namespace {

using alu::formatBf16;
using alu::formatF16;
using alu::Rounding;
using h = uint16_t;

/// One half of a packed or single 16-bit operation, on bits of the format. A NaN is handed on, made quiet.
template <const alu::FloatFormat &format> struct Format {
  static constexpr uint32_t quiet = 1u << (format.mantissaBits - 1);
  static bool isNan(h v) { return (v & 0x7fffu) > format.infinity(); }
  static double value(h v) { return alu::decode(format, v); }
  static h from(double odd) { return h(alu::encode(format, odd, Rounding::rn)); }
  static h nan(std::initializer_list<h> in) {
    for (h v : in)
      if (isNan(v))
        return h(v | quiet);
    return h(format.infinity() | quiet);
  }
  static h add(h a, h b) {
    double r = alu::addOdd(value(a), value(b));
    return r == r ? from(r) : nan({a, b});
  }
  static h sub(h a, h b) { return isNan(b) ? nan({a, b}) : add(a, h(b ^ 0x8000)); }
  static h mul(h a, h b) {
    double r = value(a) * value(b); // exact
    return r == r ? from(r) : nan({a, b});
  }
  static h fma(h a, h b, h c) {
    double r = alu::fmaOdd(value(a), value(b), value(c));
    return r == r ? from(r) : nan({a, b, c});
  }
  static h pick(h a, h b, bool first) { return first ? a : b; }
  static h minNum(h a, h b) {
    if (isNan(a) || isNan(b))
      return isNan(a) && isNan(b) ? nan({a, b}) : isNan(a) ? b : a;
    return pick(a, b, value(a) < value(b) || (value(a) == value(b) && (a & 0x8000)));
  }
  static h maxNum(h a, h b) {
    if (isNan(a) || isNan(b))
      return isNan(a) && isNan(b) ? nan({a, b}) : isNan(a) ? b : a;
    return pick(a, b, value(a) > value(b) || (value(a) == value(b) && !(a & 0x8000)));
  }
  static h least(h a, h b) { return isNan(a) || isNan(b) ? nan({a, b}) : minNum(a, b); }
  static h most(h a, h b) { return isNan(a) || isNan(b) ? nan({a, b}) : maxNum(a, b); }
  /// As v_div_fixup of the wider types.
  static h divFixup(h q, h den, h num) {
    h sign = (den ^ num) & 0x8000, inf = h(format.infinity());
    bool zeroNum = !(num & 0x7fff), zeroDen = !(den & 0x7fff);
    bool infNum = (num & 0x7fff) == inf, infDen = (den & 0x7fff) == inf;
    if (isNan(num) || isNan(den))
      return nan({num, den});
    if ((zeroNum && zeroDen) || (infNum && infDen))
      return h(0x8000 | inf | quiet);
    if (zeroDen || infNum)
      return sign | inf;
    if (zeroNum || infDen)
      return sign;
    return h((q & 0x7fff) | sign);
  }
  static h apply(h a, double (*f)(double)) {
    if (isNan(a))
      return nan({a});
    double r = f(value(a));
    return r == r ? from(r) : nan({});
  }
};
using F = Format<formatF16>;
using B = Format<formatBf16>;

template <auto f> constexpr Entry h1(std::string_view name) { return vector1<H16, H16, f>(name); }
template <auto f> constexpr Entry b1(std::string_view name) { return vector1<BF16, BF16, f>(name); }
template <auto f> constexpr Entry h2(std::string_view name) { return vector2<H16, H16, H16, f>(name); }
template <auto f> constexpr Entry h3(std::string_view name, uint32_t flags = 0) {
  return vector3<H16, H16, H16, H16, f>(name, flags);
}

/// A half of source n of a packed instruction: op_sel and op_sel_hi pick it, neg_lo and neg_hi change its sign.
h halfOf(const Lanes &l, unsigned n, unsigned lane, bool high, bool isFloat) {
  const Op &op = *l.op;
  bool upper = (high ? op.opSelHi : op.opSel) >> n & 1;
  auto v = h(l.src[n][lane] >> (upper ? 16 : 0));
  if (isFloat && ((high ? op.negHi : op.negLo) >> n & 1))
    v ^= 0x8000;
  return v;
}
template <auto f, unsigned sources, bool isFloat> void packed(const Lanes &l, uint32_t *out) {
  for (unsigned i = 0; i < l.n; ++i) {
    uint32_t r = 0;
    for (bool high : {false, true}) {
      auto at = [&](unsigned n) { return halfOf(l, n, i, high, isFloat); };
      h v;
      if constexpr (sources == 2)
        v = h(f(at(0), at(1)));
      else
        v = h(f(at(0), at(1), at(2)));
      if (isFloat && l.op->clamp)
        v = F::value(v) > 0 ? (F::value(v) < 1 ? v : h(0x3c00)) : h(0);
      r |= uint32_t(v) << (high ? 16 : 0);
    }
    out[i] = r;
  }
}
template <auto f> constexpr Entry pk2(std::string_view name, bool isFloat = true) {
  Ty t = isFloat ? Ty::pkf16 : Ty::pk16;
  return {name, runVector, Form::plain, t, {t, t}, isFloat ? packed<f, 2, true> : packed<f, 2, false>};
}
template <auto f> constexpr Entry pk3(std::string_view name, bool isFloat = true) {
  Ty t = isFloat ? Ty::pkf16 : Ty::pk16;
  return {name, runVector, Form::plain, t, {t, t, t}, isFloat ? packed<f, 3, true> : packed<f, 3, false>};
}
template <auto f> constexpr Entry pkb2(std::string_view name) {
  return {name, runVector, Form::plain, Ty::pkbf16, {Ty::pkbf16, Ty::pkbf16}, packed<f, 2, true>};
}
template <auto f> constexpr Entry pkb3(std::string_view name) {
  return {name, runVector, Form::plain, Ty::pkbf16, {Ty::pkbf16, Ty::pkbf16, Ty::pkbf16}, packed<f, 3, true>};
}

/// Packed f32: op_sel picks the word for the low half, op_sel_hi for the high one.
uint32_t wordOf(const Lanes &l, unsigned n, unsigned lane, bool high) {
  const Op &op = *l.op;
  bool upper = (high ? op.opSelHi : op.opSel) >> n & 1;
  uint32_t v = l.src[n][lane + (upper ? maxLanes : 0)];
  return (high ? op.negHi : op.negLo) >> n & 1 ? v ^ 0x80000000 : v;
}
template <auto f, unsigned sources> void packed32(const Lanes &l, uint32_t *out) {
  for (bool high : {false, true})
    for (unsigned i = 0; i < l.n; ++i) {
      auto at = [&](unsigned n) { return std::bit_cast<float>(wordOf(l, n, i, high)); };
      float r;
      if constexpr (sources == 1)
        r = f(at(0));
      else if constexpr (sources == 2)
        r = f(at(0), at(1));
      else
        r = f(at(0), at(1), at(2));
      if (l.op->clamp)
        r = r > 0 ? (r < 1 ? r : 1.0f) : 0.0f;
      out[i + (high ? maxLanes : 0)] = std::bit_cast<uint32_t>(r);
    }
}
/// v_pk_mov_b32: the low word is picked from the first source, the high one from the second.
void packedMove(const Lanes &l, uint32_t *out) {
  for (unsigned i = 0; i < l.n; ++i) {
    out[i] = l.src[0][i + ((l.op->opSel & 1) ? maxLanes : 0)];
    out[maxLanes + i] = l.src[1][i + ((l.op->opSel & 2) ? maxLanes : 0)];
  }
}

/// v_fma_mix: each source is an f32, or a half of it as f16 (op_sel_hi says so, op_sel which).
template <typename T> float mixed(const Lanes &l, unsigned n, unsigned lane) {
  const Op &op = *l.op;
  float v = (op.opSelHi >> n & 1) ? float(T::value(h(l.src[n][lane] >> ((op.opSel >> n & 1) ? 16 : 0))))
                                  : std::bit_cast<float>(l.src[n][lane]);
  if (op.negHi >> n & 1) // neg_hi is the absolute value here
    v = std::fabs(v);
  return (op.negLo >> n & 1) ? -v : v;
}
template <typename T> float mixedFma(const Lanes &l, unsigned i) {
  float r = fmaFloat(mixed<T>(l, 0, i), mixed<T>(l, 1, i), mixed<T>(l, 2, i));
  return l.op->clamp ? (r > 0 ? (r < 1 ? r : 1.0f) : 0.0f) : r;
}
template <typename T> void mix(const Lanes &l, uint32_t *out) {
  for (unsigned i = 0; i < l.n; ++i)
    out[i] = std::bit_cast<uint32_t>(mixedFma<T>(l, i));
}
template <typename T, bool high> void mixHalf(const Lanes &l, uint32_t *out) {
  for (unsigned i = 0; i < l.n; ++i) {
    h v = T::from(double(mixedFma<T>(l, i)));
    uint32_t old = l.src[3][i];
    out[i] = high ? (old & 0xffff) | uint32_t(v) << 16 : (old & 0xffff0000) | v;
  }
}
/// v_dot2_f32_f16 and v_dot2_f32_bf16 keep the precision of f32 in between.
template <typename T> void dot2(const Lanes &l, uint32_t *out) {
  for (unsigned i = 0; i < l.n; ++i) {
    auto at = [&](unsigned n, bool high) { return float(T::value(halfOf(l, n, i, high, true))); };
    float c = std::bit_cast<float>(l.src[2][i]);
    out[i] = std::bit_cast<uint32_t>(fmaFloat(at(0, true), at(1, true), fmaFloat(at(0, false), at(1, false), c)));
  }
}

constexpr auto fmaH = [](h a, h b, h c) { return F::fma(a, b, c); };
constexpr Ty q = Ty::pkf32;

constexpr Entry table[] = {
    h2<[](h a, h b) { return F::add(a, b); }>("v_add_f16"),
    h2<[](h a, h b) { return F::sub(a, b); }>("v_sub_f16"),
    h2<[](h a, h b) { return F::sub(b, a); }>("v_subrev_f16"),
    h2<[](h a, h b) { return F::mul(a, b); }>("v_mul_f16"),
    h3<fmaH>("v_fma_f16"),
    h3<fmaH>("v_fmaak_f16"),
    h3<[](h a, h k, h b) { return F::fma(a, k, b); }>("v_fmamk_f16"),
    {"v_fmac_f16",
     runVector,
     Form::plain,
     Ty::f16,
     {Ty::f16, Ty::f16, Ty::f16},
     lanes3<H16, H16, H16, H16, fmaH>,
     nullptr,
     0,
     tied},
    h2<[](h a, h b) { return F::minNum(a, b); }>("v_min_f16"),
    h2<[](h a, h b) { return F::maxNum(a, b); }>("v_max_f16"),
    h2<[](h a, h b) { return F::minNum(a, b); }>("v_min_num_f16"),
    h2<[](h a, h b) { return F::maxNum(a, b); }>("v_max_num_f16"),
    h2<[](h a, h b) { return F::least(a, b); }>("v_minimum_f16"),
    h2<[](h a, h b) { return F::most(a, b); }>("v_maximum_f16"),
    h3<[](h q, h b, h c) { return F::divFixup(q, b, c); }>("v_div_fixup_f16"),
    h1<[](h a) { return F::apply(a, [](double v) { return 1.0 / v; }); }>("v_rcp_f16"),
    h1<[](h a) { return F::apply(a, std::sqrt); }>("v_sqrt_f16"),
    h1<[](h a) { return F::apply(a, [](double v) { return 1.0 / std::sqrt(v); }); }>("v_rsq_f16"),
    h1<[](h a) { return F::apply(a, std::exp2); }>("v_exp_f16"),
    h1<[](h a) { return F::apply(a, std::log2); }>("v_log_f16"),
    h1<[](h a) { return F::apply(a, std::floor); }>("v_floor_f16"),
    h1<[](h a) { return F::apply(a, std::ceil); }>("v_ceil_f16"),
    h1<[](h a) { return F::apply(a, std::trunc); }>("v_trunc_f16"),
    h1<[](h a) { return F::apply(a, std::nearbyint); }>("v_rndne_f16"),
    vector2<H16, H16, S16,
            [](h a, int16_t e) {
              return F::isNan(a) ? F::nan({a}) : F::from(std::ldexp(F::value(a), std::clamp<int>(e, -60, 60)));
            }>("v_ldexp_f16"),
    pk2<[](h a, h b) { return F::add(a, b); }>("v_pk_add_f16"),
    pk2<[](h a, h b) { return F::mul(a, b); }>("v_pk_mul_f16"),
    pk2<[](h a, h b) { return F::minNum(a, b); }>("v_pk_min_f16"),
    pk2<[](h a, h b) { return F::maxNum(a, b); }>("v_pk_max_f16"),
    pk2<[](h a, h b) { return F::minNum(a, b); }>("v_pk_min_num_f16"),
    pk2<[](h a, h b) { return F::maxNum(a, b); }>("v_pk_max_num_f16"),
    pk2<[](h a, h b) { return F::least(a, b); }>("v_pk_minimum_f16"),
    pk2<[](h a, h b) { return F::most(a, b); }>("v_pk_maximum_f16"),
    pk3<fmaH>("v_pk_fma_f16"),
    pkb2<[](h a, h b) { return B::add(a, b); }>("v_pk_add_bf16"),
    pkb2<[](h a, h b) { return B::mul(a, b); }>("v_pk_mul_bf16"),
    pkb2<[](h a, h b) { return B::minNum(a, b); }>("v_pk_min_num_bf16"),
    pkb2<[](h a, h b) { return B::maxNum(a, b); }>("v_pk_max_num_bf16"),
    pkb3<[](h a, h b, h c) { return B::fma(a, b, c); }>("v_pk_fma_bf16"),
    vector3<BF16, BF16, BF16, BF16, [](h a, h b, h c) { return B::fma(a, b, c); }>("v_fma_bf16"),
    vector2<BF16, BF16, BF16, [](h a, h b) { return B::add(a, b); }>("v_add_bf16"),
    vector2<BF16, BF16, BF16, [](h a, h b) { return B::sub(a, b); }>("v_sub_bf16"),
    vector2<BF16, BF16, BF16, [](h a, h b) { return B::mul(a, b); }>("v_mul_bf16"),
    b1<[](h a) { return B::apply(a, std::sqrt); }>("v_sqrt_bf16"),
    b1<[](h a) { return B::apply(a, [](double v) { return 1.0 / v; }); }>("v_rcp_bf16"),
    b1<[](h a) { return B::apply(a, [](double v) { return 1.0 / std::sqrt(v); }); }>("v_rsq_bf16"),
    b1<[](h a) { return B::apply(a, std::exp2); }>("v_exp_bf16"),
    b1<[](h a) { return B::apply(a, std::log2); }>("v_log_bf16"),
    {"v_fmac_bf16",
     runVector,
     Form::plain,
     Ty::bf16,
     {Ty::bf16, Ty::bf16, Ty::bf16},
     lanes3<BF16, BF16, BF16, BF16, [](h a, h b, h c) { return B::fma(a, b, c); }>,
     nullptr,
     0,
     tied},
    pk2<[](h a, h b) { return a + b; }>("v_pk_add_u16", false),
    pk2<[](h a, h b) { return a - b; }>("v_pk_sub_u16", false),
    pk2<[](h a, h b) { return a + b; }>("v_pk_add_i16", false),
    pk2<[](h a, h b) { return a - b; }>("v_pk_sub_i16", false),
    pk2<[](h a, h b) { return uint32_t(a) * b; }>("v_pk_mul_lo_u16", false),
    pk2<[](h a, h b) { return (b << (a & 15)); }>("v_pk_lshlrev_b16", false),
    pk2<[](h a, h b) { return (b >> (a & 15)); }>("v_pk_lshrrev_b16", false),
    pk2<[](h a, h b) { return (int16_t(b) >> (a & 15)); }>("v_pk_ashrrev_i16", false),
    pk2<[](h a, h b) { return std::min(a, b); }>("v_pk_min_u16", false),
    pk2<[](h a, h b) { return std::max(a, b); }>("v_pk_max_u16", false),
    pk2<[](h a, h b) { return std::min(int16_t(a), int16_t(b)); }>("v_pk_min_i16", false),
    pk2<[](h a, h b) { return std::max(int16_t(a), int16_t(b)); }>("v_pk_max_i16", false),
    pk3<[](h a, h b, h c) { return uint32_t(a) * b + c; }>("v_pk_mad_u16", false),
    pk3<[](h a, h b, h c) { return uint32_t(a) * b + c; }>("v_pk_mad_i16", false),
    {"v_pk_add_f32", runVector, Form::plain, q, {q, q}, packed32<[](float a, float b) { return addFloat(a, b); }, 2>},
    {"v_pk_mul_f32", runVector, Form::plain, q, {q, q}, packed32<[](float a, float b) { return mulFloat(a, b); }, 2>},
    {"v_pk_fma_f32",
     runVector,
     Form::plain,
     q,
     {q, q, q},
     packed32<[](float a, float b, float c) { return fmaFloat(a, b, c); }, 3>},
    {"v_pk_mov_b32", runVector, Form::plain, Ty::b64, {Ty::b64, Ty::b64}, packedMove},
    {"v_fma_mix_f32", runVector, Form::plain, Ty::b32, {Ty::f32, Ty::f32, Ty::f32}, mix<F>},
    {"v_mad_mix_f32", runVector, Form::plain, Ty::b32, {Ty::f32, Ty::f32, Ty::f32}, mix<F>},
    {"v_fma_mixlo_f16",
     runVector,
     Form::plain,
     Ty::b32,
     {Ty::f32, Ty::f32, Ty::f32, Ty::b32},
     mixHalf<F, false>,
     nullptr,
     0,
     tied},
    {"v_fma_mixhi_f16",
     runVector,
     Form::plain,
     Ty::b32,
     {Ty::f32, Ty::f32, Ty::f32, Ty::b32},
     mixHalf<F, true>,
     nullptr,
     0,
     tied},
    {"v_fma_mix_f32_bf16", runVector, Form::plain, Ty::b32, {Ty::f32, Ty::f32, Ty::f32}, mix<B>},
    {"v_fma_mixlo_bf16",
     runVector,
     Form::plain,
     Ty::b32,
     {Ty::f32, Ty::f32, Ty::f32, Ty::b32},
     mixHalf<B, false>,
     nullptr,
     0,
     tied},
    {"v_fma_mixhi_bf16",
     runVector,
     Form::plain,
     Ty::b32,
     {Ty::f32, Ty::f32, Ty::f32, Ty::b32},
     mixHalf<B, true>,
     nullptr,
     0,
     tied},
    {"v_dot2_f32_f16", runVector, Form::plain, Ty::f32, {Ty::pkf16, Ty::pkf16, Ty::f32}, dot2<F>},
    {"v_dot2_f32_bf16", runVector, Form::plain, Ty::f32, {Ty::pkbf16, Ty::pkbf16, Ty::f32}, dot2<B>},
};

} // namespace

std::span<const Entry> vectorHalfEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
