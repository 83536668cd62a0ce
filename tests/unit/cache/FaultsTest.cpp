// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// File systems that are full, read-only, foreign or cannot lock: the kernel is there all the same, nothing half-made is
// published, and it is said once (corpus A01, A02).
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FailingCalls.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/cache/Processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace interlock {
namespace {

using test::Call;
using test::FailingCall;
using test::FakeCompiler;
using test::numbered;
using test::TempFolder;
using testing::HasSubstr;

struct Fault {
  const char *name;
  Call call;
  int error;
};

class Faults : public testing::TestWithParam<Fault> {};

TEST_P(Faults, A02WhatCannotBePublishedIsUsedAndSaidOnce) {
  TempFolder folder;
  auto compiler = std::make_shared<FakeCompiler>();
  std::vector<std::string> heard;
  auto open = [&] {
    return KernelCache::open({.directory = folder.string(), .compiler = compiler, .log = [&](std::string_view note) {
                                heard.emplace_back(note);
                              }});
  };
  auto cache = open();
  (void)cache->keyOf(numbered(0)); // the toolchain's file is written before the fault
  {
    FailingCall fault(GetParam().call, GetParam().error);
    for (uint32_t i = 0; i < 3; ++i) {
      auto made = cache->get(numbered(i));
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_TRUE(test::matches(*made->artifact));
      EXPECT_EQ(made->outcome, Outcome::miss);
    }
  }
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_THAT(heard[0], HasSubstr("a kernel could not be cached"));
  EXPECT_THAT(heard[0], HasSubstr(std::strerror(GetParam().error)));
  EXPECT_EQ(cache->notes(), heard);
  EXPECT_TRUE(cache->disk()->list().empty());
  EXPECT_TRUE(test::filesBelow(folder.path() / "cache/staging").empty());
  // And once the fault is gone the next call heals it.
  auto next = open();
  EXPECT_EQ(next->get(numbered(0))->outcome, Outcome::miss);
  EXPECT_EQ(open()->get(numbered(0))->outcome, Outcome::disk);
}

const Fault faults[] = {
    {"NoSpace", Call::write, ENOSPC},     {"Quota", Call::write, EDQUOT},         {"BadDisk", Call::sync, EIO},
    {"OtherDevice", Call::rename, EXDEV}, {"NotPermitted", Call::rename, EACCES}, {"ReadOnly", Call::makeFile, EROFS},
    {"NoInodes", Call::makeFile, ENOSPC},
};
INSTANTIATE_TEST_SUITE_P(Cache, Faults, testing::ValuesIn(faults),
                         [](const auto &info) { return std::string(info.param.name); });

class Lockless : public testing::TestWithParam<int> {};

// Everyone compiles, nobody reads anything torn, and the last one's entry stays.
TEST_P(Lockless, A01ProcessesOnAColdFolder) {
  TempFolder folder;
  FailingCall fault(Call::lock, GetParam());
  test::Gate gate;
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i)
    children.push_back(test::inProcess([&] {
      auto compiler = std::make_shared<FakeCompiler>();
      compiler->takes = std::chrono::milliseconds(20);
      gate.wait();
      auto cache = KernelCache::open({.directory = folder.string(), .compiler = compiler});
      for (uint32_t spec = 0; spec < 3; ++spec)
        if (auto made = cache->get(numbered(spec)); !made || !test::matches(*made->artifact))
          return 1;
      size_t said = 0;
      for (const std::string &note : cache->notes())
        said += note.find("cannot lock") != std::string::npos;
      return said == (compiler->compilations > 0 ? 1u : 0u) ? 0 : 2;
    }));
  gate.open();
  for (pid_t child : children)
    EXPECT_EQ(test::exitCodeOf(child), 0);
  for (uint32_t spec = 0; spec < 3; ++spec) {
    auto kept = KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()})
                    ->get(numbered(spec));
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->outcome, Outcome::disk) << kept->reason;
    EXPECT_TRUE(test::matches(*kept->artifact));
  }
}

// What file systems answer that know no locks: NFS without its daemon, Lustre without -o flock, FUSE.
INSTANTIATE_TEST_SUITE_P(Cache, Lockless, testing::Values(ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL),
                         [](const auto &info) { return std::string("Error") + std::to_string(info.param); });

} // namespace
} // namespace interlock
