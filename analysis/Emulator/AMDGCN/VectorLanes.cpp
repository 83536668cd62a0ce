// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Instructions that move values between lanes, or between lanes and scalar registers.
#include "analysis/Emulator/AMDGCN/Define.h"

namespace interlock::emu::gcn {
namespace {

Flow readFirstLane(WaveExec &x, const Op &op) {
  uint64_t active = x.wave.active();
  unsigned lane = active ? unsigned(std::countr_zero(active)) : 0;
  x.setScalar32(op.dst, x.raw(op.src[0], 0)[lane]);
  return Flow::next;
}
/// EXEC does not count here, nor in v_writelane.
Flow readLane(WaveExec &x, const Op &op) {
  x.setScalar32(op.dst, x.raw(op.src[0], 0)[x.scalar32(op.src[1]) & (x.wave.lanes - 1)]);
  return Flow::next;
}
Flow writeLane(WaveExec &x, const Op &op) {
  x.wave.vector(op.dst.index)[x.scalar32(op.src[1]) & (x.wave.lanes - 1)] = x.scalar32(op.src[0]);
  return Flow::next;
}

/// v_mbcnt: how many bits of the mask lie below the lane; the high one counts those of the upper 32 lanes.
template <bool high> void countBelow(const Lanes &l, uint32_t *out) {
  for (unsigned i = 0; i < l.n; ++i) {
    uint32_t below = high ? (i > 32 ? (uint32_t(1) << (i - 32)) - 1 : 0) : (i < 32 ? (uint32_t(1) << i) - 1 : ~0u);
    out[i] = uint32_t(std::popcount(l.src[0][i] & below)) + l.src[1][i];
  }
}

/// v_permlane16 and v_permlanex16: within a row, or from the other row of its pair; a nibble of two scalars picks.
template <bool across> Flow permute16(WaveExec &x, const Op &op) {
  const uint32_t *v = x.raw(op.src[0], 0);
  uint64_t pick = x.scalar32(op.src[1]) | uint64_t(x.scalar32(op.src[2])) << 32, active = x.wave.active();
  x.enabled = active;
  bool fetchInactive = op.opSel & 1, zero = op.opSel & 2;
  for (unsigned i = 0; i < x.wave.lanes; ++i) {
    unsigned row = (i & ~15u) ^ (across ? 16u : 0u), from = row | unsigned(pick >> 4 * (i & 15) & 15);
    bool valid = (active >> from & 1) || fetchInactive;
    x.out[i] = valid ? v[from] : 0;
    if (!valid && !zero)
      x.enabled &= ~(uint64_t(1) << i);
  }
  x.put(op.dst.index, x.out, x.enabled);
  return Flow::next;
}
/// v_permlane64: the halves of a wave of 64 change places.
Flow permute64(WaveExec &x, const Op &op) {
  const uint32_t *v = x.raw(op.src[0], 0);
  for (unsigned i = 0; i < x.wave.lanes; ++i)
    x.out[i] = x.wave.lanes == 64 ? v[i ^ 32] : v[i];
  x.put(op.dst.index, x.out, x.wave.active());
  return Flow::next;
}
/// v_permlane32_swap, v_permlane16_swap: odd rows of the destination change places with even rows of the source.
template <unsigned rows> Flow permuteSwap(WaveExec &x, const Op &op) {
  uint32_t *a = x.wave.vector(op.dst.index), *b = x.wave.vector(op.src[0].index);
  for (unsigned i = 0; i < x.wave.lanes; ++i)
    if (i & rows)
      std::swap(a[i], b[i ^ rows]);
  return Flow::next;
}
Flow swapRegisters(WaveExec &x, const Op &op) {
  uint32_t *a = x.wave.vector(op.dst.index), *b = x.wave.vector(op.src[0].index);
  for (uint64_t m = x.wave.active(); m; m &= m - 1) {
    unsigned i = unsigned(std::countr_zero(m));
    std::swap(a[i], b[i]);
  }
  return Flow::next;
}

constexpr Entry table[] = {
    {"v_readfirstlane_b32", readFirstLane, Form::plain, Ty::b32, {Ty::b32}},
    {"v_readlane_b32", readLane, Form::plain, Ty::b32, {Ty::b32, Ty::b32}},
    {"v_writelane_b32", writeLane, Form::plain, Ty::b32, {Ty::b32, Ty::b32}},
    {"v_mbcnt_lo_u32_b32", runVector, Form::plain, Ty::b32, {Ty::b32, Ty::b32}, countBelow<false>},
    {"v_mbcnt_hi_u32_b32", runVector, Form::plain, Ty::b32, {Ty::b32, Ty::b32}, countBelow<true>},
    {"v_permlane16_b32", permute16<false>, Form::plain, Ty::b32, {Ty::b32, Ty::b32, Ty::b32}},
    {"v_permlanex16_b32", permute16<true>, Form::plain, Ty::b32, {Ty::b32, Ty::b32, Ty::b32}},
    {"v_permlane64_b32", permute64, Form::plain, Ty::b32, {Ty::b32}},
    {"v_permlane32_swap_b32", permuteSwap<32>, Form::plain, Ty::b32, {Ty::b32}},
    {"v_permlane16_swap_b32", permuteSwap<16>, Form::plain, Ty::b32, {Ty::b32}},
    {"v_swap_b32", swapRegisters, Form::plain, Ty::b32, {Ty::b32}},
};

} // namespace

std::span<const Entry> vectorLaneEntries() { return byName<table>; }

} // namespace interlock::emu::gcn
