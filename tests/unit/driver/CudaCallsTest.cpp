// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the CUDA driver is asked, and what its refusals become, with a stand-in for it. A program of its own: the
// stand-in hides a real driver.
#include "interlock/device.hpp"
#include "tests/unit/driver/BesideACapture.h"
#include "tests/unit/driver/FakeCuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

namespace interlock {
namespace {

using testing::HasSubstr;

FakeCudaState &fake() {
  static auto *state = [] {
    // Loaded by path, it is what the loader finds under its name from now on.
    void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_GLOBAL);
    auto get = library ? reinterpret_cast<FakeCudaState *(*)()>(dlsym(library, "fakeCudaState")) : nullptr;
    return get ? get() : nullptr;
  }();
  return *state;
}

class CudaCalls : public testing::Test {
protected:
  void SetUp() override { fake() = FakeCudaState{}; }
  void open() {
    auto opened = openCuda({.count = 0}); // so that each load and unload is seen
    ASSERT_TRUE(opened) << opened.error().message;
    driver = std::move(*opened);
    auto made = driver->createStream(0);
    ASSERT_TRUE(made);
    stream = *made;
  }
  KernelId load() {
    auto kernel = driver->load(0, image);
    EXPECT_TRUE(kernel) << kernel.error().message;
    return kernel ? *kernel : KernelId{};
  }
  void fail(const char *call, int result) {
    fake().failing = call;
    fake().failure = result;
  }

  KernelImage image{
      .text = ".version 8.6\n.entry kernel(.param .u64 a, .param .u64 b) { ret; }\n", .binary = {}, .entry = "kernel"};
  std::unique_ptr<Driver> driver;
  StreamId stream{};
  uint64_t params[2] = {0x1122334455667788, 2};
};

TEST_F(CudaCalls, DevicesAreDescribed) {
  open();
  auto info = driver->info(0);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->name, "Fake GPU A");
  EXPECT_EQ(info->target, "sm_90a");
  EXPECT_EQ(info->multiprocessors, 132u);
  EXPECT_EQ(info->driverVersion, 12040u);
  EXPECT_EQ(info->maxPtxIsa, 84u);
  EXPECT_EQ(fake().streamFlags, 1u) << "streams do not wait for the default stream";
}

// `a` targets run on their own chip only; any other GPU takes the PTX of the oldest target.
TEST_F(CudaCalls, TheTargetFitsTheGpu) {
  const std::pair<std::pair<int, int>, const char *> gpus[] = {
      {{8, 0}, "sm_80"},    {{8, 6}, "sm_80"},    {{8, 9}, "sm_80"},    {{9, 0}, "sm_90a"},
      {{10, 0}, "sm_100a"}, {{10, 3}, "sm_103a"}, {{12, 0}, "sm_120a"}, {{12, 1}, "sm_80"}};
  for (auto [capability, target] : gpus) {
    fake().major = capability.first;
    fake().minor = capability.second;
    auto opened = openCuda();
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ((*opened)->info(0)->target, target) << capability.first << "." << capability.second;
  }
  fake().major = 7;
  fake().minor = 5;
  auto old = openCuda();
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, Code::unsupported);
  EXPECT_THAT(old.error().message, HasSubstr("compute capability 7.5"));
  EXPECT_EQ(fake().contexts, 0);
}

TEST_F(CudaCalls, NoGpuIsOneSentence) {
  fake().devices = 0;
  auto none = openCuda();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::notFound);
  EXPECT_THAT(none.error().message, HasSubstr("the emulator"));
  // CUDA_ERROR_NO_DEVICE from cuInit is the same case in the driver's words.
  fake().devices = 1;
  fail("cuInit", 100);
  auto noDevice = openCuda();
  ASSERT_FALSE(noDevice);
  EXPECT_EQ(noDevice.error().code, Code::notFound);
  EXPECT_THAT(noDevice.error().message, HasSubstr("the emulator"));
}

