// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Integer and bit instructions of the vector units.
#include "analysis/Emulator/AMDGCN/Define.h"

#include <algorithm>

namespace interlock::emu::gcn {
namespace {

using u = uint32_t;

constexpr u mul24(u a, u b) { return (a & 0xffffff) * (b & 0xffffff); }
constexpr int32_t low24(int32_t a) { return int32_t(u(a) << 8) >> 8; }
constexpr u saturated(uint64_t v) { return v > 0xffffffff ? 0xffffffff : u(v); }
constexpr int32_t saturatedI(int64_t v) { return int32_t(std::clamp<int64_t>(v, INT32_MIN, INT32_MAX)); }
constexpr u bitField(u v, u offset, u width) {
  offset &= 31, width &= 31;
  return width ? v >> offset & ((1u << width) - 1) : 0;
}
constexpr int32_t bitFieldSigned(int32_t v, u offset, u width) {
  offset &= 31, width &= 31;
  if (!width)
    return 0;
  width = std::min(width, 32 - offset);
  return int32_t(u(v) >> offset << (32 - width)) >> (32 - width);
}
constexpr u reversed(u v) {
  u r = 0;
  for (unsigned i = 0; i < 32; ++i)
    r |= (v >> i & 1) << (31 - i);
  return r;
}
/// v_perm_b32: each byte of the selector picks one of eight bytes, those of the second source first.
constexpr u perm(u a, u b, u s) {
  uint64_t bytes = uint64_t(a) << 32 | b;
  u r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    u k = s >> 8 * i & 0xff, v = 0;
    if (k < 8)
      v = u(bytes >> 8 * k) & 0xff;
    else if (k < 12) // the sign of a half
      v = (bytes >> (16 * (k - 8) + 15) & 1) ? 0xff : 0;
    else if (k >= 13)
      v = 0xff;
    r |= v << 8 * i;
  }
  return r;
}
template <typename T> constexpr T middle(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}
constexpr u sad8(u a, u b, u c) {
  for (unsigned i = 0; i < 32; i += 8) {
    int d = int(a >> i & 0xff) - int(b >> i & 0xff);
    c += u(d < 0 ? -d : d);
  }
  return c;
}
constexpr u flipped(int32_t v) { // v_ffbh_i32
  u x = u(v < 0 ? ~v : v);
  return x ? u(std::countl_zero(x)) : ~0u;
}
constexpr uint64_t mulHigh(uint64_t a, uint64_t b) { return uint64_t((unsigned __int128)a * b >> 64); }

/// v_bitop3: bit `a b c` of the table, for each bit of the sources; v_bitop2 has no third source.
template <bool three> void bitTable(const Lanes &l, uint32_t *out) {
  u table = u(l.op->imm);
  for (unsigned i = 0; i < l.n; ++i) {
    u a = l.src[0][i], b = l.src[1][i], c = three ? l.src[2][i] : 0, r = 0;
    for (unsigned k = 0; k < 8; ++k)
      if (table >> k & 1)
        r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    out[i] = r;
  }
}

template <auto f> constexpr Entry u2(std::string_view name) { return vector2<U32, U32, U32, f>(name); }
template <auto f> constexpr Entry i2(std::string_view name) { return vector2<I32, I32, I32, f>(name); }
template <auto f> constexpr Entry u3(std::string_view name) { return vector3<U32, U32, U32, U32, f>(name); }
template <auto f> constexpr Entry h2(std::string_view name) { return vector2<B16, B16, B16, f>(name); }
template <auto f> constexpr Entry s2(std::string_view name) { return vector2<S16, S16, S16, f>(name); }

constexpr Entry table[] = {
    vector1<U32, U32, [](u a) { return a; }>("v_mov_b32"),
    vector1<U64, U64, [](uint64_t a) { return a; }>("v_mov_b64"),
    vector1<B16, H16, [](uint16_t a) { return a; }>("v_mov_b16"),
    vector1<U32, U32, [](u a) { return a; }>("v_accvgpr_read_b32"),
    vector1<U32, U32, [](u a) { return a; }>("v_accvgpr_write_b32"),
    vector1<U32, U32, [](u a) { return a; }>("v_accvgpr_mov_b32"),
    vector1<U32, U32, [](u a) { return ~a; }>("v_not_b32"),
    vector1<B16, B16, [](uint16_t a) { return ~a; }>("v_not_b16"),
    vector1<U32, U32, [](u a) { return reversed(a); }>("v_bfrev_b32"),
    vector1<U32, U32, [](u a) { return a ? u(std::countl_zero(a)) : ~0u; }>("v_ffbh_u32"),
    vector1<U32, U32, [](u a) { return a ? u(std::countl_zero(a)) : ~0u; }>("v_clz_i32_u32"),
    vector1<U32, U32, [](u a) { return a ? u(std::countr_zero(a)) : ~0u; }>("v_ffbl_b32"),
    vector1<U32, U32, [](u a) { return a ? u(std::countr_zero(a)) : ~0u; }>("v_ctz_i32_b32"),
    vector1<U32, I32, [](int32_t a) { return flipped(a); }>("v_ffbh_i32"),
    vector1<U32, I32, [](int32_t a) { return flipped(a); }>("v_cls_i32"),
    vector2<U32, U32, U32, [](u a, u b) { return u(std::popcount(a)) + b; }>("v_bcnt_u32_b32"),

#define ILK_ADD(name)                                                                                                  \
  u2<[](u a, u b) { return a + b; }>(name), u2<[](u a, u b) { return saturated(uint64_t(a) + b); }>(name ".clamp")
#define ILK_SUB(name)                                                                                                  \
  u2<[](u a, u b) { return a - b; }>(name), u2<[](u a, u b) { return (a > b ? a - b : 0); }>(name ".clamp")
    ILK_ADD("v_add_u32"),
    ILK_ADD("v_add_nc_u32"),
    ILK_SUB("v_sub_u32"),
    ILK_SUB("v_sub_nc_u32"),
    u2<[](u a, u b) { return b - a; }>("v_subrev_u32"),
    u2<[](u a, u b) { return b - a; }>("v_subrev_nc_u32"),
    u2<[](u a, u b) { return (b > a ? b - a : 0); }>("v_subrev_u32.clamp"),
    u2<[](u a, u b) { return (b > a ? b - a : 0); }>("v_subrev_nc_u32.clamp"),
    u2<[](u a, u b) { return a + b; }>("v_add_i32"),
    u2<[](u a, u b) { return a + b; }>("v_add_nc_i32"),
    u2<[](u a, u b) { return a - b; }>("v_sub_i32"),
    u2<[](u a, u b) { return a - b; }>("v_sub_nc_i32"),
    i2<[](int32_t a, int32_t b) { return saturatedI(int64_t(a) + b); }>("v_add_i32.clamp"),
    i2<[](int32_t a, int32_t b) { return saturatedI(int64_t(a) + b); }>("v_add_nc_i32.clamp"),
    i2<[](int32_t a, int32_t b) { return saturatedI(int64_t(a) - b); }>("v_sub_i32.clamp"),
    i2<[](int32_t a, int32_t b) { return saturatedI(int64_t(a) - b); }>("v_sub_nc_i32.clamp"),
#undef ILK_ADD
#undef ILK_SUB
    vector2<U64, U64, U64, [](uint64_t a, uint64_t b) { return a + b; }>("v_add_nc_u64"),
    vector2<U64, U64, U64, [](uint64_t a, uint64_t b) { return a - b; }>("v_sub_nc_u64"),
    vector2<U64, U64, U64, [](uint64_t a, uint64_t b) { return a * b; }>("v_mul_u64"),
    vector2<U64, U64, U64, [](uint64_t a, uint64_t b) { return std::min(a, b); }>("v_min_u64"),
    vector2<U64, U64, U64, [](uint64_t a, uint64_t b) { return std::max(a, b); }>("v_max_u64"),
    vector2<I64, I64, I64, [](int64_t a, int64_t b) { return std::min(a, b); }>("v_min_i64"),
    vector2<I64, I64, I64, [](int64_t a, int64_t b) { return std::max(a, b); }>("v_max_i64"),
    vector3<U64, U64, U32, U64, [](uint64_t a, u b, uint64_t c) { return ((a << (b & 63)) + c); }>("v_lshl_add_u64"),
    vector3<U64, U32, U32, U64, [](u a, u b, uint64_t c) { return uint64_t(a) * b + c; }>("v_mad_nc_u64_u32"),
    vector3<I64, I32, I32, I64,
            [](int32_t a, int32_t b, int64_t c) { return int64_t(uint64_t(int64_t(a) * b) + uint64_t(c)); }>(
        "v_mad_nc_i64_i32"),

    u2<[](u a, u b) { return a * b; }>("v_mul_lo_u32"),
    u2<[](u a, u b) { return (u(uint64_t(a) * b >> 32)); }>("v_mul_hi_u32"),
    i2<[](int32_t a, int32_t b) { return (int32_t(int64_t(a) * b >> 32)); }>("v_mul_hi_i32"),
    u2<[](u a, u b) { return mul24(a, b); }>("v_mul_u32_u24"),
    u2<[](u a, u b) { return (u(uint64_t(a & 0xffffff) * (b & 0xffffff) >> 32)); }>("v_mul_hi_u32_u24"),
    i2<[](int32_t a, int32_t b) { return int32_t(u(low24(a)) * u(low24(b))); }>("v_mul_i32_i24"),
    i2<[](int32_t a, int32_t b) { return (int32_t(int64_t(low24(a)) * low24(b) >> 32)); }>("v_mul_hi_i32_i24"),
    u3<[](u a, u b, u c) { return mul24(a, b) + c; }>("v_mad_u32_u24"),
    vector3<I32, I32, I32, I32,
            [](int32_t a, int32_t b, int32_t c) { return int32_t(u(low24(a)) * u(low24(b)) + u(c)); }>("v_mad_i32_i24"),
    u3<[](u a, u b, u c) { return a * b + c; }>("v_mad_u32"),
    vector3<U32, B16, B16, U32, [](uint16_t a, uint16_t b, u c) { return u(a) * b + c; }>("v_mad_u32_u16"),
    vector3<I32, S16, S16, I32, [](int16_t a, int16_t b, int32_t c) { return int32_t(u(int32_t(a) * b) + u(c)); }>(
        "v_mad_i32_i16"),

    u2<[](u a, u b) { return std::min(a, b); }>("v_min_u32"),
    u2<[](u a, u b) { return std::max(a, b); }>("v_max_u32"),
    i2<[](int32_t a, int32_t b) { return std::min(a, b); }>("v_min_i32"),
    i2<[](int32_t a, int32_t b) { return std::max(a, b); }>("v_max_i32"),
    u3<[](u a, u b, u c) { return std::min({a, b, c}); }>("v_min3_u32"),
    u3<[](u a, u b, u c) { return std::max({a, b, c}); }>("v_max3_u32"),
    u3<[](u a, u b, u c) { return middle(a, b, c); }>("v_med3_u32"),
    vector3<I32, I32, I32, I32, [](int32_t a, int32_t b, int32_t c) { return std::min({a, b, c}); }>("v_min3_i32"),
    vector3<I32, I32, I32, I32, [](int32_t a, int32_t b, int32_t c) { return std::max({a, b, c}); }>("v_max3_i32"),
    vector3<I32, I32, I32, I32, [](int32_t a, int32_t b, int32_t c) { return middle(a, b, c); }>("v_med3_i32"),
    u3<[](u a, u b, u c) { return std::min(std::max(a, b), c); }>("v_maxmin_u32"),
    u3<[](u a, u b, u c) { return std::max(std::min(a, b), c); }>("v_minmax_u32"),
    vector3<I32, I32, I32, I32, [](int32_t a, int32_t b, int32_t c) { return std::min(std::max(a, b), c); }>(
        "v_maxmin_i32"),
    vector3<I32, I32, I32, I32, [](int32_t a, int32_t b, int32_t c) { return std::max(std::min(a, b), c); }>(
        "v_minmax_i32"),

    u2<[](u a, u b) { return a & b; }>("v_and_b32"),
    u2<[](u a, u b) { return a | b; }>("v_or_b32"),
    u2<[](u a, u b) { return a ^ b; }>("v_xor_b32"),
    u2<[](u a, u b) { return ~(a ^ b); }>("v_xnor_b32"),
    h2<[](uint16_t a, uint16_t b) { return a & b; }>("v_and_b16"),
    h2<[](uint16_t a, uint16_t b) { return a | b; }>("v_or_b16"),
    h2<[](uint16_t a, uint16_t b) { return a ^ b; }>("v_xor_b16"),
    {"v_bitop3_b32", runVector, Form::plain, Ty::b32, {Ty::b32, Ty::b32, Ty::b32}, bitTable<true>},
    {"v_bitop2_b32", runVector, Form::plain, Ty::b32, {Ty::b32, Ty::b32}, bitTable<false>},
    u3<[](u a, u b, u c) { return (a & b) | c; }>("v_and_or_b32"),
    u3<[](u a, u b, u c) { return a | b | c; }>("v_or3_b32"),
    u3<[](u a, u b, u c) { return a ^ b ^ c; }>("v_xor3_b32"),
    u3<[](u a, u b, u c) { return (a ^ b) + c; }>("v_xad_u32"),
    u3<[](u a, u b, u c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
    u3<[](u a, u b, u c) { return bitField(a, b, c); }>("v_bfe_u32"),
    vector3<I32, I32, U32, U32, [](int32_t a, u b, u c) { return bitFieldSigned(a, b, c); }>("v_bfe_i32"),
    u2<[](u a, u b) { return (((1u << (a & 31)) - 1) << (b & 31)); }>("v_bfm_b32"),
    u3<[](u a, u b, u c) { return perm(a, b, c); }>("v_perm_b32"),
    u3<[](u a, u b, u c) { return (u((uint64_t(a) << 32 | b) >> (c & 31))); }>("v_alignbit_b32"),
    u3<[](u a, u b, u c) { return (u((uint64_t(a) << 32 | b) >> 8 * (c & 3))); }>("v_alignbyte_b32"),
    u3<[](u a, u b, u c) { return sad8(a, b, c); }>("v_sad_u8"),
    u3<[](u a, u b, u c) { return ((a > b ? a - b : b - a) + c); }>("v_sad_u32"),

    u2<[](u a, u b) { return (b << (a & 31)); }>("v_lshlrev_b32"),
    u2<[](u a, u b) { return (b >> (a & 31)); }>("v_lshrrev_b32"),
    vector2<I32, U32, I32, [](u a, int32_t b) { return (b >> (a & 31)); }>("v_ashrrev_i32"),
    vector2<U64, U32, U64, [](u a, uint64_t b) { return (b << (a & 63)); }>("v_lshlrev_b64"),
    vector2<U64, U32, U64, [](u a, uint64_t b) { return (b >> (a & 63)); }>("v_lshrrev_b64"),
    vector2<I64, U32, I64, [](u a, int64_t b) { return (b >> (a & 63)); }>("v_ashrrev_i64"),
    h2<[](uint16_t a, uint16_t b) { return (b << (a & 15)); }>("v_lshlrev_b16"),
    h2<[](uint16_t a, uint16_t b) { return (b >> (a & 15)); }>("v_lshrrev_b16"),
    vector2<S16, B16, S16, [](uint16_t a, int16_t b) { return (b >> (a & 15)); }>("v_ashrrev_i16"),
    u3<[](u a, u b, u c) { return ((a << (b & 31)) + c); }>("v_lshl_add_u32"),
    u3<[](u a, u b, u c) { return ((a + b) << (c & 31)); }>("v_add_lshl_u32"),
    u3<[](u a, u b, u c) { return ((a << (b & 31)) | c); }>("v_lshl_or_b32"),
    u3<[](u a, u b, u c) { return a + b + c; }>("v_add3_u32"),

    h2<[](uint16_t a, uint16_t b) { return a + b; }>("v_add_u16"),
    h2<[](uint16_t a, uint16_t b) { return a + b; }>("v_add_nc_u16"),
    h2<[](uint16_t a, uint16_t b) { return a - b; }>("v_sub_u16"),
    h2<[](uint16_t a, uint16_t b) { return a - b; }>("v_sub_nc_u16"),
    h2<[](uint16_t a, uint16_t b) { return b - a; }>("v_subrev_u16"),
    h2<[](uint16_t a, uint16_t b) { return a + b; }>("v_add_nc_i16"),
    h2<[](uint16_t a, uint16_t b) { return a + b; }>("v_add_i16"),
    h2<[](uint16_t a, uint16_t b) { return a - b; }>("v_sub_i16"),
    h2<[](uint16_t a, uint16_t b) { return (std::min<u>(u(a) + b, 0xffff)); }>("v_add_u16.clamp"),
    h2<[](uint16_t a, uint16_t b) { return (std::min<u>(u(a) + b, 0xffff)); }>("v_add_nc_u16.clamp"),
    h2<[](uint16_t a, uint16_t b) { return (b < a ? a - b : 0); }>("v_sub_u16.clamp"),
    h2<[](uint16_t a, uint16_t b) { return (b < a ? a - b : 0); }>("v_sub_nc_u16.clamp"),
    s2<[](int16_t a, int16_t b) { return std::clamp(a + b, -32768, 32767); }>("v_add_i16.clamp"),
    s2<[](int16_t a, int16_t b) { return std::clamp(a + b, -32768, 32767); }>("v_add_nc_i16.clamp"),
    s2<[](int16_t a, int16_t b) { return std::clamp(a - b, -32768, 32767); }>("v_sub_i16.clamp"),
    s2<[](int16_t a, int16_t b) { return std::clamp(a - b, -32768, 32767); }>("v_sub_nc_i16.clamp"),
    h2<[](uint16_t a, uint16_t b) { return a - b; }>("v_sub_nc_i16"),
    h2<[](uint16_t a, uint16_t b) { return u(a) * b; }>("v_mul_lo_u16"),
    vector3<B16, B16, B16, B16, [](uint16_t a, uint16_t b, uint16_t c) { return u(a) * b + c; }>("v_mad_u16"),
    vector3<B16, B16, B16, B16, [](uint16_t a, uint16_t b, uint16_t c) { return u(a) * b + c; }>("v_mad_legacy_u16"),
    vector3<B16, B16, B16, B16, [](uint16_t a, uint16_t b, uint16_t c) { return u(a) * b + c; }>("v_mad_i16"),
    h2<[](uint16_t a, uint16_t b) { return std::min(a, b); }>("v_min_u16"),
    h2<[](uint16_t a, uint16_t b) { return std::max(a, b); }>("v_max_u16"),
    s2<[](int16_t a, int16_t b) { return std::min(a, b); }>("v_min_i16"),
    s2<[](int16_t a, int16_t b) { return std::max(a, b); }>("v_max_i16"),
    vector2<P16, B16, B16, [](uint16_t a, uint16_t b) { return (a | u(b) << 16); }>("v_pack_b32_f16"),
};

} // namespace

std::span<const Entry> vectorIntegerEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
