// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Thousands of shapes through a small bound of loaded modules: device memory stays flat, and what may still run stays
// loaded (corpus A21).
#include "tests/gpu/Device.h"

#include <fmt/format.h>

#include <dlfcn.h>

using namespace interlock;

namespace {

/// out[0] += n.
KernelImage shape(uint32_t n) {
  return {fmt::format(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 out)
{{
  .reg .b64 %rd0;
  .reg .b32 %r0;
  ld.param.u64 %rd0, [out];
  ld.global.u32 %r0, [%rd0];
  add.u32 %r0, %r0, {};
  st.global.u32 [%rd0], %r0;
  ret;
}}
)",
                      n),
          "", "kernel"};
}

/// Bytes of device memory that are taken, or 0 where nobody can say. The driver's context must be current.
uint64_t deviceBytes() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library ? dlsym(library, name) : nullptr);
    return function != nullptr;
  };
  int (*retain)(void **, int) = nullptr, (*push)(void *) = nullptr, (*pop)(void **) = nullptr,
                         (*release)(int) = nullptr;
  int (*info)(size_t *, size_t *) = nullptr;
  void *context = nullptr;
  size_t left = 0, total = 0;
  if (!find(retain, "cuDevicePrimaryCtxRetain") || !find(push, "cuCtxPushCurrent_v2") ||
      !find(pop, "cuCtxPopCurrent_v2") || !find(release, "cuDevicePrimaryCtxRelease_v2") ||
      !find(info, "cuMemGetInfo_v2") || retain(&context, 0) != 0)
    return 0;
  push(context);
  info(&left, &total);
  pop(&context);
  release(0);
  return total - left;
}

class GpuModules : public test::GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!test::device())
      return;
    auto opened = test::onGpu() ? openCuda({.count = 64}) : openEmulator({.modules = {.count = 64}});
    ASSERT_TRUE(opened) << opened.error().message;
    driver = std::move(*opened);
    stream = *driver->createStream(0);
    out = *driver->allocate(0, 4);
    ASSERT_TRUE(driver->fill(stream, out, 0, 4));
  }
  KernelId load(uint32_t n) {
    auto kernel = driver->load(0, shape(n));
    EXPECT_TRUE(kernel) << kernel.error().message;
    return kernel ? *kernel : KernelId{};
  }
  void launch(KernelId kernel) {
    Status launched = driver->launch(stream, kernel, {}, std::as_bytes(std::span(&out, 1)));
    EXPECT_TRUE(launched) << launched.error().message;
  }
  uint32_t value() {
    uint32_t read = 0;
    EXPECT_TRUE(driver->copyOut(stream, &read, out, 4));
    Status ran = driver->synchronize(stream);
    EXPECT_TRUE(ran) << ran.error().message;
    return read;
  }
  std::unique_ptr<Driver> driver;
  StreamId stream{};
  DeviceAddress out = 0;
};

TEST_F(GpuModules, A21DeviceMemoryStaysFlat) {
  uint32_t expected = 0;
  uint64_t early = 0;
  for (uint32_t n = 1; n <= 5000; ++n) {
    KernelId kernel = load(n);
    launch(kernel);
    expected += n;
    ASSERT_TRUE(driver->unload(kernel)); // it may still run
    if (n % 100 == 0) {
      ASSERT_EQ(value(), expected) << "after " << n;
    }
    if (n == 1000)
      early = deviceBytes();
  }
  EXPECT_LE(deviceBytes(), early + early / 50) << "2 % more than after the first 1,000";
}

TEST_F(GpuModules, A21AGraphOutlivesItsKernel) {
  KernelId kernel = load(3);
  ASSERT_TRUE(driver->beginCapture(stream));
  launch(kernel);
  auto graph = driver->endCapture(stream);
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_TRUE(driver->unload(kernel));
  for (uint32_t n = 100; n < 300; ++n)
    ASSERT_TRUE(driver->unload(load(n)));
  for (int replay = 0; replay < 10; ++replay)
    ASSERT_TRUE(driver->launchGraph(stream, *graph));
  EXPECT_EQ(value(), 30u);
  EXPECT_TRUE(driver->destroyGraph(*graph));
}

} // namespace
