// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Lookups: what hits where, why not, and what is said of it (corpus A02, A15, A17).
#include "runtime/Cache/KernelCache.h"

#include "tests/unit/cache/FakeCompiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::FakeCompiler;
using test::numbered;
using test::TempFolder;
using testing::HasSubstr;

class Cache : public testing::Test {
protected:
  std::unique_ptr<KernelCache> open() {
    return KernelCache::open({.directory = folder.string(), .compiler = compiler});
  }
  TempFolder folder;
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
};

TEST_F(Cache, MissThenMemoryThenDisk) {
  auto cache = open();
  auto miss = cache->get(numbered(0));
  ASSERT_TRUE(miss) << miss.error().message;
  EXPECT_EQ(miss->outcome, Outcome::miss);
  EXPECT_EQ(miss->reason, "nothing is cached for this spec and compiler");
  EXPECT_GT(miss->milliseconds, 0);
  auto memory = cache->get(numbered(0));
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->outcome, Outcome::memory);
  EXPECT_EQ(memory->reason, "");
  EXPECT_EQ(memory->artifact, miss->artifact) << "the very same object";
  auto disk = open()->get(numbered(0));
  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->outcome, Outcome::disk);
  EXPECT_EQ(disk->reason, "");
  EXPECT_EQ(disk->artifact->text, miss->artifact->text);
  EXPECT_EQ(disk->artifact->facts.entry, "kernel");
  EXPECT_EQ(compiler->compilations, 1);
  CacheCounters counters = cache->counters();
  EXPECT_EQ(counters.misses, 1u);
  EXPECT_EQ(counters.compiled, 1u);
  EXPECT_EQ(counters.memoryHits, 1u);
  EXPECT_EQ(counters.diskHits, 0u);
  EXPECT_TRUE(cache->notes().empty());
}

TEST_F(Cache, OutcomesHaveNames) {
  EXPECT_EQ(name(Outcome::memory), "memory");
  EXPECT_EQ(name(Outcome::disk), "disk");
  EXPECT_EQ(name(Outcome::miss), "miss");
}

TEST_F(Cache, AnotherCompilerMisses) {
  ASSERT_TRUE(open()->get(numbered(0)));
  compiler->stated = R"({"digest":"d2"})";
  auto other = open()->get(numbered(0));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->outcome, Outcome::miss);
  EXPECT_EQ(compiler->compilations, 2);
}

TEST_F(Cache, WhatIsWrongIsRefusedBeforeTheCompiler) {
  KernelSpec spec = numbered(0);
  spec.layer.topk = 33;
  auto refused = open()->get(spec);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::badInput);
  EXPECT_EQ(compiler->compilations, 0);
}

// A02, A17: a compiler that fails is reported in its own words, nothing is published, and the next call tries again.
TEST_F(Cache, A02A17AFailureIsTriedAgain) {
  auto cache = open();
  compiler->failure = "dispatch.mlir:3:1: error: expected an operation";
  auto failed = cache->get(numbered(0));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::compile);
  EXPECT_EQ(failed.error().message, compiler->failure);
  EXPECT_EQ(cache->counters().failed, 1u);
  EXPECT_TRUE(cache->disk()->list().empty());
  EXPECT_TRUE(test::filesBelow(folder.path() / "cache/staging").empty());
  compiler->failure.clear();
  auto made = cache->get(numbered(0));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->outcome, Outcome::miss);
  EXPECT_EQ(cache->disk()->list().size(), 1u);
}

TEST_F(Cache, AnIncompleteAnswerIsNotPublished) {
  for (const char *part : {"ptx", "meta"}) {
    compiler->dropped = part;
    auto cache = open();
    auto failed = cache->get(numbered(0));
    ASSERT_FALSE(failed) << part;
    EXPECT_EQ(failed.error().code, Code::internal);
    EXPECT_TRUE(cache->disk()->list().empty());
    EXPECT_EQ(cache->counters().failed, 1u);
    EXPECT_EQ(cache->counters().compiled, 0u);
  }
  compiler->dropped = "cubin"; // no assembler: the driver takes the text
  auto made = open()->get(numbered(0));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->artifact->binary, "");
}

// A15: a nested folder that is not there is made.
TEST_F(Cache, A15MakesItsFolder) {
  auto cache = KernelCache::open({.directory = folder.string("not/there/yet"), .compiler = compiler});
  ASSERT_TRUE(cache->get(numbered(0)));
  EXPECT_TRUE(cache->notes().empty());
  EXPECT_EQ(test::filesBelow(folder.path() / "not/there/yet/entries").size(), 1u);
}

// A15: a cache that is off says so once, with the reason, and works.
TEST_F(Cache, A15AFolderThatCannotBeIsANote) {
  test::spill(folder.path() / "file", "x");
  fs::create_symlink("loop", folder.path() / "loop");
  for (const std::string &path : {folder.string("file"), folder.string("loop/x"), std::string("/proc/self/x")}) {
    compiler->compilations = 0;
    auto cache = KernelCache::open({.directory = path, .compiler = compiler});
    EXPECT_EQ(cache->disk(), nullptr);
    for (uint32_t i = 0; i < 3; ++i) {
      auto made = cache->get(numbered(i));
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_EQ(made->outcome, Outcome::miss);
      EXPECT_THAT(made->reason, HasSubstr("the disk cache is off"));
      EXPECT_EQ(cache->get(numbered(i))->outcome, Outcome::memory);
    }
    ASSERT_EQ(cache->notes().size(), 1u) << path;
    EXPECT_THAT(cache->notes()[0], HasSubstr(path));
    EXPECT_EQ(compiler->compilations, 3);
  }
}