TEST_F(CudaCalls, ALaunchCarriesWhatItWasGiven) {
  open();
  KernelId kernel = load();
  ASSERT_TRUE(driver->launch(stream, kernel, {.grid = 24, .block = 512, .cluster = 4, .dynamicSharedBytes = 100'000},
                             std::as_bytes(std::span(params))));
  EXPECT_EQ(fake().grid, 24u);
  EXPECT_EQ(fake().block, 512u);
  EXPECT_EQ(fake().sharedBytes, 100'000u);
  EXPECT_EQ(fake().sharedAttribute, 100'000);
  EXPECT_EQ(fake().attributes, 1u);
  EXPECT_EQ(fake().clusterAttribute, 4); // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
  EXPECT_EQ(fake().clusterX, 4u);
  EXPECT_EQ(fake().paramBytes, sizeof(params));
  EXPECT_EQ(fake().firstParam, params[0]);
  ASSERT_TRUE(driver->launch(stream, kernel, {.grid = 1, .block = 32}, std::as_bytes(std::span(params))));
  EXPECT_EQ(fake().attributes, 0u) << "without clusters an older GPU takes it too";
}

TEST_F(CudaCalls, LaunchesSayWhatTheyNeed) {
  open();
  KernelId kernel = load();
  auto params8 = std::as_bytes(std::span(params));
  ASSERT_TRUE(driver->launch(stream, kernel, {.grid = 4, .block = 32, .programmatic = true}, params8));
  EXPECT_EQ(fake().attributes, 1u);
  EXPECT_EQ(fake().launchIds[0], 6); // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  ASSERT_TRUE(driver->launch(stream, kernel, {.grid = 8, .block = 32, .cluster = 4, .cooperative = true}, params8));
  EXPECT_EQ(fake().attributes, 2u);
  EXPECT_EQ(fake().launchIds[0], 4); // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
  EXPECT_EQ(fake().launchIds[1], 2); // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
  ASSERT_TRUE(driver->createUrgentStream(0));
  EXPECT_EQ(fake().streamPriority, -5);
}

// A grid that must be resident is refused before CUDA is asked, with both numbers; it is only left to CUDA on request.
TEST_F(CudaCalls, AGridThatMustBeResidentIsBounded) {
  open();
  KernelId kernel = load();
  auto info = driver->info(0);
  ASSERT_TRUE(info);
  uint32_t bound = 4 * info->multiprocessors;
  auto resident = driver->residentCtas(kernel, {.block = 32});
  ASSERT_TRUE(resident);
  EXPECT_EQ(*resident, bound);
  auto clusters = driver->residentCtas(kernel, {.block = 32, .cluster = 2});
  ASSERT_TRUE(clusters);
  EXPECT_EQ(*clusters, 80u);
  auto params8 = std::as_bytes(std::span(params));
  EXPECT_TRUE(driver->launch(stream, kernel, {.grid = bound, .block = 32, .cooperative = true}, params8));
  fake().grid = 0;
  Status over = driver->launch(stream, kernel, {.grid = bound + 1, .block = 32, .cooperative = true}, params8);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Code::badInput);
  EXPECT_THAT(over.error().message, HasSubstr(std::to_string(bound) + " CTAs"));
  EXPECT_THAT(over.error().message, HasSubstr("got " + std::to_string(bound + 1)));
  EXPECT_EQ(fake().grid, 0u);
  EXPECT_TRUE(driver->launch(stream, kernel,
                             {.grid = bound + 1, .block = 32, .cooperative = true, .checkResidency = false}, params8));
  EXPECT_EQ(fake().grid, bound + 1);
}

// Padding at the end of a struct is cut off, and a struct that is too short is not read beyond its end.
TEST_F(CudaCalls, ParametersAreAsLongAsTheKernels) {
  open();
  KernelId kernel = load();
  uint64_t padded[3] = {7, 8, 9};
  ASSERT_TRUE(driver->launch(stream, kernel, {}, std::as_bytes(std::span(padded))));
  EXPECT_EQ(fake().paramBytes, 16u);
  auto refused = driver->launch(stream, kernel, {}, std::as_bytes(std::span(padded).first(1)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "expected 16 bytes of kernel parameters, got 8");
  // A driver before 12.4 cannot say: it is given what there is.
  ASSERT_TRUE(driver->synchronize(stream));
  ASSERT_TRUE(driver->unload(kernel));
  fail("cuFuncGetParamInfo", 1);
  KernelId unknown = load();
  ASSERT_TRUE(driver->launch(stream, unknown, {}, std::as_bytes(std::span(padded))));
  EXPECT_EQ(fake().paramBytes, 24u);
}

// Every call is made in the device's context, and the caller's own is left as it was.
TEST_F(CudaCalls, ContextsArePushedAndPopped) {
  open();
  KernelId kernel = load();
  auto at = driver->allocate(0, 64);
  ASSERT_TRUE(at);
  char host[64];
  EXPECT_TRUE(driver->copyIn(stream, *at, host, 64));
  EXPECT_TRUE(driver->copyOut(stream, host, *at, 64));
  EXPECT_TRUE(driver->copy(stream, *at, *at, 64));
  EXPECT_TRUE(driver->fill(stream, *at, 0, 64));
  EXPECT_TRUE(driver->beginCapture(stream));
  EXPECT_EQ(fake().captureMode, 1); // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  EXPECT_TRUE(driver->launch(stream, kernel, {}, std::as_bytes(std::span(params))));
  auto graph = driver->endCapture(stream);
  ASSERT_TRUE(graph);
  EXPECT_TRUE(driver->launchGraph(stream, *graph));
  auto one = driver->createEvent(), two = driver->createEvent();
  EXPECT_TRUE(driver->recordEvent(stream, *one));
  EXPECT_TRUE(driver->recordEvent(stream, *two));
  EXPECT_DOUBLE_EQ(*driver->elapsedNs(*one, *two), 1.5e6);
  EXPECT_TRUE(driver->synchronize(stream));
  for (Status status : {driver->destroyEvent(*one), driver->destroyEvent(*two), driver->destroyGraph(*graph),
                        driver->unload(kernel), driver->release(*at), driver->destroyStream(stream)})
    EXPECT_TRUE(status);
  EXPECT_EQ(fake().uncovered, 0);
  EXPECT_EQ(fake().depth, 0);
  EXPECT_EQ(fake().objects, 0) << "everything that was made is destroyed";
  driver.reset();
  EXPECT_EQ(fake().contexts, 0);
}

// B08: an engine captures on one thread and prepares an operation on another. What this driver does meanwhile leaves
// the capture as it is, and the thread's own mode too.
TEST_F(CudaCalls, B08ACaptureElsewhereGoesOn) {
  fake().capturing = true;
  fake().threadMode = 1; // as the caller set it
  open();
  DeviceAddress windows = test::workBesideACapture(*driver, image, 1 << 21);
  fake().capturing = false; // what follows waits for the whole device, which no capture outlives
  EXPECT_TRUE(driver->unmapWindows(windows));
  driver.reset();
  EXPECT_EQ(fake().forbidden, 0);
  EXPECT_EQ(fake().threadMode, 1);
}

// A21: a module whose kernel may still run is not unloaded, and nothing is beside a capture.
TEST_F(CudaCalls, A21AModuleStaysWhileItRuns) {
  open();
  KernelId kernel = load();
  int before = fake().objects;
  EXPECT_TRUE(driver->launch(stream, kernel, {}, std::as_bytes(std::span(params))));
  fail("cuStreamQuery", 600); // CUDA_ERROR_NOT_READY
  EXPECT_TRUE(driver->unload(kernel));
  EXPECT_EQ(fake().objects, before);
  fail("", 0);
  ASSERT_TRUE(driver->beginCapture(stream));
  KernelId other = load();
  EXPECT_TRUE(driver->unload(other));
  EXPECT_EQ(fake().objects, before);
  auto graph = driver->endCapture(stream);
  ASSERT_TRUE(graph);
  EXPECT_EQ(fake().objects, before - 1 + 2) << "the module is gone, the graph and its executable are there";
  EXPECT_TRUE(driver->destroyGraph(*graph));
}

// What is still alive goes with the driver: others may hold the primary context, so releasing it would free nothing.
TEST_F(CudaCalls, WhatIsLeftGoesWithTheDriver) {
  open();
  load();
  ASSERT_TRUE(driver->allocate(0, 64));
  auto event = driver->createEvent();
  ASSERT_TRUE(driver->recordEvent(stream, *event));
  ASSERT_TRUE(driver->beginCapture(stream));
  ASSERT_TRUE(driver->endCapture(stream));
  EXPECT_GT(fake().objects, 0);
  driver.reset();
  EXPECT_EQ(fake().objects, 0);
  EXPECT_EQ(fake().contexts, 0);
  EXPECT_EQ(fake().uncovered, 0);
  EXPECT_EQ(fake().depth, 0);
}

TEST_F(CudaCalls, A13PtxThatIsTooNewNamesBothVersions) {
  open();
  fail("cuModuleLoadDataEx", 222); // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
  auto refused = driver->load(0, image);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("PTX ISA 8.6"));
  EXPECT_THAT(refused.error().message, HasSubstr("up to 8.4"));
  EXPECT_THAT(refused.error().message, HasSubstr("CUDA 12.4"));
}

TEST_F(CudaCalls, TheAssemblersWordsAreInTheMessage) {
  open();
  fail("cuModuleLoadDataEx", 218); // CUDA_ERROR_INVALID_PTX
  fake().jitLog = "ptxas application ptx input, line 7; error   : Unknown symbol 'x'\n";
  image.text = ".version 8.0\n";
  auto refused = driver->load(0, image);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::device);
  EXPECT_THAT(refused.error().message, HasSubstr("line 7; error   : Unknown symbol 'x'"));
  EXPECT_NE(refused.error().message.back(), '\n');
}

TEST_F(CudaCalls, AFunctionThatIsMissingUnloadsItsModule) {
  open();
  int before = fake().objects;
  fail("cuModuleGetFunction", 500);
  auto refused = driver->load(0, image);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("find the kernel kernel"));
  EXPECT_EQ(fake().objects, before);
}

