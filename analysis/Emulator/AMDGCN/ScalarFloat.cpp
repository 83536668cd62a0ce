// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Scalar floating-point instructions (from gfx11.5 on).
#include "analysis/Emulator/AMDGCN/Define.h"
#include "analysis/Emulator/AMDGCN/Float.h"

namespace interlock::emu::gcn {
namespace {

using f = float;

float value(const WaveExec &x, const Src &s) {
  auto v = std::bit_cast<float>(x.scalar32(s));
  if (s.absolute)
    v = std::fabs(v);
  return s.negated ? -v : v;
}

template <auto fn> Flow run1(WaveExec &x, const Op &op) {
  x.setScalar32(op.dst, bitsOf(fn(value(x, op.src[0]))));
  return Flow::next;
}
template <auto fn> Flow run2(WaveExec &x, const Op &op) {
  x.setScalar32(op.dst, bitsOf(fn(value(x, op.src[0]), value(x, op.src[1]))));
  return Flow::next;
}
template <auto fn> Flow run3(WaveExec &x, const Op &op) {
  x.setScalar32(op.dst, bitsOf(fn(value(x, op.src[0]), value(x, op.src[1]), value(x, op.src[2]))));
  return Flow::next;
}
template <auto fn> Flow runCmp(WaveExec &x, const Op &op) {
  x.wave.setScc(fn(value(x, op.src[0]), value(x, op.src[1])));
  return Flow::next;
}
template <auto fn> Flow fromBits(WaveExec &x, const Op &op) {
  x.setScalar32(op.dst, fn(x.scalar32(op.src[0])));
  return Flow::next;
}

constexpr Ty t = Ty::f32;
template <auto fn> constexpr Entry s1(std::string_view name) { return {name, run1<fn>, Form::plain, t, {t}}; }
template <auto fn> constexpr Entry s2(std::string_view name) { return {name, run2<fn>, Form::plain, t, {t, t}}; }
template <auto fn> constexpr Entry s3(std::string_view name, uint32_t flags = 0) {
  return {name, run3<fn>, Form::plain, t, {t, t, t}, nullptr, nullptr, 0, flags};
}
template <auto fn> constexpr Entry cmp(std::string_view name) {
  return {name, runCmp<fn>, Form::plain, Ty::none, {t, t}};
}
template <auto fn> constexpr Entry bits(std::string_view name) {
  return {name, fromBits<fn>, Form::plain, Ty::b32, {Ty::b32}};
}

constexpr auto fma = [](f a, f b, f c) { return fmaFloat(a, b, c); };

constexpr Entry table[] = {
    s2<[](f a, f b) { return addFloat(a, b); }>("s_add_f32"),
    s2<[](f a, f b) { return subFloat(a, b); }>("s_sub_f32"),
    s2<[](f a, f b) { return mulFloat(a, b); }>("s_mul_f32"),
    s2<[](f a, f b) { return minNumber(a, b); }>("s_min_f32"),
    s2<[](f a, f b) { return maxNumber(a, b); }>("s_max_f32"),
    s2<[](f a, f b) { return minNumber(a, b); }>("s_min_num_f32"),
    s2<[](f a, f b) { return maxNumber(a, b); }>("s_max_num_f32"),
    s2<[](f a, f b) { return minimum(a, b); }>("s_minimum_f32"),
    s2<[](f a, f b) { return maximum(a, b); }>("s_maximum_f32"),
    s3<fma>("s_fmac_f32", tied),
    s3<fma>("s_fmaak_f32"),
    s3<[](f a, f k, f b) { return fmaFloat(a, k, b); }>("s_fmamk_f32"),
    s1<[](f a) { return rounded<f>(a, std::floor); }>("s_floor_f32"),
    s1<[](f a) { return rounded<f>(a, std::ceil); }>("s_ceil_f32"),
    s1<[](f a) { return rounded<f>(a, std::trunc); }>("s_trunc_f32"),
    s1<[](f a) { return nearestEven(a); }>("s_rndne_f32"),
    bits<[](uint32_t a) { return bitsOf(f(int32_t(a))); }>("s_cvt_f32_i32"),
    bits<[](uint32_t a) { return bitsOf(f(a)); }>("s_cvt_f32_u32"),
    bits<[](uint32_t a) { return uint32_t(toInteger<int32_t>(std::bit_cast<f>(a))); }>("s_cvt_i32_f32"),
    bits<[](uint32_t a) { return toInteger<uint32_t>(std::bit_cast<f>(a)); }>("s_cvt_u32_f32"),
    cmp<[](f a, f b) { return (a < b); }>("s_cmp_lt_f32"),
    cmp<[](f a, f b) { return a == b; }>("s_cmp_eq_f32"),
    cmp<[](f a, f b) { return (a <= b); }>("s_cmp_le_f32"),
    cmp<[](f a, f b) { return (a > b); }>("s_cmp_gt_f32"),
    cmp<[](f a, f b) { return (a < b || a > b); }>("s_cmp_lg_f32"),
    cmp<[](f a, f b) { return (a >= b); }>("s_cmp_ge_f32"),
    cmp<[](f a, f b) { return a == a && b == b; }>("s_cmp_o_f32"),
    cmp<[](f a, f b) { return a != a || b != b; }>("s_cmp_u_f32"),
    cmp<[](f a, f b) { return (!(a >= b)); }>("s_cmp_nge_f32"),
    cmp<[](f a, f b) { return (!(a < b || a > b)); }>("s_cmp_nlg_f32"),
    cmp<[](f a, f b) { return (!(a > b)); }>("s_cmp_ngt_f32"),
    cmp<[](f a, f b) { return (!(a <= b)); }>("s_cmp_nle_f32"),
    cmp<[](f a, f b) { return !(a == b); }>("s_cmp_neq_f32"),
    cmp<[](f a, f b) { return (!(a < b)); }>("s_cmp_nlt_f32"),
};

} // namespace

std::span<const Entry> scalarFloatEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
