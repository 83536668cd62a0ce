// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The folder: publication, concurrent writers and readers, bounds (corpus A02, A03, A04, A05, A22).
#include "runtime/Cache/DiskStore.h"

#include "runtime/Cache/Digest.h"
#include "runtime/Cache/EntryFile.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

std::string keyNumbered(int n) { return digestOf("key " + std::to_string(n)); }

template <typename Work> void inThreads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(DiskStore, KeepsWhatIsPublished) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store) << store.error().message;
  std::string key = keyNumbered(1), bytes("a\0b", 3);
  EXPECT_FALSE(store->read(key));
  ASSERT_TRUE(store->publish(key, bytes));
  EXPECT_EQ(store->read(key), bytes);
  ASSERT_TRUE(store->publish(key, "other"));
  EXPECT_EQ(store->read(key), "other");
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_EQ(test::filesBelow(folder.path() / "cache/staging").size(), 0u);
  ASSERT_TRUE(store->remove(key));
  ASSERT_TRUE(store->remove(key)) << "removing what is gone is no error";
  EXPECT_FALSE(store->read(key));
}

// A22.
TEST(DiskStore, A22OneFileAnEntry) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(store->publish(keyNumbered(i), "x"));
  EXPECT_EQ(test::filesBelow(folder.path()).size(), 20u);
}

// A03: many that make the same folders at the same time.
TEST(DiskStore, A03OpensFromManyThreadsAtOnce) {
  for (int round = 0; round < 100; ++round) {
    TempFolder folder;
    std::atomic<int> failures{0};
    inThreads(8, [&](int) {
      if (!DiskStore::open(folder.string("a/b/c"), {}))
        ++failures;
    });
    ASSERT_EQ(failures, 0);
  }
}

TEST(DiskStore, WhatCannotBeAFolderIsRefused) {
  TempFolder folder;
  test::spill(folder.path() / "file", "x");
  fs::create_symlink("loop", folder.path() / "loop");
  for (const std::string &path :
       {folder.string("file"), folder.string("file/below"), folder.string("loop"), folder.string("loop/below"),
        std::string("/proc/self/interlock-test"), folder.string(std::string(300, 'n').c_str())}) {
    auto store = DiskStore::open(path, {});
    ASSERT_FALSE(store) << path;
    EXPECT_THAT(store.error().message, testing::HasSubstr("could not"));
  }
}

// A06: what a writer that died left behind goes, what a writer is at stays.
TEST(DiskStore, A06ClearsOldStagingOnly) {
  TempFolder folder;
  ASSERT_TRUE(DiskStore::open(folder.string(), {}));
  fs::path staging = folder.path() / "cache/staging";
  test::spill(staging / "old", "half");
  test::spill(staging / "new", "half");
  fs::last_write_time(staging / "old", fs::file_time_type::clock::now() - std::chrono::hours(48));
  ASSERT_TRUE(DiskStore::open(folder.string(), {}));
  EXPECT_FALSE(fs::exists(staging / "old"));
  EXPECT_TRUE(fs::exists(staging / "new"));
}

// A02: 64 writers of one key at the same instant; no two have the same temporary file.
TEST(DiskStore, A02ManyWritersOfOneKey) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  std::atomic<int> failures{0};
  std::string key = keyNumbered(1);
  inThreads(64, [&](int i) {
    if (!store->publish(key, std::string(20000, static_cast<char>('A' + i % 26))))
      ++failures;
  });
  EXPECT_EQ(failures, 0);
  auto bytes = store->read(key);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), 20000u);
  EXPECT_EQ(bytes->find_first_not_of((*bytes)[0]), std::string::npos) << "two writers are mixed";
  EXPECT_EQ(test::filesBelow(folder.path() / "cache/staging").size(), 0u);
}