TEST_F(CudaCalls, FailuresSayWhatWasToBeDone) {
  open();
  fail("cuMemAlloc_v2", 2);
  auto memory = driver->allocate(0, 123);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, Code::device);
  EXPECT_EQ(memory.error().message, "the CUDA driver failed to allocate 123 bytes: out of memory (2)");
  fail("cuStreamSynchronize", 700);
  Status lost = driver->synchronize(stream);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("wait for a stream"));
  EXPECT_EQ(fake().depth, 0);
}

TEST_F(CudaCalls, PeersReachEachOther) {
  fake().devices = 3;
  auto opened = openCuda();
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->deviceCount(), 3u);
  EXPECT_EQ(fake().peerLinks, 6);
  fail("cuCtxEnablePeerAccess", 704); // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
  EXPECT_TRUE(openCuda());
  fail("cuCtxEnablePeerAccess", 217);
  EXPECT_FALSE(openCuda());
}

TEST_F(CudaCalls, WindowsOfSeveralGpusShareARange) {
  fake().devices = 2;
  open();
  EXPECT_EQ(*driver->windowGranularity(), size_t(1) << 21) << "the coarser of the two";
  auto one = driver->createWindow(0, 2 << 21, WindowSharing::process);
  ASSERT_TRUE(one);
  EXPECT_EQ(fake().windowDevice, 100);
  EXPECT_EQ(fake().handleTypes, 0);
  auto two = driver->createWindow(1, 1 << 21, WindowSharing::exported);
  ASSERT_TRUE(two);
  EXPECT_EQ(fake().windowDevice, 101);
  EXPECT_EQ(fake().handleTypes, 1); // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
  auto base = driver->mapWindows(std::vector{*one, *two});
  ASSERT_TRUE(base) << base.error().message;
  EXPECT_EQ(fake().mappings, 2);
  EXPECT_EQ(fake().devicesWithAccess, 2);
  EXPECT_EQ(fake().accessBytes, uint64_t(3) << 21);
  EXPECT_TRUE(driver->destroyWindow(*one));
  EXPECT_TRUE(driver->destroyWindow(*two));
  EXPECT_EQ(fake().windows, 0);
  EXPECT_TRUE(driver->unmapWindows(*base));
  EXPECT_EQ(fake().waitedFor, 2) << "cuMemUnmap does not wait for kernels";
  EXPECT_EQ(fake().mappedWhenWaited, 2);
  EXPECT_EQ(fake().mappings, 0);
  EXPECT_EQ(fake().ranges, 0);
  EXPECT_EQ(fake().uncovered, 0);
}

