// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// CUDA C++ through NVRTC, the gate, the cache and the emulator. Skips where there is no NVRTC.
#include "runtime/Cache/KernelCache.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/cache/Processes.h"
#include "tests/unit/sourcejit/Sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <thread>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using testing::HasSubstr;

class CompiledSources : public testing::Test {
protected:
  void SetUp() override {
    if (std::string why = test::whyNoNvrtc(); !why.empty())
      GTEST_SKIP() << why;
  }
  std::unique_ptr<KernelCache> open(bool readOnly = false) {
    return KernelCache::open({.directory = folder.string(), .readOnly = readOnly});
  }
  static CompiledSource made(Result<CompiledSource> result) {
    EXPECT_TRUE(result.has_value()) << result.error().message;
    return result.value_or(CompiledSource());
  }
  TempFolder folder;
};

TEST_F(CompiledSources, RunInTheEmulator) {
  auto cache = open();
  CompiledSource kernel = made(compileSource(*cache, test::addKernel(5)));
  EXPECT_EQ(kernel.maxThreads, 128u);
  EXPECT_EQ(kernel.blockThreads, 0u);
  EXPECT_EQ(kernel.cluster, 1u);
  auto driver = openEmulator({});
  ASSERT_TRUE(driver.has_value());
  Driver &device = **driver;
  constexpr uint32_t count = 300;
  std::vector<float> x(count, 1.5f), y(count), out(count);
  for (uint32_t i = 0; i < count; ++i)
    y[i] = float(i);
  StreamId stream = *device.createStream(0);
  DeviceAddress at = *device.allocate(0, count * 4), other = *device.allocate(0, count * 4);
  ASSERT_TRUE(device.copyIn(stream, at, x.data(), count * 4));
  ASSERT_TRUE(device.copyIn(stream, other, y.data(), count * 4));
  auto loaded = device.load(0, kernel.image);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  struct {
    uint64_t x, y;
    int32_t n, padding;
  } params{at, other, int32_t(count), 0};
  auto status = device.launch(stream, *loaded, {.grid = 3, .block = 128}, std::as_bytes(std::span(&params, 1)));
  ASSERT_TRUE(status.has_value()) << status.error().message;
  ASSERT_TRUE(device.copyOut(stream, out.data(), at, count * 4));
  ASSERT_TRUE(device.synchronize(stream).has_value());
  for (uint32_t i = 0; i < count; ++i)
    EXPECT_EQ(out[i], 1.5f + float(i) + 5.0f) << i;
}

TEST_F(CompiledSources, AreFoundInMemoryAndOnDisk) {
  auto cache = open();
  EXPECT_EQ(made(compileSource(*cache, test::addKernel())).outcome, "miss");
  EXPECT_EQ(made(compileSource(*cache, test::addKernel())).outcome, "memory");
  CompiledSource first = made(compileSource(*cache, test::addKernel()));
  auto later = open();
  CompiledSource again = made(compileSource(*later, test::addKernel()));
  EXPECT_EQ(again.outcome, "disk");
  EXPECT_EQ(again.image.text, first.image.text);
  EXPECT_EQ(again.image.binary, first.image.binary);
  EXPECT_EQ(again.image.entry, first.image.entry);
  EXPECT_EQ(again.meta, first.meta);
  EXPECT_EQ(made(compileSource(*later, test::addKernel(7))).outcome, "miss");
}

TEST_F(CompiledSources, ASpecAndASourceLiveInOneFolder) {
  auto compiler = std::make_shared<test::FakeCompiler>();
  auto cache = KernelCache::open({.directory = folder.string(), .compiler = compiler});
  made(compileSource(*cache, test::addKernel()));
  EXPECT_EQ(cache->disk()->list().size(), 1u);
  EXPECT_NE(cache->disk()->readToolchain("cuda"), std::nullopt);
  EXPECT_EQ(cache->disk()->readToolchain(), std::nullopt);
}