// A05: two writers of one key with different pairs; a reader never sees one's text with the other's meta.
TEST(DiskStore, A05APairIsNeverMixed) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  KernelSpec spec = test::numbered(0);
  std::string key = keyNumbered(1);
  std::string one = encodeEntry(test::artifactOf(spec, "1", 5000), "id");
  std::string two = encodeEntry(test::artifactOf(spec, "2", 9000), "id");
  ASSERT_TRUE(store->publish(key, one));
  std::atomic<bool> stop{false};
  std::atomic<int> bad{0}, seen{0};
  std::thread writers[] = {std::thread([&] {
                             while (!stop)
                               (void)store->publish(key, one);
                           }),
                           std::thread([&] {
                             while (!stop)
                               (void)store->publish(key, two);
                           })};
  inThreads(4, [&](int) {
    for (int i = 0; i < 25'000; ++i) {
      auto bytes = store->read(key);
      auto entry = decodeEntry(bytes.value_or(""));
      ++seen;
      if (!entry || !test::matches(entry->artifact))
        ++bad;
    }
  });
  stop = true;
  for (std::thread &writer : writers)
    writer.join();
  EXPECT_EQ(seen, 100'000);
  EXPECT_EQ(bad, 0);
}

// A04: who lists the folder while others write sees whole entries or none.
TEST(DiskStore, A04AListIsOfWholeEntries) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  std::atomic<int> writing{16}, bad{0}, listed{0};
  std::thread reader([&] {
    while (writing > 0)
      for (const StoredEntry &entry : store->list()) {
        ++listed;
        auto bytes = store->read(entry.key);
        if (!bytes || !decodeEntry(*bytes))
          ++bad;
      }
  });
  inThreads(16, [&](int writer) {
    for (int i = 0; i < 20; ++i) {
      KernelSpec spec = test::numbered(uint32_t(writer * 100 + i));
      if (!store->publish(digestOf(canonicalForm(spec)), encodeEntry(test::artifactOf(spec, "w", 3000), "id")))
        ++bad;
    }
    --writing;
  });
  reader.join();
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(store->list().size(), 320u);
}

TEST(DiskStore, LeastRecentlyUsedGoesFirst) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {.bytes = 1000, .files = 3});
  ASSERT_TRUE(store);
  auto age = [&](int n, int minutes) {
    std::string key = keyNumbered(n);
    fs::last_write_time(folder.path() / "cache/entries" / key.substr(0, 2) / key,
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store->publish(keyNumbered(i), std::string(10, 'x')));
    age(i, 30 - i);
  }
  EXPECT_TRUE(store->read(keyNumbered(0))); // the oldest is used, so the second goes
  ASSERT_TRUE(store->publish(keyNumbered(3), "y"));
  EXPECT_TRUE(store->read(keyNumbered(0)));
  EXPECT_FALSE(store->read(keyNumbered(1)));
  EXPECT_TRUE(store->read(keyNumbered(2)));
  EXPECT_TRUE(store->read(keyNumbered(3)));
  // By bytes: one that fills the folder drives the others out.
  ASSERT_TRUE(store->publish(keyNumbered(4), std::string(1000, 'z')));
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_TRUE(store->read(keyNumbered(4)));
  auto tooLarge = store->publish(keyNumbered(5), std::string(1001, 'z'));
  ASSERT_FALSE(tooLarge);
  EXPECT_EQ(tooLarge.error().code, Code::badInput);
  EXPECT_TRUE(store->read(keyNumbered(4))) << "what does not fit drives nobody out";
}

// A22: many keys, tight bounds, readers of what is being evicted.
TEST(DiskStore, A22StaysWithinItsBounds) {
  TempFolder folder;
  constexpr uint64_t maxFiles = 50, maxBytes = 40 * 2000;
  auto store = DiskStore::open(folder.string(), {.bytes = maxBytes, .files = maxFiles});
  ASSERT_TRUE(store);
  std::atomic<int> writing{4}, bad{0};
  std::thread reader([&] {
    for (int i = 0; writing > 0; ++i)
      if (auto bytes = store->read(keyNumbered(i % 1000)); bytes && bytes->size() != 2000)
        ++bad;
  });
  inThreads(4, [&](int writer) {
    for (int i = writer; i < 1000; i += 4)
      if (!store->publish(keyNumbered(i), std::string(2000, 'x')))
        ++bad;
    --writing;
  });
  reader.join();
  EXPECT_EQ(bad, 0);
  uint64_t bytes = 0;
  auto entries = store->list();
  for (const StoredEntry &entry : entries)
    bytes += entry.bytes;
  EXPECT_LE(entries.size(), maxFiles);
  EXPECT_LE(bytes, maxBytes);
  // Writers that evict at the same time must not empty the folder.
  EXPECT_GE(entries.size(), 10u);
}

