// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions of single values (PTX ISA "Data Movement and Conversion Instructions: cvt").
#include "analysis/Emulator/AluConvert.h"
#include "analysis/Emulator/AluFloat.h"

#include <algorithm>

namespace interlock::emu::alu {
namespace {

using ptx::Type;

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes)

/// Integer to integer: extended from the source's width, clamped with .sat, cut to the result's width, and extended
/// again by the result's own sign to the register's.
ILK_EVAL(integerToInteger) {
  unsigned fromBits = ptx::bitWidth(op.from), bits = op.bits;
  bool fromSigned = ptx::isSigned(op.from), toSigned = op.isSigned, saturate = op.saturate;
  uint64_t keep = maskOf(op.extendTo);
  __int128 low = toSigned ? -(__int128(1) << (bits - 1)) : 0;
  __int128 high = toSigned ? (__int128(1) << (bits - 1)) - 1 : __int128(maskOf(bits));
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t value = fromSigned ? uint64_t(signExtend(in[0][l], fromBits)) : in[0][l] & maskOf(fromBits);
    if (saturate)
      value = uint64_t(std::clamp(fromSigned ? __int128(int64_t(value)) : __int128(value), low, high));
    out[l] = (toSigned ? uint64_t(signExtend(value, bits)) : value & maskOf(bits)) & keep;
  });
}

double sourceValue(const Op &op, const FloatFormat *format, uint64_t bits) {
  if (!format)
    return std::bit_cast<double>(bits);
  double value = decode(*format, uint32_t(bits));
  if (op.ftz && op.from == Type::f32 && std::fabs(value) < 0x1p-126)
    value = std::copysign(0.0, value);
  return value;
}

double roundWhole(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::rn: {
    double down = std::floor(value), fraction = value - down;
    bool up = fraction > 0.5 || (fraction == 0.5 && std::fmod(down, 2) != 0);
    return std::copysign(up ? down + 1 : down, value);
  }
  case Rounding::rna:
    return std::round(value);
  case Rounding::rz:
    return std::trunc(value);
  case Rounding::rm:
    return std::floor(value);
  case Rounding::rp:
    return std::ceil(value);
  }
  return value;
}

/// Out of range the result is clamped, with and without .sat. NaN gives 0, or, where the source or the result has 64
/// bits, the result's top bit.
ILK_EVAL(floatToInteger) {
  const FloatFormat *format = formatOf(op.from);
  unsigned bits = op.bits;
  uint64_t nan = op.from == Type::f64 || bits == 64 ? uint64_t(1) << (bits - 1) : 0, keep = maskOf(op.extendTo);
  double limit = std::ldexp(1.0, int(op.isSigned ? bits - 1 : bits));
  eachLane(active, lanes, [&](unsigned l) {
    double value = roundWhole(sourceValue(op, format, in[0][l]), op.rounding);
    uint64_t result;
    if (std::isnan(value))
      result = nan;
    else if (op.isSigned)
      result = value >= limit    ? maskOf(bits - 1)
               : value <= -limit ? uint64_t(1) << (bits - 1)
                                 : uint64_t(int64_t(value));
    else
      result = value >= limit ? maskOf(bits) : value <= 0 ? 0 : uint64_t(value);
    out[l] = (op.isSigned ? uint64_t(signExtend(result, bits)) : result) & keep;
  });
}

/// A double between which and the exact integer no value of a narrower format lies: rounded to odd.
double integerOdd(uint64_t magnitude) {
  if (magnitude >> 53 == 0)
    return double(magnitude);
  return double(magnitude >> 11 | uint64_t((magnitude & maskOf(11)) != 0)) * 2048.0;
}

double integerToDouble(uint64_t magnitude, bool negative, Rounding rounding) {
  int shift = std::max(11 - __builtin_clzll(magnitude | 1), 0);
  uint64_t units = magnitude >> shift, rest = magnitude & maskOf(unsigned(shift));
  uint64_t half = shift ? uint64_t(1) << (shift - 1) : 0;
  bool up = rest && (rounding == Rounding::rn   ? rest > half || (rest == half && (units & 1))
                     : rounding == Rounding::rm ? negative
                     : rounding == Rounding::rp ? !negative
                                                : false);
  double value = std::ldexp(double(units + up), shift);
  return negative ? -value : value;
}

ILK_EVAL(integerToFloat) {
  const FloatFormat *format = formatOf(op.type);
  unsigned fromBits = ptx::bitWidth(op.from);
  bool fromSigned = ptx::isSigned(op.from);
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t raw = in[0][l] & maskOf(fromBits);
    bool negative = fromSigned && signExtend(raw, fromBits) < 0;
    uint64_t magnitude = negative ? uint64_t(0) - uint64_t(signExtend(raw, fromBits)) : raw;
    if (!format) {
      out[l] = std::bit_cast<uint64_t>(integerToDouble(magnitude, negative, op.rounding));
      return;
    }
    double value = integerOdd(magnitude);
    value = negative ? -value : value;
    if (op.saturate)
      value = std::clamp(value, 0.0, 1.0);
    out[l] = encode(*format, value, op.rounding);
  });
}

