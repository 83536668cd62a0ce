// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Archives: what is exported is imported, and what is not whole, or is not what its name says, changes nothing.
#include "runtime/Cache/Archive.h"

#include "runtime/Cache/Container.h"
#include "runtime/Cache/Digest.h"
#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Cache/Verify.h"
#include "runtime/Cache/ZstdFile.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::FakeCompiler;
using test::numbered;
using test::TempFolder;
using testing::HasSubstr;

constexpr ContainerKind kind{"ILKARCHV", 1};

class Archive : public testing::Test {
protected:
  std::unique_ptr<KernelCache> open(const char *name, bool withCompiler = true) {
    return KernelCache::open({.directory = folder.string(name), .compiler = withCompiler ? compiler : nullptr});
  }
  /// A cache with `count` kernels, exported.
  std::string exported(uint32_t count) {
    auto cache = open("from");
    for (uint32_t i = 0; i < count; ++i)
      EXPECT_TRUE(cache->get(numbered(i)));
    auto report = exportCache(*cache, file());
    EXPECT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->entries, count);
    return test::slurp(file());
  }
  std::string file() const { return (folder.path() / "cache.archive").string(); }
  /// An archive with this manifest and these bytes behind it.
  void forge(const nlohmann::json &manifest, const std::string &parts, const ContainerKind &as = kind) {
    auto writer = ZstdWriter::create(file());
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(encodeManifest(as, manifest)));
    ASSERT_TRUE(writer->write(parts));
    ASSERT_TRUE(writer->finish());
  }
  void expectRefused(const std::string &part) {
    auto cache = open("to");
    auto refused = importCache(*cache, file());
    ASSERT_FALSE(refused) << "taken, expected a refusal with " << part;
    EXPECT_EQ(refused.error().code, Code::badInput);
    EXPECT_THAT(refused.error().message, HasSubstr(part));
    EXPECT_TRUE(cache->disk()->list().empty());
    // Nothing anywhere else either.
    for (const fs::path &path : test::filesBelow(folder.path()))
      EXPECT_TRUE(path == file() || path.string().find("/from/") != std::string::npos ||
                  path.string().find("/to/") != std::string::npos)
          << path;
  }

  TempFolder folder;
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
};

TEST_F(Archive, WhatIsExportedIsImported) {
  exported(5);
  auto to = open("to");
  auto report = importCache(*to, file());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->entries, 5u);
  EXPECT_TRUE(report->problems.empty());
  compiler->compilations = 0;
  for (uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(to->get(numbered(i))->outcome, Outcome::disk);
  EXPECT_EQ(compiler->compilations, 0);
  // And where there is no compiler at all.
  auto bare = open("bare", false);
  ASSERT_TRUE(importCache(*bare, file()));
  EXPECT_EQ(bare->get(numbered(0))->outcome, Outcome::disk);
  for (const VerifiedFile &entry : verifyEntries(*bare->disk())) {
    EXPECT_EQ(entry.problem, "");
    EXPECT_TRUE(entry.ofToolchain);
  }
}

TEST_F(Archive, IsTheSameBytesEachTime) {
  std::string first = exported(3);
  ASSERT_TRUE(exportCache(*open("from"), file()));
  EXPECT_EQ(test::slurp(file()), first);
}

TEST_F(Archive, OfNothingIsOne) {
  exported(0);
  EXPECT_EQ(importCache(*open("to"), file())->entries, 0u);
}

TEST_F(Archive, DamagedEntriesAreLeftOutAndNamed) {
  exported(3);
  auto from = open("from");
  std::string key = *from->keyOf(numbered(1));
  test::spill(from->disk()->pathOf(key), "damage");
  auto report = exportCache(*from, file());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->entries, 2u);
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_THAT(report->problems[0], HasSubstr(key));
  EXPECT_TRUE(importCache(*open("to"), file()));
}

TEST_F(Archive, EveryCutIsRefused) {
  const std::string whole = exported(2);
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    test::spill(file(), whole.substr(0, size));
    expectRefused(file());
  }
}

TEST_F(Archive, EveryFlippedByteIsRefused) {
  const std::string whole = exported(2);
  for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 97) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 0x10);
    test::spill(file(), other);
    auto cache = open("to");
    auto report = importCache(*cache, file());
    // A bit of zstd's head that means nothing may be flipped; what comes out must be the same.
    if (report)
      EXPECT_EQ(report->entries, 2u) << "byte " << at;
    else
      EXPECT_TRUE(cache->disk()->list().empty()) << "byte " << at;
    fs::remove_all(folder.path() / "to");
  }
}

TEST_F(Archive, WhatFollowsIsRefused) {
  const std::string whole = exported(1);
  test::spill(file(), whole + whole);
  expectRefused("something follows its end");
}

