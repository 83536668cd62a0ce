// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Scalar instructions on integers and masks: SOP1, SOP2, SOPC and SOPK of AMD's ISA manuals.
#include "analysis/Emulator/AMDGCN/Define.h"

#include <array>

namespace interlock::emu::gcn {
namespace {

// A function of the sources gives the result and, where `withScc` says so, SCC.
struct Out {
  uint64_t value;
  bool scc;
};

template <unsigned bits, auto f> Flow run1(WaveExec &x, const Op &op) {
  uint64_t a = op.src[0].type == Ty::b64 || op.src[0].type == Ty::i64 ? x.scalar64(op.src[0]) : x.scalar32(op.src[0]);
  Out r = f(a, x.wave.scc());
  bits == 64 ? x.setScalar64(op.dst, r.value) : x.setScalar32(op.dst, uint32_t(r.value));
  x.wave.setScc(r.scc);
  return Flow::next;
}
template <unsigned bits, auto f> Flow run2(WaveExec &x, const Op &op) {
  auto get = [&](const Src &s) { return s.words == 2 ? x.scalar64(s) : uint64_t(x.scalar32(s)); };
  Out r = f(get(op.src[0]), get(op.src[1]), x.wave.scc());
  bits == 64 ? x.setScalar64(op.dst, r.value) : x.setScalar32(op.dst, uint32_t(r.value));
  x.wave.setScc(r.scc);
  return Flow::next;
}
template <auto f> Flow runCmp(WaveExec &x, const Op &op) {
  auto get = [&](const Src &s) { return s.words == 2 ? x.scalar64(s) : uint64_t(x.scalar32(s)); };
  x.wave.setScc(f(get(op.src[0]), get(op.src[1])));
  return Flow::next;
}
/// s_and_saveexec and its kin: the old EXEC goes to the destination, f(source, EXEC) becomes the new one.
template <unsigned bits, bool saves, auto f> Flow runSaveExec(WaveExec &x, const Op &op) {
  Wave &w = x.wave;
  uint64_t source = bits == 64 ? x.scalar64(op.src[0]) : x.scalar32(op.src[0]);
  uint64_t old = bits == 64 ? w.exec() : w.s[sreg::exec];
  uint64_t fresh = f(source, old);
  if (bits == 32)
    fresh = uint32_t(fresh);
  uint64_t kept = saves ? old : fresh;
  bits == 64 ? x.setScalar64(op.dst, kept) : x.setScalar32(op.dst, uint32_t(kept));
  if (bits == 64)
    w.setPair(sreg::exec, fresh);
  else
    w.s[sreg::exec] = uint32_t(fresh);
  w.setScc(fresh != 0);
  return Flow::next;
}

int64_t s32(uint64_t v) { return int32_t(v); }

constexpr Out keep(uint64_t v, bool scc) { return {v, scc}; }
constexpr Out truth(uint64_t v) { return {v, v != 0}; }

// Bit fields: offset in the low bits of the second source, width in bits 16 and up.
constexpr uint64_t fieldUnsigned(uint64_t v, uint64_t spec, unsigned bits) {
  unsigned offset = unsigned(spec) & (bits - 1), width = unsigned(spec >> 16) & 127;
  if (width == 0)
    return 0;
  v = bits == 32 ? uint32_t(v) >> offset : v >> offset;
  return width >= 64 ? v : v & ((uint64_t(1) << width) - 1);
}
constexpr uint64_t fieldSigned(uint64_t v, uint64_t spec, unsigned bits) {
  unsigned offset = unsigned(spec) & (bits - 1), width = unsigned(spec >> 16) & 127;
  if (width == 0)
    return 0;
  width = std::min(width, bits - offset);
  v >>= offset;
  return uint64_t(int64_t(v << (64 - width)) >> (64 - width));
}
constexpr uint64_t reversed(uint64_t v, unsigned bits) {
  uint64_t r = 0;
  for (unsigned i = 0; i < bits; ++i)
    r |= (v >> i & 1) << (bits - 1 - i);
  return r;
}
/// Position of the first bit, counted from the top, that differs from the sign; -1 if none does.
constexpr int signRun(uint64_t v, unsigned bits) {
  uint64_t sign = v >> (bits - 1) & 1;
  for (unsigned i = 1; i < bits; ++i)
    if ((v >> (bits - 1 - i) & 1) != sign)
      return int(i);
  return -1;
}
constexpr uint64_t wholeQuads(uint64_t v, unsigned bits) {
  uint64_t r = 0;
  for (unsigned i = 0; i < bits; i += 4)
    if (v >> i & 15)
      r |= uint64_t(15) << i;
  return r;
}

template <auto f> constexpr Entry un32(std::string_view name) {
  return {name, run1<32, f>, Form::plain, Ty::b32, {Ty::b32}};
}
template <auto f> constexpr Entry un64(std::string_view name, Ty from = Ty::b64) {
  return {name, run1<64, f>, Form::plain, Ty::b64, {from}};
}
template <auto f> constexpr Entry un32from64(std::string_view name) {
  return {name, run1<32, f>, Form::plain, Ty::b32, {Ty::b64}};
}
template <auto f> constexpr Entry bin32(std::string_view name, Ty b = Ty::b32, uint32_t flags = 0) {
  return {name, run2<32, f>, Form::plain, Ty::b32, {Ty::b32, b}, nullptr, nullptr, 0, flags};
}
template <auto f> constexpr Entry bin64(std::string_view name, Ty b = Ty::b64, Ty a = Ty::b64) {
  return {name, run2<64, f>, Form::plain, Ty::b64, {a, b}};
}
template <auto f> constexpr Entry cmp32(std::string_view name) {
  return {name, runCmp<f>, Form::plain, Ty::none, {Ty::b32, Ty::b32}};
}
template <auto f> constexpr Entry cmp64(std::string_view name, Ty b = Ty::b64) {
  return {name, runCmp<f>, Form::plain, Ty::none, {Ty::b64, b}};
}
template <unsigned bits, auto f, bool saves = true> constexpr Entry saveExec(std::string_view name) {
  Ty t = bits == 64 ? Ty::b64 : Ty::b32;
  return {name, runSaveExec<bits, saves, f>, Form::plain, t, {t}};
}

/// s_addk_i32 and s_mulk_i32: the destination is the first source.
template <auto f> Flow runK(WaveExec &x, const Op &op) {
  Out r = f(x.wave.s[op.dst.index], uint64_t(int64_t(int16_t(op.src[0].value))), x.wave.scc());
  x.setScalar32(op.dst, uint32_t(r.value));
  x.wave.setScc(r.scc);
  return Flow::next;
}
template <auto f> constexpr Entry constant(std::string_view name) {
  return {name, runK<f>, Form::plain, Ty::b32, {Ty::b32}};
}
/// s_cmpk_*: the constant is extended as the comparison is signed.
template <bool isSigned, auto f> Flow runCmpK(WaveExec &x, const Op &op) {
  uint64_t k = isSigned ? uint64_t(int64_t(int16_t(op.src[1].value))) : uint16_t(op.src[1].value);
  x.wave.setScc(f(x.scalar32(op.src[0]), k));
  return Flow::next;
}
template <bool isSigned, auto f> constexpr Entry cmpK(std::string_view name) {
  return {name, runCmpK<isSigned, f>, Form::plain, Ty::none, {Ty::b32, Ty::b32}};
}

Flow runMoveK(WaveExec &x, const Op &op) {
  x.setScalar32(op.dst, uint32_t(int32_t(int16_t(op.src[0].value))));
  return Flow::next;
}
Flow runCmovK(WaveExec &x, const Op &op) { return x.wave.scc() ? runMoveK(x, op) : Flow::next; }
template <bool set, unsigned bits> Flow runBitSet(WaveExec &x, const Op &op) {
  uint64_t bit = uint64_t(1) << (x.scalar32(op.src[0]) & (bits - 1));
  uint64_t v = bits == 64 ? x.wave.pair(op.dst.index) : x.wave.s[op.dst.index];
  v = set ? v | bit : v & ~bit;
  bits == 64 ? x.setScalar64(op.dst, v) : x.setScalar32(op.dst, uint32_t(v));
  return Flow::next;
}

constexpr auto addU = [](uint64_t a, uint64_t b, bool) { return (Out{a + b, (a + b) >> 32 != 0}); };
constexpr auto subU = [](uint64_t a, uint64_t b, bool) { return (Out{a - b, b > a}); };
constexpr auto addI = [](uint64_t a, uint64_t b, bool) {
  int64_t r = s32(a) + s32(b);
  return Out{uint64_t(r), r != int32_t(r)};
};
constexpr auto subI = [](uint64_t a, uint64_t b, bool) {
  int64_t r = s32(a) - s32(b);
  return Out{uint64_t(r), r != int32_t(r)};
};
constexpr auto addC = [](uint64_t a, uint64_t b, bool c) { return (Out{a + b + c, (a + b + c) >> 32 != 0}); };
constexpr auto subB = [](uint64_t a, uint64_t b, bool c) { return (Out{a - b - c, b + c > a}); };
constexpr auto mul = [](uint64_t a, uint64_t b, bool scc) { return keep(uint32_t(a) * uint32_t(b), scc); };
constexpr auto addKI = [](uint64_t a, uint64_t b, bool) {
  int64_t r = s32(a) + s32(b);
  return Out{uint64_t(r), r != int32_t(r)};
};
constexpr auto ffs32 = [](uint64_t a, bool scc) {
  return keep(uint32_t(a) ? uint32_t(std::countr_zero(uint32_t(a))) : ~0u, scc);
};
constexpr auto ffs64 = [](uint64_t a, bool scc) { return keep(a ? uint32_t(std::countr_zero(a)) : ~0u, scc); };
constexpr auto clz32 = [](uint64_t a, bool scc) {
  return keep(uint32_t(a) ? uint32_t(std::countl_zero(uint32_t(a))) : ~0u, scc);
};
constexpr auto clz64 = [](uint64_t a, bool scc) { return keep(a ? uint32_t(std::countl_zero(a)) : ~0u, scc); };
constexpr auto cls32 = [](uint64_t a, bool scc) { return keep(uint32_t(signRun(a, 32)), scc); };
constexpr auto cls64 = [](uint64_t a, bool scc) { return keep(uint32_t(signRun(a, 64)), scc); };
template <unsigned n>
constexpr auto shiftAdd = [](uint64_t a, uint64_t b, bool) {
  uint64_t r = (a << n) + b;
  return Out{r, r >> 32 != 0};
};

using U = uint64_t;
constexpr Entry table[] = {
    un32<[](U a, bool s) { return keep(a, s); }>("s_mov_b32"),
    un64<[](U a, bool s) { return keep(a, s); }>("s_mov_b64"),
    un32<[](U a, bool) { return truth(uint32_t(~a)); }>("s_not_b32"),
    un64<[](U a, bool) { return truth(~a); }>("s_not_b64"),
    un32<[](U a, bool) { return truth(wholeQuads(a, 32)); }>("s_wqm_b32"),
    un64<[](U a, bool) { return truth(wholeQuads(a, 64)); }>("s_wqm_b64"),
    un32<[](U a, bool s) { return keep(reversed(a, 32), s); }>("s_brev_b32"),
    un64<[](U a, bool s) { return keep(reversed(a, 64), s); }>("s_brev_b64"),
    un32<[](U a, bool) { return truth(U(std::popcount(uint32_t(a)))); }>("s_bcnt1_i32_b32"),
    un32from64<[](U a, bool) { return truth(U(std::popcount(a))); }>("s_bcnt1_i32_b64"),
    un32<[](U a, bool) { return truth(U(32 - std::popcount(uint32_t(a)))); }>("s_bcnt0_i32_b32"),
    un32from64<[](U a, bool) { return truth(U(64 - std::popcount(a))); }>("s_bcnt0_i32_b64"),
    un32<ffs32>("s_ff1_i32_b32"),
    un32<ffs32>("s_ctz_i32_b32"),
    un32from64<ffs64>("s_ff1_i32_b64"),
    un32from64<ffs64>("s_ctz_i32_b64"),
    un32<[](U a, bool s) { return ffs32(uint32_t(~a), s); }>("s_ff0_i32_b32"),
    un32from64<[](U a, bool s) { return ffs64(~a, s); }>("s_ff0_i32_b64"),
    un32<clz32>("s_flbit_i32_b32"),
    un32<clz32>("s_clz_i32_u32"),
    un32from64<clz64>("s_flbit_i32_b64"),
    un32from64<clz64>("s_clz_i32_u64"),
    un32<cls32>("s_flbit_i32"),
    un32<cls32>("s_cls_i32"),
    un32from64<cls64>("s_flbit_i32_i64"),
    un32from64<cls64>("s_cls_i32_i64"),
    un32<[](U a, bool s) { return keep(U(int64_t(int8_t(a))), s); }>("s_sext_i32_i8"),
    un32<[](U a, bool s) { return keep(U(int64_t(int16_t(a))), s); }>("s_sext_i32_i16"),
    un32<[](U a, bool) { return (truth(uint32_t(s32(a) < 0 ? 0 - uint32_t(a) : uint32_t(a)))); }>("s_abs_i32"),
    {"s_bitset0_b32", runBitSet<false, 32>, Form::plain, Ty::b32, {Ty::b32}},
    {"s_bitset1_b32", runBitSet<true, 32>, Form::plain, Ty::b32, {Ty::b32}},
    {"s_bitset0_b64", runBitSet<false, 64>, Form::plain, Ty::b64, {Ty::b32}},
    {"s_bitset1_b64", runBitSet<true, 64>, Form::plain, Ty::b64, {Ty::b32}},
    {"s_movk_i32", runMoveK, Form::plain, Ty::b32, {Ty::b32}},
    {"s_cmovk_i32", runCmovK, Form::plain, Ty::b32, {Ty::b32}},
    constant<addKI>("s_addk_i32"),
    constant<addKI>("s_addk_co_i32"),
    constant<mul>("s_mulk_i32"),

    bin32<addU>("s_add_u32"),
    bin32<addU>("s_add_co_u32"),
    bin32<subU>("s_sub_u32"),
    bin32<subU>("s_sub_co_u32"),
    bin32<addI>("s_add_i32"),
    bin32<addI>("s_add_co_i32"),
    bin32<subI>("s_sub_i32"),
    bin32<subI>("s_sub_co_i32"),
    bin32<addC>("s_addc_u32"),
    bin32<addC>("s_add_co_ci_u32"),
    bin32<subB>("s_subb_u32"),
    bin32<subB>("s_sub_co_ci_u32"),
    bin64<[](U a, U b, bool s) { return keep(a + b, s); }>("s_add_nc_u64"),
    bin64<[](U a, U b, bool s) { return keep(a - b, s); }>("s_sub_nc_u64"),
    bin64<[](U a, U b, bool s) { return keep(a * b, s); }>("s_mul_u64"),
    bin32<mul>("s_mul_i32"),
    bin32<[](U a, U b, bool s) { return (keep(a * b >> 32, s)); }>("s_mul_hi_u32"),
    bin32<[](U a, U b, bool s) { return (keep(U(s32(a) * s32(b)) >> 32, s)); }>("s_mul_hi_i32"),
    bin32<[](U a, U b, bool) { return (Out{std::min(a, b), (a < b)}); }>("s_min_u32"),
    bin32<[](U a, U b, bool) { return (Out{std::max(a, b), (a > b)}); }>("s_max_u32"),
    bin32<[](U a, U b, bool) { return (Out{U(std::min(s32(a), s32(b))), (s32(a) < s32(b))}); }>("s_min_i32"),
    bin32<[](U a, U b, bool) { return (Out{U(std::max(s32(a), s32(b))), (s32(a) > s32(b))}); }>("s_max_i32"),
    bin32<[](U a, U b, bool) {
      int64_t r = s32(a) - s32(b);
      return truth(uint32_t(r < 0 ? -r : r));
    }>("s_absdiff_i32"),
    bin32<[](U a, U b, bool s) { return keep(s ? a : b, s); }>("s_cselect_b32"),
    bin64<[](U a, U b, bool s) { return keep(s ? a : b, s); }>("s_cselect_b64"),
    bin32<[](U a, U b, bool) { return truth(a & b); }>("s_and_b32"),
    bin64<[](U a, U b, bool) { return truth(a & b); }>("s_and_b64"),
    bin32<[](U a, U b, bool) { return truth(a | b); }>("s_or_b32"),
    bin64<[](U a, U b, bool) { return truth(a | b); }>("s_or_b64"),
    bin32<[](U a, U b, bool) { return truth(a ^ b); }>("s_xor_b32"),
    bin64<[](U a, U b, bool) { return truth(a ^ b); }>("s_xor_b64"),
    bin32<[](U a, U b, bool) { return truth(uint32_t(~(a & b))); }>("s_nand_b32"),
    bin64<[](U a, U b, bool) { return truth(~(a & b)); }>("s_nand_b64"),
    bin32<[](U a, U b, bool) { return truth(uint32_t(~(a | b))); }>("s_nor_b32"),
    bin64<[](U a, U b, bool) { return truth(~(a | b)); }>("s_nor_b64"),
    bin32<[](U a, U b, bool) { return truth(uint32_t(~(a ^ b))); }>("s_xnor_b32"),
    bin64<[](U a, U b, bool) { return truth(~(a ^ b)); }>("s_xnor_b64"),
    bin32<[](U a, U b, bool) { return truth(uint32_t(a & ~b)); }>("s_andn2_b32"),
    bin32<[](U a, U b, bool) { return truth(uint32_t(a & ~b)); }>("s_and_not1_b32"),
    bin64<[](U a, U b, bool) { return truth(a & ~b); }>("s_andn2_b64"),
    bin64<[](U a, U b, bool) { return truth(a & ~b); }>("s_and_not1_b64"),
    bin32<[](U a, U b, bool) { return truth(uint32_t(a | ~b)); }>("s_orn2_b32"),
    bin32<[](U a, U b, bool) { return truth(uint32_t(a | ~b)); }>("s_or_not1_b32"),
    bin64<[](U a, U b, bool) { return truth(a | ~b); }>("s_orn2_b64"),
    bin64<[](U a, U b, bool) { return truth(a | ~b); }>("s_or_not1_b64"),
    bin32<[](U a, U b, bool) { return (truth(uint32_t(a << (b & 31)))); }>("s_lshl_b32"),
    bin64<[](U a, U b, bool) { return (truth(a << (b & 63))); }>("s_lshl_b64", Ty::b32),
    bin32<[](U a, U b, bool) { return (truth(a >> (b & 31))); }>("s_lshr_b32"),
    bin64<[](U a, U b, bool) { return (truth(a >> (b & 63))); }>("s_lshr_b64", Ty::b32),
    bin32<[](U a, U b, bool) { return (truth(uint32_t(s32(a) >> (b & 31)))); }>("s_ashr_i32"),
    bin64<[](U a, U b, bool) { return (truth(U(int64_t(a) >> (b & 63)))); }>("s_ashr_i64", Ty::b32, Ty::i64),
    bin32<[](U a, U b, bool s) { return (keep(((U(1) << (a & 31)) - 1) << (b & 31), s)); }>("s_bfm_b32"),
    {"s_bfm_b64",
     run2<64, [](U a, U b, bool s) { return (keep(((U(1) << (a & 63)) - 1) << (b & 63), s)); }>,
     Form::plain,
     Ty::b64,
     {Ty::b32, Ty::b32}},
    bin32<[](U a, U b, bool) { return truth(fieldUnsigned(a, b, 32)); }>("s_bfe_u32"),
    bin32<[](U a, U b, bool) { return truth(uint32_t(fieldSigned(a, b, 32))); }>("s_bfe_i32"),
    bin64<[](U a, U b, bool) { return truth(fieldUnsigned(a, b, 64)); }>("s_bfe_u64", Ty::b32),
    bin64<[](U a, U b, bool) { return truth(fieldSigned(a, b, 64)); }>("s_bfe_i64", Ty::b32),
    bin32<[](U a, U b, bool s) { return (keep((a & 0xffff) | b << 16, s)); }>("s_pack_ll_b32_b16"),
    bin32<[](U a, U b, bool s) { return keep((a & 0xffff) | (b & 0xffff0000), s); }>("s_pack_lh_b32_b16"),
    bin32<[](U a, U b, bool s) { return (keep(uint32_t(a) >> 16 | (b & 0xffff0000), s)); }>("s_pack_hh_b32_b16"),
    bin32<[](U a, U b, bool s) { return (keep(uint32_t(a) >> 16 | b << 16, s)); }>("s_pack_hl_b32_b16"),
    bin32<shiftAdd<1>>("s_lshl1_add_u32"),
    bin32<shiftAdd<2>>("s_lshl2_add_u32"),
    bin32<shiftAdd<3>>("s_lshl3_add_u32"),
    bin32<shiftAdd<4>>("s_lshl4_add_u32"),
    {"s_cmov_b32",
     [](WaveExec &x, const Op &op) {
       if (x.wave.scc())
         x.setScalar32(op.dst, x.scalar32(op.src[0]));
       return Flow::next;
     },
     Form::plain,
     Ty::b32,
     {Ty::b32}},
    {"s_cmov_b64",
     [](WaveExec &x, const Op &op) {
       if (x.wave.scc())
         x.setScalar64(op.dst, x.scalar64(op.src[0]));
       return Flow::next;
     },
     Form::plain,
     Ty::b64,
     {Ty::b64}},

#define ILK_COMPARE(name, suffix, test)                                                                                \
  cmp32<[](U a, U b) { return (test); }>("s_cmp_" name "_" suffix),                                                    \
      cmpK<suffix[0] == 'i', [](U a, U b) { return (test); }>("s_cmpk_" name "_" suffix)
    ILK_COMPARE("eq", "i32", uint32_t(a) == uint32_t(b)),
    ILK_COMPARE("lg", "i32", uint32_t(a) != uint32_t(b)),
    ILK_COMPARE("gt", "i32", s32(a) > s32(b)),
    ILK_COMPARE("ge", "i32", s32(a) >= s32(b)),
    ILK_COMPARE("lt", "i32", s32(a) < s32(b)),
    ILK_COMPARE("le", "i32", s32(a) <= s32(b)),
    ILK_COMPARE("eq", "u32", uint32_t(a) == uint32_t(b)),
    ILK_COMPARE("lg", "u32", uint32_t(a) != uint32_t(b)),
    ILK_COMPARE("gt", "u32", uint32_t(a) > uint32_t(b)),
    ILK_COMPARE("ge", "u32", uint32_t(a) >= uint32_t(b)),
    ILK_COMPARE("lt", "u32", uint32_t(a) < uint32_t(b)),
    ILK_COMPARE("le", "u32", uint32_t(a) <= uint32_t(b)),
#undef ILK_COMPARE
    cmp64<[](U a, U b) { return a == b; }>("s_cmp_eq_u64"),
    cmp64<[](U a, U b) { return a != b; }>("s_cmp_lg_u64"),
    cmp32<[](U a, U b) { return (!(a >> (b & 31) & 1)); }>("s_bitcmp0_b32"),
    cmp32<[](U a, U b) { return ((a >> (b & 31) & 1) != 0); }>("s_bitcmp1_b32"),
    cmp64<[](U a, U b) { return (!(a >> (b & 63) & 1)); }>("s_bitcmp0_b64", Ty::b32),
    cmp64<[](U a, U b) { return ((a >> (b & 63) & 1) != 0); }>("s_bitcmp1_b64", Ty::b32),

#define ILK_SAVE(bits, suffix)                                                                                         \
  saveExec<bits, [](U s, U e) { return s & e; }>("s_and_saveexec_" suffix),                                            \
      saveExec<bits, [](U s, U e) { return s | e; }>("s_or_saveexec_" suffix),                                         \
      saveExec<bits, [](U s, U e) { return s ^ e; }>("s_xor_saveexec_" suffix),                                        \
      saveExec<bits, [](U s, U e) { return ~(s & e); }>("s_nand_saveexec_" suffix),                                    \
      saveExec<bits, [](U s, U e) { return ~(s | e); }>("s_nor_saveexec_" suffix),                                     \
      saveExec<bits, [](U s, U e) { return ~(s ^ e); }>("s_xnor_saveexec_" suffix),                                    \
      saveExec<bits, [](U s, U e) { return s & ~e; }>("s_andn2_saveexec_" suffix),                                     \
      saveExec<bits, [](U s, U e) { return s & ~e; }>("s_and_not1_saveexec_" suffix),                                  \
      saveExec<bits, [](U s, U e) { return s | ~e; }>("s_orn2_saveexec_" suffix),                                      \
      saveExec<bits, [](U s, U e) { return s | ~e; }>("s_or_not1_saveexec_" suffix),                                   \
      saveExec<bits, [](U s, U e) { return ~s & e; }>("s_andn1_saveexec_" suffix),                                     \
      saveExec<bits, [](U s, U e) { return ~s & e; }>("s_and_not0_saveexec_" suffix),                                  \
      saveExec<bits, [](U s, U e) { return ~s | e; }>("s_orn1_saveexec_" suffix),                                      \
      saveExec<bits, [](U s, U e) { return ~s | e; }>("s_or_not0_saveexec_" suffix),                                   \
      saveExec<bits, [](U s, U e) { return ~s & e; }, false>("s_andn1_wrexec_" suffix),                                \
      saveExec<bits, [](U s, U e) { return ~s & e; }, false>("s_and_not0_wrexec_" suffix),                             \
      saveExec<bits, [](U s, U e) { return s & ~e; }, false>("s_andn2_wrexec_" suffix),                                \
      saveExec<bits, [](U s, U e) { return s & ~e; }, false>("s_and_not1_wrexec_" suffix)
    ILK_SAVE(64, "b64"),
    ILK_SAVE(32, "b32"),
#undef ILK_SAVE
};

} // namespace

std::span<const Entry> scalarEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
