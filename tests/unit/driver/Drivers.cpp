// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/unit/driver/Drivers.h"

namespace interlock::test {

std::vector<DriverKind> driverKinds() {
  return {{"cuda", [] { return openCuda(); }},
          {"emulator", [] { return openEmulator({.target = "sm_90a", .devices = 2}); }}};
}

const char *const addText = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 out, .param .u32 value, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [value];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  mul.wide.u32 %rd1, %r5, 4;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r6, [%rd2];
  add.u32 %r6, %r6, %r0;
  st.global.u32 [%rd2], %r6;
done:
  ret;
}
)";

const char *const clusterText = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  @%p bra done;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_nctaid.x;
  mov.u32 %r3, %cluster_ctarank;
  mad.lo.u32 %r4, %r2, 100, %r3;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r4;
done:
  ret;
}
)";

const char *const sharedText = R"(.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 scratch[];
.visible .entry kernel(.param .u64 out, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<10>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, scratch;
  mov.u32 %r5, %r2;
fill:
  setp.ge.u32 %p, %r5, %r1;
  @%p bra filled;
  shl.b32 %r6, %r5, 2;
  add.u32 %r6, %r6, %r4;
  st.shared.u32 [%r6], %r5;
  add.u32 %r5, %r5, %r3;
  bra fill;
filled:
  bar.sync 0;
  mov.u32 %r5, %r2;
drain:
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  sub.u32 %r7, %r1, %r5;
  sub.u32 %r7, %r7, 1;
  shl.b32 %r6, %r7, 2;
  add.u32 %r6, %r6, %r4;
  ld.shared.u32 %r8, [%r6];
  mul.wide.u32 %rd1, %r5, 4;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r8;
  add.u32 %r5, %r5, %r3;
  bra drain;
done:
  ret;
}
)";

const char *const moveText = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 out, .param .u64 in)
{
  .reg .b32 %r0;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [out];
  ld.param.u64 %rd1, [in];
  ld.global.u32 %r0, [%rd1];
  st.global.u32 [%rd0], %r0;
  ret;
}
)";

void DriverTest::SetUp() {
  auto opened = GetParam().open();
  if (!opened)
    GTEST_SKIP() << opened.error().message;
  driver = std::move(*opened);
  auto made = driver->createStream(0);
  ASSERT_TRUE(made) << made.error().message;
  stream = *made;
}

void DriverTest::TearDown() {
  if (!driver)
    return;
  (void)driver->synchronize(stream);
  ok(driver->destroyStream(stream));
}

DeviceAddress DriverTest::allocate(size_t bytes, uint32_t device) {
  auto address = driver->allocate(device, bytes);
  EXPECT_TRUE(address) << address.error().message;
  return address ? *address : 0;
}

KernelId DriverTest::load(const char *text, uint32_t device) {
  auto kernel = driver->load(device, {.text = text, .binary = {}, .entry = "kernel"});
  EXPECT_TRUE(kernel) << kernel.error().message;
  return kernel ? *kernel : KernelId{};
}

} // namespace interlock::test
