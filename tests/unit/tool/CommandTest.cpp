// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What needs no kernel: help, targets, doctor, an empty cache.
#include "Command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace interlock::test;
using testing::HasSubstr;

namespace {

TEST(Command, HelpIsOutputAndEndsWellForEverySubcommand) {
  EXPECT_THAT(runCommand({"--help"}).out, testing::AllOf(HasSubstr("compile"), HasSubstr("doctor")));
  for (const char *subcommand : {"compile", "inspect", "run", "targets", "doctor"}) {
    Outcome outcome = runCommand({subcommand, "--help"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr(subcommand));
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Command, TargetsListsChipsAndModels) {
  auto json = runCommand({"targets", "--json"}).json();
  ASSERT_TRUE(json.is_object());
  std::vector<std::string> chips, models;
  for (const auto &target : json["targets"])
    chips.push_back(target["name"]);
  for (const auto &model : json["models"])
    models.push_back(model["name"]);
  EXPECT_THAT(chips, testing::ElementsAre("sm_80", "sm_90a", "sm_100a", "sm_103a", "sm_120a", "gfx90a", "gfx942",
                                          "gfx950", "gfx1250", "gfx1100", "gfx1201"));
  EXPECT_THAT(models, testing::IsSupersetOf({"deepseek-v3", "kimi-k2", "qwen3-235b-a22b", "gpt-oss-120b",
                                             "mixtral-8x7b", "llama-4-maverick", "glm-4.5"}));
  Outcome text = runCommand({"targets"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, testing::AllOf(HasSubstr("sm_103a"), HasSubstr("code object 5"), HasSubstr("kimi-k2")));
}

TEST(Command, DoctorSaysWhatIsThereAndWhatIsNot) {
  auto json = runCommand({"doctor", "--json"}).json();
  ASSERT_TRUE(json.is_object());
  for (const char *part : {"cuda_driver", "hip_runtime", "nvjitlink", "nvrtc", "disassembler", "compiler", "cache"}) {
    ASSERT_TRUE(json.contains(part)) << part;
    EXPECT_TRUE(json[part].contains("found")) << part;
  }
  EXPECT_EQ(runCommand({"doctor"}).code, 0);
}

TEST(Command, DoctorTellsAnUnwritableCache) {
  std::string folder = freshFolder(), file = writeFile(folder + "/file", "in the way");
  Outcome outcome = runCommand({"doctor", "--json"}, {"INTERLOCK_CACHE_DIR=" + file});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.json()["cache"]["found"], false);
  EXPECT_THAT(outcome.json()["cache"]["detail"].get<std::string>(), HasSubstr(file));
}

TEST(Command, AnEmptyCacheIsAnEmptyList) {
  Outcome outcome = runCommand({"inspect", "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.json()["entries"], nlohmann::json::array());
}

TEST(Command, InspectReadsPtxThatAnybodyWrote) {
  std::string file = writeFile(freshFolder() + "/k.ptx", ".version 8.6\n.target sm_90a\n.address_size 64\n"
                                                         ".visible .entry spin(.param .u64 p)\n.reqntid 256, 1, 1\n"
                                                         "{\n.reg .b64 %rd<2>;\n.shared .align 16 .b8 ring[1024];\n"
                                                         "ld.param.u64 %rd1, [p];\nbar.sync 0;\nret;\n}\n");
  Outcome outcome = runCommand({"inspect", file, "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  auto json = outcome.json();
  EXPECT_EQ(json["ptx_isa"], "8.6");
  EXPECT_EQ(json["target"], "sm_90a");
  EXPECT_EQ(json["entries"][0]["name"], "spin");
  EXPECT_EQ(json["entries"][0]["instructions"], 3);
  EXPECT_EQ(json["entries"][0]["shared_bytes"], 1024);
  EXPECT_EQ(runCommand({"inspect", file}).code, 0);
  writeFile(file, ".version 8.6\n.target sm_90a\n.entry broken( {\n");
  Outcome broken = runCommand({"inspect", file});
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr(":3:"));
}

} // namespace
