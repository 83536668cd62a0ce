// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Sources and destinations of vector instructions: broadcast scalars, negation, SDWA and op_sel selections, DPP moves,
// clamping, and the lanes that are written.
#include "analysis/Emulator/AMDGCN/Wave.h"
#include "analysis/Emulator/FloatFormat.h"

#include <fmt/format.h>

namespace interlock::emu::gcn {
namespace {

bool isFloat(Ty t) { return t == Ty::f32 || t == Ty::f16 || t == Ty::bf16 || t == Ty::f64; }
bool is16(Ty t) { return t == Ty::b16 || t == Ty::f16 || t == Ty::bf16; }

/// The lane that a lane's value comes from; -1 if none does.
int dppSource(const Dpp &dpp, unsigned lane, unsigned lanes) {
  unsigned row = lane & ~15u, in = lane & 15, n = dpp.select[0];
  switch (dpp.kind) {
  case DppKind::none:
    return int(lane);
  case DppKind::quadPerm:
    return int((lane & ~3u) | dpp.select[lane & 3]);
  case DppKind::rowShl:
    return in + n < 16 ? int(lane + n) : -1;
  case DppKind::rowShr:
    return in >= n ? int(lane - n) : -1;
  case DppKind::rowRor:
    return int(row | ((in - n) & 15));
  case DppKind::waveShl:
    return lane + 1 < lanes ? int(lane + 1) : -1;
  case DppKind::waveRol:
    return int((lane + 1) % lanes);
  case DppKind::waveShr:
    return lane ? int(lane - 1) : -1;
  case DppKind::waveRor:
    return int((lane + lanes - 1) % lanes);
  case DppKind::rowMirror:
    return int(row | (15 - in));
  case DppKind::rowHalfMirror:
    return int((lane & ~7u) | (7 - (lane & 7)));
  case DppKind::rowBcast15:
    return row ? int(row - 1) : -1;
  case DppKind::rowBcast31:
    return lane >= 32 ? 31 : -1;
  case DppKind::rowShare:
  case DppKind::rowNewbcast:
    return int(row | n);
  case DppKind::rowXmask:
    return int(row | (in ^ n));
  case DppKind::dpp8:
    return int((lane & ~7u) | dpp.select[lane & 7]);
  }
  return int(lane);
}

uint32_t select(uint32_t v, uint8_t sel, bool sext) {
  if (sel == 6)
    return v;
  unsigned bits = sel < 4 ? 8 : 16, shift = sel < 4 ? sel * 8u : (sel - 4u) * 16u;
  uint32_t part = v >> shift & ((1u << bits) - 1);
  return sext ? uint32_t(int32_t(part << (32 - bits)) >> (32 - bits)) : part;
}

template <typename F> uint32_t mapFloat(uint32_t bits, F f) {
  return std::bit_cast<uint32_t>(f(std::bit_cast<float>(bits)));
}

} // namespace

Flow WaveExec::fault(const Op &op, const std::string &what, ErrorKind kind, int lane) const {
  const Cta &c = cta();
  std::string place;
  if (op.in) {
    place = fmt::format("{}:{}:{}: {}", c.grid->program->name, op.in->at.line, op.in->at.column, op.in->text());
    if (op.in->source.line)
      place += fmt::format(" (source line {})", op.in->source.line);
  }
  engine.fail(kind, fmt::format("{}: {}; in {} on device {}, workgroup {}, wave {}{}", place, what, wave.kernel->name,
                                c.grid->device, c.index, warp.index, lane < 0 ? "" : fmt::format(", lane {}", lane)));
  return Flow::fault;
}

const uint32_t *WaveExec::raw(const Src &src, unsigned n) {
  if (src.kind == SrcKind::vector)
    return wave.vector(src.index);
  for (unsigned w = 0; w < src.words; ++w) {
    uint32_t v = src.kind == SrcKind::scalar ? wave.s[src.index + w] : uint32_t(src.value >> 32 * w);
    std::fill_n(room[n] + w * maxLanes, maxLanes, v);
  }
  return room[n];
}

const uint32_t *WaveExec::source(const Op &op, unsigned n) {
  const Src &src = op.src[n];
  const uint32_t *from = raw(src, n);
  bool moved = n == 0 && op.dpp.kind != DppKind::none;
  bool hasSel = op.plain ? false : is16(src.type) && src.half == 0 && (op.opSel >> n & 1);
  if (!moved && !src.negated && !src.absolute && !src.half && src.sel == 6 && !src.sext && !hasSel)
    return from;
  uint32_t *to = room[n];
  unsigned lanes = wave.lanes;
  if (from != to || moved) {
    if (moved) {
      uint32_t copy[4 * maxLanes];
      std::copy_n(from, size_t(src.words) * maxLanes, copy);
      uint64_t active = wave.active();
      for (unsigned lane = 0; lane < lanes; ++lane) {
        int s = dppSource(op.dpp, lane, lanes);
        bool valid = s >= 0 && unsigned(s) < lanes && ((active >> s & 1) || op.dpp.fetchInactive);
        if (!valid && !op.dpp.zeroFill)
          enabled &= ~(uint64_t(1) << lane);
        for (unsigned w = 0; w < src.words; ++w)
          to[w * maxLanes + lane] = valid ? copy[w * maxLanes + unsigned(s)] : 0;
      }
    } else {
      std::copy_n(from, size_t(src.words) * maxLanes, to);
    }
  }
  if (src.half == 2 || hasSel)
    for (unsigned lane = 0; lane < lanes; ++lane)
      to[lane] >>= 16;
  else if (src.half == 1)
    for (unsigned lane = 0; lane < lanes; ++lane)
      to[lane] &= 0xffff;
  if (src.sel != 6 || src.sext)
    for (unsigned lane = 0; lane < lanes; ++lane)
      to[lane] = select(to[lane], src.sel, src.sext);
  if (src.negated || src.absolute) {
    // Of packed operands nothing is negated this way; of integers only by SDWA's sext.
    uint32_t sign = is16(src.type) ? 0x8000u : 0x80000000u;
    uint32_t *top = to + (src.type == Ty::f64 ? maxLanes : 0);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (src.absolute)
        top[lane] &= ~sign;
      if (src.negated)
        top[lane] ^= sign;
    }
  }
  return to;
}

