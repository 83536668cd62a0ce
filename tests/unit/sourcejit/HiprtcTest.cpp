// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// hiprtc in a process of its own: what it is asked, and that however that process ends, this one gets a sentence. A
// fake one stands in its place, so no ROCm is needed.
#include "runtime/SourceJit/Hiprtc.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HiprtcChild : public testing::Test {
protected:
  /// The fake one as a file of that version.
  std::shared_ptr<Hiprtc> open(const std::string &file = "libhiprtc.so.7.0.1", uint32_t seconds = 60) {
    fs::path copy = folder.path() / file;
    fs::create_directories(copy.parent_path());
    fs::copy_file(FAKE_HIPRTC, copy, fs::copy_options::skip_existing);
    auto found = Hiprtc::find({.hiprtcPath = copy.string(), .hiprtcHelper = HIPRTC_HELPER, .hiprtcSeconds = seconds});
    EXPECT_TRUE(found.has_value()) << found.error().message;
    return found.value_or(nullptr);
  }
  static SourceKernel kernel(const std::string &text, const std::string &target = "gfx90a") {
    SourceKernel kernel;
    kernel.source = {"add.hip", text};
    kernel.entry = "add";
    kernel.target = target;
    return kernel;
  }
  TempFolder folder;
};

TEST_F(HiprtcChild, IsAskedWithNothingOfThisMachine) {
  SourceKernel wanted = kernel("text");
  wanted.headers = {{"detail/ops.h", "inner"}};
  wanted.options = {"-DN=2"};
  auto made = open()->compile(wanted);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->entry, "add");
  EXPECT_EQ(made->version, "hiprtc 7.0.1");
  EXPECT_EQ(made->object, "#line 1 \"add.hip\"\ntext\ndetail/ops.h=#line 1 \"detail/ops.h\"\ninner\n-DN=2\n"
                          "--offload-arch=gfx90a\n-nostdinc");
}

TEST_F(HiprtcChild, SeesNothingOfThisProcess) {
  ::setenv("HIPRTC_COMPILE_OPTIONS_APPEND", "-DEVIL", 1);
  ::setenv("TMPDIR", "/tmp", 1);
  int leaked = ::open("/dev/null", O_RDONLY); // without close-on-exec
  sigset_t term, before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &before);
  auto old = ::signal(SIGTERM, SIG_IGN);
  auto made = open()->compile(kernel("surroundings"));
  ::signal(SIGTERM, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(leaked);
  ::unsetenv("HIPRTC_COMPILE_OPTIONS_APPEND");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->object, AllOf(HasSubstr("cwd=/\n"), HasSubstr("env=TMPDIR=/tmp"), HasSubstr("blocked=0"),
                                  HasSubstr("ignored=0"), HasSubstr("fd=3\nfd=4\n"), Not(HasSubstr("fd=5")),
                                  Not(HasSubstr("EVIL")), Not(HasSubstr("env=PATH"))));
}

TEST_F(HiprtcChild, A17ItsEndIsASentenceAndNotOurs) {
  struct Case {
    const char *text, *says;
  };
  const Case cases[] = {
      {"abort", "hiprtc 7.0.1 ended with signal 6 (Aborted) when it compiled kernel `add` of add.hip for gfx90a: "
                "munmap_chunk(): invalid pointer"},
      {"leave early", "hiprtc 7.0.1 ended with exit code 0 when it compiled"},
      {"leave with 3", "hiprtc 7.0.1 ended with exit code 3 when it compiled"},
      {"half an answer", "hiprtc 7.0.1 ended with exit code 0 when it compiled"},
  };
  auto hiprtc = open();
  for (const Case &each : cases) {
    auto failed = hiprtc->compile(kernel(each.text));
    ASSERT_FALSE(failed) << each.text;
    EXPECT_EQ(failed.error().code, Code::compile);
    EXPECT_THAT(failed.error().message, AllOf(testing::StartsWith(each.says), Not(HasSubstr("\n"))));
  }
  EXPECT_TRUE(hiprtc->compile(kernel("text")).has_value()) << "the next one is another process";
}

