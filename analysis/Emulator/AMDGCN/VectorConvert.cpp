// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions of the vector units, but for fp8.
#include "analysis/Emulator/AMDGCN/Define.h"
#include "analysis/Emulator/AMDGCN/Float.h"
#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::gcn {
namespace {

using alu::formatBf16;
using alu::formatF16;
using alu::Rounding;
using f = float;
using d = double;
using u = uint32_t;
using h = uint16_t;

h toHalf(f v, Rounding rounding = Rounding::rn) {
  if (v != v) // the sign and the upper bits stay
    return h((bitsOf(v) >> 16 & 0x8000) | 0x7e00 | (bitsOf(v) >> 13 & 0x3ff));
  return h(alu::encode(formatF16, double(v), rounding));
}
h toBf16(f v) {
  if (v != v)
    return h(bitsOf(v) >> 16 | 0x40);
  return h(alu::encode(formatBf16, double(v), Rounding::rn));
}
f fromHalf(h v) {
  if ((v & 0x7fff) > 0x7c00)
    return std::bit_cast<f>(u(v & 0x8000) << 16 | 0x7fc00000 | u(v & 0x3ff) << 13);
  return f(alu::decode(formatF16, v));
}
d widened(f v) {
  if (v != v)
    return std::bit_cast<d>(uint64_t(bitsOf(v) >> 31) << 63 | uint64_t(0x7ff8) << 48 |
                            uint64_t(bitsOf(v) & 0x7fffff) << 29);
  return d(v);
}
f narrowed(d v) {
  if (v != v)
    return std::bit_cast<f>(u(bitsOf(v) >> 63) << 31 | 0x7fc00000 | u(bitsOf(v) >> 29 & 0x7fffff));
  return f(v);
}
template <unsigned n> f fromByte(u v) { return f(v >> 8 * n & 0xff); }
/// To a normalised integer: v_cvt_pknorm and its kin.
int32_t signedNorm(f v) { return v != v ? 0 : int32_t(std::nearbyint(std::clamp(v, -1.0f, 1.0f) * 32767.0f)); }
u unsignedNorm(f v) { return v != v ? 0 : u(std::nearbyint(std::clamp(v, 0.0f, 1.0f) * 65535.0f)); }
u pack(u low, u high) { return (low & 0xffff) | high << 16; }

constexpr auto toI = [](f a) { return toInteger<int32_t>(a); };
constexpr auto toU = [](f a) { return toInteger<u>(a); };
constexpr auto rtz = [](f a, f b) { return pack(toHalf(a, Rounding::rz), toHalf(b, Rounding::rz)); };
constexpr auto pkBf16 = [](f a, f b) { return pack(toBf16(a), toBf16(b)); };

constexpr Entry table[] = {
    vector1<F32, I32, [](int32_t a) { return f(a); }>("v_cvt_f32_i32"),
    vector1<F32, U32, [](u a) { return f(a); }>("v_cvt_f32_u32"),
    vector1<I32, F32, toI>("v_cvt_i32_f32"),
    vector1<U32, F32, toU>("v_cvt_u32_f32"),
    vector1<I32, F32, [](f a) { return toInteger<int32_t>(std::floor(a + 0.5f)); }>("v_cvt_rpi_i32_f32"),
    vector1<I32, F32, [](f a) { return toInteger<int32_t>(std::floor(a + 0.5f)); }>("v_cvt_nearest_i32_f32"),
    vector1<I32, F32, [](f a) { return toInteger<int32_t>(std::floor(a)); }>("v_cvt_flr_i32_f32"),
    vector1<I32, F32, [](f a) { return toInteger<int32_t>(std::floor(a)); }>("v_cvt_floor_i32_f32"),
    vector1<F64, I32, [](int32_t a) { return d(a); }>("v_cvt_f64_i32"),
    vector1<F64, U32, [](u a) { return d(a); }>("v_cvt_f64_u32"),
    vector1<I32, F64, [](d a) { return toInteger<int32_t>(a); }>("v_cvt_i32_f64"),
    vector1<U32, F64, [](d a) { return toInteger<u>(a); }>("v_cvt_u32_f64"),
    vector1<F64, F32, [](f a) { return widened(a); }>("v_cvt_f64_f32"),
    vector1<F32, F64, [](d a) { return narrowed(a); }>("v_cvt_f32_f64"),
    vector1<F32, U32, [](u a) { return fromByte<0>(a); }>("v_cvt_f32_ubyte0"),
    vector1<F32, U32, [](u a) { return fromByte<1>(a); }>("v_cvt_f32_ubyte1"),
    vector1<F32, U32, [](u a) { return fromByte<2>(a); }>("v_cvt_f32_ubyte2"),
    vector1<F32, U32, [](u a) { return fromByte<3>(a); }>("v_cvt_f32_ubyte3"),
    vector1<F32, H16, [](h a) { return fromHalf(a); }>("v_cvt_f32_f16"),
    vector1<H16, F32, [](f a) { return toHalf(a); }>("v_cvt_f16_f32"),
    vector1<H16, B16, [](h a) { return toHalf(f(a)); }>("v_cvt_f16_u16"),
    vector1<H16, S16, [](int16_t a) { return toHalf(f(a)); }>("v_cvt_f16_i16"),
    vector1<B16, H16, [](h a) { return h(toInteger<uint16_t>(fromHalf(a))); }>("v_cvt_u16_f16"),
    vector1<B16, H16, [](h a) { return h(toInteger<int16_t>(fromHalf(a))); }>("v_cvt_i16_f16"),
    vector1<F32, BF16, [](h a) { return (std::bit_cast<f>(u(a) << 16)); }>("v_cvt_f32_bf16"),
    vector1<BF16, F32, [](f a) { return toBf16(a); }>("v_cvt_bf16_f32"),
    vector2<P16, F32, F32, rtz>("v_cvt_pkrtz_f16_f32"),
    vector2<P16, F32, F32, rtz>("v_cvt_pk_rtz_f16_f32"),
    vector2<P16, F32, F32, [](f a, f b) { return pack(toHalf(a), toHalf(b)); }>("v_cvt_pk_f16_f32"),
    vector2<P16, F32, F32, pkBf16>("v_cvt_pk_bf16_f32"),
    vector2<P16, F32, F32, [](f a, f b) { return pack(u(signedNorm(a)), u(signedNorm(b))); }>("v_cvt_pknorm_i16_f32"),
    vector2<P16, F32, F32, [](f a, f b) { return pack(unsignedNorm(a), unsignedNorm(b)); }>("v_cvt_pknorm_u16_f32"),
    vector2<P16, U32, U32, [](u a, u b) { return pack(std::min(a, 0xffffu), std::min(b, 0xffffu)); }>(
        "v_cvt_pk_u16_u32"),
    vector2<P16, I32, I32,
            [](int32_t a, int32_t b) {
              return pack(u(std::clamp(a, -32768, 32767)), u(std::clamp(b, -32768, 32767)));
            }>("v_cvt_pk_i16_i32"),
    vector3<U32, F32, U32, U32,
            [](f a, u b, u c) {
              u shift = 8 * (b & 3);
              return (c & ~(0xffu << shift)) | u(std::min(toInteger<u>(std::nearbyint(a)), 255u)) << shift;
            }>("v_cvt_pk_u8_f32"),
};

} // namespace

std::span<const Entry> vectorConvertEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
