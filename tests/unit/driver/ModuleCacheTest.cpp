// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loaded modules are bounded, shared, and never unloaded while they may still run (corpus A21).
#include "runtime/Driver/ModuleCache.h"

#include "tests/unit/driver/Drivers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace interlock {
namespace {

using test::AddParams;
using test::bytesOf;

/// Counts what comes through to the emulator below it.
class Counting final : public ForwardingDriver {
public:
  Counting() : ForwardingDriver(*openEmulator({.modules = {.count = 0}})) {}
  Result<KernelId> load(uint32_t device, const KernelImage &image) override {
    ++loads;
    return below->load(device, image);
  }
  Status unload(KernelId kernel) override {
    ++unloads;
    return below->unload(kernel);
  }
  std::atomic<int> loads{0}, unloads{0};
};

/// The kernel out[i] += value + n: a text of its own for each n.
KernelImage shape(uint32_t n) {
  std::string text = test::addText;
  std::string after = "add.u32 %r6, %r6, %r0;";
  text.insert(text.find(after) + after.size(), fmt::format("\n  add.u32 %r6, %r6, {};", n));
  return {text, "", "kernel"};
}

uint64_t residentBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * uint64_t(::sysconf(_SC_PAGESIZE));
}

class Modules : public testing::Test {
protected:
  void open(const ModuleLimits &limits) {
    auto below = std::make_unique<Counting>();
    counts = below.get();
    cache = std::make_unique<ModuleCache>(std::move(below), limits);
    stream = *cache->createStream(0);
    out = *cache->allocate(0, 4);
    ASSERT_TRUE(cache->fill(stream, out, 0, 4));
    ASSERT_TRUE(cache->synchronize(stream));
  }
  KernelId load(uint32_t n) {
    auto kernel = cache->load(0, shape(n));
    EXPECT_TRUE(kernel) << kernel.error().message;
    return kernel ? *kernel : KernelId{};
  }
  void launch(KernelId kernel, uint32_t value = 0) {
    Status launched = cache->launch(stream, kernel, {1, 32, 1, 0}, bytesOf(AddParams{out, value, 1}));
    EXPECT_TRUE(launched) << launched.error().message;
  }
  uint32_t value() {
    uint32_t read = 0;
    EXPECT_TRUE(cache->copyOut(stream, &read, out, 4));
    Status ran = cache->synchronize(stream);
    EXPECT_TRUE(ran) << ran.error().message;
    return read;
  }
  std::unique_ptr<ModuleCache> cache;
  Counting *counts = nullptr;
  StreamId stream{};
  DeviceAddress out = 0;
};

TEST_F(Modules, AnImageIsLoadedOnceAndItsHandlesAreApart) {
  open({});
  KernelId one = load(1), two = load(1);
  EXPECT_NE(one, two);
  EXPECT_EQ(counts->loads, 1);
  EXPECT_TRUE(cache->unload(one));
  EXPECT_FALSE(cache->unload(one)) << "it is unloaded";
  EXPECT_FALSE(cache->launch(stream, one, {1, 32, 1, 0}, bytesOf(AddParams{out, 0, 1})));
  launch(two, 10);
  EXPECT_EQ(value(), 11u);
  EXPECT_TRUE(cache->unload(two));
  launch(load(1));
  EXPECT_EQ(value(), 12u);
  EXPECT_EQ(counts->loads, 1) << "it stayed, though nobody held it";
}

TEST_F(Modules, OtherDevicesAndOtherEntriesAreOtherModules) {
  open({});
  KernelImage image = shape(1);
  ASSERT_TRUE(cache->load(0, image));
  image.text.replace(image.text.find("entry kernel"), 12, "entry second");
  image.entry = "second";
  ASSERT_TRUE(cache->load(0, image));
  EXPECT_EQ(counts->loads, 2);
}

// 5,000 shapes through a bound of 64.
TEST_F(Modules, A21MemoryStaysFlat) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps memory that was given back";
#endif
  open({.count = 64});
  uint32_t expected = 0;
  uint64_t early = 0;
  for (uint32_t n = 1; n <= 5000; ++n) {
    KernelId kernel = load(n);
    launch(kernel);
    expected += n;
    if (n % 500 == 0)
      ASSERT_EQ(value(), expected);
    else
      ASSERT_TRUE(cache->synchronize(stream));
    ASSERT_TRUE(cache->unload(kernel));
    ASSERT_LE(cache->loaded(), 65u);
    if (n == 1000)
      early = residentBytes();
  }
  EXPECT_EQ(cache->loaded(), 64u);
  EXPECT_EQ(counts->loads - counts->unloads, 64);
  EXPECT_LE(residentBytes(), early + early / 50) << "2 % more than after the first 1,000";
}

TEST_F(Modules, BoundedByBytesToo) {
  open({.bytes = 5 * shape(1000).text.size()});
  for (uint32_t n = 1000; n < 1020; ++n)
    ASSERT_TRUE(cache->unload(load(n)));
  EXPECT_EQ(cache->loaded(), 5u);
}

TEST_F(Modules, LeastRecentlyUsedGoesFirst) {
  open({.count = 2});
  KernelId one = load(1);
  ASSERT_TRUE(cache->unload(load(2)));
  ASSERT_TRUE(cache->unload(one)); // used after 2
  ASSERT_TRUE(cache->unload(load(3)));
  counts->loads = 0;
  ASSERT_TRUE(cache->unload(load(1)));
  EXPECT_EQ(counts->loads, 0);
  ASSERT_TRUE(cache->unload(load(2)));
  EXPECT_EQ(counts->loads, 1);
}

