// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions of element types: round trips over every code, rounding at ties, and the special values.
#include "runtime/Ops/Numeric.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace interlock;

namespace {

TEST(Numeric, EveryBf16AndF16CodeSurvivesARoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float b = bf16ToF32(uint16_t(bits)), h = f16ToF32(uint16_t(bits));
    EXPECT_EQ(f32ToBf16(b), std::isnan(b) ? 0x7fff : bits);
    EXPECT_EQ(f32ToF16(h), std::isnan(h) ? 0x7fff : bits);
  }
}

TEST(Numeric, F16ValuesAreTheStandards) {
  EXPECT_EQ(f16ToF32(0x3c00), 1.0f);
  EXPECT_EQ(f16ToF32(0x7bff), 65504.0f);
  EXPECT_EQ(f16ToF32(0x0001), 0x1p-24f);
  EXPECT_EQ(f16ToF32(0x8400), -0x1p-14f);
  EXPECT_TRUE(std::isinf(f16ToF32(0x7c00)));
  EXPECT_TRUE(std::signbit(f16ToF32(0x8000)));
}

// Halfway values go to the even neighbour; one f32 step beyond goes to the nearer one.
template <typename ToBits, typename ToFloat> void checkTies(ToBits toBits, ToFloat toFloat, uint32_t finiteCodes) {
  for (uint32_t bits = 0; bits + 1 < finiteCodes; ++bits) {
    float low = toFloat(uint16_t(bits)), high = toFloat(uint16_t(bits + 1)), middle = low + (high - low) / 2;
    uint32_t even = bits & 1 ? bits + 1 : bits;
    ASSERT_EQ(toBits(middle), even) << bits;
    ASSERT_EQ(toBits(std::nextafter(middle, 0.0f)), bits) << bits;
    ASSERT_EQ(toBits(std::nextafter(middle, std::numeric_limits<float>::infinity())), bits + 1) << bits;
    ASSERT_EQ(toBits(-middle), even | 0x8000) << bits;
  }
}

TEST(Numeric, F16RoundsToNearestEven) { checkTies(f32ToF16, f16ToF32, 0x7c00); }

TEST(Numeric, Bf16RoundsToNearestEven) {
  // Below code 0x80 the steps between neighbours are f32 subnormals; they are exact too.
  checkTies(f32ToBf16, bf16ToF32, 0x7f80);
}

TEST(Numeric, OverflowBecomesInfinityAndNaNIsCanonical) {
  EXPECT_EQ(f32ToF16(65519.996f), 0x7bff);
  EXPECT_EQ(f32ToF16(65520.0f), 0x7c00);
  EXPECT_EQ(f32ToF16(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(f32ToBf16(std::numeric_limits<float>::max()), 0x7f80);
  float nan = std::bit_cast<float>(0xffc12345u);
  EXPECT_EQ(f32ToF16(nan), 0x7fff);
  EXPECT_EQ(f32ToBf16(nan), 0x7fff);
  EXPECT_EQ(std::bit_cast<uint32_t>(fusedMultiplyAdd(nan, 1, 1)), 0x7fffffffu);
}

TEST(Numeric, F8FormatsHaveTheirPublishedExtremes) {
  EXPECT_EQ(f8ToF32(DType::f8e4m3fn, 0x7e), 448.0f);
  EXPECT_TRUE(std::isnan(f8ToF32(DType::f8e4m3fn, 0x7f)) && std::isnan(f8ToF32(DType::f8e4m3fn, 0xff)));
  EXPECT_EQ(f8ToF32(DType::f8e4m3fn, 0x01), 0x1p-9f);
  EXPECT_EQ(f8ToF32(DType::f8e4m3fn, 0x38), 1.0f);
  EXPECT_EQ(f8ToF32(DType::f8e4m3fnuz, 0x7f), 240.0f);
  EXPECT_TRUE(std::isnan(f8ToF32(DType::f8e4m3fnuz, 0x80)));
  EXPECT_EQ(f8ToF32(DType::f8e4m3fnuz, 0x01), 0x1p-10f);
  EXPECT_EQ(f8ToF32(DType::f8e4m3fnuz, 0x40), 1.0f);
  EXPECT_EQ(f8ToF32(DType::f8e5m2, 0x7b), 57344.0f);
  EXPECT_TRUE(std::isinf(f8ToF32(DType::f8e5m2, 0xfc)));
  EXPECT_TRUE(std::isnan(f8ToF32(DType::f8e5m2, 0x7d)));
}

TEST(Numeric, ARowIsReadAndWrittenByElement) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    std::byte row[32] = {};
    storeElement(dtype, row, 5, -1.5f);
    EXPECT_EQ(loadElement(dtype, row, 5), -1.5f);
    EXPECT_EQ(loadElement(dtype, row, 4), 0.0f);
    EXPECT_EQ(loadElement(dtype, row, 6), 0.0f);
  }
}

TEST(Numeric, AMultiplyAddRoundsOnce) {
  float a = 1.0f + 0x1p-12f;
  EXPECT_NE(fusedMultiplyAdd(a, a, -1.0f), a * a - 1.0f);
  EXPECT_EQ(fusedMultiplyAdd(a, a, -1.0f), float(double(a) * double(a) - 1.0));
}

} // namespace
