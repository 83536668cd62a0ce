// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Random rows, made from bits so that they are the same on every machine.
#include "runtime/Ops/TestRows.h"

#include "runtime/Ops/Numeric.h"
#include "runtime/Ops/Random.h"

#include <cmath>
#include <cstring>

namespace interlock {

namespace {
/// How a random word becomes a value: its sign and mantissa, an exponent from eight around one, and now and then an
/// exponent of 0 (a zero or a subnormal).
struct FloatShape {
  uint32_t bits, mantissaBits, lowestExponent;
};

uint32_t randomFloat(const FloatShape &shape, uint64_t random) {
  uint32_t mantissa = uint32_t(random) & ((1u << shape.mantissaBits) - 1);
  uint32_t kind = uint32_t(random >> 32) & 0xff;
  uint32_t exponent = kind < 2 ? 0 : shape.lowestExponent + (kind & 7);
  if (kind == 0)
    mantissa = 0;
  uint32_t sign = uint32_t(random >> 63);
  return (sign << (shape.bits - 1)) | (exponent << shape.mantissaBits) | mantissa;
}

uint8_t finiteF8(DType dtype, uint64_t random) {
  uint8_t bits = uint8_t(random);
  return std::isfinite(f8ToF32(dtype, bits)) ? bits : uint8_t(bits ^ 0x40) & 0x7f;
}
} // namespace

void fillTestRows(DType dtype, uint64_t seed, uint64_t step, uint32_t rank, std::span<std::byte> rows) {
  Random random(seed ^ 0x726f7773, step, rank);
  if (isF8(dtype)) {
    for (std::byte &byte : rows)
      byte = std::byte(finiteF8(dtype, random.next() >> 20));
    return;
  }
  FloatShape shape = dtype == DType::f32   ? FloatShape{32, 23, 122}
                     : dtype == DType::f16 ? FloatShape{16, 10, 9}
                                           : FloatShape{16, 7, 122};
  uint32_t size = shape.bits / 8;
  for (size_t at = 0; at + size <= rows.size(); at += size) {
    uint32_t bits = randomFloat(shape, random.next());
    std::memcpy(&rows[at], &bits, size); // little-endian, as every host of ours
  }
}

void fillTestScales(DType dtype, uint64_t seed, uint64_t step, uint32_t rank, std::span<std::byte> scales) {
  Random random(seed ^ 0x7363616c, step, rank);
  for (size_t at = 0; at + sizeof(float) <= scales.size(); at += sizeof(float)) {
    uint32_t bits = uint32_t(random.next() >> 32);
    float scale = std::ldexp(float((bits >> 8) + 1), -24 + int(bits & 3));
    if (isF8(dtype))
      std::memcpy(&bits, &scale, sizeof scale);
    std::memcpy(&scales[at], &bits, sizeof bits);
  }
}

} // namespace interlock
