// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::alu {
namespace {

/// `value` is a rounded result and `error` the sign of what was lost (exact minus rounded): the neighbour towards zero
/// or away from it that has an odd last bit.
double toOdd(double value, double error) {
  if (error == 0 || !std::isfinite(value))
    return value;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  if (bits & 1)
    return value;
  bool outward = (error > 0) == !std::signbit(value);
  if (value == 0)
    return std::copysign(std::numeric_limits<double>::denorm_min(), error);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

/// What a + b lost when it was rounded to `sum` (Knuth's two-sum).
double sumError(double a, double b, double sum) {
  double bPart = sum - a, aPart = sum - bPart;
  return (a - aPart) + (b - bPart);
}

} // namespace

double addOdd(double a, double b) {
  double sum = a + b;
  return std::isfinite(sum) ? toOdd(sum, sumError(a, b, sum)) : sum;
}

double fmaOdd(double a, double b, double c) {
  // Factors of at most 24 bits have an exact product.
  return addOdd(a * b, c);
}

double divideOdd(double a, double b) {
  double quotient = a / b;
  if (!std::isfinite(quotient) || quotient == 0 || !std::isfinite(b))
    return quotient;
  double rest = std::fma(-quotient, b, a);
  return toOdd(quotient, (rest > 0) == (b > 0) ? std::fabs(rest) : -std::fabs(rest));
}

double rootOdd(double a) {
  double root = std::sqrt(a);
  return std::isfinite(root) && root > 0 ? toOdd(root, std::fma(-root, root, a)) : root;
}

double decode(const FloatFormat &f, uint32_t code) {
  uint32_t magnitude = code & ((1u << (f.bits() - 1)) - 1);
  bool negative = code >> (f.bits() - 1) & 1;
  uint32_t exponent = magnitude >> f.mantissaBits, mantissa = magnitude & ((1u << f.mantissaBits) - 1);
  double value = 0;
  if (f.infinite && exponent == (1u << f.exponentBits) - 1)
    value = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (!f.infinite && magnitude == (1u << (f.bits() - 1)) - 1)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(double(mantissa), 1 - f.bias() - f.mantissaBits);
  else
    value = std::ldexp(double(mantissa | 1u << f.mantissaBits), int(exponent) - f.bias() - f.mantissaBits);
  return negative ? -value : value;
}

uint32_t encode(const FloatFormat &f, double value, Rounding rounding, bool saturateFinite) {
  if (std::isnan(value))
    return f.canonicalNan;
  bool negative = std::signbit(value);
  uint32_t sign = uint32_t(negative) << (f.bits() - 1);
  uint32_t overflow = saturateFinite ? f.largest() : f.infinite ? f.infinity() : f.canonicalNan;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | overflow;
  if (magnitude == 0)
    return sign;
  // The weight of the last mantissa bit: fixed below the smallest normal number.
  int exponent = std::max(std::ilogb(magnitude), 1 - f.bias());
  double scaled = std::ldexp(magnitude, f.mantissaBits - exponent); // exact: at most 53 bits
  double whole = std::floor(scaled), fraction = scaled - whole;
  bool up = false;
  switch (rounding) {
  case Rounding::rn:
    up = fraction > 0.5 || (fraction == 0.5 && std::fmod(whole, 2) != 0);
    break;
  case Rounding::rna:
    up = fraction >= 0.5;
    break;
  case Rounding::rz:
    break;
  case Rounding::rm:
    up = fraction > 0 && negative;
    break;
  case Rounding::rp:
    up = fraction > 0 && !negative;
    break;
  }
  uint64_t units = uint64_t(whole) + up;
  // The hidden bit carries into the exponent by itself.
  int64_t code = int64_t(units) + (int64_t(exponent + f.bias() - 1) << f.mantissaBits);
  if (code > int64_t(f.largest())) {
    // Rounding towards zero, or away from the infinity's side, stops at the largest finite value.
    bool stops = f.infinite && (rounding == Rounding::rz || (rounding == Rounding::rm && !negative) ||
                                (rounding == Rounding::rp && negative));
    return sign | (stops ? f.largest() : overflow);
  }
  return sign | uint32_t(code);
}

} // namespace interlock::emu::alu
