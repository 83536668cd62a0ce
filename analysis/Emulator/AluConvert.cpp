// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions (PTX ISA "Data Movement and Conversion Instructions: cvt").
#include "analysis/Emulator/FloatFormat.h"

#include <algorithm>

namespace interlock::emu::alu {
namespace {

using ptx::Type;

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes)

const FloatFormat *formatOf(Type type) {
  switch (type) {
  case Type::f32:
    return &formatF32;
  case Type::f16:
  case Type::f16x2:
    return &formatF16;
  case Type::bf16:
  case Type::bf16x2:
    return &formatBf16;
  case Type::e4m3x2:
    return &formatE4m3;
  case Type::e5m2x2:
    return &formatE5m2;
  default:
    return nullptr;
  }
}

/// Integer to integer: extended from the source's width, clamped with .sat, cut to the result's width.
ILK_EVAL(integerToInteger) {
  unsigned fromBits = ptx::bitWidth(op.from);
  bool fromSigned = ptx::isSigned(op.from), toSigned = op.isSigned;
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t raw = in[0][l] & maskOf(fromBits);
    if (!op.saturate) {
      // The register may be wider than the type: the value is extended by the result's own sign.
      uint64_t value = (fromSigned ? uint64_t(signExtend(raw, fromBits)) : raw) & maskOf(op.bits);
      out[l] = toSigned ? uint64_t(signExtend(value, op.bits)) : value;
      return;
    }
    __int128 value = fromSigned ? __int128(signExtend(raw, fromBits)) : __int128(raw);
    __int128 low = toSigned ? -(__int128(1) << (op.bits - 1)) : 0;
    __int128 high = toSigned ? (__int128(1) << (op.bits - 1)) - 1 : __int128(maskOf(op.bits));
    out[l] = uint64_t(std::clamp(value, low, high));
  });
}

double sourceValue(const Op &op, uint64_t bits) {
  if (op.from == Type::f64)
    return std::bit_cast<double>(bits);
  double value = decode(*formatOf(op.from), uint32_t(bits));
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

/// Out of range the result is clamped; NaN gives 0 (PTX ISA leaves it to saturate so for 32 bits and fewer).
ILK_EVAL(floatToInteger) {
  eachLane(active, lanes, [&](unsigned l) {
    double value = roundWhole(sourceValue(op, in[0][l]), op.rounding);
    if (std::isnan(value)) {
      out[l] = op.bits == 64 ? uint64_t(1) << 63 : 0;
      return;
    }
    double limit = std::ldexp(1.0, int(op.isSigned ? op.bits - 1 : op.bits));
    if (op.isSigned)
      out[l] = value >= limit   ? maskOf(op.bits - 1)
               : value < -limit ? uint64_t(int64_t(-limit))
                                : uint64_t(int64_t(value));
    else
      out[l] = value >= limit ? maskOf(op.bits) : value <= 0 ? 0 : uint64_t(value);
  });
}

/// A double between which and the exact integer no value of a narrower format lies: rounded to odd.
double integerOdd(uint64_t magnitude) {
  double value = double(magnitude >> 11 | uint64_t((magnitude & maskOf(11)) != 0)) * 2048.0;
  return magnitude >> 53 ? value : double(magnitude);
}

ILK_EVAL(integerToFloat) {
  unsigned fromBits = ptx::bitWidth(op.from);
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t raw = in[0][l] & maskOf(fromBits);
    bool negative = ptx::isSigned(op.from) && signExtend(raw, fromBits) < 0;
    uint64_t magnitude = negative ? uint64_t(-signExtend(raw, fromBits)) : raw;
    if (op.type == Type::f64) {
      double wide = double(magnitude);
      out[l] = std::bit_cast<uint64_t>(negative ? -wide : wide);
      return;
    }
    double value = integerOdd(magnitude);
    out[l] = encode(*formatOf(op.type), negative ? -value : value, op.rounding);
  });
}

