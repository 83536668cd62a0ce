// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the HIP runtime is asked, in which order, and what its refusals become, with a stand-in for it. A program of its
// own: the stand-in hides a real runtime.
#include "interlock/device.hpp"
#include "tests/unit/driver/BesideACapture.h"
#include "tests/unit/driver/LoadFakeHip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

FakeHipState &fake() { return fakeHip(); }

class HipCalls : public testing::Test {
protected:
  void SetUp() override { reinterpret_cast<void (*)()>(dlsym(fakeHipLibrary(), "fakeHipReset"))(); }
  /// Whatever a test did: nothing that HIP forbids, and nothing left behind.
  void TearDown() override {
    driver.reset();
    EXPECT_THAT(fake().violations, IsEmpty());
    EXPECT_EQ(fake().objects, 0);
    EXPECT_EQ(fake().windows, 0);
    EXPECT_EQ(fake().mappings, 0);
    EXPECT_EQ(fake().ranges, 0);
    EXPECT_EQ(fake().current, 0) << "the caller's device is left as it was";
  }
  void open(HipOptions options = {.modules = {.count = 0}}) { // so that each load and unload is seen
    auto opened = openHip(options);
    ASSERT_TRUE(opened) << opened.error().message;
    driver = std::move(*opened);
    auto made = driver->createStream(0);
    ASSERT_TRUE(made);
    stream = *made;
  }
  KernelId load(uint32_t device = 0) {
    auto kernel = driver->load(device, image);
    EXPECT_TRUE(kernel) << kernel.error().message;
    return kernel ? *kernel : KernelId{};
  }
  void fail(const char *call, int result) {
    fake().failing = call;
    fake().failure = result;
  }

  KernelImage image{.text = "amdhsa.kernels:\n    .kernarg_segment_size: 16\n",
                    .binary = "\x7f"
                              "ELF...",
                    .entry = "kernel"};
  std::unique_ptr<Driver> driver;
  StreamId stream{};
  uint64_t params[2] = {0x1122334455667788, 2};
};

TEST_F(HipCalls, DevicesAreDescribed) {
  open();
  EXPECT_EQ(driver->kind(), "hip");
  auto info = driver->info(0);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->name, "Fake Instinct A");
  EXPECT_EQ(info->target, "gfx942");
  EXPECT_EQ(info->multiprocessors, 304u);
  EXPECT_EQ(info->driverVersion, 70'100'000u);
  EXPECT_EQ(info->maxPtxIsa, 0u);
  EXPECT_EQ(fake().streamFlags, 1u) << "streams do not wait for the default stream";
  EXPECT_FALSE(driver->info(1));
}

TEST_F(HipCalls, AGpuThatNoTargetFitsIsNamed) {
  fake().architecture = "gfx906:sramecc-:xnack-";
  auto refused = openHip();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_EQ(refused.error().message,
            "Fake Instinct A is a gfx906: gfx90a, gfx942, gfx950, gfx1250, gfx1100, gfx1201 would do");
}

TEST_F(HipCalls, NoGpuIsOneSentence) {
  fake().devices = 0;
  auto none = openHip();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::notFound);
  EXPECT_EQ(none.error().message, "the HIP runtime sees no GPU: the emulator runs the kernels without one");
  fail("hipGetDeviceCount", 100); // hipErrorNoDevice
  EXPECT_EQ(openHip().error().code, Code::notFound);
  fail("hipInit", 3);
  EXPECT_EQ(openHip().error().message, "the HIP runtime failed to start: some failure (3)");
}

