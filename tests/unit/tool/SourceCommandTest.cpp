// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock compile --source`: files of CUDA C++ through the command. What needs NVRTC skips where there is none.
#include "Command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

using namespace interlock::test;
using testing::HasSubstr;

namespace {

class SourceCommand : public testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(folder + "/include/detail");
    writeFile(folder + "/add.cu",
              "#include <sum.h>\n#include \"none.h\" // a comment of the next line: the compiler says\n"
              "extern \"C\" __global__ void add(int *x) { x[threadIdx.x] = sum(x[0], N); }\n");
    writeFile(folder + "/include/sum.h", "#pragma once\n#include \"detail/plus.h\"\n");
    writeFile(folder + "/include/detail/plus.h", "__device__ inline int sum(int a, int b) { return a + b; }\n");
    writeFile(folder + "/none.h", "");
  }
  Outcome compile(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"compile", "--source", folder + "/add.cu", "--include", folder + "/include"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runCommand(arguments, {"INTERLOCK_CACHE_DIR=" + folder + "/cache"});
  }
  static bool noNvrtc(const Outcome &outcome) { return outcome.err.find("expected NVRTC") != std::string::npos; }

  std::string folder = freshFolder();
};

TEST_F(SourceCommand, EmitsPtxAndMetaAndFindsThemAgain) {
  Outcome first = compile({"--entry", "add", "--option=-DN=4", "--emit", "ptx"});
  if (noNvrtc(first))
    GTEST_SKIP() << first.err;
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr(".visible .entry add"));
  auto again = compile({"--entry", "add", "--option=-DN=4", "--json"}).json();
  EXPECT_EQ(again["from"], "disk");
  EXPECT_EQ(again["findings"], nlohmann::json::array());
  auto meta = compile({"--entry", "add", "--option=-DN=4", "--emit", "meta"}).json();
  EXPECT_EQ(meta["source"]["headers"].size(), 3u); // none.h, sum.h and detail/plus.h, and no other file of the folders
  EXPECT_EQ(compile({"--entry", "add", "--option=-DN=5", "--json"}).json()["from"], "miss");
  writeFile(folder + "/include/detail/plus.h", "__device__ inline int sum(int a, int b) { return a - b; }\n");
  EXPECT_EQ(compile({"--entry", "add", "--option=-DN=4", "--json"}).json()["from"], "miss");

  Outcome list = runCommand({"inspect", "--json"}, {"INTERLOCK_CACHE_DIR=" + folder + "/cache"});
  ASSERT_EQ(list.json()["entries"].size(), 3u);
  std::string key = list.json()["entries"][0]["key"];
  EXPECT_EQ(list.json()["entries"][0]["source"]["entry"], "add");
  Outcome ptx = runCommand({"inspect", "--key", key, "--emit", "ptx"}, {"INTERLOCK_CACHE_DIR=" + folder + "/cache"});
  EXPECT_THAT(ptx.out, HasSubstr(".visible .entry add"));
  Outcome stages = runCommand({"inspect", key, "--emit", "stages"}, {"INTERLOCK_CACHE_DIR=" + folder + "/cache"});
  EXPECT_EQ(stages.code, 2);
  EXPECT_THAT(stages.err, HasSubstr("given as source"));
  EXPECT_EQ(runCommand({"cache", "verify"}, {"INTERLOCK_CACHE_DIR=" + folder + "/cache"}).code, 0);
  EXPECT_EQ(runCommand({"cache", "prune", "--other-compilers", "--json"}, {"INTERLOCK_CACHE_DIR=" + folder + "/cache"})
                .json()["entries"],
            3);
}

TEST_F(SourceCommand, TheLogIsTheMessage) {
  Outcome outcome = compile({"--entry", "add"});
  if (noNvrtc(outcome))
    GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, testing::StartsWith("interlock: add.cu:3: identifier \"N\" is undefined"));
}

TEST_F(SourceCommand, BadInputIsOneSentence) {
  EXPECT_THAT(compile({}).err, HasSubstr("expected --entry NAME with --source"));
  EXPECT_THAT(compile({"--entry", "add", "--emit", "lowered"}).err, HasSubstr("a source has no MLIR"));
  EXPECT_THAT(compile({"--entry", "add", "--include", folder + "/no-such"}).err,
              HasSubstr("expected a folder of headers"));
  EXPECT_THAT(compile({"--entry", "add", "--contract", folder + "/no-such"}).err, HasSubstr("expected to read"));
  EXPECT_EQ(compile({"--entry", "add", "--kernel", "dispatch"}).code, 2);
  Outcome absent = runCommand({"compile", "--source", folder + "/add.cu", "--entry", "add"},
                              {"INTERLOCK_CACHE_DIR=" + folder + "/cache", "INTERLOCK_NVRTC=" + folder + "/none.so"});
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.err, testing::AllOf(HasSubstr("expected NVRTC"), HasSubstr("would do")));
  EXPECT_EQ(runCommand({"compile", "--source", folder, "--entry", "add"}).code, 2);
  // one name, two headers
  writeFile(folder + "/include/plus.h", "");
  writeFile(folder + "/include/detail/other.h", "#include \"plus.h\"\n");
  writeFile(folder + "/two.cu", "#include \"detail/other.h\"\n#include \"plus.h\"\n__global__ void k() {}\n");
  Outcome two =
      runCommand({"compile", "--source", folder + "/two.cu", "--entry", "k", "--include", folder + "/include"});
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("expected one header that is included as plus.h"));
}

// The target says the language: the same flags, HIP C++ for an AMD chip.
TEST_F(SourceCommand, HipForAnAmdChip) {
  writeFile(folder + "/fill.hip", "extern \"C\" __global__ void fill(int *x) { x[threadIdx.x] = N; }\n");
  auto fill = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"compile", "--source", folder + "/fill.hip", "--entry", "fill", "--option=-DN=4"});
    return runCommand(more, {"INTERLOCK_CACHE_DIR=" + folder + "/cache"});
  };
  Outcome wrong = fill({"--target", "gfx90a", "--emit", "ptx"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("asm or hsaco for gfx90a"));
  Outcome first = fill({"--target", "gfx90a", "--emit", "asm"});
  if (first.err.find("expected hiprtc") != std::string::npos || first.err.find("needs the compiler plugin") != std::string::npos)
    GTEST_SKIP() << first.err;
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr(".amdhsa_kernel fill"));
  auto again = fill({"--target", "gfx90a", "--json"}).json();
  EXPECT_EQ(again["from"], "disk");
  EXPECT_GT(again["hsaco_bytes"], 0);
  Outcome list = runCommand({"inspect", "--json"}, {"INTERLOCK_CACHE_DIR=" + folder + "/cache"});
  ASSERT_EQ(list.json()["entries"].size(), 1u);
  EXPECT_EQ(list.json()["entries"][0]["source"]["language"], "hip");
  // no hiprtc is known for it, whichever there is
  Outcome chip = fill({"--target", "gfx1250"});
  EXPECT_EQ(chip.code, 2);
  EXPECT_THAT(chip.err, HasSubstr("a chip that hiprtc is known to compile for"));
}

} // namespace
