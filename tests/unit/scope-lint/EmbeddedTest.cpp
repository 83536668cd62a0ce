// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// PTX inside other files. cuobjdump is played by a script that prints what the real one prints, and the real one is
// used where it and nvcc are there.
#include "Command.h"

#include "analysis/ScopeModel/Rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace interlock::test;
using interlock::scope::findRule;
using testing::HasSubstr;

namespace {

const std::string elf = std::string("\x7f"
                                    "ELF") +
                        std::string(60, '\0');

std::string section(const std::string &kind, const std::string &arch, const std::string &text) {
  return "\nFatbin " + kind + " code:\n================\narch = " + arch +
         "\ncode version = [9,0]\nhost = linux\ncompile_size = 64bit\ncompressed\nptxasOptions =  --generate-line-info "
         "\n\n" +
         text;
}

/// A cuobjdump of that folder that runs these shell commands.
std::string fakeTool(const std::string &folder, const std::string &commands) {
  std::filesystem::create_directories(folder);
  std::string tool = writeFile(folder + "/cuobjdump", "#!/bin/sh\n" + commands + "\n");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  return folder;
}

TEST(Embedded, EachTextIsAnInput) {
  std::string folder = freshFolder(), program = writeFile(folder + "/a.out", elf);
  writeFile(folder + "/listing", section("elf", "sm_90a", "") +
                                     section("ptx", "sm_90a", std::string(findRule("SL01")->flagged())) +
                                     section("ptx", "sm_80", std::string(findRule("SL01")->clean())));
  std::string path = "PATH=" + fakeTool(folder + "/bin",
                                        "[ \"$1 $2\" = \"-ptx " + program + "\" ] && /bin/cat " + folder + "/listing");
  Outcome outcome = runCommand({program}, {path});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(program + ":1.sm_90a.ptx:"));
  auto json = runCommand({"--format", "json", program}, {path}).json();
  ASSERT_EQ(json["inputs"].size(), 2u);
  EXPECT_EQ(json["inputs"][1]["input"], program + ":2.sm_80.ptx");
  EXPECT_EQ(json["inputs"][1]["findings"].size(), 0u);
}

TEST(Embedded, CudaHomeIsSearchedToo) {
  std::string folder = freshFolder(), program = writeFile(folder + "/-a.fatbin", "\x50\xed\x55\xba rest");
  writeFile(folder + "/listing", section("ptx", "sm_90", std::string(findRule("SL01")->clean())));
  fakeTool(folder + "/cuda/bin", "/bin/cat " + folder + "/listing");
  Outcome outcome = runCommand({program}, {"PATH=/nowhere", "CUDA_HOME=" + folder + "/cuda"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(Embedded, WhatIsMissingIsNamed) {
  std::string folder = freshFolder(), program = writeFile(folder + "/a.out", elf);
  auto refused = [&](const std::vector<std::string> &environment, const std::string &says, const std::string &name) {
    Outcome outcome = runCommand({name}, environment, elf);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(says));
  };
  refused({"PATH=/nowhere", "CUDA_HOME="},
          program + ": expected cuobjdump to read the PTX in an ELF file, found none in PATH", program);
  refused({"PATH=" + fakeTool(folder + "/silent", "exit 0")}, "expected embedded PTX in an ELF file, found none\n",
          program);
  refused({"PATH=" + fakeTool(folder + "/says", "echo cuobjdump info: no device code >&2; exit 255")},
          "found none; cuobjdump says: cuobjdump info: no device code\n", program);
  refused({"PATH=" + fakeTool(folder + "/dies", "kill -9 $$")}, "expected embedded PTX", program);
  refused({"PATH=/nowhere"}, "-: expected PTX on standard input, got an ELF file: name it as a file", "-");
}

TEST(Embedded, WhatTheRealToolFinds) {
  std::string folder = freshFolder();
  writeFile(folder + "/k.cu", "__global__ void k(int *p) { *p = 1; }\nint main() {}\n");
  std::string compile = "cd " + folder +
                        " && nvcc -gencode arch=compute_90a,code=[sm_90a,compute_90a] k.cu -o a.out "
                        "> log 2>&1 && command -v cuobjdump > log";
  if (std::system(compile.c_str()) != 0)
    GTEST_SKIP() << "needs nvcc and cuobjdump in PATH";
  auto json = runCommand({"--format", "json", folder + "/a.out"}).json();
  ASSERT_TRUE(json.is_object());
  ASSERT_EQ(json["inputs"].size(), 1u);
  EXPECT_EQ(json["inputs"][0]["input"], folder + "/a.out:1.sm_90a.ptx");
  EXPECT_EQ(json["inputs"][0]["functions"], 1);
}

} // namespace