TEST_F(HipCalls, ALaunchCarriesWhatItWasGiven) {
  open();
  KernelId kernel = load();
  ASSERT_TRUE(driver->launch(stream, kernel, {.grid = 24, .block = 512, .dynamicSharedBytes = 100},
                             std::as_bytes(std::span(params))));
  EXPECT_EQ(fake().grid, 24u);
  EXPECT_EQ(fake().block, 512u);
  EXPECT_EQ(fake().sharedBytes, 100u);
  EXPECT_EQ(fake().paramBytes, 16u);
  EXPECT_EQ(fake().firstParam, params[0]);
  // Padding at the end of a struct is cut off, and one that is too short is not read beyond its end.
  uint64_t padded[3] = {7, 8, 9};
  ASSERT_TRUE(driver->launch(stream, kernel, {}, std::as_bytes(std::span(padded))));
  EXPECT_EQ(fake().paramBytes, 16u);
  auto refused = driver->launch(stream, kernel, {}, std::as_bytes(std::span(padded).first(1)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "expected 16 bytes of kernel parameters, got 8");
  ASSERT_TRUE(driver->synchronize(stream));
  EXPECT_TRUE(driver->unload(kernel));
}

// What HIP cannot grant is refused before it is asked, and never left out.
TEST_F(HipCalls, ALaunchThatNeedsMoreIsRefused) {
  open();
  KernelId kernel = load();
  const std::pair<LaunchConfig, const char *> launches[] = {
      {{.cluster = 2},
       "expected a launch without clusters, which hipModuleLaunchKernel has none of, got clusters of 2: a cluster of 1 "
       "would do"},
      {{.cooperative = true},
       "expected a launch that is not cooperative, since HIP takes the parameters of those one by one and not as a "
       "buffer, got a cooperative one: a kernel that does not need its whole grid resident would do"},
      {{.cooperative = true, .checkResidency = false}, "expected a launch that is not cooperative"},
      {{.programmatic = true},
       "expected a launch that starts behind its predecessor's end, since HIP has no other, got a programmatic one: "
       "the kernel without that would do"}};
  fake().calls.clear();
  for (const auto &[config, sentence] : launches) {
    Status refused = driver->launch(stream, kernel, config, std::as_bytes(std::span(params)));
    EXPECT_FALSE(refused) << sentence;
    if (refused)
      continue;
    EXPECT_EQ(refused.error().code, Code::unsupported);
    EXPECT_THAT(refused.error().message, StartsWith(sentence));
  }
  EXPECT_THAT(fake().calls, IsEmpty());
}

TEST_F(HipCalls, ADeviceSaysHowManyCtasItHolds) {
  fake().devices = 2;
  open();
  KernelId kernel = load(1);
  auto resident = driver->residentCtas(kernel, {.grid = 7, .block = 256, .dynamicSharedBytes = 1000});
  ASSERT_TRUE(resident) << resident.error().message;
  EXPECT_EQ(*resident, 3 * 228u) << "the multiprocessors are those of the kernel's device";
  EXPECT_EQ(fake().occupancyBlock, 256);
  EXPECT_EQ(fake().occupancyShared, 1000u);
  fake().ctasPerMultiprocessor = 0;
  EXPECT_EQ(*driver->residentCtas(kernel, {.block = 1024}), 0u);
  auto clusters = driver->residentCtas(kernel, {.cluster = 2});
  ASSERT_FALSE(clusters);
  EXPECT_EQ(clusters.error().code, Code::unsupported);
  auto own = driver->createStream(1);
  EXPECT_EQ(clusters.error().message,
            driver->launch(*own, kernel, {.cluster = 2}, std::as_bytes(std::span(params))).error().message);
  fail("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", 98);
  EXPECT_THAT(driver->residentCtas(kernel, {}).error().message, HasSubstr("failed to count resident CTAs"));
}

TEST_F(HipCalls, TextAloneIsRefused) {
  open();
  image.binary.clear();
  auto refused = driver->load(0, image);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "expected a code object of kernel, got its text alone: HIP assembles none");
}

TEST_F(HipCalls, EverythingThatIsMadeIsDestroyed) {
  open();
  KernelId kernel = load();
  auto at = driver->allocate(0, 64);
  ASSERT_TRUE(at);
  char host[64];
  EXPECT_TRUE(driver->copyIn(stream, *at, host, 64));
  EXPECT_TRUE(driver->copyOut(stream, host, *at, 64));
  EXPECT_TRUE(driver->copy(stream, *at, *at, 64));
  EXPECT_EQ(fake().copyKind, 4) << "hipMemcpyDefault: by the addresses";
  EXPECT_TRUE(driver->fill(stream, *at, 0, 64));
  EXPECT_TRUE(driver->beginCapture(stream));
  EXPECT_EQ(fake().captureMode, 1); // hipStreamCaptureModeThreadLocal
  EXPECT_TRUE(driver->launch(stream, kernel, {}, std::as_bytes(std::span(params))));
  auto graph = driver->endCapture(stream);
  ASSERT_TRUE(graph);
  EXPECT_TRUE(driver->launchGraph(stream, *graph));
  auto one = driver->createEvent(), two = driver->createEvent();
  EXPECT_FALSE(driver->elapsedNs(*one, *two)) << "neither was recorded";
  EXPECT_TRUE(driver->recordEvent(stream, *one));
  EXPECT_TRUE(driver->recordEvent(stream, *two));
  EXPECT_DOUBLE_EQ(*driver->elapsedNs(*one, *two), 1.5e6);
  EXPECT_TRUE(driver->synchronize(stream));
  for (Status status : {driver->destroyEvent(*one), driver->destroyEvent(*two), driver->destroyGraph(*graph),
                        driver->unload(kernel), driver->release(*at), driver->destroyStream(stream)})
    EXPECT_TRUE(status);
  EXPECT_EQ(fake().objects, 0);
}

