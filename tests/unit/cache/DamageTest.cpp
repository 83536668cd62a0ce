// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Entries that are not what was written: every one is a miss with a reason, and is repaired (corpus A05, A06).
#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::FakeCompiler;
using test::numbered;
using test::TempFolder;

std::string sample() { return encodeEntry(test::artifactOf(numbered(0), "m"), R"({"digest":"d"})"); }

TEST(Entry, ReadsBackWhatWasWritten) {
  Artifact artifact = test::artifactOf(numbered(3), "z", 4099);
  artifact.binary[7] = '\0'; // bytes, not text
  auto read = decodeEntry(encodeEntry(artifact, "id"));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->spec, artifact.spec);
  EXPECT_EQ(read->text, artifact.text);
  EXPECT_EQ(read->binary, artifact.binary);
  EXPECT_EQ(read->meta, artifact.meta);
  EXPECT_EQ(read->facts.entry, "kernel");
  EXPECT_EQ(read->facts.ptxIsa, "8.6");
  EXPECT_EQ(read->facts.blockThreads, artifact.spec.blockThreads);
  EXPECT_EQ(read->facts.sharedBytes, 1024u);
  EXPECT_FALSE(read->facts.cooperative);
}

TEST(Entry, IsTheSameBytesEachTime) { EXPECT_EQ(sample(), sample()); }

TEST(Entry, ManifestNamesSpecIdentityAndParts) {
  auto manifest = manifestOf(sample());
  ASSERT_TRUE(manifest) << manifest.error();
  EXPECT_EQ((*manifest)["spec"], canonicalForm(numbered(0)));
  EXPECT_EQ((*manifest)["identity"], R"({"digest":"d"})");
  EXPECT_EQ((*manifest)["parts"].size(), 2u);
}

TEST(Entry, EveryPrefixIsRefused) {
  std::string bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto read = decodeEntry(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_FALSE(read.error().empty());
  }
}

// Every bit of an entry is under a digest, or in a field that is compared.
TEST(Entry, EveryFlippedBitIsRefused) {
  const std::string bytes = sample();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      ASSERT_FALSE(decodeEntry(other)) << "byte " << at << " bit " << bit;
    }
}

TEST(Entry, WhatFollowsIsRefused) {
  EXPECT_FALSE(decodeEntry(sample() + "x"));
  EXPECT_FALSE(decodeEntry(sample() + sample()));
}

TEST(Entry, NoiseIsRefusedWithoutAnException) {
  std::mt19937_64 random(1);
  const std::string bytes = sample();
  for (int round = 0; round < 3000; ++round) {
    std::string other = bytes;
    for (uint64_t edits = 1 + random() % 8; edits--;)
      other[random() % other.size()] = static_cast<char>(random());
    if (random() % 2)
      other.erase(random() % other.size(), random() % 64);
    EXPECT_EQ(decodeEntry(other).has_value(), other == bytes);
  }
}

TEST(Meta, WhatIsIncompleteIsRefused) {
  nlohmann::json whole = nlohmann::json::parse(test::metaOf(numbered(0), "m"));
  auto make = [](const std::string &meta) { return makeArtifact(numbered(0), "ptx", "", meta); };
  ASSERT_TRUE(make(whole.dump()));
  for (const char *field : {"entry", "ptx_isa", "block_threads", "cluster", "shared_bytes", "cooperative"}) {
    nlohmann::json without = whole;
    without.erase(field);
    EXPECT_FALSE(make(without.dump())) << field;
    for (const char *wrong : {"null", "[]", "{}", "-1", "1.5", "1e300", "4294967296", "\"\""}) {
      // A string is a good name.
      if (whole[field].is_string() && wrong[0] == '"')
        continue;
      nlohmann::json other = whole;
      other[field] = nlohmann::json::parse(wrong);
      auto made = make(other.dump());
      ASSERT_FALSE(made) << field << " = " << wrong;
      EXPECT_EQ(made.error().code, Code::internal);
    }
  }
  for (const char *meta : {"", "null", "[]", "{", "entry", "\xff"})
    EXPECT_FALSE(make(meta)) << meta;
  EXPECT_FALSE(makeArtifact(numbered(0), "", "", whole.dump())) << "a kernel without a text";
}

struct Damage {
  const char *name;
  void (*apply)(const fs::path &);
  bool isThere; ///< something is still there, so that the reason is damage
};

class Damaged : public testing::TestWithParam<Damage> {};

TEST_P(Damaged, IsAMissThatRepairs) {
  TempFolder folder;
  auto compiler = std::make_shared<FakeCompiler>();
  auto open = [&] { return KernelCache::open({.directory = folder.string(), .compiler = compiler}); };
  ASSERT_TRUE(open()->get(numbered(0)));
  auto files = test::filesBelow(folder.path() / "cache/entries");
  ASSERT_EQ(files.size(), 1u);
  const std::string whole = test::slurp(files[0]);
  GetParam().apply(files[0]);

  auto cache = open();
  auto lookup = cache->get(numbered(0));
  ASSERT_TRUE(lookup) << lookup.error().message;
  EXPECT_EQ(lookup->outcome, Outcome::miss);
  EXPECT_THAT(lookup->reason, testing::HasSubstr(GetParam().isThere ? "damaged" : "nothing is cached"));
  EXPECT_EQ(compiler->compilations, 2);
  EXPECT_GE(cache->counters().repaired, GetParam().isThere ? 1u : 0u);
  EXPECT_TRUE(test::matches(*lookup->artifact));

  auto again = open()->get(numbered(0));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outcome, Outcome::disk) << "not repaired: " << again->reason;
  EXPECT_EQ(again->artifact->text, lookup->artifact->text);
}

const Damage damages[] = {
    {"empty", [](const fs::path &p) { fs::resize_file(p, 0); }, true},
    {"half", [](const fs::path &p) { fs::resize_file(p, fs::file_size(p) / 2); }, true},
    {"oneByteLess", [](const fs::path &p) { fs::resize_file(p, fs::file_size(p) - 1); }, true},
    {"zeroesBehind", [](const fs::path &p) { fs::resize_file(p, fs::file_size(p) + 4096); }, true},
    {"flippedByte",
     [](const fs::path &p) {
       std::string bytes = test::slurp(p);
       bytes[bytes.size() / 2] ^= 0x20;
       test::spill(p, bytes);
     },
     true},
    {"entryOfAnotherSpec",
     [](const fs::path &p) { test::spill(p, encodeEntry(test::artifactOf(numbered(1), "1"), "id")); }, true},
    {"gone", [](const fs::path &p) { fs::remove(p); }, false},
    {"folderInItsPlace",
     [](const fs::path &p) {
       fs::remove(p);
       fs::create_directories(p / "in");
     },
     false},
    {"danglingLink",
     [](const fs::path &p) {
       fs::remove(p);
       fs::create_symlink("nowhere", p);
     },
     false},
};

INSTANTIATE_TEST_SUITE_P(Cache, Damaged, testing::ValuesIn(damages),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace interlock
