// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::alu {
namespace {

/// `value` is a rounded result and `error` has the sign of what was lost (exact minus rounded): the neighbour on that
/// side if the last bit of `value` is even.
double toOdd(double value, double error) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  if (error == 0 || bits & 1)
    return value;
  bool outward = (error > 0) == !std::signbit(value);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

/// What a + b lost when it was rounded to `sum` (Knuth's two-sum).
double sumError(double a, double b, double sum) {
  double bPart = sum - a, aPart = sum - bPart;
  return (a - aPart) + (b - bPart);
}

} // namespace

double addOdd(double a, double b, bool down) {
  double sum = a + b;
  if (sum == 0 && down && std::signbit(a) != std::signbit(b))
    return -0.0;
  return std::isfinite(sum) ? toOdd(sum, sumError(a, b, sum)) : sum;
}

double fmaOdd(double a, double b, double c, bool down) {
  // Factors of at most 24 bits have an exact product.
  return addOdd(a * b, c, down);
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

bool isTiny(const FloatFormat &format, double value, Rounding rounding) {
  double smallest = format.smallestNormal(), magnitude = std::fabs(value);
  if (!(magnitude < smallest))
    return false;
  // Twice the value has that precision where it could round up to twice the smallest normal number.
  return magnitude < smallest / 2 ||
         (encode(format, 2 * value, rounding) & (format.signBit() - 1)) < 2u << format.mantissaBits;
}

const FloatFormat *formatOf(ptx::Type type) {
  using ptx::Type;
  switch (type) {
  case Type::f32:
  case Type::f32x2:
    return &formatF32;
  case Type::tf32:
    return &formatTf32;
  case Type::f16:
  case Type::f16x2:
    return &formatF16;
  case Type::bf16:
  case Type::bf16x2:
    return &formatBf16;
  case Type::e4m3:
  case Type::e4m3x2:
    return &formatE4m3;
  case Type::e5m2:
  case Type::e5m2x2:
    return &formatE5m2;
  case Type::e2m1x2:
    return &formatE2m1;
  case Type::e2m3x2:
    return &formatE2m3;
  case Type::e3m2x2:
    return &formatE3m2;
  default:
    return nullptr;
  }
}

} // namespace interlock::emu::alu
