// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A cache that is frozen, one that may only be read, and what a cache says of itself (corpus A15, A18).
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::FakeCompiler;
using test::numbered;
using test::TempFolder;
using testing::HasSubstr;

class Modes : public testing::Test {
protected:
  std::unique_ptr<KernelCache> open() {
    return KernelCache::open({.directory = folder.string(), .compiler = compiler});
  }
  std::unique_ptr<KernelCache> openReadOnly() {
    return KernelCache::open({.directory = folder.string(), .readOnly = true, .compiler = compiler});
  }
  /// Every file and folder with its time of change and size.
  std::map<std::string, std::pair<fs::file_time_type, uint64_t>> snapshot() {
    std::map<std::string, std::pair<fs::file_time_type, uint64_t>> files;
    for (auto &entry : fs::recursive_directory_iterator(folder.path()))
      files[entry.path().string()] = {entry.last_write_time(), entry.is_regular_file() ? entry.file_size() : 0};
    return files;
  }
  TempFolder folder;
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
};

TEST_F(Modes, A18FrozenAMissIsAnErrorAndNothingIsCompiled) {
  ASSERT_TRUE(open()->get(numbered(1)));
  auto cache = open();
  ASSERT_TRUE(cache->get(numbered(0)));
  cache->freeze(true);
  EXPECT_EQ(cache->get(numbered(0))->outcome, Outcome::memory);
  EXPECT_EQ(cache->get(numbered(1))->outcome, Outcome::disk) << "what is on disk was prepared too";
  compiler->compilations = 0;
  for (int i = 0; i < 2; ++i) {
    auto refused = cache->get(numbered(2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::notPrepared);
    EXPECT_THAT(refused.error().message, HasSubstr("nothing is cached for this spec and compiler"));
  }
  EXPECT_EQ(compiler->compilations, 0);
  CacheReport report = cache->report();
  EXPECT_TRUE(report.frozen);
  EXPECT_EQ(report.counters.refused, 2u);
  EXPECT_EQ(report.counters.misses, 3u);
  EXPECT_EQ(report.misses.back().failure, "the cache is frozen");
  cache->freeze(false);
  EXPECT_EQ(cache->get(numbered(2))->outcome, Outcome::miss);
}

// A stall is what freezing is against: also one behind a compilation that began before.
TEST_F(Modes, A18FrozenNobodyWaitsForACompilationUnderWay) {
  auto cache = open();
  std::atomic<bool> compiling{false}, finish{false};
  compiler->onCompile = [&] {
    compiling = true;
    while (!finish)
      std::this_thread::yield();
  };
  std::thread maker([&] { (void)cache->get(numbered(0)); });
  while (!compiling)
    std::this_thread::yield();
  cache->freeze(true);
  auto refused = cache->get(numbered(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::notPrepared);
  finish = true;
  maker.join();
  EXPECT_TRUE(cache->get(numbered(0))) << "it went on, and is there now";
}

TEST_F(Modes, FrozenInMemoryAlone) {
  auto cache = KernelCache::open({.compiler = compiler});
  cache->freeze(true);
  auto refused = cache->get(numbered(0));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no directory was given"));
}

// A damaged entry is not repaired by a frozen cache, nor served.
TEST_F(Modes, FrozenDamageIsAMiss) {
  ASSERT_TRUE(open()->get(numbered(0)));
  auto cache = open();
  test::spill(test::filesBelow(folder.path() / "cache/entries")[0], "damage");
  cache->freeze(true);
  auto refused = cache->get(numbered(0));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("damaged"));
}

TEST_F(Modes, ReadOnlyChangesNothing) {
  ASSERT_TRUE(open()->get(numbered(0)));
  auto before = snapshot();
  auto cache = openReadOnly();
  EXPECT_EQ(cache->get(numbered(0))->outcome, Outcome::disk);
  for (uint32_t i = 1; i < 3; ++i)
    EXPECT_EQ(cache->get(numbered(i))->outcome, Outcome::miss);
  compiler->stated = R"({"digest":"another"})";
  EXPECT_EQ(openReadOnly()->get(numbered(0))->outcome, Outcome::miss);
  EXPECT_EQ(snapshot(), before);
  CacheReport report = cache->report();
  EXPECT_TRUE(report.readOnly);
  EXPECT_EQ(report.directory, folder.string());
  EXPECT_THAT(report.notes, testing::IsEmpty()) << "it was asked for, so it is no downgrade";
}

TEST_F(Modes, ReadOnlyWithoutAFolderMakesNone) {
  auto cache = openReadOnly();
  ASSERT_TRUE(cache->get(numbered(0)));
  EXPECT_FALSE(fs::exists(folder.path() / "cache"));
  ASSERT_EQ(cache->notes().size(), 1u);
  EXPECT_THAT(cache->notes()[0], HasSubstr("the disk cache is off"));
}

// A15: state, counters, the reason of each miss and every downgrade, by one call.
TEST_F(Modes, A15OneCallTellsEverything) {
  std::vector<std::string> heard;
  auto cache =
      KernelCache::open({.directory = folder.string(), .compiler = compiler, .log = [&](std::string_view note) {
                           heard.emplace_back(note);
                         }});
  ASSERT_TRUE(cache->get(numbered(0)));
  ASSERT_TRUE(cache->get(numbered(0)));
  compiler->failure = "dispatch.mlir:3:1: error: no";
  ASSERT_FALSE(cache->get(numbered(1)));
  ASSERT_FALSE(cache->get(numbered(1)));
  compiler->failure.clear();
  fs::remove_all(folder.path() / "cache/entries");
  test::spill(folder.path() / "cache/entries", "in the way");
  ASSERT_TRUE(cache->get(numbered(2)));
  ASSERT_TRUE(cache->get(numbered(3)));

  CacheReport report = cache->report();
  EXPECT_EQ(report.directory, folder.string());
  EXPECT_FALSE(report.readOnly);
  EXPECT_FALSE(report.frozen);
  EXPECT_EQ(report.counters.memoryHits, 1u);
  EXPECT_EQ(report.counters.misses, 5u);
  EXPECT_EQ(report.counters.compiled, 3u);
  EXPECT_EQ(report.counters.failed, 2u);
  ASSERT_EQ(report.misses.size(), 5u);
  EXPECT_EQ(report.misses[0].spec, numbered(0));
  EXPECT_EQ(report.misses[0].key, *cache->keyOf(numbered(0)));
  EXPECT_EQ(report.misses[0].reason, "nothing is cached for this spec and compiler");
  EXPECT_EQ(report.misses[0].failure, "");
  EXPECT_GT(report.misses[0].milliseconds, 0);
  EXPECT_EQ(report.misses[1].failure, "dispatch.mlir:3:1: error: no");
  ASSERT_EQ(report.notes.size(), 1u) << "two kernels could not be written, and it is said once";
  EXPECT_EQ(report.notes, heard);
}

TEST_F(Modes, TheListOfMissesIsBounded) {
  auto cache = KernelCache::open({.compiler = compiler});
  for (uint32_t i = 0; i < 400; ++i)
    ASSERT_TRUE(cache->get(numbered(i)));
  CacheReport report = cache->report();
  ASSERT_EQ(report.misses.size(), 256u);
  EXPECT_EQ(report.misses.back().spec, numbered(399));
}

} // namespace
} // namespace interlock
