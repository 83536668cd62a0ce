// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock cache`, with a compiler plugin that writes the spec itself as the kernel's text.
#include "Command.h"

#include "tests/unit/cache/OtherVersions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace interlock::test;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

class CacheCommand : public testing::Test {
protected:
  Outcome cache(Arguments arguments, const std::string &name = "cache") {
    arguments.insert(arguments.begin(), "cache");
    return runCommand(arguments, {"INTERLOCK_CACHE_DIR=" + folder + "/" + name, "INTERLOCK_COMPILER=" FAKE_PLUGIN});
  }
  nlohmann::json json(Arguments arguments, const std::string &name = "cache") {
    arguments.push_back("--json");
    Outcome outcome = cache(arguments, name);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json();
  }
  /// 2 token counts × 2 dtypes × 2 targets × dispatch and combine.
  Arguments deployment(const char *subcommand) {
    return {subcommand, "--model",  "mixtral-8x7b", "--ranks",       "2", "--tokens", "16,64",
            "--dtype",  "bf16,f16", "--target",     "sm_90a,sm_100a"};
  }
  std::string entryFile() {
    for (auto &entry : fs::recursive_directory_iterator(folder + "/cache/entries"))
      if (entry.is_regular_file())
        return entry.path().string();
    return "";
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string folder = freshFolder();
};

TEST_F(CacheCommand, EnumerateAndPrewarmAgree) {
  Outcome list = cache(deployment("enumerate"));
  EXPECT_EQ(list.code, 0) << list.err;
  nlohmann::json kernels = json(deployment("enumerate"))["kernels"];
  EXPECT_EQ(kernels.size(), 16u);
  nlohmann::json made = json(deployment("prewarm"));
  EXPECT_EQ(made["kernels"], 16);
  EXPECT_EQ(made["compiled"], 16);
  std::string specs = writeFile(folder + "/specs", list.out);
  nlohmann::json again = json({"prewarm", "--specs", specs, "--jobs", "2"});
  EXPECT_EQ(again["compiled"], 0);
  EXPECT_EQ(again["cached"], 16);
  nlohmann::json entries = json({"ls"})["entries"];
  ASSERT_EQ(entries.size(), 16u);
  std::vector<std::string> enumerated, listed;
  for (const auto &kernel : kernels)
    enumerated.push_back(kernel["key"]);
  for (const auto &entry : entries)
    listed.push_back(entry["key"]);
  EXPECT_THAT(listed, testing::UnorderedElementsAreArray(enumerated));
}

TEST_F(CacheCommand, ShowAndVerify) {
  EXPECT_THAT(cache({"verify"}).out, HasSubstr("0 entries"));
  EXPECT_FALSE(fs::exists(folder + "/cache")) << "looking makes no folder";
  json(deployment("prewarm"));
  std::string key = fs::path(entryFile()).filename();
  EXPECT_EQ(json({"verify"})["problems"].size(), 0u);
  Outcome unknown = cache({"show", "zzzz"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("zzzz"));

  fs::resize_file(entryFile(), 200);
  Outcome bad = cache({"verify"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, testing::AllOf(HasSubstr(key), HasSubstr("16 entries, 1 of them not whole")));
  EXPECT_EQ(json({"prune", "--damaged"})["removed"], 1);
  EXPECT_EQ(cache({"verify"}).code, 0);
}

// After an upgrade the folder holds what the older version wrote: nothing is wrong with it, and it can go.
TEST_F(CacheCommand, WhatAnotherVersionWroteIsNotDamaged) {
  json(deployment("prewarm"));
  std::string file = entryFile();
  std::ifstream stream(file, std::ios::binary);
  const std::string entry(std::istreambuf_iterator<char>(stream), {});
  fs::remove(file);
  for (const std::string &other : {inFormat1(entry), withAnotherField(entry), withAnotherFeature(entry)}) {
    std::string key = nameOf(other);
    fs::create_directories(folder + "/cache/entries/" + key.substr(0, 2));
    writeFile(folder + "/cache/entries/" + key.substr(0, 2) + "/" + key, other);
  }
  Outcome verified = cache({"verify"});
  EXPECT_EQ(verified.code, 0);
  EXPECT_EQ(verified.out,
            "18 entries, 0 of them not whole\n"
            "another version of Interlock wrote 3 of them, and this one never looks those up: `interlock cache prune "
            "--other-versions` would remove them\n");
  nlohmann::json report = json({"verify"});
  EXPECT_EQ(report["problems"].size(), 0u);
  EXPECT_EQ(report["other_versions"], 3);
  EXPECT_EQ(json({"ls"})["entries"].size(), 15u);
  EXPECT_EQ(json({"ls"})["unlisted"].size(), 3u);
  EXPECT_THAT(cache({"ls"}).out, HasSubstr("\n3 more are another version's or damaged: `interlock cache verify` tells "
                                           "which\n"));
  Outcome shown = runCommand(
      {"inspect", folder + "/cache/entries/" + nameOf(inFormat1(entry)).substr(0, 2) + "/" + nameOf(inFormat1(entry))},
      {"INTERLOCK_CACHE_DIR=" + folder + "/cache"});
  EXPECT_EQ(shown.code, 2);
  EXPECT_THAT(shown.err, testing::AllOf(HasSubstr("written by another version"), testing::Not(HasSubstr("damaged"))));
  Outcome asked = cache({"show", nameOf(withAnotherFeature(entry)).substr(0, 20)});
  EXPECT_EQ(asked.code, 2);
  EXPECT_THAT(asked.err, HasSubstr("written by another version"));

  EXPECT_EQ(json({"prune", "--damaged"})["removed"], 0);
  EXPECT_EQ(json({"prune", "--other-versions"})["removed"], 3);
  EXPECT_EQ(cache({"verify"}).out, "15 entries, 0 of them not whole\n");
  EXPECT_EQ(json({"ls"})["unlisted"].size(), 0u);
  EXPECT_THAT(cache({"ls"}).out, testing::Not(HasSubstr("more")));
  fs::resize_file(entryFile(), 200);
  EXPECT_EQ(json({"prune", "--other-versions"})["removed"], 0);
  EXPECT_EQ(cache({"verify"}).code, 1);
}

TEST_F(CacheCommand, PruneByLimits) {
  json(deployment("prewarm"));
  EXPECT_EQ(json({"prune", "--max-files", "10"})["entries"], 10);
  nlohmann::json left = json({"prune", "--max-bytes", "2000"});
  EXPECT_LE(left["bytes"], 2000);
  EXPECT_EQ(json({"prune", "--other-compilers"})["removed"], 0);
  EXPECT_EQ(json({"prune", "--all"})["entries"], 0);
  Outcome nothing = cache({"prune"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("--damaged"));
}

TEST_F(CacheCommand, ExportAndImport) {
  json(deployment("prewarm"));
  std::string file = folder + "/kernels.ilk";
  EXPECT_EQ(json({"export", file})["entries"], 16);
  EXPECT_EQ(json({"import", file}, "other")["entries"], 16);
  EXPECT_EQ(json(deployment("prewarm"), "other")["compiled"], 0);
  fs::resize_file(file, fs::file_size(file) / 2);
  Outcome half = cache({"import", file}, "third");
  EXPECT_EQ(half.code, 2);
  EXPECT_THAT(half.err, HasSubstr(file));
  EXPECT_THAT(json({"ls"}, "third")["entries"], testing::IsEmpty());
  EXPECT_EQ(cache({"export", file}, "fourth").code, 2) << "there is no such cache";
}

// One kernel that cannot be made: the others are, and the exit code says so. (The fake refuses three ranks.)
TEST_F(CacheCommand, APrewarmThatFailsInPart) {
  Arguments arguments = deployment("prewarm");
  arguments[4] = "2,3";
  Outcome outcome = cache(arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              testing::AllOf(HasSubstr("16 of 32 kernels could not be made"), HasSubstr("three is refused")));
  EXPECT_EQ(json({"ls"})["entries"].size(), 16u);
}

TEST_F(CacheCommand, BadInputIsASentence) {
  struct Case {
    Arguments arguments;
    const char *says;
  };
  std::string list = writeFile(folder + "/list", "kernel=tea\n");
  for (const Case &each : {Case{{"prewarm", "--specs", "/nowhere/list"}, "/nowhere/list"},
                           Case{{"prewarm", "--specs", list}, "kernel 1 of the list"}, Case{{"prewarm"}, "--ranks"},
                           Case{{"prewarm", "--model", "mixtral-8x7b", "--ranks", "2"}, "--tokens"},
                           Case{{"enumerate", "--model", "gpt-5", "--ranks", "2", "--tokens", "4"}, "gpt-5"},
                           Case{{"import", "/nowhere/archive"}, "/nowhere/archive"},
                           Case{{"brew"}, "expected a subcommand of cache, got 'brew'"},
                           Case{{}, "expected a subcommand of cache, got none"}}) {
    Outcome outcome = cache(each.arguments);
    EXPECT_EQ(outcome.code, 2) << each.says;
    EXPECT_THAT(outcome.err, HasSubstr(each.says));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

} // namespace
