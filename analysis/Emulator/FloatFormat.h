// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Floating-point formats as bits: decoding to double is exact, encoding rounds once.
#pragma once

#include "analysis/Emulator/Alu.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace interlock::emu::alu {

/// A binary format of at most 32 bits. `infinite` formats have infinities and many NaNs; e4m3 has neither infinities
/// nor a second NaN, its largest code but one is its largest value.
struct FloatFormat {
  int exponentBits, mantissaBits;
  bool infinite;
  uint32_t canonicalNan;

  constexpr int bits() const { return 1 + exponentBits + mantissaBits; }
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint32_t infinity() const { return ((1u << exponentBits) - 1) << mantissaBits; }
  /// The largest finite magnitude.
  constexpr uint32_t largest() const { return infinite ? infinity() - 1 : (1u << (bits() - 1)) - 2; }
};

inline constexpr FloatFormat formatF32{8, 23, true, 0x7fffffff};
inline constexpr FloatFormat formatTf32{8, 10, true, 0x3ffff};
inline constexpr FloatFormat formatF16{5, 10, true, 0x7fff};
inline constexpr FloatFormat formatBf16{8, 7, true, 0x7fff};
inline constexpr FloatFormat formatE4m3{4, 3, false, 0x7f};
inline constexpr FloatFormat formatE5m2{5, 2, true, 0x7f};

/// The value of a code; NaN for a NaN.
double decode(const FloatFormat &format, uint32_t code);

/// The code of a value, rounded. Values that are too large become infinity (or NaN in a format without it) when they
/// round to it, or the largest finite value with `saturateFinite`.
uint32_t encode(const FloatFormat &format, double value, Rounding rounding, bool saturateFinite = false);

/// A sum, product, fused product, quotient or root of doubles, rounded to odd: rounding it once more, to any format
/// with at least two bits less than a double has, gives the correctly rounded result.
double addOdd(double a, double b);
double fmaOdd(double a, double b, double c);
double divideOdd(double a, double b);
double rootOdd(double a);

} // namespace interlock::emu::alu
