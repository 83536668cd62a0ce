// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loading and launching: what every driver does alike.
#include "tests/unit/driver/Drivers.h"

#include <numeric>

namespace interlock {
namespace {

using test::bytesOf;

class Kernels : public test::DriverTest {
protected:
  /// Clusters came with compute capability 9.0.
  bool hasClusters() { return driver->info(0)->target != "sm_80"; }
};
ILK_EVERY_DRIVER(Kernels);

TEST_P(Kernels, RunInTheOrderOfTheStream) {
  constexpr uint32_t count = 1000;
  DeviceAddress at = allocate(count * 4);
  KernelId kernel = load(test::addText);
  ok(driver->fill(stream, at, 0, count * 4));
  uint32_t sum = 0;
  for (uint32_t value = 1; value <= 20; ++value) {
    test::AddParams params{at, value, count};
    ok(driver->launch(stream, kernel, {.grid = 8, .block = 128}, bytesOf(params)));
    params = {0, 0, 0}; // it was copied
    sum += value;
  }
  EXPECT_EQ(download<uint32_t>(at, count), std::vector<uint32_t>(count, sum));
  ok(driver->unload(kernel));
  ok(driver->release(at));
}

TEST_P(Kernels, DynamicSharedMemoryBeyond48KiB) {
  constexpr uint32_t count = 25'000; // 100,000 bytes
  DeviceAddress at = allocate(count * 4);
  KernelId kernel = load(test::sharedText);
  struct {
    uint64_t out;
    uint32_t n, padding; // as the end of a struct has it: the kernel takes 12 bytes
  } params{at, count, 0};
  ok(driver->launch(stream, kernel, {.block = 256, .dynamicSharedBytes = count * 4}, bytesOf(params)));
  std::vector<uint32_t> expected(count);
  std::iota(expected.rbegin(), expected.rend(), 0u);
  EXPECT_EQ(download<uint32_t>(at, count), expected);
  // More than any chip has is refused, at the launch, and the driver goes on.
  EXPECT_FALSE(driver->launch(stream, kernel, {.block = 256, .dynamicSharedBytes = 1u << 20}, bytesOf(params)));
  ok(driver->launch(stream, kernel, {.block = 256, .dynamicSharedBytes = count * 4}, bytesOf(params)));
  ok(driver->synchronize(stream));
  ok(driver->unload(kernel));
  ok(driver->release(at));
}

TEST_P(Kernels, ClustersOfEverySize) {
  if (!hasClusters())
    GTEST_SKIP() << "the device has no clusters";
  constexpr uint32_t grid = 16;
  DeviceAddress at = allocate(grid * 4);
  KernelId kernel = load(test::clusterText);
  for (uint32_t cluster : {1u, 2u, 4u, 8u}) {
    ok(driver->fill(stream, at, 0xff, grid * 4));
    ok(driver->launch(stream, kernel, {.grid = grid, .block = 32, .cluster = cluster}, bytesOf(at)));
    std::vector<uint32_t> expected(grid);
    for (uint32_t cta = 0; cta < grid; ++cta)
      expected[cta] = cluster * 100 + cta % cluster;
    EXPECT_EQ(download<uint32_t>(at, grid), expected) << cluster;
  }
  EXPECT_FALSE(driver->launch(stream, kernel, {.grid = 6, .block = 32, .cluster = 4}, bytesOf(at)))
      << "a grid of parts of clusters";
  ok(driver->unload(kernel));
  ok(driver->release(at));
}

TEST_P(Kernels, LaunchesThatCannotBeAreRefused) {
  DeviceAddress at = allocate(4);
  KernelId kernel = load(test::addText);
  test::AddParams params{at, 1, 0};
  EXPECT_FALSE(driver->launch(stream, kernel, {.grid = 1, .block = 1025}, bytesOf(params)));
  EXPECT_FALSE(driver->launch(stream, kernel, {.grid = 1, .block = 0}, bytesOf(params)));
  EXPECT_FALSE(driver->launch(stream, kernel, {.grid = 0, .block = 32}, bytesOf(params)));
  ok(driver->launch(stream, kernel, {.grid = 1, .block = 1024}, bytesOf(params)));
  ok(driver->synchronize(stream));
  ok(driver->unload(kernel));
  refused(driver->launch(stream, kernel, {}, bytesOf(params)), Code::badInput, "kernel");
  refused(driver->unload(kernel), Code::badInput, "kernel");
  ok(driver->release(at));
}

TEST_P(Kernels, ShortParametersAreRefused) {
  KernelId kernel = load(test::addText);
  uint64_t tooLittle = 0;
  EXPECT_FALSE(driver->launch(stream, kernel, {}, bytesOf(tooLittle)));
  ok(driver->unload(kernel));
}

TEST_P(Kernels, AStreamOfAnotherDeviceIsRefused) {
  if (driver->deviceCount() < 2)
    GTEST_SKIP() << "one device";
  DeviceAddress at = allocate(4);
  KernelId kernel = load(test::addText, 1);
  test::AddParams params{at, 1, 1};
  refused(driver->launch(stream, kernel, {}, bytesOf(params)), Code::badInput, "device");
  ok(driver->unload(kernel));
  ok(driver->release(at));
}

TEST_P(Kernels, TextThatCannotBeLoadedIsNamed) {
  auto syntax = driver->load(0, {.text = std::string(test::addText) + "this is no PTX\n", .entry = "kernel"});
  ASSERT_FALSE(syntax);
  EXPECT_FALSE(syntax.error().message.empty());
  auto entry = driver->load(0, {.text = test::addText, .entry = "kernels"});
  ASSERT_FALSE(entry);
  EXPECT_THAT(entry.error().message, testing::HasSubstr("kernels"));
  EXPECT_FALSE(driver->load(0, {.text = "", .entry = "kernel"}));
  ok(driver->unload(load(test::addText)));
}

// A stream that goes with work on it leaves the work to be done.
TEST_P(Kernels, QueuedWorkOutlivesItsStream) {
  constexpr uint32_t count = 256;
  DeviceAddress at = allocate(count * 4);
  ok(driver->fill(stream, at, 0, count * 4));
  ok(driver->synchronize(stream));
  KernelId kernel = load(test::addText);
  auto brief = driver->createStream(0);
  ASSERT_TRUE(brief);
  test::AddParams params{at, 5, count};
  ok(driver->launch(*brief, kernel, {.grid = 2, .block = 128}, bytesOf(params)));
  auto event = driver->createEvent();
  ASSERT_TRUE(event);
  ok(driver->recordEvent(*brief, *event));
  ok(driver->destroyStream(*brief));
  ASSERT_TRUE(driver->elapsedNs(*event, *event)); // waits for it
  EXPECT_EQ(download<uint32_t>(at, count), std::vector<uint32_t>(count, 5));
  ok(driver->destroyEvent(*event));
  ok(driver->unload(kernel));
  ok(driver->release(at));
}

// The same text twice is two kernels with lives of their own.
TEST_P(Kernels, AreLoadedOftenAndIndependent) {
  constexpr uint32_t count = 32;
  DeviceAddress at = allocate(count * 4);
  ok(driver->fill(stream, at, 0, count * 4));
  KernelId one = load(test::addText), two = load(test::addText);
  EXPECT_NE(one, two);
  ok(driver->unload(one));
  test::AddParams params{at, 7, count};
  ok(driver->launch(stream, two, {.grid = 1, .block = 32}, bytesOf(params)));
  EXPECT_EQ(download<uint32_t>(at, count), std::vector<uint32_t>(count, 7));
  ok(driver->unload(two));
  ok(driver->release(at));
}

} // namespace
} // namespace interlock
