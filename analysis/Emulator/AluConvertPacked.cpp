// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions of two values at once (PTX ISA "cvt", "cvt.pack").
#include "analysis/Emulator/AluConvert.h"

#include <algorithm>

namespace interlock::emu::alu {
namespace {

using ptx::Type;

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes)

/// sub 1: .satfinite. Formats without infinities always saturate.
uint32_t convert(const Op &op, const FloatFormat &to, double value) {
  if (op.relu && value <= 0)
    value = 0;
  return encode(to, value, op.rounding, op.sub == 1);
}

/// cvt.rn.bf16x2.f32 d, a, b: a into the upper half, b into the lower.
ILK_EVAL(pairFromF32) {
  const FloatFormat &format = *formatOf(op.type);
  unsigned half = op.bits / 2;
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t high = convert(op, format, decode(formatF32, uint32_t(in[0][l])));
    uint64_t low = convert(op, format, decode(formatF32, uint32_t(in[1][l])));
    out[l] = high << half | low;
  });
}

/// Packed to packed. Six-bit formats stand in bytes of their own.
ILK_EVAL(pairToPair) {
  const FloatFormat &from = *formatOf(op.from), &to = *formatOf(op.type);
  unsigned fromHalf = ptx::bitWidth(op.from) / 2, toHalf = op.bits / 2;
  uint64_t codeMask = maskOf(unsigned(from.bits()));
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t low = convert(op, to, decode(from, uint32_t(in[0][l] & codeMask)));
    uint64_t high = convert(op, to, decode(from, uint32_t(in[0][l] >> fromHalf & codeMask)));
    out[l] = high << toHalf | low;
  });
}

/// cvt.pack.sat: a above b, each clamped to op.bits bits, above them the low bits of c. sub 1: there is a c.
ILK_EVAL(packSaturated) {
  unsigned bits = op.bits;
  int64_t low = op.isSigned ? -(int64_t(1) << (bits - 1)) : 0;
  int64_t high = int64_t(maskOf(op.isSigned ? bits - 1 : bits));
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t a = uint64_t(std::clamp<int64_t>(int32_t(in[0][l]), low, high)) & maskOf(bits);
    uint64_t b = uint64_t(std::clamp<int64_t>(int32_t(in[1][l]), low, high)) & maskOf(bits);
    out[l] = uint32_t((op.sub ? in[2][l] << (2 * bits) : 0) | a << bits | b);
  });
}

bool isHalfPair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }
bool isNarrowPair(Type type) {
  return type == Type::e4m3x2 || type == Type::e5m2x2 || type == Type::e2m1x2 || type == Type::e2m3x2 ||
         type == Type::e3m2x2;
}

} // namespace

tl::expected<Op, std::string> resolvePackedConvert(const ptx::Instruction &in, Op op) {
  bool toNarrow = isNarrowPair(op.type), known = hasOnly(in, {"rn", "rz", "satfinite", "relu"});
  if ((isHalfPair(op.type) || toNarrow) && op.from == Type::f32)
    op.eval = pairFromF32;
  else if ((toNarrow && isHalfPair(op.from)) || (isHalfPair(op.type) && isNarrowPair(op.from)))
    op.eval = pairToPair;
  // The narrow formats round to nearest and must saturate.
  if (toNarrow && (!in.has("satfinite") || in.has("rz")))
    known = false;
  return known && op.eval ? tl::expected<Op, std::string>(op) : unknownInstruction(in);
}

tl::expected<Op, std::string> resolvePack(const ptx::Instruction &in) {
  // cvt.pack.sat.convertType.s32{.b32}: the first type may be one that only exists here.
  struct Row {
    std::string_view name;
    uint8_t bits;
    bool isSigned;
  };
  static constexpr Row rows[] = {{"u16", 16, false}, {"s16", 16, true}, {"u8", 8, false}, {"s8", 8, true},
                                 {"u4", 4, false},   {"s4", 4, true},   {"u2", 2, false}, {"s2", 2, true}};
  bool third = in.mods.size() == 5 && in.mods[4] == "b32";
  if (!(in.mods.size() == 4 || third) || in.mods[0] != "pack" || in.mods[1] != "sat" || in.mods[3] != "s32")
    return unknownInstruction(in);
  for (const Row &row : rows)
    if (in.mods[2] == row.name && third == (row.bits < 16)) {
      Op op;
      op.type = Type::b32;
      op.bits = row.bits;
      op.isSigned = row.isSigned;
      op.sub = third;
      op.eval = packSaturated;
      return op;
    }
  return unknownInstruction(in);
}

} // namespace interlock::emu::alu
