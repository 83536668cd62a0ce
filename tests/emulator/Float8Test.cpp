// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The conversions of 8-bit floats on every chip: all 256 codes of both types as f32, and every bf16, every tie and
// every edge as codes, whether the chip has instructions for the type or not.
#include "runtime/Cache/Compiler.h"
#include "tests/float8/Codes.h"

#include "interlock/spec.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace interlock;

namespace {

struct Float8 : testing::TestWithParam<const char *> {};

TEST_P(Float8, EveryCodeAndEveryRounding) {
  const std::string type = GetParam();
  const std::vector<float> values = float8::interestingValues(type);
  for (const TargetInfo &target : targets()) {
    const std::string chip(target.name);
    SCOPED_TRACE(chip);
    auto parts = compileModule({.path = INTERLOCK_COMPILER_PLUGIN}, {float8::codesModule(chip, type), "codes.mlir"},
                               {target.textPart()});
    ASSERT_TRUE(parts) << parts.error().message;
    auto driver = openEmulator({.target = chip});
    ASSERT_TRUE(driver) << driver.error().message;
    auto run = float8::runCodes(**driver, {(*parts)[target.textPart()], {}, "codes"}, values);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(float8::firstDifference(type, values, *run), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Float8, testing::Values("f8E4M3FN", "f8E4M3FNUZ"));

// The oracle, at the places that the specifications name.
TEST(Float8Oracle, KnowsTheLargestTheLeastAndTheSpecialOnes) {
  EXPECT_EQ(float8::valueOf("f8E4M3FN", 0x7e), 448.0f);
  EXPECT_EQ(float8::valueOf("f8E4M3FN", 0x01), 0x1p-9f);
  EXPECT_EQ(float8::valueOf("f8E4M3FN", 0x38), 1.0f);
  EXPECT_TRUE(std::isnan(float8::valueOf("f8E4M3FN", 0x7f)));
  EXPECT_TRUE(std::isnan(float8::valueOf("f8E4M3FN", 0xff)));
  EXPECT_TRUE(std::signbit(float8::valueOf("f8E4M3FN", 0x80)));
  EXPECT_EQ(float8::valueOf("f8E4M3FNUZ", 0x7f), 240.0f);
  EXPECT_EQ(float8::valueOf("f8E4M3FNUZ", 0x01), 0x1p-10f);
  EXPECT_EQ(float8::valueOf("f8E4M3FNUZ", 0x40), 1.0f);
  EXPECT_TRUE(std::isnan(float8::valueOf("f8E4M3FNUZ", 0x80)));
  EXPECT_EQ(float8::nearestCode("f8E4M3FN", 1e30f), 0x7e);
  EXPECT_EQ(float8::nearestCode("f8E4M3FNUZ", -HUGE_VALF), 0xff);
  EXPECT_EQ(float8::nearestCode("f8E4M3FN", -0.0f), 0x80);
  EXPECT_EQ(float8::nearestCode("f8E4M3FNUZ", -0.0f), 0x00);
  EXPECT_EQ(float8::nearestCode("f8E4M3FN", 0x1p-10f), 0x00) << "a tie goes to the even code";
  EXPECT_EQ(float8::nearestCode("f8E4M3FN", 0x3p-10f), 0x02);
}

} // namespace