TEST_F(CudaCalls, AWindowTravelsAsADescriptor) {
  open();
  auto window = driver->createWindow(0, 5 << 16, WindowSharing::exported);
  ASSERT_TRUE(window);
  auto descriptor = driver->exportWindow(*window);
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(*descriptor, 5);
  auto imported = driver->importWindow(*descriptor, 5 << 16);
  ASSERT_TRUE(imported);
  EXPECT_EQ(fake().windows, 2);
  ASSERT_TRUE(driver->mapWindows(std::vector{*window, *imported}));
  driver.reset(); // what is left goes with the driver
  EXPECT_EQ(fake().windows, 0);
  EXPECT_EQ(fake().mappings, 0);
  EXPECT_EQ(fake().ranges, 0);
  EXPECT_EQ(fake().contexts, 0);
}

TEST_F(CudaCalls, AMappingThatFailsLeavesNothingBehind) {
  open();
  std::vector<WindowId> windows;
  for (int i = 0; i < 3; ++i)
    windows.push_back(*driver->createWindow(0, 1 << 16, WindowSharing::process));
  fake().failingMapping = 3;
  auto refused = driver->mapWindows(windows);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("map a window: out of memory"));
  EXPECT_EQ(fake().mappings, 0);
  EXPECT_EQ(fake().ranges, 0);
  fake().failingMapping = 0;
  for (const char *call : {"cuMemAddressReserve", "cuMemSetAccess"}) {
    fail(call, 2);
    EXPECT_FALSE(driver->mapWindows(windows)) << call;
    EXPECT_EQ(fake().mappings, 0) << call;
    EXPECT_EQ(fake().ranges, 0) << call;
  }
}

TEST_F(CudaCalls, AGpuWithoutVirtualMemorySaysSo) {
  open();
  fake().exportsDescriptors = 0;
  auto shared = driver->createWindow(0, 1 << 16, WindowSharing::exported);
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().code, Code::unsupported);
  EXPECT_THAT(shared.error().message, HasSubstr("hand memory to other processes"));
  EXPECT_TRUE(driver->createWindow(0, 1 << 16, WindowSharing::process));
  fake().virtualMemory = 0;
  auto none = driver->windowGranularity();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::unsupported);
  EXPECT_THAT(none.error().message, HasSubstr("map memory at chosen addresses"));
}

// Devices of one driver share an address space, so those that cannot be reached are left out.
TEST_F(CudaCalls, GpusOutOfReachAreLeftOut) {
  fake().devices = 3;
  fake().peers = 0;
  auto opened = openCuda();
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->deviceCount(), 1u);
  EXPECT_EQ(fake().contexts, 1);
}

} // namespace
} // namespace interlock
