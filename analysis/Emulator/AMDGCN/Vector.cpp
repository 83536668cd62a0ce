// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Vector instructions that are no plain function of a lane: carries, selections, comparisons' destinations, pairs.
#include "analysis/Emulator/AMDGCN/Define.h"

namespace interlock::emu::gcn {

Flow runVector(WaveExec &x, const Op &op) {
  Lanes l = x.sources(op);
  op.compute(l, x.out);
  x.write(op);
  return Flow::next;
}

Flow runCompare(WaveExec &x, const Op &op) {
  Lanes l = x.sources(op);
  x.wave.setMask(op.dst.index, op.compare(l) & x.enabled);
  return Flow::next;
}

/// Up to gfx9 a v_cmpx writes its mask to a destination too.
Flow runCompareExec(WaveExec &x, const Op &op) {
  Lanes l = x.sources(op);
  uint64_t mask = op.compare(l) & x.enabled;
  if (op.dst.kind == SrcKind::scalar)
    x.wave.setMask(op.dst.index, mask);
  x.wave.setExec(mask);
  return Flow::next;
}

namespace {

uint64_t maskOf(const WaveExec &x, const Src &src) {
  return src.kind == SrcKind::constant ? src.value : x.wave.mask(src.index);
}

/// d = a ± b ± carry, with the carry of each lane out to a mask. `f` gives a 33-bit result's bit 32 as the carry.
template <bool carryIn, auto f> Flow runCarry(WaveExec &x, const Op &op) {
  uint64_t in = carryIn ? maskOf(x, op.src[2]) : 0;
  Lanes l = x.sources(op);
  uint64_t carry = 0;
  for (unsigned i = 0; i < l.n; ++i) {
    uint64_t r = f(l.src[0][i], l.src[1][i], unsigned(in >> i & 1));
    bool c = r >> 32 & 1;
    x.out[i] = op.clamp && c ? ~0u : uint32_t(r);
    carry |= uint64_t(c) << i;
  }
  x.write(op);
  if (op.dst2.kind == SrcKind::scalar)
    x.wave.setMask(op.dst2.index, carry & x.enabled);
  return Flow::next;
}
constexpr auto add = [](uint64_t a, uint64_t b, unsigned c) { return a + b + c; };
constexpr auto sub = [](uint64_t a, uint64_t b, unsigned c) { return (a - b - c) & 0x1ffffffff; };
constexpr auto subRev = [](uint64_t a, uint64_t b, unsigned c) { return (b - a - c) & 0x1ffffffff; };

Flow runSelect(WaveExec &x, const Op &op) {
  uint64_t mask = maskOf(x, op.src[2]);
  Lanes l = x.sources(op);
  unsigned words = op.dst.words;
  for (unsigned w = 0; w < words; ++w)
    for (unsigned i = 0; i < l.n; ++i)
      x.out[w * maxLanes + i] = (mask >> i & 1) ? l.src[1][w * maxLanes + i] : l.src[0][w * maxLanes + i];
  x.write(op);
  return Flow::next;
}

/// d = a * b + c in 64 bits, the carry out to a mask.
template <bool isSigned> Flow runMad64(WaveExec &x, const Op &op) {
  Lanes l = x.sources(op);
  uint64_t carry = 0;
  for (unsigned i = 0; i < l.n; ++i) {
    uint64_t product =
        isSigned ? uint64_t(int64_t(int32_t(l.src[0][i])) * int32_t(l.src[1][i])) : uint64_t(l.src[0][i]) * l.src[1][i];
    uint64_t c = U64::get(l.src[2], i), r = product + c;
    U64::put(x.out, i, r);
    carry |= uint64_t(isSigned ? (int64_t(~(product ^ c) & (product ^ r)) < 0) : r < c) << i;
  }
  x.write(op);
  if (op.dst2.kind == SrcKind::scalar)
    x.wave.setMask(op.dst2.index, carry & x.enabled);
  return Flow::next;
}

template <bool carryIn, auto f> constexpr Entry carry(std::string_view name) {
  return {name,
          runCarry<carryIn, f>,
          Form::plain,
          Ty::b32,
          {Ty::b32, Ty::b32, carryIn ? Ty::mask : Ty::none},
          nullptr,
          nullptr,
          0,
          secondDst};
}

/// v_dual_a :: v_dual_b: both read before either writes.
Flow runPair(WaveExec &x, const Op &op) {
  const Op &second = x.wave.image->second[op.target];
  uint32_t first[2 * maxLanes];
  auto compute = [&](const Op &one) {
    Lanes l = x.sources(one);
    if (one.entry->run == runSelect) {
      uint64_t mask = maskOf(x, one.src[2]);
      for (unsigned i = 0; i < l.n; ++i)
        x.out[i] = (mask >> i & 1) ? l.src[1][i] : l.src[0][i];
    } else {
      one.compute(l, x.out);
    }
  };
  compute(op);
  std::copy_n(x.out, 2 * maxLanes, first);
  compute(second);
  x.write(second);
  std::copy_n(first, 2 * maxLanes, x.out);
  x.write(op);
  return Flow::next;
}

constexpr Entry table[] = {
    carry<false, add>("v_add_co_u32"),
    carry<true, add>("v_addc_co_u32"),
    carry<true, add>("v_add_co_ci_u32"),
    carry<false, sub>("v_sub_co_u32"),
    carry<true, sub>("v_subb_co_u32"),
    carry<true, sub>("v_sub_co_ci_u32"),
    carry<false, subRev>("v_subrev_co_u32"),
    carry<true, subRev>("v_subbrev_co_u32"),
    carry<true, subRev>("v_subrev_co_ci_u32"),
    {"v_cndmask_b32", runSelect, Form::plain, Ty::b32, {Ty::f32, Ty::f32, Ty::mask}},
    {"v_cndmask_b16", runSelect, Form::plain, Ty::b16, {Ty::f16, Ty::f16, Ty::mask}},
    {"v_mad_u64_u32",
     runMad64<false>,
     Form::plain,
     Ty::b64,
     {Ty::b32, Ty::b32, Ty::b64},
     nullptr,
     nullptr,
     0,
     secondDst},
    {"v_mad_i64_i32",
     runMad64<true>,
     Form::plain,
     Ty::b64,
     {Ty::b32, Ty::b32, Ty::i64},
     nullptr,
     nullptr,
     0,
     secondDst},
    {"v_mad_co_u64_u32",
     runMad64<false>,
     Form::plain,
     Ty::b64,
     {Ty::b32, Ty::b32, Ty::b64},
     nullptr,
     nullptr,
     0,
     secondDst},
    {"v_mad_co_i64_i32",
     runMad64<true>,
     Form::plain,
     Ty::b64,
     {Ty::b32, Ty::b32, Ty::i64},
     nullptr,
     nullptr,
     0,
     secondDst},
    {"v_dual", runPair, Form::plain},
};

} // namespace

std::span<const Entry> vectorEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
