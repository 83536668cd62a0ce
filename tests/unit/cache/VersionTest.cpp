// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Entries that another version wrote: whole, of no use to this one, and told from what is damaged.
#include "runtime/Cache/Archive.h"
#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Cache/Verify.h"
#include "runtime/Cache/ZstdFile.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/cache/OtherVersions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::FakeCompiler;
using test::nameOf;
using test::numbered;
using test::TempFolder;
using testing::HasSubstr;

std::string sample(uint32_t n = 0) { return encodeEntry(test::artifactOf(numbered(n), "m"), FakeCompiler().stated); }

std::string otherMeta(const std::string &entry) {
  return test::rewritten(entry, 2, [](nlohmann::json &manifest) { manifest["meta"].erase("block_threads"); });
}

std::string inALaterFormat(const std::string &entry) {
  return test::rewritten(entry, 3, [](nlohmann::json &manifest) {
    manifest["format"] = 3;
    manifest["spec"] = nlohmann::json::array({manifest["spec"]});
  });
}

struct Version {
  const char *name;
  std::string (*of)(const std::string &entry);
  const char *says;
};

const Version versions[] = {
    {"Format1", test::inFormat1, "it has format 1 and not 2"},
    {"LaterFormat", inALaterFormat, "it has format 3 and not 2"},
    {"AnotherField", test::withAnotherField, "got 'another=1'"},
    {"AnotherFeature", test::withAnotherFeature, "sm_90a has other features"},
    {"AnotherMeta", otherMeta, "launch facts"},
};

class OtherVersion : public testing::TestWithParam<Version> {
protected:
  std::string entry = GetParam().of(sample());
};

TEST_P(OtherVersion, IsToldFromDamage) {
  auto read = decodeEntry(entry);
  ASSERT_FALSE(read);
  EXPECT_TRUE(read.error().otherVersion);
  EXPECT_THAT(read.error().sentence(),
              testing::AllOf(HasSubstr("written by another version"), HasSubstr(GetParam().says)));
}

// What every version promises is checked of every version.
TEST_P(OtherVersion, DamageIsDamage) {
  for (size_t at = 0; at < entry.size(); ++at) {
    std::string other = entry;
    other[at] = static_cast<char>(other[at] ^ 0x04);
    auto read = decodeEntry(other);
    ASSERT_FALSE(read);
    ASSERT_FALSE(read.error().otherVersion) << "byte " << at;
    auto cut = decodeEntry(std::string_view(entry).substr(0, at));
    ASSERT_FALSE(cut);
    ASSERT_FALSE(cut.error().otherVersion) << "cut at " << at;
  }
  EXPECT_FALSE(decodeEntry(entry + "x").error().otherVersion);
}

TEST_P(OtherVersion, VerifyFindsNothingWrong) {
  TempFolder folder;
  auto cache = KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()});
  ASSERT_TRUE(cache->get(numbered(1)));
  const DiskStore &store = *cache->disk();
  const fs::path path = store.pathOf(nameOf(entry));
  ASSERT_TRUE(store.publish(nameOf(entry), entry));
  std::vector<VerifiedFile> files = verifyEntries(store);
  ASSERT_EQ(files.size(), 2u);
  for (const VerifiedFile &file : files) {
    EXPECT_EQ(file.problem, "");
    EXPECT_EQ(file.otherVersion, file.path == path);
    EXPECT_EQ(file.ofToolchain, file.path != path);
  }
}

// Nothing was damaged, so nothing is repaired.
TEST_P(OtherVersion, ALookupMissesIt) {
  TempFolder folder;
  auto cache = KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()});
  ASSERT_TRUE(cache->disk()->publish(*cache->keyOf(numbered(0)), entry));
  auto made = cache->get(numbered(0));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->outcome, Outcome::miss);
  EXPECT_THAT(made->reason, HasSubstr("the cached entry was written by another version of Interlock and is replaced"));
  EXPECT_EQ(cache->counters().repaired, 0u);
  auto again = KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()});
  EXPECT_EQ(again->get(numbered(0))->outcome, Outcome::disk);
}

TEST_P(OtherVersion, IsLeftOutOfAnArchiveAndRefusedInOne) {
  TempFolder folder;
  auto cache = KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<FakeCompiler>()});
  ASSERT_TRUE(cache->get(numbered(1)));
  std::string another = GetParam().of(sample(2));
  for (const std::string &each : {entry, another})
    ASSERT_TRUE(cache->disk()->publish(nameOf(each), each));
  const std::string file = (folder.path() / "archive").string();
  auto report = exportCache(*cache, file);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->entries, 1u);
  ASSERT_EQ(report->problems.size(), 1u) << "said once";
  EXPECT_THAT(report->problems[0], HasSubstr("another version of Interlock wrote were left out: 2"));

  auto writer = ZstdWriter::create(file);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->write(encodeManifest({"ILKARCHV", 1}, {{"parts", {describePart(nameOf(entry), entry)}}})));
  ASSERT_TRUE(writer->write(entry));
  ASSERT_TRUE(writer->finish());
  auto refused = importCache(*cache, file);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::badInput);
  EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr("expected an archive of this version of Interlock"),
                                                      HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(Cache, OtherVersion, testing::ValuesIn(versions),
                         [](const auto &info) { return std::string(info.param.name); });

// Whoever wrote it: the name is made of what is in it.
TEST(Version, UnderAnotherNameIsDamage) {
  for (auto of : {test::withAnotherField, test::withAnotherFeature}) {
    std::string entry = of(sample());
    EXPECT_TRUE(decodeEntry(entry, nameOf(entry)).error().otherVersion);
    auto misnamed = decodeEntry(entry, nameOf(sample()));
    ASSERT_FALSE(misnamed);
    EXPECT_FALSE(misnamed.error().otherVersion);
    EXPECT_THAT(misnamed.error().sentence(), HasSubstr("its name is not the key of what is in it"));
  }
}

} // namespace
} // namespace interlock