TEST_F(HiprtcChild, A17WhatHangsIsStopped) {
  auto begin = std::chrono::steady_clock::now();
  auto failed = open("libhiprtc.so.7.0.1", 1)->compile(kernel("hang"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("took more than 1 s and was stopped"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "nothing is left of it";
}

TEST_F(HiprtcChild, MayTalkAsMuchAsItLikes) {
  auto made = open()->compile(kernel("talk"));
  ASSERT_TRUE(made) << made.error().message;
}

TEST_F(HiprtcChild, ItsDiagnosticsAreTheMessage) {
  auto failed = open()->compile(kernel("refuse"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::compile);
  EXPECT_THAT(failed.error().message, AllOf(testing::StartsWith("add.hip:3: this is refused [hiprtc 7.0.1]\n"),
                                            HasSubstr("1 error generated.")));
}

TEST_F(HiprtcChild, ManyAtOnceHaveOneEach) {
  auto hiprtc = open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      auto made = hiprtc->compile(kernel(i % 2 ? "abort" : "text " + std::to_string(i)));
      EXPECT_EQ(made.has_value(), i % 2 == 0);
      if (made) {
        EXPECT_THAT(made->object, HasSubstr("text " + std::to_string(i)));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

// A host may leave its children to the kernel; then nobody learns how they ended.
TEST_F(HiprtcChild, AHostThatIgnoresItsChildrenGetsItsKernel) {
  auto hiprtc = open();
  auto old = ::signal(SIGCHLD, SIG_IGN);
  auto made = hiprtc->compile(kernel("text"));
  auto failed = hiprtc->compile(kernel("abort"));
  ::signal(SIGCHLD, old);
  EXPECT_TRUE(made.has_value());
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("ended, nobody knows how"));
}

// The list is asked before anything is started: the fake one would crash.
TEST_F(HiprtcChild, OnlyChipsThatAVersionKnowsAreAskedFor) {
  struct Case {
    const char *file, *target, *says;
  };
  const Case cases[] = {
      {"libamdhip64.so.5.2.21153", "gfx90a", ""},
      {"libamdhip64.so.5.2.21153", "gfx942",
       "expected the hiprtc of HIP 6.0 or later for gfx942, got hiprtc 5.2.21153"},
      {"libamdhip64.so.5.2.21153", "gfx1100", "expected the hiprtc of HIP 5.7 or later"},
      {"libhiprtc.so.6.2.60204", "gfx942", ""},
      {"libhiprtc.so.6.2.60204", "gfx950", "expected the hiprtc of HIP 7.0 or later"},
      {"libhiprtc.so.6.4.0", "gfx1201", ""},
      {"libhiprtc.so.7.0.1", "gfx950", ""},
      {"libhiprtc.so.10.0", "gfx950", ""},
      {"libhiprtc.so.7.0.1", "gfx1250", "expected a chip that hiprtc is known to compile for, got gfx1250"},
      {"libhiprtc.so", "gfx90a", "got hiprtc of an unknown version"},
  };
  for (const Case &each : cases) {
    auto made = open(each.file)->compile(kernel("text", each.target));
    EXPECT_EQ(made.has_value(), !*each.says) << each.file << " for " << each.target;
    if (!made) {
      EXPECT_EQ(made.error().code, Code::unsupported);
      EXPECT_THAT(made.error().message, HasSubstr(each.says));
    }
  }
}

TEST_F(HiprtcChild, A17WhatIsMissingIsNamed) {
  auto none = Hiprtc::find({.hiprtcPath = "/no/such/libhiprtc.so.7"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::notFound);
  EXPECT_THAT(none.error().message, HasSubstr("expected hiprtc to compile HIP C++ with, found none at /no/such"));
  auto helper = Hiprtc::find({.hiprtcPath = FAKE_HIPRTC, .hiprtcHelper = "/no/such/interlock-hiprtc"});
  ASSERT_FALSE(helper);
  EXPECT_EQ(helper.error().code, Code::notFound);
  EXPECT_THAT(helper.error().message, HasSubstr("found none at /no/such/interlock-hiprtc"));
  // a file that is no library, and one that is not hiprtc
  fs::create_directories(folder.path());
  test::spill(folder.path() / "libhiprtc.so.7.1.0", "no library");
  for (const std::string &file : {folder.string("libhiprtc.so.7.1.0"), std::string()}) {
    fs::path other = folder.path() / "libhiprtc.so.7.2.0";
    if (file.empty())
      fs::copy_file(FAKE_PLUGIN_GOOD, other);
    auto damaged = Hiprtc::find({.hiprtcPath = file.empty() ? other.string() : file, .hiprtcHelper = HIPRTC_HELPER});
    ASSERT_TRUE(damaged);
    auto failed = (*damaged)->compile(kernel("text"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::notFound);
    EXPECT_THAT(failed.error().message, HasSubstr("expected to load "));
  }
}

// Builds of everything that it consists of, wherever they lie.
TEST_F(HiprtcChild, A09ItsIdentityIsOfAllItsParts) {
  auto identity = [&](const std::string &place) {
    auto found = Hiprtc::find(
        {.hiprtcPath = (folder.path() / place / "libamdhip64.so.5").string(), .hiprtcHelper = HIPRTC_HELPER});
    EXPECT_TRUE(found.has_value());
    return found ? (*found)->identity() : "";
  };
  auto fill = [&](const std::string &place) {
    fs::create_directories(folder.path() / place);
    test::spill(folder.path() / place / "libamdhip64.so.5", "hip");
    test::spill(folder.path() / place / "libamd_comgr.so.2", "comgr");
    test::spill(folder.path() / place / "libhiprtc-builtins.so.5", "headers");
  };
  for (const char *place : {"one", "elsewhere", "hip", "comgr", "headers"})
    fill(place);
  test::spill(folder.path() / "hip/libamdhip64.so.5", "another");
  test::spill(folder.path() / "comgr/libamd_comgr.so.2", "another");
  test::spill(folder.path() / "headers/libhiprtc-builtins.so.5", "another");
  EXPECT_EQ(identity("one"), identity("elsewhere"));
  for (const char *place : {"hip", "comgr", "headers"})
    EXPECT_NE(identity("one"), identity(place)) << place;
}

} // namespace
} // namespace interlock
