// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Devices, memory, copies and handles: what every driver does alike.
#include "tests/unit/driver/Drivers.h"

#include "interlock/spec.hpp"

#include <numeric>
#include <thread>

namespace interlock {
namespace {

class Memory : public test::DriverTest {};
ILK_EVERY_DRIVER(Memory);

TEST_P(Memory, DevicesDescribeThemselves) {
  EXPECT_EQ(driver->kind(), GetParam().name);
  ASSERT_GE(driver->deviceCount(), 1u);
  for (uint32_t device = 0; device < driver->deviceCount(); ++device) {
    auto info = driver->info(device);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_FALSE(info->name.empty());
    EXPECT_TRUE(findTarget(info->target)) << info->target;
    EXPECT_GT(info->multiprocessors, 0u);
  }
  uint32_t beyond = driver->deviceCount();
  refused(driver->info(beyond), Code::badInput, "expected a device");
  refused(driver->allocate(beyond, 16), Code::badInput);
  refused(driver->createStream(beyond), Code::badInput);
  refused(driver->load(beyond, {.text = test::addText, .entry = "kernel"}), Code::badInput);
}

TEST_P(Memory, AllocationsAreAlignedAndApart) {
  std::vector<DeviceAddress> addresses;
  for (size_t bytes : {size_t(1), size_t(255), size_t(256), size_t(257), size_t(1) << 20}) {
    DeviceAddress at = allocate(bytes);
    EXPECT_NE(at, 0u);
    EXPECT_EQ(at % 256, 0u) << bytes;
    for (DeviceAddress other : addresses)
      EXPECT_GE(at > other ? at - other : other - at, 1u);
    addresses.push_back(at);
  }
  for (DeviceAddress at : addresses)
    ok(driver->release(at));
}

TEST_P(Memory, NoBytesAreAnAllocationToo) {
  DeviceAddress one = allocate(0), two = allocate(0);
  EXPECT_NE(one, 0u);
  EXPECT_NE(one, two);
  ok(driver->release(one));
  ok(driver->release(two));
}

TEST_P(Memory, WhatIsNotAllocatedIsNotReleased) {
  DeviceAddress at = allocate(1024);
  refused(driver->release(at + 256), Code::badInput);
  refused(driver->release(0), Code::badInput);
  ok(driver->release(at));
  refused(driver->release(at), Code::badInput);
}

TEST_P(Memory, CopiesAndFillsOfAnySizeAndPlace) {
  constexpr size_t size = 4096 + 77;
  DeviceAddress a = allocate(size), b = allocate(size);
  std::vector<uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t(3));
  upload(a, bytes);
  ok(driver->fill(stream, b, 0xee, size));
  ok(driver->copy(stream, b + 5, a + 3, 1001));
  ok(driver->fill(stream, b + 2000, 0x11, 13));
  std::vector<uint8_t> expected(size, 0xee);
  std::copy_n(bytes.begin() + 3, 1001, expected.begin() + 5);
  std::fill_n(expected.begin() + 2000, 13, uint8_t(0x11));
  EXPECT_EQ(download<uint8_t>(b, size), expected);
  EXPECT_EQ(download<uint8_t>(a, size), bytes);
  ok(driver->release(a));
  ok(driver->release(b));
}

TEST_P(Memory, NoBytesAreNoWork) {
  ok(driver->copyIn(stream, 0, nullptr, 0));
  ok(driver->copyOut(stream, nullptr, 0, 0));
  ok(driver->copy(stream, 0, 0, 0));
  ok(driver->fill(stream, 0, 1, 0));
  ok(driver->synchronize(stream));
}

TEST_P(Memory, StaleHandlesAreRefused) {
  auto gone = driver->createStream(0);
  ASSERT_TRUE(gone);
  ok(driver->destroyStream(*gone));
  DeviceAddress at = allocate(4);
  refused(driver->synchronize(*gone), Code::badInput, "stream");
  refused(driver->fill(*gone, at, 0, 4), Code::badInput, "stream");
  refused(driver->destroyStream(*gone), Code::badInput, "stream");
  refused(driver->synchronize(StreamId{987654}), Code::badInput, "stream");
  refused(driver->unload(KernelId{987654}), Code::badInput, "kernel");
  refused(driver->destroyGraph(GraphId{987654}), Code::badInput, "graph");
  refused(driver->destroyEvent(EventId{987654}), Code::badInput, "event");
  ok(driver->release(at));
}

// Every device reads and writes the memory of the others.
TEST_P(Memory, DevicesShareTheirMemory) {
  for (uint32_t from = 0; from < driver->deviceCount(); ++from)
    for (uint32_t to = 0; to < driver->deviceCount(); ++to) {
      auto on = driver->createStream(from);
      ASSERT_TRUE(on);
      KernelId kernel = load(test::moveText, from);
      DeviceAddress here = allocate(4, from), there = allocate(4, to);
      upload(here, std::vector<uint32_t>{from * 10 + to + 1});
      upload(there, std::vector<uint32_t>{0});
      test::TwoPointers params{there, here};
      ok(driver->launch(*on, kernel, {}, test::bytesOf(params)));
      ok(driver->synchronize(*on));
      EXPECT_EQ(download<uint32_t>(there, 1)[0], from * 10 + to + 1);
      ok(driver->unload(kernel));
      ok(driver->release(here));
      ok(driver->release(there));
      ok(driver->destroyStream(*on));
    }
}

// A call may come from any thread, also from one that never made a context current.
TEST_P(Memory, AnyThreadMayCall) {
  KernelId kernel = load(test::addText);
  std::vector<std::thread> threads;
  for (uint32_t number = 1; number <= 6; ++number)
    threads.emplace_back([&, number] {
      constexpr uint32_t count = 300;
      auto mine = driver->createStream(0);
      ASSERT_TRUE(mine);
      auto at = driver->allocate(0, count * 4);
      ASSERT_TRUE(at);
      std::vector<uint32_t> values(count);
      ok(driver->fill(*mine, *at, 0, count * 4));
      test::AddParams params{*at, number, count};
      for (int i = 0; i < 5; ++i)
        ok(driver->launch(*mine, kernel, {.grid = 3, .block = 128}, test::bytesOf(params)));
      ok(driver->copyOut(*mine, values.data(), *at, count * 4));
      ok(driver->synchronize(*mine));
      EXPECT_EQ(values, std::vector<uint32_t>(count, 5 * number));
      ok(driver->release(*at));
      ok(driver->destroyStream(*mine));
    });
  for (std::thread &thread : threads)
    thread.join();
  ok(driver->unload(kernel));
}

} // namespace
} // namespace interlock
