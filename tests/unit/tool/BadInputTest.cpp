// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Bad input: exit code 2, one sentence on stderr that names what was wrong, nothing on stdout.
#include "Command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace interlock::test;
using testing::HasSubstr;

namespace {

using Arguments = std::vector<std::string>;

/// A good command line for each subcommand, with changes: an option that is there already gets another value.
Arguments with(Arguments arguments, const Arguments &changes) {
  for (size_t i = 0; i + 1 < changes.size(); i += 2) {
    auto found = std::find(arguments.begin(), arguments.end(), changes[i]);
    if (found != arguments.end())
      *(found + 1) = changes[i + 1];
    else
      arguments.insert(arguments.end(), {changes[i], changes[i + 1]});
  }
  return arguments;
}
Arguments run(const Arguments &changes) {
  return with({"run", "--device", "emulator", "--target", "sm_90a", "--ranks", "2", "--experts", "8", "--topk", "2",
               "--hidden", "64", "--tokens", "4"},
              changes);
}
Arguments compile(const Arguments &changes) {
  return with({"compile", "--kernel", "dispatch", "--ranks", "2", "--experts", "8", "--topk", "2", "--hidden", "64",
               "--tokens", "4"},
              changes);
}

void expectRefused(const Arguments &arguments, const std::string &says) {
  std::string line;
  for (const std::string &argument : arguments)
    line += argument + " ";
  SCOPED_TRACE(line);
  Outcome outcome = runCommand(arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(says));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_THAT(outcome.err, testing::Not(testing::EndsWith(".\n")));

  Arguments asJson = arguments;
  asJson.push_back("--json");
  outcome = runCommand(asJson);
  EXPECT_EQ(outcome.code, 2);
  ASSERT_TRUE(outcome.json().is_object()) << outcome.out;
  EXPECT_THAT(outcome.json()["error"]["message"].get<std::string>(), HasSubstr(says));
}

TEST(BadInput, WhatALayerCannotBe) {
  expectRefused(run({"--model", "gpt-5"}), "gpt-5");
  expectRefused(run({"--target", "sm_70"}), "sm_70");
  expectRefused(run({"--dtype", "fp3"}), "fp3");
  expectRefused(run({"--combine-dtype", "f8e5m2"}), "f8e5m2");
  expectRefused(run({"--hidden", "63"}), "16");
  expectRefused(run({"--hidden", "0"}), "hidden");
  expectRefused(run({"--topk", "0"}), "0");
  expectRefused(run({"--topk", "33", "--experts", "64"}), "33");
  expectRefused(run({"--topk", "9"}), "9");
  expectRefused(run({"--ranks", "65", "--experts", "128"}), "65");
  expectRefused(run({"--ranks", "0"}), "0");
  expectRefused(run({"--scale-bytes", "3"}), "3");
  expectRefused(run({"--capacity", "5"}), "5");
  expectRefused(run({"--cluster", "3"}), "3");
  expectRefused(run({"--cluster", "2", "--target", "sm_80"}), "sm_80");
  expectRefused(run({"--schedule", "dynamic"}), "dynamic");
  expectRefused(run({"--wait", "spin"}), "spin");
  expectRefused(run({"--block", "100"}), "100");
  expectRefused(run({"--tile", "1025"}), "1025");
  expectRefused(run({"--grid", "3", "--cluster", "2"}), "3");
  expectRefused(compile({"--kernel", "gather"}), "gather");
  expectRefused(compile({"--target", "gfx906"}), "gfx906");
  expectRefused(compile({"--target", "gfx942", "--cluster", "2"}), "gfx942 has no thread-block clusters");
  // What a chip of the other vendor has.
  expectRefused(compile({"--target", "gfx942", "--emit", "ptx"}), "--emit asm or hsaco for gfx942");
  expectRefused(compile({"--target", "gfx942", "--emit", "cubin"}), "--emit asm or hsaco for gfx942");
  expectRefused(compile({"--target", "sm_90a", "--emit", "asm"}), "--emit ptx, cubin or sass for sm_90a");
  expectRefused(compile({"--target", "sm_90a", "--emit", "hsaco"}), "--emit ptx, cubin or sass for sm_90a");
  expectRefused(compile({"--emit", "object"}), "object");
}

TEST(BadInput, WhatARunCannotBe) {
  expectRefused(run({"--device", "tpu"}), "tpu");
  expectRefused(run({"--tokens", "1,2,3"}), "one token count per rank");
  expectRefused(run({"--tokens", "-1"}), "-1");
  expectRefused(run({"--mask", "1.5"}), "1.5");
  expectRefused(run({"--mask", "nan"}), "nan");
  expectRefused(run({"--steps", "0"}), "0");
  expectRefused(run({"--routing", "zipf:x"}), "zipf:x");
  expectRefused(run({"--routing", "sideways"}), "sideways");
  expectRefused(run({"--routing", "/nowhere/trace.npy"}), "/nowhere/trace.npy");
  std::string folder = freshFolder();
  expectRefused(run({"--routing", writeFile(folder + "/wide.csv", "1,2,3\n")}), "3");
  expectRefused(run({"--routing", writeFile(folder + "/large.csv", "1,8\n")}), "8");
  expectRefused(run({"--routing", writeFile(folder + "/not.npy", "hello")}), "NumPy");
}

TEST(BadInput, WhatACommandLineCannotBe) {
  expectRefused({"run"}, "--ranks");
  expectRefused({"run", "--ranks", "2", "--tokens", "4"}, "--experts");
  expectRefused({"run", "--ranks", "2", "--model", "deepseek-v3"}, "--tokens");
  expectRefused(run({"--tea", "earl-grey"}), "--tea");
  expectRefused(run({"--ranks", "two"}), "two");
  expectRefused({"brew"}, "brew");
  expectRefused({}, "subcommand");
  expectRefused({"inspect", "/nowhere/kernel.ptx"}, "/nowhere/kernel.ptx");
}

TEST(BadInput, NoGpuIsOneSentenceWhereOneWasAskedFor) {
  Outcome outcome = runCommand(run({"--device", "cuda"}));
  if (outcome.code == 0)
    GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(BadInput, AFolderIsNoFile) {
  std::string folder = freshFolder();
  for (const std::vector<std::string> &arguments : {std::vector<std::string>{"inspect", folder},
                                                    {"compile", "--module", folder, "--emit", "ptx"},
                                                    {"compile", "--source", folder, "--entry", "add"}}) {
    Outcome outcome = runCommand(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments[1];
    EXPECT_THAT(outcome.err, HasSubstr(folder));
  }
}

} // namespace
