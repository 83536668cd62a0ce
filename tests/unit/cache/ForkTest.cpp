// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// fork() while other threads compile: the child has their locks but not them, and must go on all the same (corpus A19).
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/cache/Processes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace interlock {
namespace {

using test::numbered;
using test::TempFolder;

// The fake plugin holds a lock of its own while it compiles, as LLVM does.
TEST(Fork, A19AChildCompilesWhileItsParentDoes) {
  TempFolder folder;
  auto cache =
      KernelCache::open({.directory = folder.string(), .compiler = makePluginCompiler({.path = FAKE_PLUGIN_GOOD})});
  ASSERT_TRUE(cache->get(numbered(0)));
  std::atomic<bool> stop{false};
  std::atomic<uint32_t> next{1000};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        (void)cache->get(numbered(next++));
        (void)cache->get(numbered(next - 1)); // somebody else's, perhaps just being made
      }
    });
  for (uint32_t round = 0; round < 40; ++round) {
    pid_t child = test::inProcess(
        [&] {
          auto old = cache->get(numbered(0));
          auto shared = cache->get(numbered(next - 1)); // its slot may be held by a thread that is not here
          auto fresh = cache->get(numbered(100 + round));
          if (!old || !shared || !fresh)
            return 1;
          return cache->report().counters.misses > 0 && fresh->outcome == Outcome::miss ? 0 : 2;
        },
        30);
    EXPECT_EQ(test::exitCodeOf(child), 0) << "round " << round;
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(cache->get(numbered(139))->outcome, Outcome::disk) << "what a child made is there for its parent";
}

TEST(Fork, A19AChildOfAChild) {
  TempFolder folder;
  auto cache =
      KernelCache::open({.directory = folder.string(), .compiler = makePluginCompiler({.path = FAKE_PLUGIN_GOOD})});
  cache->freeze(true);
  EXPECT_EQ(test::exitCodeOf(test::inProcess([&] {
              if (cache->get(numbered(0)) || !cache->report().frozen)
                return 1; // frozen it stays
              cache->freeze(false);
              if (!cache->get(numbered(0)))
                return 2;
              return test::exitCodeOf(test::inProcess([&] { return cache->get(numbered(1)) ? 0 : 3; }));
            })),
            0);
}

} // namespace
} // namespace interlock