TEST_F(CompiledSources, WithoutNvrtcWhatIsCachedStillServes) {
  made(compileSource(*open(), test::addKernel()));
  auto later = open();
  CompiledSource found = made(compileSource(*later, test::addKernel(), {"/no/such/libnvrtc.so"}));
  EXPECT_EQ(found.outcome, "disk");
  EXPECT_THAT(later->notes(), testing::ElementsAre(HasSubstr("expected NVRTC")));
  auto missing = compileSource(*later, test::addKernel(9), {"/no/such/libnvrtc.so"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::notFound);
}

TEST_F(CompiledSources, AreCompiledOnceHoweverManyAsk) {
  auto cache = open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { EXPECT_TRUE(compileSource(*cache, test::addKernel()).has_value()); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(cache->counters().compiled, 1u);
  EXPECT_EQ(cache->counters().memoryHits, 7u);
}

TEST_F(CompiledSources, AreCompiledOnceByManyProcesses) {
  test::Gate gate;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(test::inProcess([&] {
      gate.wait();
      auto cache = open();
      auto kernel = compileSource(*cache, test::addKernel());
      return kernel ? int(cache->counters().compiled) : 100;
    }));
  gate.open();
  int compiled = 0;
  for (pid_t child : children)
    compiled += test::exitCodeOf(child);
  EXPECT_EQ(compiled, 1);
}

TEST_F(CompiledSources, FrozenAndReadOnlyCachesKeepTheirPromises) {
  auto cache = open();
  made(compileSource(*cache, test::addKernel()));
  auto frozen = open();
  frozen->freeze(true);
  EXPECT_EQ(made(compileSource(*frozen, test::addKernel())).outcome, "disk");
  auto refused = compileSource(*frozen, test::addKernel(3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::notPrepared);
  EXPECT_THAT(refused.error().message, HasSubstr("kernel `demo::add<float>` of add.cu"));
  auto readOnly = open(/*readOnly=*/true);
  EXPECT_EQ(made(compileSource(*readOnly, test::addKernel(4))).outcome, "miss");
  EXPECT_EQ(cache->disk()->list().size(), 1u);
}

TEST_F(CompiledSources, AFailureIsTheLogAndIsTriedAgain) {
  auto cache = open();
  SourceKernel kernel = test::addKernel();
  kernel.options.clear(); // nobody says what N is
  for (int i = 0; i < 2; ++i) {
    auto failed = compileSource(*cache, kernel);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::compile);
    EXPECT_THAT(failed.error().message, testing::StartsWith("add.cu:6: identifier \"N\" is undefined [NVRTC "));
    EXPECT_THAT(failed.error().message, HasSubstr("\nadd.cu(6): error:"));
  }
  EXPECT_EQ(cache->counters().failed, 2u);
  EXPECT_EQ(cache->disk()->list().size(), 0u);
  auto misses = cache->report().misses;
  ASSERT_EQ(misses.size(), 2u);
  EXPECT_EQ(misses[0].source, "kernel `demo::add<float>` of add.cu");
  EXPECT_THAT(misses[0].failure, HasSubstr("add.cu:6"));
  kernel.options = {"-DN=1"};
  EXPECT_TRUE(compileSource(*cache, kernel).has_value());
}

TEST_F(CompiledSources, NamesWhatIsNotInTheSource) {
  auto cache = open();
  SourceKernel kernel = test::addKernel();
  kernel.entry = "demo::sub";
  EXPECT_THAT(compileSource(*cache, kernel).error().message, HasSubstr("the kernel that was asked for, `demo::sub`"));
  kernel = test::addKernel();
  kernel.options.push_back("--no-such-option");
  auto option = compileSource(*cache, kernel);
  EXPECT_EQ(option.error().code, Code::badInput);
  EXPECT_THAT(option.error().message, HasSubstr("--no-such-option"));
  kernel = test::addKernel();
  kernel.headers.pop_back();
  EXPECT_THAT(compileSource(*cache, kernel).error().message,
              testing::StartsWith("detail/ops.h:1: could not open source file"));
}

TEST_F(CompiledSources, TheGateRefusesWhatIsNotOrderedAndNamesTheLine) {
  auto cache = open();
  auto refused = compileSource(*cache, test::unorderedKernel());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::compile);
  EXPECT_THAT(refused.error().message,
              testing::AllOf(testing::StartsWith("kernel `publish` of bad.cu is not ordered: bad.cu:8: "),
                             HasSubstr("[SL04]"), HasSubstr("\nbad.cu:4: "), HasSubstr("[SL03]")));
  EXPECT_EQ(cache->disk()->list().size(), 0u);
}

TEST_F(CompiledSources, AWaiverLetsItPassUnderAnotherKey) {
  auto cache = open();
  SourceKernel kernel = test::unorderedKernel();
  kernel.contract = "waive SL03 kernel publish: a test of the gate\nwaive SL04 kernel publish: a test of the gate\n";
  CompiledSource accepted = made(compileSource(*cache, kernel));
  auto findings = nlohmann::json::parse(accepted.meta)["findings"];
  ASSERT_EQ(findings.size(), 2u);
  for (const auto &finding : findings) {
    EXPECT_EQ(finding["waived"], "a test of the gate");
    EXPECT_THAT(finding["source"].get<std::string>(), testing::AnyOf("bad.cu:4", "bad.cu:8"));
  }
  // and not whoever asks without it, from memory or from disk
  EXPECT_FALSE(compileSource(*cache, test::unorderedKernel()));
  EXPECT_FALSE(compileSource(*open(), test::unorderedKernel()));
  kernel.contract = "waive SL03 kernel publish: one is not the other\n";
  EXPECT_FALSE(compileSource(*cache, kernel));
}

TEST_F(CompiledSources, NothingOfThePlaceIsInTheKernel) {
  auto compileIn = [&](const fs::path &place, const std::string &cacheFolder) {
    return test::exitCodeOf(test::inProcess([&] {
      fs::create_directories(place);
      fs::current_path(place);
      auto cache = KernelCache::open({.directory = cacheFolder});
      return compileSource(*cache, test::addKernel()) ? 0 : 1;
    }));
  };
  const fs::path one = folder.path() / "one", two = folder.path() / "two";
  ASSERT_EQ(compileIn(folder.path() / "here", one.string()), 0);
  ASSERT_EQ(compileIn(folder.path() / "there", two.string()), 0);
  auto first = KernelCache::open({.directory = one.string()}), second = KernelCache::open({.directory = two.string()});
  CompiledSource a = made(compileSource(*first, test::addKernel())),
                 b = made(compileSource(*second, test::addKernel()));
  EXPECT_EQ(a.outcome, "disk");
  EXPECT_EQ(b.outcome, "disk");
  EXPECT_EQ(a.image.text, b.image.text);
  EXPECT_TRUE(a.image.binary == b.image.binary);
  EXPECT_EQ(a.image.text.find(folder.path().string()), std::string::npos);
  EXPECT_EQ(a.image.binary.find(folder.path().string()), std::string::npos);
}

// A header of that name in the current folder must not be taken in place of one that is missing.
TEST_F(CompiledSources, NoHeaderIsTakenFromTheCurrentFolder) {
  EXPECT_EQ(test::exitCodeOf(test::inProcess([&] {
              fs::create_directories(folder.path() / "detail");
              fs::current_path(folder.path());
              std::ofstream("more.h") << "#define ZERO 1.0f\n";
              SourceKernel kernel = test::addKernel();
              kernel.headers.pop_back();
              auto made = compileSource(*KernelCache::open({}), kernel);
              return made ? 1 : made.error().code == Code::compile ? 0 : 2;
            })),
            0);
}

} // namespace
} // namespace interlock
