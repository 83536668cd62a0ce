// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Several processes on one folder: one compiles, and one that is killed harms nobody (corpus A01, A02, A06).
#include "tests/unit/cache/Processes.h"
#include "runtime/Cache/Digest.h"
#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gtest/gtest.h>

#include <csignal>
#include <random>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace interlock {
namespace {

using test::exitCodeOf;
using test::FakeCompiler;
using test::inProcess;
using test::numbered;
using test::TempFolder;

/// One byte a compilation, appended to a file that all processes share.
std::function<void()> tally(const std::string &file) {
  return [file] {
    int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    (void)!::write(to, "x", 1);
    ::close(to);
  };
}

// A01.
TEST(Processes, A01ThirtyTwoOnAColdFolderCompileOnce) {
  TempFolder folder;
  test::Gate gate;
  std::vector<pid_t> children;
  for (int i = 0; i < 32; ++i)
    children.push_back(inProcess([&] {
      auto compiler = std::make_shared<FakeCompiler>();
      compiler->takes = std::chrono::milliseconds(200);
      compiler->onCompile = tally(folder.string("compiled"));
      gate.wait();
      auto cache = KernelCache::open({.directory = folder.string("new/cache"), .compiler = compiler});
      auto made = cache->get(numbered(0));
      if (!made || !test::matches(*made->artifact) || !cache->notes().empty())
        return 1;
      bool compiledHere = compiler->compilations == 1;
      return compiledHere == (made->outcome == Outcome::miss) ? 0 : 2;
    }));
  gate.open();
  for (pid_t child : children)
    EXPECT_EQ(exitCodeOf(child), 0);
  EXPECT_EQ(test::slurp(folder.path() / "compiled"), "x");
}

// A holder that dies takes its lock with it.
TEST(Processes, AHolderThatIsKilledStopsNobody) {
  TempFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t child = inProcess([&] {
    auto compiler = std::make_shared<FakeCompiler>();
    compiler->onCompile = [&] { (void)!::write(ready[1], "x", 1); };
    compiler->takes = std::chrono::minutes(1);
    (void)KernelCache::open({.directory = folder.string(), .compiler = compiler})->get(numbered(0));
    return 0;
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  auto begin = std::chrono::steady_clock::now();
  auto made =
      KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()})->get(numbered(0));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->outcome, Outcome::miss);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// A06: a writer killed at any point leaves whole entries only.
TEST(Processes, A06AKilledWriterLeavesWholeEntries) {
  TempFolder folder;
  std::mt19937_64 random(7);
  ASSERT_TRUE(DiskStore::open(folder.string(), {}));
  for (int round = 0; round < 200; ++round) {
    pid_t child = inProcess([&] {
      auto store = DiskStore::open(folder.string(), {});
      for (uint32_t i = 0; store; ++i) {
        KernelSpec spec = numbered(i % 8);
        (void)store->publish(digestOf(canonicalForm(spec)), encodeEntry(test::artifactOf(spec, "k", 30000), "id"));
      }
      return 0;
    });
    ASSERT_GT(child, 0);
    ::usleep(useconds_t(500 + random() % 8000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto store = DiskStore::open(folder.string(), {});
    ASSERT_TRUE(store);
    for (const StoredEntry &entry : store->list()) {
      auto artifact = decodeEntry(store->read(entry.key).value_or(""));
      ASSERT_TRUE(artifact) << "round " << round << ": " << artifact.error().why;
    }
  }
  EXPECT_FALSE(DiskStore::open(folder.string(), {})->list().empty()) << "no writer ever got through";
}

// A02: the disk is full after half of the file.
TEST(Processes, A02AWriteThatStopsHalfwayPublishesNothing) {
  TempFolder folder;
  EXPECT_EQ(exitCodeOf(inProcess([&] {
              auto compiler = std::make_shared<FakeCompiler>();
              auto cache = KernelCache::open({.directory = folder.string(), .compiler = compiler});
              (void)cache->keyOf(numbered(0)); // the toolchain's file is written before the limit
              ::signal(SIGXFSZ, SIG_IGN);
              rlimit limit{200, 200};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              auto made = cache->get(numbered(0));
              if (!made || !test::matches(*made->artifact))
                return 1;
              if (cache->notes().size() != 1 || cache->notes()[0].find("could not be cached") == std::string::npos)
                return 2;
              if (!cache->disk()->list().empty())
                return 3;
              return test::filesBelow(folder.path() / "cache/staging").empty() ? 0 : 4;
            })),
            0);
}

} // namespace
} // namespace interlock
