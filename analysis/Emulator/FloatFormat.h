// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Floating-point formats as bits: decoding to double is exact, encoding rounds once.
#pragma once

#include "analysis/Emulator/Alu.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace interlock::emu::alu {

/// A binary format of at most 32 bits. `infinite` formats have infinities and many NaNs. Of the others, those with
/// `hasNan` have it as their largest code (e4m3), and the rest are all numbers (e2m1, e2m3, e3m2).
struct FloatFormat {
  int exponentBits, mantissaBits;
  bool infinite, hasNan;
  uint32_t canonicalNan; ///< what a NaN becomes; the largest value in a format without one

  constexpr int bits() const { return 1 + exponentBits + mantissaBits; }
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint32_t signBit() const { return 1u << (bits() - 1); }
  constexpr uint32_t infinity() const { return ((1u << exponentBits) - 1) << mantissaBits; }
  /// The largest finite magnitude.
  constexpr uint32_t largest() const { return infinite ? infinity() - 1 : signBit() - (hasNan ? 2 : 1); }
  constexpr double smallestNormal() const { return powerOfTwo(1 - bias()); }
  /// 2^e, for a normal double.
  static constexpr double powerOfTwo(int e) { return std::bit_cast<double>(uint64_t(e + 1023) << 52); }
};

inline constexpr FloatFormat formatF32{8, 23, true, true, 0x7fffffff};
inline constexpr FloatFormat formatTf32{8, 10, true, true, 0x3ffff};
inline constexpr FloatFormat formatF16{5, 10, true, true, 0x7fff};
inline constexpr FloatFormat formatBf16{8, 7, true, true, 0x7fff};
inline constexpr FloatFormat formatE4m3{4, 3, false, true, 0x7f};
inline constexpr FloatFormat formatE5m2{5, 2, true, true, 0x7f};
inline constexpr FloatFormat formatE2m1{2, 1, false, false, 0x7};
inline constexpr FloatFormat formatE2m3{2, 3, false, false, 0x1f};
inline constexpr FloatFormat formatE3m2{3, 2, false, false, 0x1f};

/// The value of a code; a NaN of its sign for a NaN.
constexpr double decode(const FloatFormat &f, uint32_t code) {
  uint32_t magnitude = code & (f.signBit() - 1);
  uint64_t sign = uint64_t((code & f.signBit()) != 0) << 63;
  uint32_t exponent = magnitude >> f.mantissaBits, mantissa = magnitude & ((1u << f.mantissaBits) - 1);
  if (f.infinite ? magnitude > f.infinity() : f.hasNan && magnitude == f.signBit() - 1)
    return std::bit_cast<double>(sign | uint64_t(0x7ff8) << 48);
  if (f.infinite && magnitude == f.infinity())
    return std::bit_cast<double>(sign | uint64_t(0x7ff) << 52);
  if (exponent == 0)
    return std::bit_cast<double>(
        sign | std::bit_cast<uint64_t>(double(mantissa) * FloatFormat::powerOfTwo(1 - f.bias() - f.mantissaBits)));
  return std::bit_cast<double>(sign | uint64_t(int(exponent) - f.bias() + 1023) << 52 |
                               uint64_t(mantissa) << (52 - f.mantissaBits));
}

/// The code of a value, rounded. Values that are too large become infinity (or NaN in a format without it) when they
/// round to it, or the largest finite value with `saturateFinite` and in a format that has neither.
constexpr uint32_t encode(const FloatFormat &f, double value, Rounding rounding, bool saturateFinite = false) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  bool negative = bits >> 63;
  uint32_t sign = negative ? f.signBit() : 0;
  int exponent = int(bits >> 52 & 0x7ff);
  uint64_t significand = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 0x7ff && significand)
    return f.canonicalNan;
  uint32_t overflow = saturateFinite ? f.largest() : f.infinite ? f.infinity() : f.canonicalNan;
  if (exponent == 0x7ff)
    return sign | overflow;
  if (exponent)
    significand |= uint64_t(1) << 52;
  else
    exponent = 1;
  if (significand == 0)
    return sign;
  exponent -= 1023;
  // The last bit that is kept has a fixed weight below the smallest normal number.
  int lowest = 1 - f.bias(), drop = 52 - f.mantissaBits + (exponent < lowest ? lowest - exponent : 0);
  if (drop > 54) {
    drop = 54; // far below half of the last bit
    significand = 1;
  }
  uint64_t units = significand >> drop, rest = significand & ((uint64_t(1) << drop) - 1);
  uint64_t half = uint64_t(1) << (drop - 1);
  bool up = false;
  switch (rounding) {
  case Rounding::rn:
    up = rest > half || (rest == half && (units & 1));
    break;
  case Rounding::rna:
    up = rest >= half;
    break;
  case Rounding::rz:
    break;
  case Rounding::rm:
    up = rest && negative;
    break;
  case Rounding::rp:
    up = rest && !negative;
    break;
  }
  // The hidden bit carries into the exponent by itself.
  int64_t code = int64_t(units + up) + (int64_t(exponent < lowest ? 0 : exponent - lowest) << f.mantissaBits);
  if (code > int64_t(f.largest())) {
    // Rounding towards zero, or away from the infinity's side, stops at the largest finite value.
    bool stops =
        rounding == Rounding::rz || (rounding == Rounding::rm && !negative) || (rounding == Rounding::rp && negative);
    return sign | (stops ? f.largest() : overflow);
  }
  return sign | uint32_t(code);
}

/// True if a result counts as subnormal: it is below the smallest normal number even after rounding to the format's
/// precision with an unbounded exponent.
bool isTiny(const FloatFormat &format, double value, Rounding rounding);

/// The format of a floating-point type, or of one half of a packed one; null for .f64 and all others.
const FloatFormat *formatOf(ptx::Type type);

/// A sum, product, fused product, quotient or root of doubles, rounded to odd: rounding it once more, to any format
/// with at least two bits less than a double has, gives the correctly rounded result. Operands must come from a format
/// of at most 24 significant bits, so that nothing overflows or loses bits below the smallest double. `down` is true
/// for .rm, where an exact sum of zero is negative (IEEE 754-2019, 6.3).
double addOdd(double a, double b, bool down = false);
double fmaOdd(double a, double b, double c, bool down = false);
double divideOdd(double a, double b);
double rootOdd(double a);

} // namespace interlock::emu::alu
