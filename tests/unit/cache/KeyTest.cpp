// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The key: everything that changes a kernel changes it, and nothing else does.
#include "runtime/Cache/Digest.h"
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/spec/Specs.h"

#include <gtest/gtest.h>

#include <set>

namespace interlock {
namespace {

std::string keyOf(const KernelSpec &spec, const std::string &identity = {}, const std::string &directory = {}) {
  auto compiler = std::make_shared<test::FakeCompiler>();
  if (!identity.empty())
    compiler->stated = identity;
  auto key = KernelCache::open({.directory = directory, .compiler = compiler})->keyOf(spec);
  return key ? *key : "refused: " + key.error().message;
}

TEST(Digest, IsSha256) {
  // FIPS 180-2, appendix B.1, and the empty message.
  EXPECT_EQ(digestOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digestOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, NoTwoListsGiveTheSameBytes) {
  using List = std::vector<std::string>;
  const List lists[] = {{},
                        {""},
                        {"", ""},
                        {"ab"},
                        {"a", "b"},
                        {"ab", ""},
                        {"", "ab"},
                        {"a", "", "b"},
                        {std::string(1, '\0')},
                        {"a", std::string("b\0", 2)}};
  std::set<std::string> digests;
  for (const List &list : lists)
    digests.insert(digestOfFields(list));
  EXPECT_EQ(digests.size(), std::size(lists));
}

// Corpus A11: one at a time, each field of the spec gives another key.
TEST(Key, ChangesWithEveryField) {
  std::set<std::string> keys = {keyOf(test::smallSpec())};
  for (const test::Change &change : test::changes()) {
    KernelSpec spec = test::smallSpec();
    change.apply(spec);
    EXPECT_TRUE(keys.insert(keyOf(spec)).second) << change.field;
  }
}

TEST(Key, ChangesWithEveryTarget) {
  std::set<std::string> keys;
  for (const TargetInfo &target : targets()) {
    KernelSpec spec = test::smallSpec();
    spec.target = std::string(target.name);
    EXPECT_TRUE(keys.insert(keyOf(spec)).second) << target.name;
  }
}

// Corpus A09, A11: compiler, templates, LLVM and assembler; the same version with one other byte is another compiler.
TEST(Key, ChangesWithTheToolchain) {
  std::set<std::string> keys;
  for (const char *identity : {R"({"digest":"d1","templates":"t1","llvm":"22.1.8","assembler":"none"})",
                               R"({"digest":"d2","templates":"t1","llvm":"22.1.8","assembler":"none"})",
                               R"({"digest":"d1","templates":"t2","llvm":"22.1.8","assembler":"none"})",
                               R"({"digest":"d1","templates":"t1","llvm":"22.1.9","assembler":"none"})",
                               R"({"digest":"d1","templates":"t1","llvm":"22.1.8","assembler":"12.9"})"})
    EXPECT_TRUE(keys.insert(keyOf(test::smallSpec(), identity)).second) << identity;
}

// Corpus A09: no path and no time in it.
TEST(Key, IsTheSameInAnotherFolderAndOnAnotherDay) {
  test::TempFolder one, two;
  std::string key = keyOf(test::smallSpec());
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(key, keyOf(test::smallSpec(), {}, one.string()));
  EXPECT_EQ(key, keyOf(test::smallSpec(), {}, two.string("deep/er")));
}

TEST(Key, NamesTheFile) {
  test::TempFolder folder;
  auto cache = KernelCache::open({.directory = folder.string(), .compiler = std::make_shared<test::FakeCompiler>()});
  ASSERT_TRUE(cache->get(test::smallSpec()));
  auto entries = cache->disk()->list();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].key, *cache->keyOf(test::smallSpec()));
}

} // namespace
} // namespace interlock
