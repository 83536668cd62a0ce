// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Scalar conversions by bit arithmetic.
#include "runtime/Ops/Numeric.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace interlock {

namespace {
/// A small binary float: `sign exponent mantissa`, IEEE-like subnormals, no special values.
float smallFloat(uint32_t sign, uint32_t exponent, uint32_t mantissa, int mantissaBits, int bias) {
  float magnitude = exponent == 0
                        ? std::ldexp(float(mantissa), 1 - bias - mantissaBits)
                        : std::ldexp(float(mantissa + (1u << mantissaBits)), int(exponent) - bias - mantissaBits);
  return sign ? -magnitude : magnitude;
}

constexpr uint32_t canonicalNaN = 0x7fffffff;
} // namespace

float f16ToF32(uint16_t bits) {
  uint32_t sign = bits >> 15, exponent = (bits >> 10) & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0x1f)
    return std::bit_cast<float>((sign << 31) | 0x7f800000u | (mantissa << 13));
  return smallFloat(sign, exponent, mantissa, 10, 15);
}

float bf16ToF32(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

float f8ToF32(DType dtype, uint8_t bits) {
  uint32_t sign = bits >> 7;
  if (dtype == DType::f8e5m2)
    return f16ToF32(uint16_t(bits << 8)); // the upper half of an f16
  uint32_t exponent = (bits >> 3) & 0xf, mantissa = bits & 7;
  if (dtype == DType::f8e4m3fnuz)
    return bits == 0x80 ? std::bit_cast<float>(canonicalNaN) : smallFloat(sign, exponent, mantissa, 3, 8);
  return (bits & 0x7f) == 0x7f ? std::bit_cast<float>(canonicalNaN) : smallFloat(sign, exponent, mantissa, 3, 7);
}

uint16_t f32ToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return 0x7fff;
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

uint16_t f32ToF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return 0x7fff;
  uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x47800000) // 2^16 and above
    return sign | 0x7c00;
  if (magnitude < 0x38800000) { // below 2^-14: a subnormal, a multiple of 2^-24; nearbyint rounds to even
    float scaled = std::ldexp(std::bit_cast<float>(magnitude), 24);
    return sign | uint16_t(std::nearbyint(scaled));
  }
  uint32_t rebased = magnitude - ((127 - 15) << 23);
  // A carry out of the mantissa runs into the exponent, and from the largest finite value into infinity: both right.
  return sign | uint16_t((rebased + 0xfff + ((rebased >> 13) & 1)) >> 13);
}

bool isF8(DType dtype) { return dtype == DType::f8e4m3fn || dtype == DType::f8e4m3fnuz || dtype == DType::f8e5m2; }

float loadElement(DType dtype, const std::byte *row, size_t index) {
  if (isF8(dtype))
    return f8ToF32(dtype, uint8_t(row[index]));
  if (dtype == DType::f32) {
    float value;
    std::memcpy(&value, row + 4 * index, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, row + 2 * index, 2);
  return dtype == DType::bf16 ? bf16ToF32(bits) : f16ToF32(bits);
}

void storeElement(DType dtype, std::byte *row, size_t index, float value) {
  if (dtype == DType::f32) {
    std::memcpy(row + 4 * index, &value, 4);
    return;
  }
  uint16_t bits = dtype == DType::bf16 ? f32ToBf16(value) : f32ToF16(value);
  std::memcpy(row + 2 * index, &bits, 2);
}

float fusedMultiplyAdd(float a, float b, float c) {
  float result = std::fmaf(a, b, c);
  return std::isnan(result) ? std::bit_cast<float>(canonicalNaN) : result;
}

} // namespace interlock