TEST_F(Modules, A21WhatIsHeldStays) {
  open({.count = 2});
  std::vector<KernelId> held;
  for (uint32_t n = 1; n <= 6; ++n)
    held.push_back(load(n));
  EXPECT_EQ(cache->loaded(), 6u);
  for (KernelId kernel : held)
    launch(kernel);
  EXPECT_EQ(value(), 21u);
  for (KernelId kernel : held)
    EXPECT_TRUE(cache->unload(kernel));
  EXPECT_EQ(cache->loaded(), 2u);
}

TEST_F(Modules, A21WhatIsQueuedStays) {
  open({.count = 0});
  KernelId kernel = load(7);
  launch(kernel);
  ASSERT_TRUE(cache->unload(kernel));
  ASSERT_TRUE(cache->unload(load(8))); // makes room, but not there
  EXPECT_EQ(cache->loaded(), 1u);
  EXPECT_EQ(value(), 7u);
  ASSERT_TRUE(cache->unload(load(9)));
  EXPECT_EQ(cache->loaded(), 0u);
}

TEST_F(Modules, A21AGraphKeepsItsModules) {
  open({.count = 0});
  KernelId kernel = load(5);
  ASSERT_TRUE(cache->beginCapture(stream));
  launch(kernel);
  launch(kernel);
  ASSERT_TRUE(cache->unload(kernel)) << "given up while it is captured";
  EXPECT_EQ(cache->loaded(), 1u);
  auto graph = cache->endCapture(stream);
  ASSERT_TRUE(graph);
  for (uint32_t n = 100; n < 110; ++n)
    ASSERT_TRUE(cache->unload(load(n)));
  EXPECT_EQ(cache->loaded(), 1u);
  ASSERT_TRUE(cache->launchGraph(stream, *graph));
  EXPECT_EQ(value(), 10u);
  // Destroyed while it is queued once more: what it needs stays until that has run.
  ASSERT_TRUE(cache->launchGraph(stream, *graph));
  ASSERT_TRUE(cache->destroyGraph(*graph));
  EXPECT_EQ(cache->loaded(), 1u);
  EXPECT_EQ(value(), 20u);
  ASSERT_TRUE(cache->unload(load(1)));
  EXPECT_EQ(cache->loaded(), 0u);
}

TEST_F(Modules, A21AGraphInAGraphKeepsItsModules) {
  open({.count = 0});
  KernelId kernel = load(4);
  ASSERT_TRUE(cache->beginCapture(stream));
  launch(kernel);
  auto inner = cache->endCapture(stream);
  ASSERT_TRUE(inner);
  ASSERT_TRUE(cache->beginCapture(stream));
  ASSERT_TRUE(cache->launchGraph(stream, *inner));
  auto outer = cache->endCapture(stream);
  ASSERT_TRUE(outer);
  ASSERT_TRUE(cache->unload(kernel));
  ASSERT_TRUE(cache->destroyGraph(*inner));
  EXPECT_EQ(cache->loaded(), 1u);
  ASSERT_TRUE(cache->launchGraph(stream, *outer));
  EXPECT_EQ(value(), 4u);
  ASSERT_TRUE(cache->destroyGraph(*outer));
  EXPECT_EQ(cache->loaded(), 0u);
}

TEST_F(Modules, NothingIsUnloadedBesideACapture) {
  open({.count = 0});
  auto other = cache->createStream(0);
  ASSERT_TRUE(other);
  ASSERT_TRUE(cache->beginCapture(*other));
  ASSERT_TRUE(cache->unload(load(1)));
  EXPECT_EQ(counts->unloads, 0);
  ASSERT_TRUE(cache->endCapture(*other));
  EXPECT_EQ(counts->unloads, 1);
}

TEST_F(Modules, AStreamThatGoesHasRun) {
  open({.count = 0});
  KernelId kernel = load(3);
  launch(kernel);
  ASSERT_TRUE(cache->unload(kernel));
  ASSERT_TRUE(cache->destroyStream(stream));
  EXPECT_EQ(cache->loaded(), 0u);
  stream = *cache->createStream(0);
  EXPECT_EQ(value(), 3u);
}

TEST_F(Modules, ManyThreadsThroughASmallBound) {
  open({.count = 3});
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (uint32_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto mine = cache->createStream(0);
      auto at = cache->allocate(0, 4);
      uint32_t expected = 0, read = 0;
      bad += !cache->fill(*mine, *at, 0, 4);
      for (uint32_t i = 0; i < 100; ++i) {
        uint32_t n = (i * 7 + t) % 11;
        auto kernel = cache->load(0, shape(n));
        bad += !kernel || !cache->launch(*mine, *kernel, {1, 32, 1, 0}, bytesOf(AddParams{*at, 0, 1}));
        bad += !cache->unload(*kernel);
        expected += n;
      }
      bad += !cache->copyOut(*mine, &read, *at, 4) || !cache->synchronize(*mine) || read != expected;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(bad, 0);
  ASSERT_TRUE(cache->unload(load(50)));
  EXPECT_LE(cache->loaded(), 3u);
}

// (c) of the report: a child that loads with its parent's driver is told so.
TEST_F(Modules, A19AnInheritedDriverIsRefused) {
  open({});
  KernelId kernel = load(1);
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    auto refused = cache->load(0, shape(2));
    bool said = !refused && refused.error().message.find("inherited by fork") != std::string::npos;
    bool launched = cache->launch(stream, kernel, {1, 32, 1, 0}, bytesOf(AddParams{out, 0, 1})).has_value();
    auto own = openEmulator({});
    ::_exit(said && !launched && own && (*own)->load(0, shape(2)) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  launch(kernel);
  EXPECT_EQ(value(), 1u) << "the parent goes on";
}

} // namespace
} // namespace interlock
