// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Filling a cache before it is needed, on all cores (corpus A18).
#include "interlock/prepare.hpp"

#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace interlock {
namespace {

using test::FakeCompiler;
using test::numbered;
using test::TempFolder;

std::vector<KernelSpec> many(uint32_t count) {
  std::vector<KernelSpec> kernels;
  for (uint32_t i = 0; i < count; ++i)
    kernels.push_back(numbered(i));
  return kernels;
}

TEST(Prewarm, A18IsParallelAndIdempotent) {
  TempFolder folder;
  auto compiler = std::make_shared<FakeCompiler>();
  compiler->takes = std::chrono::milliseconds(5);
  std::atomic<int> running{0}, most{0};
  compiler->onCompile = [&] {
    int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);)
      ;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --running;
  };
  auto cache = KernelCache::open({.directory = folder.string(), .compiler = compiler});
  std::vector<PrewarmProgress> seen;
  PrewarmReport report =
      prewarm(*cache, many(60), {.threads = 6, .progress = [&](const PrewarmProgress &now) { seen.push_back(now); }});
  EXPECT_EQ(report.compiled, 60u);
  EXPECT_EQ(report.cached, 0u);
  EXPECT_TRUE(report.failures.empty());
  EXPECT_GE(most, 4) << "threads wait for each other";
  ASSERT_EQ(seen.size(), 60u);
  for (uint64_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].done, i + 1);
    EXPECT_EQ(seen[i].of, 60u);
  }
  auto again = KernelCache::open({.directory = folder.string(), .compiler = compiler});
  report = prewarm(*again, many(60));
  EXPECT_EQ(report.cached, 60u);
  EXPECT_EQ(compiler->compilations, 60);
}

TEST(Prewarm, A18AfterItAFrozenCacheHasEverything) {
  TempFolder folder;
  auto compiler = std::make_shared<FakeCompiler>();
  auto cache = KernelCache::open({.directory = folder.string(), .compiler = compiler});
  prewarm(*cache, many(40));
  cache->freeze(true);
  for (int step = 0; step < 10'000; ++step)
    ASSERT_TRUE(cache->get(numbered(uint32_t(step * 7 % 40))));
  EXPECT_EQ(cache->counters().refused, 0u);
}

TEST(Prewarm, AFailureStopsNobody) {
  auto compiler = std::make_shared<FakeCompiler>();
  auto cache = KernelCache::open({.compiler = compiler});
  std::vector<KernelSpec> kernels = many(10);
  kernels[3].layer.topk = 33;
  PrewarmReport report = prewarm(*cache, kernels, {.threads = 3});
  EXPECT_EQ(report.compiled, 9u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].spec, kernels[3]);
  EXPECT_EQ(report.failures[0].error.code, Code::badInput);
}

TEST(Prewarm, OfNothingIsDone) { EXPECT_EQ(prewarm(*KernelCache::open({}), {}).compiled, 0u); }

} // namespace
} // namespace interlock
