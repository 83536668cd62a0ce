// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loading the compiler plugin: the right one, the wrong ones, none.
#include "runtime/Cache/Compiler.h"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Spec/CompilerPlugin.h"
#include "runtime/Spec/ElfFile.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::numbered;
using test::TempFolder;
using testing::HasSubstr;

TEST(Plugin, CompilesThroughItsInterface) {
  auto compiler = makePluginCompiler({.path = FAKE_PLUGIN_GOOD});
  auto identity = compiler->identity();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_THAT(*identity, HasSubstr("\"digest\":\"fake\""));
  auto made = compiler->compile(numbered(5), {"ptx", "cubin", "meta", "stages"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)["ptx"], canonicalForm(numbered(5)));
  EXPECT_EQ((*made)["stages"], "ptx,cubin,meta,stages");
  EXPECT_FALSE(made->contains("cubin")) << "what could not be made is missing";
}

TEST(Plugin, ItsDiagnosticsAreTheMessage) {
  KernelSpec spec = numbered(0);
  spec.layer.ranks = 3;
  auto failed = makePluginCompiler({.path = FAKE_PLUGIN_GOOD})->compile(spec, {"ptx"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::compile);
  EXPECT_EQ(failed.error().message, "dispatch.mlir:7:3: error: three is refused");
}

TEST(Plugin, BehindACache) {
  TempFolder folder;
  auto open = [&] {
    return KernelCache::open(
        {.directory = folder.string(), .compiler = makePluginCompiler({.path = FAKE_PLUGIN_GOOD})});
  };
  auto miss = open()->get(numbered(0));
  ASSERT_TRUE(miss) << miss.error().message;
  EXPECT_EQ(miss->outcome, Outcome::miss);
  EXPECT_EQ(miss->artifact->facts.blockThreads, 128u);
  EXPECT_EQ(open()->get(numbered(0))->outcome, Outcome::disk);
}

void expectRefused(const PluginOptions &options, Code code, const std::string &part) {
  auto compiler = makePluginCompiler(options);
  for (int i = 0; i < 2; ++i) { // also the second time
    auto refused = compiler->identity();
    ASSERT_FALSE(refused) << part;
    EXPECT_EQ(refused.error().code, code);
    EXPECT_THAT(refused.error().message, HasSubstr(part));
  }
  EXPECT_FALSE(compiler->compile(numbered(0), {"ptx"}));
}

TEST(Plugin, WrongOnesAreRefusedInASentence) {
  expectRefused(
      {.path = FAKE_PLUGIN_OTHER_ABI}, Code::unsupported,
      fmt::format("expected a compiler plugin of interface {}, got {}", ILK_COMPILER_ABI, ILK_COMPILER_ABI + 1));
  expectRefused({.path = FAKE_PLUGIN_INCOMPLETE}, Code::unsupported, "an incomplete one");
  expectRefused({.path = "/nowhere/libinterlock_compiler.so"}, Code::notFound, "libinterlock_compiler.so");
  TempFolder folder;
  test::spill(folder.path() / "text.so", "this is no library");
  expectRefused({.path = folder.string("text.so")}, Code::notFound, "expected the compiler plugin");
}

// Its file's notes are asked first, so that a hit on disk loads nothing; what is loaded later has to be the same.
TEST(Plugin, WhatItsFileTellsIsWhatItMustState) {
  auto compiler = makePluginCompiler({.path = FAKE_PLUGIN_NOTED});
  for (int i = 0; i < 2; ++i) {
    auto identity = compiler->identity();
    ASSERT_TRUE(identity) << identity.error().message;
    auto json = nlohmann::json::parse(*identity);
    EXPECT_EQ(json["digest"], buildIdOfFile(FAKE_PLUGIN_NOTED));
    EXPECT_EQ(json["llvm"], "22.1.8");
    EXPECT_FALSE(json.contains("abi"));
    auto refused = compiler->compile(numbered(0), {"ptx"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unsupported);
    EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr("it was replaced while this process used it"),
                                                        HasSubstr("\"digest\":\"fake\"")));
  }
  EXPECT_FALSE(loadPlugin({.path = FAKE_PLUGIN_NOTED}));
  EXPECT_TRUE(loadPlugin({.path = FAKE_PLUGIN_GOOD}));
}

// The identity is made part of a JSON object when templates are overridden, so it must be one.
TEST(Plugin, AnIdentityThatIsNoObjectIsRefused) {
  TempFolder folder;
  for (const std::string &templates : {std::string(), folder.path().string()}) {
    auto refused = makePluginCompiler({.path = FAKE_PLUGIN_NO_JSON, .templateDir = templates})->identity();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unsupported);
    EXPECT_NE(refused.error().message.find("identity"), std::string::npos) << refused.error().message;
  }
}

// Corpus A09: the bytes of overriding templates count, not their folder or their times.
TEST(Plugin, A09OverridingTemplatesAreInTheIdentity) {
  TempFolder one, two;
  auto identity = [](const fs::path &templates) {
    auto stated = makePluginCompiler({.path = FAKE_PLUGIN_GOOD, .templateDir = templates.string()})->identity();
    return stated ? *stated : "refused: " + stated.error().message;
  };
  for (const TempFolder *folder : {&one, &two}) {
    test::spill(folder->path() / "dispatch.mlir", "module {}");
    test::spill(folder->path() / "combine.mlir", "module {}");
  }
  fs::last_write_time(two.path() / "dispatch.mlir", fs::file_time_type::clock::now() - std::chrono::hours(24 * 365));
  std::string first = identity(one.path());
  EXPECT_THAT(first, HasSubstr("template_dir"));
  EXPECT_EQ(first, identity(two.path()));
  test::spill(two.path() / "notes.txt", "not a template");
  EXPECT_EQ(first, identity(two.path()));
  test::spill(two.path() / "dispatch.mlir", "module { }");
  EXPECT_NE(first, identity(two.path()));
  EXPECT_THAT(identity(one.path() / "missing"), HasSubstr("expected a folder of templates"));
}

} // namespace
} // namespace interlock
