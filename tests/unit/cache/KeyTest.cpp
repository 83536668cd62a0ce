// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The key: everything that changes a kernel changes it, and nothing else does.
#include "runtime/Cache/Key.h"
#include "runtime/Cache/Digest.h"
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/spec/Specs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
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

std::string smallKey(const TargetInfo &target) {
  return cacheKey(test::smallSpec(), target, test::FakeCompiler().stated);
}

// One at a time, each field of the spec gives another key.
TEST(Key, A11ChangesWithEveryField) {
  std::set<std::string> keys = {keyOf(test::smallSpec())};
  for (const test::Change &change : test::changes()) {
    KernelSpec spec = test::smallSpec();
    change.apply(spec);
    EXPECT_TRUE(keys.insert(keyOf(spec)).second) << change.field;
  }
}

// And so does each of any two values of a field, whatever the others are.
TEST(Key, A11IsInjectiveOverRandomSpecs) {
  std::mt19937 random(11);
  std::map<std::string, std::string> specOfKey;
  for (int round = 0; round < 20'000; ++round) {
    KernelSpec spec = test::smallSpec();
    for (const test::Change &change : test::changes())
      if (random() % 2)
        change.apply(spec);
    spec.layer.maxTokens = 1 + random() % 64;
    spec.layer.experts = 1 + random() % 64;
    std::string key = cacheKey(spec, *findTarget(spec.target), "{}"), canonical = canonicalForm(spec);
    EXPECT_EQ(specOfKey.emplace(key, canonical).first->second, canonical);
  }
}

TEST(Key, A11ChangesWithEveryTarget) {
  std::set<std::string> keys;
  for (const TargetInfo &target : targets()) {
    KernelSpec spec = test::smallSpec();
    spec.target = std::string(target.name);
    EXPECT_TRUE(keys.insert(keyOf(spec)).second) << target.name;
  }
}

// A chip that is found to have another feature is another chip.
TEST(Key, A11ChangesWithEveryFeatureOfTheTarget) {
  const TargetInfo target = *findTarget("sm_90a");
  std::set<std::string> keys = {smallKey(target)};
  void (*const changes[])(TargetInfo &) = {
      [](TargetInfo &t) { t.name = "sm_90"; },         [](TargetInfo &t) { t.vendor = "amdgcn"; },
      [](TargetInfo &t) { t.computeCapability = 91; }, [](TargetInfo &t) { t.warpWidth = 64; },
      [](TargetInfo &t) { t.minPtxIsa = 86; },         [](TargetInfo &t) { t.clusters = !t.clusters; },
      [](TargetInfo &t) { t.asyncBarrier = false; },   [](TargetInfo &t) { t.restrictedFence = false; },
      [](TargetInfo &t) { t.maxSharedBytes += 1024; }, [](TargetInfo &t) { t.remoteShared = false; },
      [](TargetInfo &t) { t.features = "+xnack"; },    [](TargetInfo &t) { t.codeObject = 6; },
      [](TargetInfo &t) { t.f8 = F8::fnuz; },
  };
  for (auto change : changes) {
    TargetInfo other = target;
    change(other);
    EXPECT_TRUE(keys.insert(smallKey(other)).second);
  }
  EXPECT_EQ(keys.size(), std::size(changes) + 1);
}

// Compiler, templates, LLVM, assembler and overriding templates; the same version with one other byte is another
// compiler, because its digest is of its bytes.
TEST(Key, A09A11ChangesWithTheToolchain) {
  const nlohmann::json identity = {
      {"digest", "d1"}, {"templates", "t1"}, {"llvm", "22.1.8"}, {"assembler", "none"}, {"template_dir", "e1"}};
  std::set<std::string> keys = {keyOf(test::smallSpec(), identity.dump())};
  for (auto &[field, value] : identity.items()) {
    nlohmann::json other = identity;
    other[field] = value.get<std::string>() + "x";
    EXPECT_TRUE(keys.insert(keyOf(test::smallSpec(), other.dump())).second) << field;
    other.erase(field);
    EXPECT_TRUE(keys.insert(keyOf(test::smallSpec(), other.dump())).second) << "without " << field;
  }
}

// No path, no home and no time in it: two installations, one of them old and behind a link.
TEST(Key, A09IsTheSameInAnotherPlaceAndOnAnotherDay) {
  namespace fs = std::filesystem;
  test::TempFolder one, two;
  fs::create_directories(two.path() / "opt/deep");
  fs::path plugins[] = {one.path() / "plugin.so", two.path() / "opt/deep/renamed.so", two.path() / "link.so"};
  fs::copy_file(FAKE_PLUGIN_GOOD, plugins[0]);
  fs::copy_file(FAKE_PLUGIN_GOOD, plugins[1]);
  fs::last_write_time(plugins[1], fs::file_time_type::clock::now() - std::chrono::hours(24 * 365));
  fs::create_symlink(plugins[1], plugins[2]);
  std::set<std::string> keys;
  for (const fs::path &plugin : plugins) {
    ::setenv("HOME", plugin.parent_path().c_str(), 1);
    ::setenv("TMPDIR", plugin.parent_path().c_str(), 1);
    for (const std::string &directory : {std::string(), (plugin.parent_path() / "cache").string()})
      keys.insert(
          *KernelCache::open({.directory = directory, .compiler = makePluginCompiler({.path = plugin.string()})})
               ->keyOf(test::smallSpec()));
  }
  ::unsetenv("TMPDIR");
  EXPECT_EQ(keys.size(), 1u);
  EXPECT_TRUE(isKey(*keys.begin()));
}

TEST(Key, WhatIsNoKeyIsNoName) {
  const std::string good(64, 'a');
  EXPECT_TRUE(isKey(good));
  for (const std::string &bad : {std::string(), good.substr(1), good + "a", "../" + good.substr(3),
                                 "A" + good.substr(1), "g" + good.substr(1), good.substr(1) + std::string(1, '\0')})
    EXPECT_FALSE(isKey(bad)) << bad;
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