TEST_F(Cache, WithoutAFolderThereIsOnlyMemory) {
  auto cache = KernelCache::open({.compiler = compiler});
  auto made = cache->get(numbered(0));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->reason, "the disk cache is off: no directory was given");
  EXPECT_TRUE(cache->notes().empty()) << "that is what was asked for, so it is no downgrade";
}

// A02: what cannot be published is used all the same, and is a note.
TEST_F(Cache, A02AnEntryThatCannotBeWrittenIsANote) {
  auto cache = open();
  fs::remove_all(folder.path() / "cache/entries");
  test::spill(folder.path() / "cache/entries", "in the way");
  for (uint32_t i = 0; i < 2; ++i) {
    auto made = cache->get(numbered(i));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(test::matches(*made->artifact));
  }
  EXPECT_THAT(cache->notes(), testing::Contains(HasSubstr("a kernel could not be cached")));
  EXPECT_TRUE(test::filesBelow(folder.path() / "cache/staging").empty());
}

// The folder may be cleared under a running process.
TEST_F(Cache, SurvivesThatItsFolderGoes) {
  auto cache = open();
  ASSERT_TRUE(cache->get(numbered(0)));
  fs::remove_all(folder.path() / "cache");
  EXPECT_EQ(cache->get(numbered(0))->outcome, Outcome::memory);
  auto made = cache->get(numbered(1));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->outcome, Outcome::miss);
}

// A serving image with a warmed cache can leave the compiler out.
TEST_F(Cache, ReadsWithoutACompiler) {
  ASSERT_TRUE(open()->get(numbered(0)));
  for (auto absent : {std::shared_ptr<FakeCompiler>(), std::make_shared<FakeCompiler>()}) {
    if (absent)
      absent->missing = true;
    auto cache = KernelCache::open({.directory = folder.string(), .compiler = absent});
    auto hit = cache->get(numbered(0));
    ASSERT_TRUE(hit) << hit.error().message;
    EXPECT_EQ(hit->outcome, Outcome::disk);
    auto miss = cache->get(numbered(1));
    ASSERT_FALSE(miss);
    EXPECT_EQ(miss.error().code, Code::notFound);
    EXPECT_THAT(miss.error().message, HasSubstr("compiler"));
    EXPECT_EQ(cache->notes().size(), 1u) << "said once";
  }
  // And with nothing cached there is nothing to know the compiler from.
  auto cold = KernelCache::open({.directory = folder.string("cold"), .compiler = nullptr})->get(numbered(0));
  ASSERT_FALSE(cold);
  EXPECT_EQ(cold.error().code, Code::notFound);
}

TEST_F(Cache, OneThreadCompilesAndAllGetIt) {
  compiler->takes = std::chrono::milliseconds(50);
  for (bool withDisk : {true, false}) {
    compiler->compilations = 0;
    auto cache = withDisk ? open() : KernelCache::open({.compiler = compiler});
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 32; ++i)
      threads.emplace_back([&, i] {
        auto made = cache->get(numbered(uint32_t(i % 2)));
        if (!made || made->artifact->spec != numbered(uint32_t(i % 2)))
          ++wrong;
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(compiler->compilations, 2);
    EXPECT_EQ(cache->counters().memoryHits, 30u);
  }
}

TEST_F(Cache, MemoryIsBounded) {
  auto cache = KernelCache::open({.memoryEntries = 4, .compiler = compiler});
  std::vector<std::weak_ptr<const Artifact>> kept;
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(cache->get(numbered(0))); // in use all the time
    kept.push_back(cache->get(numbered(i))->artifact);
  }
  auto alive = std::count_if(kept.begin(), kept.end(), [](auto &weak) { return !weak.expired(); });
  EXPECT_EQ(alive, 4);
  EXPECT_FALSE(kept[0].expired());
  EXPECT_FALSE(kept[19].expired());
  EXPECT_EQ(compiler->compilations, 20);
}

// Specs that fail take no room from those that work.
TEST_F(Cache, FailuresDriveNothingOut) {
  auto cache = KernelCache::open({.memoryEntries = 4, .compiler = compiler});
  for (uint32_t i = 0; i < 3; ++i)
    ASSERT_TRUE(cache->get(numbered(i)));
  compiler->failure = "no";
  for (uint32_t i = 100; i < 120; ++i)
    ASSERT_FALSE(cache->get(numbered(i)));
  compiler->failure.clear();
  ASSERT_TRUE(cache->get(numbered(3)));
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_EQ(cache->get(numbered(i))->outcome, Outcome::memory) << i;
}

TEST(DefaultDirectory, FollowsTheBaseDirectories) {
  EXPECT_EQ(defaultCacheDirectory("/x", "/home/u"), "/x/interlock");
  EXPECT_EQ(defaultCacheDirectory("", "/home/u"), "/home/u/.cache/interlock");
  EXPECT_EQ(defaultCacheDirectory("", ""), "");
  // XDG Base Directory Specification: a relative path is invalid and is to be ignored.
  EXPECT_EQ(defaultCacheDirectory("relative", "/home/u"), "/home/u/.cache/interlock");
}

} // namespace
} // namespace interlock