// B08: an engine captures on one thread and prepares an operation on another. What this driver does meanwhile leaves
// the capture as it is, and the thread's own mode too.
TEST_F(HipCalls, B08ACaptureElsewhereGoesOn) {
  fake().capturing = true;
  fake().threadMode = 1; // as the caller set it
  open();
  DeviceAddress windows = test::workBesideACapture(*driver, image, 1 << 12);
  fake().capturing = false; // what follows waits for the whole device, which no capture outlives
  EXPECT_TRUE(driver->unmapWindows(windows));
  driver.reset();
  EXPECT_THAT(fake().violations, IsEmpty());
  EXPECT_EQ(fake().threadMode, 1);
}

// The order of what goes with the driver: nothing is taken away under a kernel that runs.
TEST_F(HipCalls, WhatIsLeftGoesWithTheDriver) {
  open();
  KernelId kernel = load();
  ASSERT_TRUE(driver->allocate(0, 64));
  auto event = driver->createEvent();
  ASSERT_TRUE(driver->recordEvent(stream, *event));
  ASSERT_TRUE(driver->beginCapture(stream));
  ASSERT_TRUE(driver->endCapture(stream));
  auto window = driver->createWindow(0, 1 << 12, WindowSharing::process);
  ASSERT_TRUE(driver->mapWindows(std::vector{*window}));
  ASSERT_TRUE(driver->launch(stream, kernel, {}, std::as_bytes(std::span(params))));
  EXPECT_GT(fake().objects, 0);
  EXPECT_TRUE(fake().busy);
  fake().calls.clear();
  driver.reset();
  EXPECT_THAT(fake().calls, ElementsAre("hipDeviceSynchronize", "hipGraphExecDestroy", "hipGraphDestroy",
                                        "hipEventDestroy", "hipStreamDestroy", "hipModuleUnload", "hipFree",
                                        "hipMemUnmap", "hipMemAddressFree", "hipMemRelease"));
}

// A module whose kernel may still run is not unloaded.
TEST_F(HipCalls, AModuleStaysWhileItRuns) {
  open();
  KernelId kernel = load();
  int before = fake().objects;
  EXPECT_TRUE(driver->launch(stream, kernel, {}, std::as_bytes(std::span(params))));
  EXPECT_TRUE(driver->unload(kernel));
  EXPECT_EQ(fake().objects, before);
  ASSERT_TRUE(driver->synchronize(stream));
  KernelId other = load();
  EXPECT_TRUE(driver->unload(other));
  EXPECT_EQ(fake().objects, before - 1);
}

// What is enqueued on a stream still runs when it is destroyed.
TEST_F(HipCalls, AStreamIsWaitedForBeforeItGoes) {
  open();
  KernelId kernel = load();
  ASSERT_TRUE(driver->launch(stream, kernel, {}, std::as_bytes(std::span(params))));
  EXPECT_FALSE(*driver->isIdle(stream));
  EXPECT_TRUE(driver->destroyStream(stream));
}

TEST_F(HipCalls, EachCallIsMadeOnItsDevice) {
  fake().devices = 2;
  open();
  EXPECT_EQ(fake().peerLinks, 2);
  auto second = driver->createStream(1);
  ASSERT_TRUE(second);
  KernelId kernel = load(1);
  ASSERT_TRUE(driver->launch(*second, kernel, {}, std::as_bytes(std::span(params))));
  auto wrong = driver->launch(stream, kernel, {}, std::as_bytes(std::span(params)));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("expected a stream of device 1"));
  EXPECT_TRUE(driver->synchronize(*second));
  EXPECT_EQ(fake().current, 0);
}