// Something strange below `entries` is neither an entry nor a reason to fail, and is not counted against the bounds.
TEST(DiskStore, StrangersAreNoEntries) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {.bytes = 100, .files = 2});
  ASSERT_TRUE(store);
  fs::create_directories(folder.path() / "cache/entries/zz/deep/er");
  test::spill(folder.path() / "cache/entries/zz/deep/er/file", std::string(5000, 'x'));
  test::spill(folder.path() / "cache/entries/README", "hello");
  ASSERT_TRUE(store->publish(keyNumbered(1), "a"));
  ASSERT_TRUE(store->publish(keyNumbered(2), "b"));
  EXPECT_TRUE(store->read(keyNumbered(1)));
  EXPECT_TRUE(store->read(keyNumbered(2)));
  EXPECT_EQ(store->list().size(), 2u);
}

// The clock was set back: what carries a later date is no newer than the rest, and must not stay for ever.
TEST(DiskStore, WhatIsDatedAheadGoesFirst) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {.bytes = 1000, .files = 3});
  ASSERT_TRUE(store);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(store->publish(keyNumbered(i), "x"));
  auto ahead = fs::file_time_type::clock::now() + std::chrono::hours(24 * 365);
  fs::last_write_time(store->pathOf(keyNumbered(1)), ahead);
  ASSERT_TRUE(store->publish(keyNumbered(3), "y"));
  EXPECT_FALSE(store->read(keyNumbered(1)));
  for (int i : {0, 2, 3})
    EXPECT_TRUE(store->read(keyNumbered(i))) << i;
  test::spill(folder.path() / "cache/staging/ahead", "half");
  fs::last_write_time(folder.path() / "cache/staging/ahead", ahead);
  ASSERT_TRUE(DiskStore::open(folder.string(), {}));
  EXPECT_FALSE(fs::exists(folder.path() / "cache/staging/ahead"));
}

TEST(DiskStore, ALockIsHeldByOne) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  std::atomic<int> inside{0}, overlaps{0}, held{0};
  inThreads(8, [&](int) {
    for (int i = 0; i < 20; ++i) {
      KeyLock lock = store->lock(keyNumbered(1));
      held += lock.held();
      if (++inside != 1)
        ++overlaps;
      std::this_thread::yield();
      --inside;
    }
  });
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(held, 160);
}

// One lock a key: two keys never wait for each other, however alike.
TEST(DiskStore, LocksOfTwoKeysAreTwo) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  std::string one(64, 'a'), two = one;
  two[14] = 'b';
  KeyLock first = store->lock(one), second = store->lock(two);
  EXPECT_TRUE(first.held());
  EXPECT_TRUE(second.held());
  EXPECT_FALSE(KeyLock::acquire(folder.path() / "cache/lock", one, std::chrono::milliseconds(20)).held());
}

// A child that was forked while a lock was held does not keep it.
TEST(DiskStore, AForkedChildKeepsNoLock) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  std::optional<KeyLock> lock(store->lock(keyNumbered(1)));
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  pid_t child = ::fork();
  if (child == 0) {
    char byte;
    ::close(gate[1]);
    (void)!::read(gate[0], &byte, 1); // lives until the test is done
    ::_exit(0);
  }
  lock.reset();
  EXPECT_TRUE(KeyLock::acquire(folder.path() / "cache/lock", keyNumbered(1), std::chrono::seconds(5)).held());
  ::close(gate[1]);
  ::waitpid(child, nullptr, 0);
}

// Where there can be no lock everyone goes on without.
TEST(DiskStore, NoLockIsNoFailure) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  fs::remove_all(folder.path() / "cache");
  KeyLock lock = store->lock(keyNumbered(1));
  EXPECT_FALSE(lock.held());
  EXPECT_THAT(lock.why(), testing::HasSubstr("No such file"));
}

TEST(DiskStore, RemembersTheToolchain) {
  TempFolder folder;
  auto store = DiskStore::open(folder.string(), {});
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->readToolchain());
  ASSERT_TRUE(store->writeToolchain("one"));
  ASSERT_TRUE(store->writeToolchain("two"));
  EXPECT_EQ(store->readToolchain(), "two");
  EXPECT_EQ(DiskStore::open(folder.string(), {})->readToolchain(), "two");
}

} // namespace
} // namespace interlock
