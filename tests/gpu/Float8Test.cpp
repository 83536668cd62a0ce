// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The conversions of 8-bit floats on a GPU: the same values as in the emulator, both types.
#include "tests/float8/Codes.h"
#include "tests/gpu/Device.h"

using namespace interlock;

namespace {

struct GpuFloat8 : test::GpuTest {};

TEST_F(GpuFloat8, EveryCodeAndEveryRounding) {
  auto info = test::device()->info(0);
  ASSERT_TRUE(info) << info.error().message;
  auto target = findTarget(info->target);
  ASSERT_TRUE(target) << target.error().message;
  for (const char *type : {"f8E4M3FN", "f8E4M3FNUZ"}) {
    SCOPED_TRACE(type);
    std::vector<std::string> wanted{target->textPart()};
    if (target->isAMD())
      wanted.push_back(target->binaryPart());
    auto parts = test::compileText({float8::codesModule(info->target, type), "codes.mlir"}, wanted);
    ASSERT_TRUE(parts) << parts.error().message;
    const std::vector<float> values = float8::interestingValues(type);
    auto run = float8::runCodes(
        *test::device(),
        {(*parts)[target->textPart()], target->isAMD() ? (*parts)[target->binaryPart()] : std::string(), "codes"},
        values);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(float8::firstDifference(type, values, *run), "");
  }
}

} // namespace