uint64_t finish(const Op &op, double value) {
  if (op.integral)
    value = roundWhole(value, op.rounding);
  if (op.relu && !std::isnan(value) && value < 0)
    value = 0;
  if (op.saturate)
    value = std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
  if (op.type == Type::f64)
    return std::isnan(value) ? 0xfff8000000000000 : std::bit_cast<uint64_t>(value);
  Rounding rounding = op.integral ? Rounding::rn : op.rounding;
  uint64_t result = op.type == Type::tf32 ? uint64_t(encode(formatTf32, value, rounding)) << 13
                                          : encode(*formatOf(op.type), value, rounding);
  if (op.type == Type::tf32 && std::isnan(value))
    result = formatF32.canonicalNan;
  if (op.ftz && op.type == Type::f32 && !(result & formatF32.infinity()))
    result &= 0x80000000;
  return result;
}

ILK_EVAL(floatToFloat) {
  eachLane(active, lanes, [&](unsigned l) { out[l] = finish(op, sourceValue(op, in[0][l])); });
}

/// cvt.rn.bf16x2.f32 d, a, b: a into the upper half, b into the lower.
ILK_EVAL(pairFromF32) {
  const FloatFormat &format = *formatOf(op.type);
  unsigned width = unsigned(format.bits());
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t result = 0;
    for (unsigned half = 0; half < 2; ++half) {
      double value = sourceValue(op, in[half == 0 ? 1 : 0][l]);
      if (op.relu && (value < 0))
        value = 0;
      result |= uint64_t(encode(format, value, op.rounding, op.saturate)) << (half * width);
    }
    out[l] = result;
  });
}

/// Packed to packed: e4m3x2 and e5m2x2 from or to f16x2.
ILK_EVAL(pairToPair) {
  const FloatFormat &from = *formatOf(op.from), &to = *formatOf(op.type);
  unsigned fromWidth = unsigned(from.bits()), toWidth = unsigned(to.bits());
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t result = 0;
    for (unsigned half = 0; half < 2; ++half) {
      double value = decode(from, uint32_t(in[0][l] >> (half * fromWidth) & maskOf(fromWidth)));
      if (op.relu && (value < 0))
        value = 0;
      result |= uint64_t(encode(to, value, op.rounding, op.saturate)) << (half * toWidth);
    }
    out[l] = result;
  });
}

bool isPair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::e4m3x2 || type == Type::e5m2x2;
}

} // namespace

tl::expected<Op, std::string> resolveConvert(const ptx::Instruction &in) {
  if (in.opcode != "cvt")
    return Op{};
  auto unknown = [&] { return tl::unexpected("the emulator does not know " + in.mnemonic()); };
  Op op;
  op.type = in.type(0);
  op.from = in.type(1);
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.isSigned = ptx::isSigned(op.type);
  op.ftz = in.has("ftz");
  op.relu = in.has("relu");
  op.saturate = in.has("sat") || in.has("satfinite");
  op.integral = in.has("rni") || in.has("rzi") || in.has("rmi") || in.has("rpi");
  if (in.has("rz") || in.has("rzi"))
    op.rounding = Rounding::rz;
  else if (in.has("rm") || in.has("rmi"))
    op.rounding = Rounding::rm;
  else if (in.has("rp") || in.has("rpi"))
    op.rounding = Rounding::rp;
  else if (in.has("rna"))
    op.rounding = Rounding::rna;
  if (in.has("pack") || in.has("rs") || op.type == Type::none || op.from == Type::none)
    return unknown();

  bool toFloat = ptx::isFloat(op.type), fromFloat = ptx::isFloat(op.from);
  if (isPair(op.type) && op.from == Type::f32) {
    op.eval = pairFromF32;
  } else if (isPair(op.type) && isPair(op.from)) {
    op.eval = pairToPair;
  } else if (isPair(op.type) || isPair(op.from)) {
    return unknown();
  } else if (toFloat && fromFloat) {
    bool known = (formatOf(op.type) || op.type == Type::f64 || op.type == Type::tf32) &&
                 (formatOf(op.from) || op.from == Type::f64);
    // .satfinite of a scalar is another clamp than .sat.
    if (!known || in.has("satfinite"))
      return unknown();
    op.eval = floatToFloat;
  } else if (toFloat) {
    if ((!formatOf(op.type) && op.type != Type::f64) || (op.type == Type::f64 && op.rounding != Rounding::rn))
      return unknown();
    op.eval = integerToFloat;
  } else if (fromFloat) {
    if (!formatOf(op.from) && op.from != Type::f64)
      return unknown();
    op.eval = floatToInteger;
  } else {
    op.eval = integerToInteger;
  }
  return op;
}

} // namespace interlock::emu::alu