TEST_F(HipCalls, WindowsAreMemoryThatNoCacheKeeps) {
  fake().devices = 2;
  open();
  EXPECT_EQ(*driver->windowGranularity(), size_t(1) << 12);
  auto one = driver->createWindow(0, 2 << 12, WindowSharing::process);
  ASSERT_TRUE(one);
  EXPECT_EQ(fake().allocationType, 0x40000000); // hipMemAllocationTypeUncached
  EXPECT_EQ(fake().handleTypes, 0);
  auto two = driver->createWindow(1, 1 << 12, WindowSharing::exported);
  ASSERT_TRUE(two);
  EXPECT_EQ(fake().windowDevice, 1);
  EXPECT_EQ(fake().handleTypes, 1); // hipMemHandleTypePosixFileDescriptor
  auto base = driver->mapWindows(std::vector{*one, *two});
  ASSERT_TRUE(base) << base.error().message;
  EXPECT_EQ(fake().mappings, 2);
  EXPECT_EQ(fake().accessBytes, uint64_t(3) << 12) << "every device reaches both";
  EXPECT_TRUE(driver->destroyWindow(*one));
  EXPECT_TRUE(driver->destroyWindow(*two));
  EXPECT_EQ(fake().windows, 0);
  fake().busy = true;
  EXPECT_TRUE(driver->unmapWindows(*base));
  EXPECT_EQ(fake().mappings, 0);
  EXPECT_EQ(fake().ranges, 0);
}

TEST_F(HipCalls, CachedWindowsIfAskedFor) {
  open({.modules = {.count = 0}, .cachedWindows = true});
  ASSERT_TRUE(driver->createWindow(0, 1 << 12, WindowSharing::process));
  EXPECT_EQ(fake().allocationType, 1); // hipMemAllocationTypePinned
}

TEST_F(HipCalls, AWindowTravelsAsADescriptor) {
  open();
  auto window = driver->createWindow(0, 5 << 12, WindowSharing::exported);
  ASSERT_TRUE(window);
  auto descriptor = driver->exportWindow(*window);
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(*descriptor, 5);
  auto imported = driver->importWindow(*descriptor, 5 << 12);
  ASSERT_TRUE(imported);
  EXPECT_EQ(fake().windows, 2);
  ASSERT_TRUE(driver->mapWindows(std::vector{*window, *imported}));
}

TEST_F(HipCalls, AMappingThatFailsLeavesNothingBehind) {
  open();
  std::vector<WindowId> windows;
  for (int i = 0; i < 3; ++i)
    windows.push_back(*driver->createWindow(0, 1 << 12, WindowSharing::process));
  fake().failingMapping = 3;
  auto refused = driver->mapWindows(windows);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("map a window: out of memory"));
  EXPECT_EQ(fake().mappings, 0);
  EXPECT_EQ(fake().ranges, 0);
  fake().failingMapping = 0;
  for (const char *call : {"hipMemAddressReserve", "hipMemSetAccess"}) {
    fail(call, 2);
    EXPECT_FALSE(driver->mapWindows(windows)) << call;
    EXPECT_EQ(fake().mappings, 0) << call;
    EXPECT_EQ(fake().ranges, 0) << call;
  }
}

TEST_F(HipCalls, FailuresSayWhatWasToBeDoneAndLeaveNothing) {
  open();
  fail("hipMalloc", 2);
  EXPECT_EQ(driver->allocate(0, 123).error().message,
            "the HIP runtime failed to allocate 123 bytes: out of memory (2)");
  int before = fake().objects;
  fail("hipModuleGetFunction", 500);
  EXPECT_THAT(driver->load(0, image).error().message, HasSubstr("find the kernel kernel"));
  EXPECT_EQ(fake().objects, before);
  fail("hipModuleLoadData", 209);
  EXPECT_THAT(driver->load(0, image).error().message, HasSubstr("load the code object of kernel on Fake Instinct A"));
  fail("hipGraphInstantiateWithFlags", 1);
  ASSERT_TRUE(driver->beginCapture(stream));
  EXPECT_FALSE(driver->endCapture(stream));
  EXPECT_EQ(fake().objects, before);
  fail("hipStreamSynchronize", 700);
  EXPECT_THAT(driver->synchronize(stream).error().message, HasSubstr("wait for a stream"));
  fail("", 0);
}

TEST_F(HipCalls, GpusOutOfReachAreLeftOut) {
  fake().devices = 3;
  fake().peers = 0;
  open();
  EXPECT_EQ(driver->deviceCount(), 1u);
  EXPECT_EQ(fake().peerLinks, 0);
}

} // namespace
} // namespace interlock
