// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the key of a source is made of, and what is refused before any compiler is asked. No NVRTC is needed: a file
// stands in its place.
#include "runtime/Cache/KernelCache.h"
#include "runtime/Spec/ElfFile.h"
#include "runtime/Spec/VendorLibrary.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/sourcejit/Sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>

#include <dlfcn.h>
#include <link.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using testing::HasSubstr;

std::unique_ptr<KernelCache> memoryCache() { return KernelCache::open({}); }

class SourceKey : public testing::Test {
protected:
  SourceKey() { write("one/libnvrtc.so.13", "a build"); }

  std::string write(const std::string &name, const std::string &bytes) {
    fs::path file = folder.path() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }
  std::string keyOf(const SourceKernel &kernel, const std::string &nvrtc = "one/libnvrtc.so.13") {
    auto key = keyOfSource(*memoryCache(), kernel, {(folder.path() / nvrtc).string()});
    EXPECT_TRUE(key.has_value()) << key.error().message;
    return key.value_or("");
  }
  TempFolder folder;
};

TEST_F(SourceKey, ChangesWithEverythingThatDecidesTheKernel) {
  using Change = void (*)(SourceKernel &);
  const Change changes[] = {
      [](SourceKernel &) {},
      [](SourceKernel &k) { k.source.text += " "; },
      [](SourceKernel &k) { k.source.name = "sum.cu"; }, // __FILE__
      [](SourceKernel &k) { k.entry = "demo::add<int>"; },
      [](SourceKernel &k) { k.options = {"-DN=3"}; },
      [](SourceKernel &k) { k.options.push_back("-DM"); },
      [](SourceKernel &k) { k.options.insert(k.options.begin(), "-DM"); },
      [](SourceKernel &k) { k.options = {"-DN=2 -DM"}; },
      [](SourceKernel &k) { k.headers[0].text += "\n"; },
      [](SourceKernel &k) { k.headers[0].name = "detail/sum.h"; },
      [](SourceKernel &k) { k.headers.pop_back(); },
      [](SourceKernel &k) { std::swap(k.headers[0].text, k.headers[1].text); },
      [](SourceKernel &k) { k.target = "sm_100a"; },
      [](SourceKernel &k) { k.contract = "param 0 peers=sys"; },
  };
  std::set<std::string> keys;
  for (Change change : changes) {
    SourceKernel kernel = test::addKernel();
    change(kernel);
    EXPECT_TRUE(keys.insert(keyOf(kernel)).second) << "change " << keys.size();
  }
}

TEST_F(SourceKey, ChangesWithTheCompilerAndItsBuiltInHeaders) {
  std::set<std::string> keys{keyOf(test::addKernel())};
  write("two/libnvrtc.so.13", "another build");
  EXPECT_TRUE(keys.insert(keyOf(test::addKernel(), "two/libnvrtc.so.13")).second);
  write("three/libnvrtc.so.13", "a build");
  write("three/libnvrtc-builtins.so.13.0", "headers");
  EXPECT_TRUE(keys.insert(keyOf(test::addKernel(), "three/libnvrtc.so.13")).second);
}

TEST_F(SourceKey, IsTheSameInAnotherPlaceAndWithHeadersInAnotherOrder) {
  write("elsewhere/libnvrtc.so.13", "a build");
  SourceKernel kernel = test::addKernel();
  EXPECT_EQ(keyOf(kernel), keyOf(kernel, "elsewhere/libnvrtc.so.13"));
  std::string before = keyOf(kernel);
  std::swap(kernel.headers[0], kernel.headers[1]);
  EXPECT_EQ(keyOf(kernel), before);
}

TEST_F(SourceKey, WhatCannotBeIsRefusedInOneSentence) {
  struct Case {
    void (*change)(SourceKernel &);
    const char *says;
  };
  const Case cases[] = {
      {[](SourceKernel &k) { k.entry.clear(); }, "expected the name of a kernel of add.cu, got none"},
      {[](SourceKernel &k) { k.source.text.clear(); }, "expected the text of a source"},
      {[](SourceKernel &k) { k.source.text += '\0'; }, "got a zero byte"},
      {[](SourceKernel &k) { k.source.name = "/home/me/add.cu"; }, "without folders"},
      {[](SourceKernel &k) { k.headers[0].name = "/usr/include/x.h"; }, "got '/usr/include/x.h'"},
      {[](SourceKernel &k) { k.headers[0].name = "../x.h"; }, "got '../x.h'"},
      {[](SourceKernel &k) { k.headers.push_back(k.headers[0]); }, "got two of that name"},
      {[](SourceKernel &k) { k.options = {"-I/usr/include"}; }, "headers are given by name and content"},
      {[](SourceKernel &k) { k.options = {"--gpu-architecture=sm_80"}; }, "the target says the chip"},
      {[](SourceKernel &k) { k.options = {"--time=out.csv"}; }, "it writes a file"},
      {[](SourceKernel &k) { k.target = "sm_1"; }, "sm_90a"},
      {[](SourceKernel &k) { k.contract = "parm 0"; }, "add.cu.contract:1:"},
  };
  for (const Case &each : cases) {
    SourceKernel kernel = test::addKernel();
    each.change(kernel);
    auto made = compileSource(*memoryCache(), kernel);
    ASSERT_FALSE(made) << each.says;
    EXPECT_TRUE(made.error().code == Code::badInput) << made.error().message;
    EXPECT_THAT(made.error().message, testing::AllOf(HasSubstr(each.says), testing::Not(HasSubstr("\n"))));
  }
}

TEST_F(SourceKey, WithoutNvrtcOneSentenceSaysWhatWouldDo) {
  auto made = compileSource(*memoryCache(), test::addKernel(), {folder.string("none.so")});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::notFound);
  EXPECT_THAT(made.error().message,
              testing::AllOf(HasSubstr("expected NVRTC"), HasSubstr("libnvrtc.so.13 or .12 would do")));
  // a file that is no library
  auto damaged = compileSource(*memoryCache(), test::addKernel(), {write("libnvrtc.so.13", "no library")});
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("expected to load"));
}

TEST(VendorLibrary, FindsTheFileThatTheLoaderWouldAndReadsItsBuildId) {
  constexpr std::array names = {"libno-such-library.so.1", "libcrypto.so.3", "libcrypto.so.1.1"};
  auto found = findVendorLibrary(names);
  ASSERT_TRUE(found.has_value());
  void *library = dlopen(fs::path(found->path).filename().c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  link_map *map = nullptr;
  ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  EXPECT_TRUE(fs::equivalent(map->l_name, found->path)) << map->l_name << " and " << found->path;
  dlclose(library);
  EXPECT_EQ(found->buildId, buildIdOfFile(found->path));
  EXPECT_EQ(found->buildId.size(), 40u) << "Debian's libraries have a build id";
}

TEST(VendorLibrary, WhatIsNoLibraryHasNoBuildId) {
  TempFolder folder;
  fs::create_directories(folder.path());
  for (const std::string &bytes : {std::string(),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(64, '\0'),
                                   std::string("\x7f"
                                               "ELF\2\1\1") +
                                       std::string(57, '\xff')}) {
    std::ofstream(folder.path() / "x", std::ios::binary) << bytes;
    EXPECT_EQ(buildIdOfFile((folder.path() / "x").string()), "");
  }
  EXPECT_EQ(buildIdOfFile("/no/such/file"), "");
  constexpr std::array names = {"libno-such-library.so.1"};
  EXPECT_FALSE(findVendorLibrary(names).has_value());
}

} // namespace
} // namespace interlock