/// sub 1: .satfinite.
uint64_t finish(const Op &op, const FloatFormat *format, double value) {
  if (op.integral)
    value = roundWhole(value, op.rounding);
  if (op.relu && value <= 0)
    value = 0;
  if (op.saturate)
    value = value > 0 ? std::min(value, 1.0) : 0.0; // NaN and -0 become +0
  if (!format)
    return std::isnan(value) ? canonicalNanF64 : std::bit_cast<uint64_t>(value);
  if (op.ftz && op.type == Type::f32 && isTiny(*format, value, op.rounding))
    value = std::copysign(0.0, value);
  uint32_t result = encode(*format, value, op.integral ? Rounding::rn : op.rounding, op.sub == 1);
  return op.type == Type::tf32 ? uint64_t(result) << 13 : result;
}

/// A NaN keeps its sign and the upper bits of its payload on the way from or to f64, and becomes quiet.
uint64_t convertNan(const FloatFormat *from, const FloatFormat *to, uint64_t code) {
  uint64_t payload =
      from ? (code & maskOf(unsigned(from->mantissaBits))) << (52 - from->mantissaBits) : code & maskOf(52);
  uint64_t sign = code >> (from ? from->bits() - 1 : 63) & 1;
  payload |= quietBitF64;
  if (!to)
    return sign << 63 | uint64_t(0x7ff) << 52 | payload;
  return (sign ? to->signBit() : 0) | to->infinity() | payload >> (52 - to->mantissaBits);
}

ILK_EVAL(floatToFloat) {
  const FloatFormat *from = formatOf(op.from), *to = formatOf(op.type);
  bool keepsNan = (!from || !to) && !op.saturate;
  eachLane(active, lanes, [&](unsigned l) {
    double value = sourceValue(op, from, in[0][l]);
    // With .ftz an f32 operand goes through an operation that makes NaNs canonical first.
    uint64_t code = op.ftz && from == &formatF32 ? formatF32.canonicalNan : in[0][l];
    out[l] = keepsNan && std::isnan(value) ? convertNan(from, to, code) : finish(op, to, value);
  });
}

/// bf16 is the upper half of f32, NaNs included.
ILK_EVAL(widenBf16) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) { out[l] = uint32_t(in[0][l] << 16); });
}

/// cvt.rna.tf32.f32 only cuts a NaN.
ILK_EVAL(roundAwayTf32) {
  eachLane(active, lanes, [&](unsigned l) {
    double value = decode(formatF32, uint32_t(in[0][l]));
    out[l] = std::isnan(value) ? in[0][l] & 0xffffe000 : finish(op, &formatTf32, value);
  });
}

bool isScalarFloat(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}
bool isInteger(Type type) {
  unsigned bits = ptx::bitWidth(type);
  return !ptx::isFloat(type) && type != Type::u16x2 && type != Type::s16x2 && bits >= 8 && bits <= 64;
}

} // namespace

tl::expected<Op, std::string> resolveConvert(const ptx::Instruction &in) {
  if (in.opcode != "cvt")
    return Op{};
  if (in.has("pack"))
    return resolvePack(in);
  Op op;
  op.type = in.type(0);
  op.from = in.type(1);
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.extendTo = std::max<uint8_t>(op.bits, 32);
  op.isSigned = ptx::isSigned(op.type);
  op.ftz = in.has("ftz");
  op.relu = in.has("relu");
  op.saturate = in.has("sat");
  op.sub = in.has("satfinite");
  op.integral = in.has("rni") || in.has("rzi") || in.has("rmi") || in.has("rpi");
  op.rounding = in.has("rzi")   ? Rounding::rz
                : in.has("rmi") ? Rounding::rm
                : in.has("rpi") ? Rounding::rp
                                : roundingOf(in);
  bool known = in.type(2) == Type::none && hasOnly(in, {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi",
                                                        "ftz", "sat", "satfinite", "relu"});
  if (!known)
    return unknownInstruction(in);
  if (isInteger(op.type) && isInteger(op.from)) {
    op.eval = hasOnly(in, {"sat"}) ? integerToInteger : nullptr;
  } else if (isScalarFloat(op.type) && isInteger(op.from)) {
    op.eval = op.integral || op.relu || op.sub ? nullptr : integerToFloat;
  } else if (isInteger(op.type) && isScalarFloat(op.from)) {
    op.eval = op.integral ? floatToInteger : nullptr;
  } else if (isScalarFloat(op.from) && (isScalarFloat(op.type) || op.type == Type::tf32)) {
    bool plain = in.mods.size() == 2, away = op.rounding == Rounding::rna;
    op.eval = plain && op.type == Type::f32 && op.from == Type::bf16 ? widenBf16 : away ? roundAwayTf32 : floatToFloat;
    if (away && (op.type != Type::tf32 || op.from != Type::f32))
      op.eval = nullptr;
  } else {
    return resolvePackedConvert(in, op);
  }
  return op.eval ? tl::expected<Op, std::string>(op) : unknownInstruction(in);
}

} // namespace interlock::emu::alu
