// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Entries that are not what was written: every one is a miss with a reason, and is repaired (corpus A06).
#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <sys/stat.h>

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
  auto entry = decodeEntry(encodeEntry(artifact, "id"));
  ASSERT_TRUE(entry) << entry.error().why;
  EXPECT_EQ(entry->identity, "id");
  const Artifact *read = &entry->artifact;
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
  ASSERT_TRUE(manifest) << manifest.error().why;
  EXPECT_EQ((*manifest)["spec"], canonicalForm(numbered(0)));
  EXPECT_EQ((*manifest)["identity"], R"({"digest":"d"})");
  EXPECT_EQ((*manifest)["parts"].size(), 2u);
}

TEST(Entry, EveryPrefixIsRefused) {
  std::string bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto read = decodeEntry(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_FALSE(read.error().why.empty());
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
  const char *reason; ///< part of it
};

constexpr const char *damaged = "the cached entry is damaged and is replaced";
constexpr const char *unreadable = "the cached entry cannot be read and is replaced";
constexpr const char *nothing = "nothing is cached";

class Damaged : public testing::TestWithParam<Damage> {};

TEST_P(Damaged, A06IsAMissThatRepairs) {
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
  EXPECT_THAT(lookup->reason, testing::HasSubstr(GetParam().reason));
  EXPECT_EQ(compiler->compilations, 2);
  EXPECT_EQ(cache->counters().repaired, GetParam().reason == nothing ? 0u : 1u);
  EXPECT_TRUE(test::matches(*lookup->artifact));

  auto again = open()->get(numbered(0));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outcome, Outcome::disk) << "not repaired: " << again->reason;
  EXPECT_EQ(again->artifact->text, lookup->artifact->text);
}

/// Two entries whose parts have the same sizes, cut behind their manifests.
std::pair<std::string, std::string> manifestAndParts(const std::string &entry) {
  Artifact artifact = decodeEntry(entry)->artifact;
  size_t parts = artifact.text.size() + artifact.binary.size();
  return {entry.substr(0, entry.size() - parts), entry.substr(entry.size() - parts)};
}

const Damage damages[] = {
    {"Empty", [](const fs::path &p) { fs::resize_file(p, 0); }, damaged},
    {"Half", [](const fs::path &p) { fs::resize_file(p, fs::file_size(p) / 2); }, damaged},
    {"OneByteLess", [](const fs::path &p) { fs::resize_file(p, fs::file_size(p) - 1); }, damaged},
    {"ZeroesBehind", [](const fs::path &p) { fs::resize_file(p, fs::file_size(p) + 4096); }, damaged},
    {"FlippedByte",
     [](const fs::path &p) {
       std::string bytes = test::slurp(p);
       bytes[bytes.size() / 2] ^= 0x20;
       test::spill(p, bytes);
     },
     damaged},
    {"PartsOfAnotherEntry",
     [](const fs::path &p) {
       std::string other = encodeEntry(test::artifactOf(numbered(0), "9"), "id");
       test::spill(p, manifestAndParts(test::slurp(p)).first + manifestAndParts(other).second);
     },
     "the digest of its part ptx differs"},
    {"PartsSwapped",
     [](const fs::path &p) {
       std::string bytes = test::slurp(p);
       Artifact artifact = decodeEntry(bytes)->artifact;
       test::spill(p, manifestAndParts(bytes).first + artifact.binary + artifact.text);
     },
     "the digest of its part ptx differs"},
    // As if two specs had the same key.
    {"EntryOfAnotherSpec",
     [](const fs::path &p) {
       test::spill(p, encodeEntry(test::artifactOf(numbered(1), "1"), test::FakeCompiler().stated));
     },
     "it is of another spec"},
    {"EntryOfAnotherCompiler",
     [](const fs::path &p) { test::spill(p, encodeEntry(test::artifactOf(numbered(0), "1"), R"({"digest":"d0"})")); },
     "it was made by another compiler"},
    {"HeadOfAnotherFormat",
     [](const fs::path &p) {
       std::string bytes = test::slurp(p);
       ++bytes[8];
       test::spill(p, bytes);
     },
     "it has format 3 in its head and 2 in its manifest"},
    {"Huge", [](const fs::path &p) { fs::resize_file(p, uint64_t(1) << 40); }, "more than the"},
    {"Gone", [](const fs::path &p) { fs::remove(p); }, nothing},
    {"FolderInItsPlace",
     [](const fs::path &p) {
       fs::remove(p);
       fs::create_directories(p / "in");
     },
     unreadable},
    {"FifoInItsPlace",
     [](const fs::path &p) {
       fs::remove(p);
       ::mkfifo(p.c_str(), 0644);
     },
     unreadable},
    {"DanglingLink",
     [](const fs::path &p) {
       fs::remove(p);
       fs::create_symlink("nowhere", p);
     },
     unreadable},
    {"LinkToAWholeEntry",
     [](const fs::path &p) {
       fs::path elsewhere = p.parent_path() / "elsewhere";
       fs::rename(p, elsewhere);
       fs::create_symlink(elsewhere, p);
     },
     unreadable},
};

INSTANTIATE_TEST_SUITE_P(Cache, Damaged, testing::ValuesIn(damages),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace interlock