Lanes WaveExec::sources(const Op &op) {
  enabled = wave.active();
  if (op.dpp.rowMask != 15 || op.dpp.bankMask != 15)
    for (unsigned lane = 0; lane < wave.lanes; ++lane)
      if (!(op.dpp.rowMask >> (lane / 16) & 1) || !(op.dpp.bankMask >> (lane / 4 % 4) & 1))
        enabled &= ~(uint64_t(1) << lane);
  Lanes l{{}, wave.lanes, &op};
  for (unsigned i = 0; i < op.nsrc && i < 4; ++i)
    l.src[i] = source(op, i);
  return l;
}

void WaveExec::put(uint32_t reg, const uint32_t *values, uint64_t lanes) {
  uint32_t *d = wave.vector(reg);
  uint64_t all = wave.lanes == 64 ? ~uint64_t(0) : 0xffffffffu;
  if ((lanes & all) == all) {
    std::memcpy(d, values, wave.lanes * sizeof(uint32_t));
    return;
  }
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    d[lane] = values[lane];
  }
}

void WaveExec::write(const Op &op) {
  const Src &dst = op.dst;
  if (dst.kind == SrcKind::scalar) { // of instructions that give one value for the wave
    for (unsigned w = 0; w < dst.words; ++w)
      wave.s[dst.index + w] = out[w * maxLanes];
    return;
  }
  if (!op.plain) {
    if (op.outputScale && (dst.type == Ty::f32 || dst.type == Ty::f16)) {
      float f = op.outputScale == 1 ? 2.0f : op.outputScale == 2 ? 4.0f : 0.5f;
      for (unsigned lane = 0; lane < wave.lanes; ++lane)
        out[lane] = dst.type == Ty::f32
                        ? mapFloat(out[lane], [&](float v) { return v * f; })
                        : alu::encode(alu::formatF16, alu::decode(alu::formatF16, out[lane] & 0xffff) * double(f),
                                      alu::Rounding::rn);
    }
    if (op.clamp && isFloat(dst.type))
      for (unsigned lane = 0; lane < wave.lanes; ++lane) {
        if (dst.type == Ty::f32)
          out[lane] = mapFloat(out[lane], [](float v) { return (v > 0 ? (v < 1 ? v : 1.0f) : 0.0f); });
        else if (dst.type == Ty::f64) {
          double v = std::bit_cast<double>(out[lane] | uint64_t(out[maxLanes + lane]) << 32);
          uint64_t bits = std::bit_cast<uint64_t>(v > 0 ? (v < 1 ? v : 1.0) : 0.0);
          out[lane] = uint32_t(bits), out[maxLanes + lane] = uint32_t(bits >> 32);
        } else {
          const auto &f = dst.type == Ty::f16 ? alu::formatF16 : alu::formatBf16;
          double v = alu::decode(f, out[lane] & 0xffff);
          out[lane] = v > 0 ? (v < 1 ? out[lane] & 0xffff : alu::encode(f, 1.0, alu::Rounding::rn)) : 0;
        }
      }
  }
  if (is16(dst.type)) {
    // A half keeps its other half; chips up to gfx9 clear it instead, unless op_sel names a half.
    bool named = dst.half || (op.opSel >> 3 & 1), high = dst.half == 2 || (op.opSel >> 3 & 1);
    bool keep = named || wave.image->target->family >= Family::gfx11;
    const uint32_t *old = wave.vector(dst.index);
    for (unsigned lane = 0; lane < wave.lanes; ++lane) {
      uint32_t v = out[lane] & 0xffff;
      out[lane] = !keep ? v : high ? (old[lane] & 0xffff) | v << 16 : (old[lane] & 0xffff0000) | v;
    }
  }
  if (op.dstSel != 6) {
    unsigned bits = op.dstSel < 4 ? 8 : 16, shift = op.dstSel < 4 ? op.dstSel * 8u : (op.dstSel - 4u) * 16u;
    uint32_t mask = ((bits == 8 ? 0xffu : 0xffffu)) << shift;
    const uint32_t *old = wave.vector(dst.index);
    for (unsigned lane = 0; lane < wave.lanes; ++lane) {
      uint32_t part = out[lane] << shift & mask;
      if (op.dstUnused == 2) // preserve
        part |= old[lane] & ~mask;
      else if (op.dstUnused == 1 && (part >> (shift + bits - 1) & 1) && shift + bits < 32) // sext
        part |= ~uint32_t(0) << (shift + bits);
      out[lane] = part;
    }
  }
  for (unsigned w = 0; w < dst.words; ++w)
    put(dst.index + w, out + w * maxLanes, enabled);
}

} // namespace interlock::emu::gcn
