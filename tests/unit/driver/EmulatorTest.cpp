// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What only the emulator can promise: faults and deadlocks are reports, and the driver can be used on.
#include "tests/unit/driver/Drivers.h"

namespace interlock {
namespace {

using testing::HasSubstr;

std::unique_ptr<Driver> emulator(EmulatorOptions options = {}) {
  auto driver = openEmulator(options);
  EXPECT_TRUE(driver) << driver.error().message;
  return driver ? std::move(*driver) : nullptr;
}

TEST(Emulator, IsWhatItIsAskedToBe) {
  for (const char *target : {"sm_80", "sm_90a", "sm_100a", "sm_103a", "sm_120a"}) {
    auto driver = emulator({.target = target, .devices = 3, .residency = 7});
    ASSERT_TRUE(driver);
    EXPECT_EQ(driver->deviceCount(), 3u);
    auto info = driver->info(2);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->target, target);
    EXPECT_EQ(info->multiprocessors, 7u);
    EXPECT_EQ(info->driverVersion, 0u);
    EXPECT_EQ(info->maxPtxIsa, 0u);
    EXPECT_THAT(info->name, HasSubstr("emulated"));
  }
  EXPECT_EQ(emulator()->info(0)->multiprocessors, 132u);
}

TEST(Emulator, RefusesWhatItCannotBe) {
  for (const EmulatorOptions &options : {EmulatorOptions{.target = "sm_1"}, EmulatorOptions{.target = "gfx900"},
                                         EmulatorOptions{.devices = 0}, EmulatorOptions{.devices = 65}}) {
    auto refused = openEmulator(options);
    ASSERT_FALSE(refused) << options.target << " " << options.devices;
    EXPECT_TRUE(refused.error().code == Code::badInput || refused.error().code == Code::unsupported);
    EXPECT_FALSE(refused.error().message.empty());
  }
}

// A kernel that the chip cannot run: clusters on sm_80.
TEST(Emulator, RefusesTextForAnotherChip) {
  auto driver = emulator({.target = "sm_80"});
  auto refused = driver->load(0, {.text = test::clusterText, .entry = "kernel"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported) << refused.error().message;
  EXPECT_THAT(refused.error().message, HasSubstr("sm_90"));
}

TEST(Emulator, AFaultIsAReportAndTheDriverGoesOn) {
  auto driver = emulator();
  auto stream = driver->createStream(0);
  auto kernel = driver->load(0, {.text = test::moveText, .entry = "kernel"});
  auto at = driver->allocate(0, 4);
  ASSERT_TRUE(stream && kernel && at);
  test::TwoPointers params{0x10, *at};
  ASSERT_TRUE(driver->launch(*stream, *kernel, {}, test::bytesOf(params)));
  Status failed = driver->synchronize(*stream);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::device);
  EXPECT_THAT(failed.error().message, HasSubstr("0x10"));
  params = {*at, *at};
  ASSERT_TRUE(driver->launch(*stream, *kernel, {}, test::bytesOf(params)));
  Status well = driver->synchronize(*stream);
  EXPECT_TRUE(well) << well.error().message;
}

// Two warps, of which one never arrives at the barrier that the other waits at.
TEST(Emulator, ADeadlockSaysWhatWaitsForWhat) {
  const char *text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 unused)
{
  .shared .align 8 .b64 barrier;
  .reg .pred %p;
  .reg .b32 %r<3>;
  .reg .b64 %rd0;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  @%p bra done;
  mov.u32 %r1, barrier;
  mbarrier.init.shared::cta.b64 [%r1], 1;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%r1], 0;
  @!%p bra wait;
done:
  ret;
}
)";
  auto driver = emulator();
  auto stream = driver->createStream(0);
  auto kernel = driver->load(0, {.text = text, .entry = "kernel"});
  ASSERT_TRUE(kernel) << kernel.error().message;
  uint64_t unused = 0;
  ASSERT_TRUE(driver->launch(*stream, *kernel, {.grid = 1, .block = 64}, test::bytesOf(unused)));
  Status failed = driver->synchronize(*stream);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::device);
  EXPECT_THAT(failed.error().message, HasSubstr("mbarrier"));
}

} // namespace
} // namespace interlock
