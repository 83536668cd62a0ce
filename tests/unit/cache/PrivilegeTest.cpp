// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Folders of others. Root may write anywhere, so as root these run as a user who may not.
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::FakeCompiler;
using test::numbered;
using test::TempFolder;

/// Runs `work` as a user without rights; its value is the exit code.
template <typename Work> int unprivileged(Work work) {
  pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0))
      ::_exit(77);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void setMode(const fs::path &path, mode_t folders, mode_t files) {
  for (auto &entry : fs::recursive_directory_iterator(path))
    ::chmod(entry.path().c_str(), entry.is_directory() ? folders : files);
  ::chmod(path.c_str(), folders);
}

class Privilege : public testing::Test {
protected:
  void SetUp() override { ::chmod(folder.path().c_str(), 0755); }
  // So that the folder can be removed, by whoever runs this.
  void TearDown() override {
    ::chmod((folder.path() / "closed").c_str(), 0755);
    setMode(folder.path(), 0755, 0644);
  }
  TempFolder folder;
};

TEST_F(Privilege, AFolderThatMayNotBeEnteredIsANote) {
  fs::create_directories(folder.path() / "closed/in");
  ::chmod((folder.path() / "closed").c_str(), 0000);
  EXPECT_EQ(unprivileged([&] {
              auto cache = KernelCache::open(
                  {.directory = folder.string("closed/in"), .compiler = std::make_shared<FakeCompiler>()});
              auto made = cache->get(numbered(0));
              return made && !cache->disk() && cache->notes().size() == 1 ? 0 : 1;
            }),
            0);
}

TEST_F(Privilege, AFolderThatMayNotBeWrittenIsANote) {
  fs::create_directories(folder.path() / "empty");
  ::chmod((folder.path() / "empty").c_str(), 0555);
  EXPECT_EQ(unprivileged([&] {
              auto cache = KernelCache::open(
                  {.directory = folder.string("empty"), .compiler = std::make_shared<FakeCompiler>()});
              auto made = cache->get(numbered(0));
              return made && cache->notes().size() == 1 ? 0 : 1;
            }),
            0);
}

// An entry that its owner keeps to itself, in a folder that others may write: it is replaced.
TEST_F(Privilege, AnEntryThatMayNotBeReadIsReplaced) {
  {
    auto cache = KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()});
    ASSERT_TRUE(cache->get(numbered(0)));
  }
  setMode(folder.path() / "cache", 0777, 0666);
  ::chmod(test::filesBelow(folder.path() / "cache/entries")[0].c_str(), 0000);
  EXPECT_EQ(unprivileged([&] {
              auto open = [&] {
                return KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()});
              };
              auto made = open()->get(numbered(0));
              if (!made || made->reason.find("cannot be read") == std::string::npos)
                return 1;
              auto again = open()->get(numbered(0));
              return again && again->outcome == Outcome::disk ? 0 : 2;
            }),
            0);
}

// A warmed cache in an image that is mounted read-only is used; what it lacks is compiled and not kept; said once.
TEST_F(Privilege, AWarmedFolderThatMayNotBeWrittenIsRead) {
  {
    auto cache = KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()});
    ASSERT_TRUE(cache->get(numbered(0)));
  }
  setMode(folder.path() / "cache", 0555, 0444);
  for (bool withCompiler : {true, false})
    EXPECT_EQ(unprivileged([&] {
                auto compiler = std::make_shared<FakeCompiler>();
                compiler->missing = !withCompiler;
                auto cache = KernelCache::open({.directory = folder.string(), .compiler = compiler});
                auto hit = cache->get(numbered(0));
                if (!hit || hit->outcome != Outcome::disk)
                  return 1;
                for (uint32_t i = 1; i < 4; ++i)
                  if (cache->get(numbered(i)).has_value() != withCompiler)
                    return 2;
                size_t readOnly = 0;
                for (const std::string &note : cache->notes())
                  readOnly += note.find("read only") != std::string::npos;
                return readOnly == 1 && cache->notes().size() == (withCompiler ? 1u : 2u) ? 0 : 3;
              }),
              0)
        << withCompiler;
}

} // namespace
} // namespace interlock