TEST_F(Archive, StrangersAreRefused) {
  test::spill(file(), "this is no archive");
  expectRefused("it cannot be decompressed");
  test::spill(file(), "");
  expectRefused("it ends too early");
  fs::remove(file());
  auto cache = open("to");
  EXPECT_EQ(importCache(*cache, file()).error().code, Code::badInput);
  ASSERT_EQ(::mkfifo(file().c_str(), 0644), 0);
  EXPECT_THAT(importCache(*cache, file()).error().message, HasSubstr("no regular file"));
  EXPECT_THAT(importCache(*cache, folder.path().string()).error().message, HasSubstr("no regular file"));
}

TEST_F(Archive, ANewerFormatIsRefused) {
  forge({{"parts", nlohmann::json::array()}}, "", {"ILKARCHV", 2});
  expectRefused("it has format 2 and not 1");
}

TEST_F(Archive, NamesThatLeadElsewhereAreRefused) {
  std::string entry = encodeEntry(test::artifactOf(numbered(0), "1"), compiler->stated);
  for (const std::string &name :
       {std::string("../../escape"), std::string("/tmp/interlock-escape"), std::string("..") + std::string(62, 'a'),
        std::string(60, 'a') + "/../", std::string(), std::string(64, 'a') + std::string(1, '\0')}) {
    forge({{"parts", {describePart(name, entry)}}}, entry);
    expectRefused("which is no key");
  }
}

TEST_F(Archive, AnEntryUnderAnothersNameIsRefused) {
  auto cache = open("from");
  std::string entry = encodeEntry(test::artifactOf(numbered(0), "1"), compiler->stated);
  forge({{"parts", {describePart(*cache->keyOf(numbered(1)), entry)}}}, entry);
  expectRefused("its name is not the key of what is in it");
  // Of another compiler, under a key of this one: a stale kernel that would be served for ever.
  std::string stale = encodeEntry(test::artifactOf(numbered(0), "1"), R"({"digest":"older"})");
  forge({{"parts", {describePart(*cache->keyOf(numbered(0)), stale)}}}, stale);
  expectRefused("its name is not the key of what is in it");
}

TEST_F(Archive, SizesThatCannotBeAreRefusedBeforeMemoryIsTaken) {
  std::string key(64, 'a');
  forge({{"parts", {{{"name", key}, {"size", uint64_t(1) << 60}, {"sha256", key}}}}}, "");
  expectRefused("would have 1152921504606846976 bytes");
  forge({{"parts", {{{"name", key}, {"size", 5000}, {"sha256", key}}}}}, "short");
  expectRefused("it ends too early");
  for (const nlohmann::json &parts : {nlohmann::json("x"), nlohmann::json(nullptr), nlohmann::json({1}),
                                      nlohmann::json({{{"name", key}, {"size", -1}, {"sha256", key}}})}) {
    forge({{"parts", parts}}, "");
    expectRefused("its manifest");
  }
}

TEST_F(Archive, OfAnotherCompilerIsSaid) {
  exported(1);
  compiler->stated = R"({"digest":"another"})";
  auto to = open("to");
  ASSERT_TRUE(to->get(numbered(7)));
  auto report = importCache(*to, file());
  ASSERT_TRUE(report);
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_THAT(report->problems[0], HasSubstr("another compiler"));
  EXPECT_EQ(to->get(numbered(0))->outcome, Outcome::miss);
}

TEST_F(Archive, WhereThereIsNoDirectoryIsASentence) {
  auto memory = KernelCache::open({.compiler = compiler});
  EXPECT_THAT(exportCache(*memory, file()).error().message, HasSubstr("in memory only"));
  auto from = open("from");
  auto nowhere = exportCache(*from, folder.string("not/there/x.archive"));
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("not/there"));
  exported(1);
  auto readOnly = KernelCache::open({.directory = folder.string("from"), .readOnly = true, .compiler = compiler});
  EXPECT_FALSE(importCache(*readOnly, file()));
  EXPECT_TRUE(exportCache(*readOnly, file())) << "an image can be exported";
}

TEST_F(Archive, VerifyNamesEverythingThatIsWrong) {
  exported(4);
  auto from = open("from");
  const DiskStore &store = *from->disk();
  auto path = [&](uint32_t i) { return store.pathOf(*from->keyOf(numbered(i))); };
  test::spill(path(0), "damage");
  fs::remove(path(1));
  fs::create_symlink("nowhere", path(1));
  fs::path wrong = store.pathOf(std::string(64, 'b'));
  fs::create_directories(wrong.parent_path());
  fs::rename(path(2), wrong);
  test::spill(store.root() / "entries/README", "hello");
  std::map<std::string, std::string> problems;
  size_t whole = 0;
  for (const VerifiedFile &file : verifyEntries(store))
    if (file.problem.empty())
      ++whole;
    else
      problems[file.path.string()] = file.problem;
  EXPECT_EQ(whole, 1u);
  EXPECT_EQ(problems.size(), 4u);
  EXPECT_THAT(problems[path(0).string()], HasSubstr("damaged"));
  EXPECT_THAT(problems[path(1).string()], HasSubstr("it is a link"));
  EXPECT_THAT(problems[wrong.string()], HasSubstr("not the key"));
  EXPECT_THAT(problems[(store.root() / "entries/README").string()], HasSubstr("not named"));
}

} // namespace
} // namespace interlock
