// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// fp8 conversions. gfx942 speaks the fnuz formats (e4m3fnuz with bias 8, e5m2fnuz with bias 16, one zero, 0x80 the only
// NaN, no infinity), gfx950 and gfx12 OCP's e4m3 and e5m2. Conversions to fp8 saturate: what is too large becomes the
// largest number, an infinity too where the format has none; a NaN stays one.
#include "analysis/Emulator/AMDGCN/Define.h"
#include "analysis/Emulator/AMDGCN/Float.h"
#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::gcn {
namespace {

using alu::Rounding;

struct Fnuz {
  int exponentBits, mantissaBits;
  int bias() const { return 1 << (exponentBits - 1); }
};
constexpr Fnuz e4m3Fnuz{4, 3}, e5m2Fnuz{5, 2};

float decodeFnuz(Fnuz t, uint8_t code) {
  if (code == 0x80)
    return std::bit_cast<float>(0x7fc00000u);
  int e = code >> t.mantissaBits & ((1 << t.exponentBits) - 1), m = code & ((1 << t.mantissaBits) - 1);
  float v = e ? std::ldexp(float(m | 1 << t.mantissaBits), e - t.bias() - t.mantissaBits)
              : std::ldexp(float(m), 1 - t.bias() - t.mantissaBits);
  return code & 0x80 ? -v : v;
}
uint8_t encodeFnuz(Fnuz t, float v) {
  if (v != v)
    return 0x80;
  uint8_t sign = std::signbit(v) ? 0x80 : 0;
  float a = std::fabs(v);
  int e = 0;
  if (a != 0 && !std::isinf(a))
    std::frexp(a, &e); // a = m * 2^e, m in [0.5, 1)
  int lowest = 1 - t.bias() - t.mantissaBits;
  int unit = std::max(e - 1 - t.mantissaBits, lowest);
  // Scaling by a power of two is exact in double; nearbyint rounds to nearest even.
  double units = std::isinf(a) ? 1e9 : std::nearbyint(std::ldexp(double(a), -unit));
  if (units == 0)
    return 0; // there is no -0
  int64_t code;
  if (unit == lowest)
    code = int64_t(units);
  else
    code = int64_t(units) + (int64_t(unit - lowest) << t.mantissaBits);
  return uint8_t(sign | std::min<int64_t>(code, 0x7f));
}

float decodeOcp(bool bf8, uint8_t code) {
  const alu::FloatFormat &t = bf8 ? alu::formatE5m2 : alu::formatE4m3;
  double v = alu::decode(t, code);
  return v != v ? std::bit_cast<float>(uint32_t(code & 0x80) << 24 | 0x7fc00000u) : float(v);
}
uint8_t encodeOcp(bool bf8, float v) {
  const alu::FloatFormat &t = bf8 ? alu::formatE5m2 : alu::formatE4m3;
  if (v != v)
    return uint8_t(std::signbit(v) << 7 | 0x7f);
  if (bf8 && std::isinf(v))
    return uint8_t(std::signbit(v) << 7 | 0x7c);
  return uint8_t(alu::encode(t, double(v), Rounding::rn, true));
}

bool ocp(const WaveExec &x) { return x.wave.image->target->fp8Ocp; }
float decode(const WaveExec &x, bool bf8, uint8_t code) {
  return ocp(x) ? decodeOcp(bf8, code) : decodeFnuz(bf8 ? e5m2Fnuz : e4m3Fnuz, code);
}
uint8_t encode(const WaveExec &x, bool bf8, float v) {
  return ocp(x) ? encodeOcp(bf8, v) : encodeFnuz(bf8 ? e5m2Fnuz : e4m3Fnuz, v);
}

/// v_cvt_f32_fp8: a byte, picked by SDWA's selection, by op_sel (its two bits, swapped), or by byte_sel.
template <bool bf8> Flow toFloat(WaveExec &x, const Op &op) {
  Lanes l = x.sources(op);
  unsigned shift = unsigned(op.imm) * 8;
  for (unsigned i = 0; i < l.n; ++i)
    x.out[i] = bitsOf(decode(x, bf8, uint8_t(l.src[0][i] >> shift)));
  x.write(op);
  return Flow::next;
}
/// Two bytes of a half, picked by SDWA's selection or by op_sel.
template <bool bf8> Flow toFloats(WaveExec &x, const Op &op) {
  Lanes l = x.sources(op);
  unsigned shift = (op.opSel & 1) ? 16 : 0;
  for (unsigned i = 0; i < l.n; ++i) {
    uint32_t v = l.src[0][i] >> shift;
    x.out[i] = bitsOf(decode(x, bf8, uint8_t(v)));
    x.out[maxLanes + i] = bitsOf(decode(x, bf8, uint8_t(v >> 8)));
  }
  x.write(op);
  return Flow::next;
}
/// Two floats into a half of the destination, which op_sel's destination bit picks.
template <bool bf8> Flow fromFloats(WaveExec &x, const Op &op) {
  Lanes l = x.sources(op);
  const uint32_t *old = x.wave.vector(op.dst.index);
  bool high = op.opSel >> 3 & 1;
  for (unsigned i = 0; i < l.n; ++i) {
    uint32_t v = encode(x, bf8, std::bit_cast<float>(l.src[0][i])) |
                 uint32_t(encode(x, bf8, std::bit_cast<float>(l.src[1][i]))) << 8;
    x.out[i] = high ? (old[i] & 0xffff) | v << 16 : (old[i] & 0xffff0000) | v;
  }
  x.write(op);
  return Flow::next;
}

template <Handler run> constexpr Entry row(std::string_view name, Ty dst, std::array<Ty, 4> src) {
  return {name, run, Form::plain, dst, src};
}

constexpr Entry table[] = {
    row<toFloat<false>>("v_cvt_f32_fp8", Ty::f32, {Ty::b32}),
    row<toFloat<true>>("v_cvt_f32_bf8", Ty::f32, {Ty::b32}),
    row<toFloats<false>>("v_cvt_pk_f32_fp8", Ty::pkf32, {Ty::b32}),
    row<toFloats<true>>("v_cvt_pk_f32_bf8", Ty::pkf32, {Ty::b32}),
    row<fromFloats<false>>("v_cvt_pk_fp8_f32", Ty::b32, {Ty::f32, Ty::f32}),
    row<fromFloats<true>>("v_cvt_pk_bf8_f32", Ty::b32, {Ty::f32, Ty::f32}),
};

} // namespace

std::span<const Entry> vectorFp8Entries() { return byName<table>; }

} // namespace interlock::emu::gcn
