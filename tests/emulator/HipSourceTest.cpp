// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// HIP C++ through hiprtc, the disassembly in the plugin, the gate, the cache and the emulator; and through the C ABI. Skips
// where there is no hiprtc.
#include "EndToEnd.h"

#include "interlock/interlock.h"
#include "interlock/source.hpp"
#include "runtime/SourceJit/Hiprtc.h"
#include "tests/unit/cache/FakeCompiler.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char *addText = R"(#include "detail/ops.h"
namespace demo {
template <typename T> __global__ void __launch_bounds__(128) add(T *x, const T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = plus(x[i], y[i]) + N + sizeof(__FILE__);
}
} // namespace demo
)";

SourceKernel addKernel(int n = 2) {
  SourceKernel kernel;
  kernel.source = {"add.hip", addText};
  kernel.headers = {{"detail/ops.h", "#include \"more.h\"\n__device__ inline float plus(float a, float b) {\n"
                                     "  return a + b + ZERO;\n}\n"},
                    {"more.h", "#pragma once\n#define ZERO 0.0f\n"}};
  kernel.entry = "demo::add<float>";
  kernel.options = {"-DN=" + std::to_string(n)};
  kernel.target = "gfx90a";
  return kernel;
}

/// One workgroup hands a value to another; no fence stands anywhere.
SourceKernel unorderedKernel() {
  SourceKernel kernel;
  kernel.source = {"bad.hip", R"(extern "C" __global__ void publish(int *data, int *flag, int *out) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  } else {
    while (!__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
      ;
    out[0] = data[0];
  }
}
)"};
  kernel.entry = "publish";
  kernel.target = "gfx90a";
  return kernel;
}

class HipSources : public testing::Test {
protected:
  void SetUp() override {
    if (auto hiprtc = Hiprtc::find({}); !hiprtc)
      GTEST_SKIP() << hiprtc.error().message;
  }
  std::unique_ptr<KernelCache> open(const std::string &below = "cache",
                                    const std::string &plugin = INTERLOCK_COMPILER_PLUGIN) {
    return KernelCache::open(
        {.directory = folder.string(below.c_str()), .compiler = makePluginCompiler({.path = plugin})});
  }
  static CompiledSource made(Result<CompiledSource> result) {
    EXPECT_TRUE(result.has_value()) << result.error().message;
    return result.value_or(CompiledSource());
  }
  TempFolder folder;
};

TEST_F(HipSources, RunInTheEmulator) {
  auto cache = open();
  CompiledSource kernel = made(compileSource(*cache, addKernel(5)));
  EXPECT_EQ(kernel.maxThreads, 128u);
  EXPECT_EQ(kernel.blockThreads, 0u);
  auto driver = openEmulator({.target = "gfx90a"});
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
  auto done = device.synchronize(stream);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  for (uint32_t i = 0; i < count; ++i)
    EXPECT_EQ(out[i], 1.5f + float(i) + 5.0f + float(sizeof("add.hip"))) << i;
}

TEST_F(HipSources, AreFoundInMemoryAndOnDisk) {
  auto cache = open();
  CompiledSource first = made(compileSource(*cache, addKernel()));
  EXPECT_EQ(first.outcome, "miss");
  EXPECT_EQ(made(compileSource(*cache, addKernel())).outcome, "memory");
  auto later = open();
  CompiledSource again = made(compileSource(*later, addKernel()));
  EXPECT_EQ(again.outcome, "disk");
  EXPECT_EQ(again.image.text, first.image.text);
  EXPECT_TRUE(again.image.binary == first.image.binary);
  EXPECT_EQ(again.meta, first.meta);
  EXPECT_EQ(made(compileSource(*later, addKernel(7))).outcome, "miss");
  EXPECT_NE(cache->disk()->readToolchain("hip"), std::nullopt);
}

// In a serving image with a warm cache neither is needed.
TEST_F(HipSources, WithoutHiprtcOrThePluginWhatIsCachedStillServes) {
  made(compileSource(*open(), addKernel()));
  SourceOptions none{.hiprtcPath = "/no/such/libhiprtc.so.7"};
  auto later = open();
  EXPECT_EQ(made(compileSource(*later, addKernel(), none)).outcome, "disk");
  EXPECT_THAT(later->notes(), testing::ElementsAre(HasSubstr("expected hiprtc")));
  auto bare = open("cache", "/no/such/plugin.so");
  EXPECT_EQ(made(compileSource(*bare, addKernel())).outcome, "disk");
  auto missing = compileSource(*bare, addKernel(9));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::notFound);
  EXPECT_THAT(missing.error().message, HasSubstr("HIP C++ needs the compiler plugin too"));
}

TEST_F(HipSources, AFailureIsTheLogAndNamesTheLine) {
  auto cache = open();
  SourceKernel kernel = addKernel();
  kernel.options.clear(); // nobody says what N is
  auto failed = compileSource(*cache, kernel);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::compile);
  EXPECT_THAT(failed.error().message, testing::StartsWith("add.hip:6: use of undeclared identifier 'N' [hiprtc "));
  kernel = addKernel();
  kernel.entry = "demo::sub";
  EXPECT_THAT(compileSource(*cache, kernel).error().message, HasSubstr("the kernel that was asked for, `demo::sub`"));
  kernel = addKernel();
  kernel.options.push_back("--no-such-option");
  EXPECT_EQ(compileSource(*cache, kernel).error().code, Code::badInput);
  kernel = addKernel();
  kernel.headers.pop_back();
  EXPECT_THAT(compileSource(*cache, kernel).error().message, testing::StartsWith("detail/ops.h:1: 'more.h' file not "));
  kernel = addKernel();
  kernel.source.text = "#include <stdio.h>\n" + kernel.source.text;
  EXPECT_THAT(compileSource(*cache, kernel).error().message, HasSubstr("'stdio.h' file not found"))
      << "a header of this machine";
  EXPECT_EQ(cache->disk()->list().size(), 0u);
}

TEST_F(HipSources, TheGateRefusesWhatIsNotOrderedAndAWaiverLetsItPass) {
  auto cache = open();
  auto refused = compileSource(*cache, unorderedKernel());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::compile);
  EXPECT_THAT(refused.error().message,
              AllOf(testing::StartsWith("kernel `publish` of bad.hip is not ordered: "), HasSubstr("[AM")));
  EXPECT_EQ(cache->disk()->list().size(), 0u);
  SourceKernel waived = unorderedKernel();
  for (size_t at = 0; (at = refused.error().message.find("[AM", at)) != std::string::npos; ++at)
    waived.contract +=
        "waive " + refused.error().message.substr(at + 1, 4) + " kernel publish: a test of the gate\n";
  CompiledSource accepted = made(compileSource(*cache, waived));
  for (const auto &finding : nlohmann::json::parse(accepted.meta)["findings"])
    EXPECT_EQ(finding.value("waived", ""), "a test of the gate") << finding.dump(2);
  EXPECT_FALSE(compileSource(*cache, unorderedKernel())) << "and not whoever asks without it";
}

TEST_F(HipSources, NothingOfThePlaceIsInTheKernel) {
  std::vector<CompiledSource> kernels;
  for (const char *place : {"one", "two"}) {
    fs::create_directories(folder.path() / place);
    ::setenv("TMPDIR", (folder.path() / place).c_str(), 1);
    kernels.push_back(made(compileSource(*open(std::string("cache-") + place), addKernel())));
    ::unsetenv("TMPDIR");
  }
  EXPECT_EQ(kernels[1].outcome, "miss");
  EXPECT_TRUE(kernels[0].image.binary == kernels[1].image.binary);
  EXPECT_EQ(kernels[0].image.text, kernels[1].image.text);
}

TEST_F(HipSources, ThroughTheCAbi) {
  ilk_cache_options where{};
  where.size = sizeof where;
  std::string directory = folder.string();
  where.directory = directory.c_str();
  where.compiler_path = INTERLOCK_COMPILER_PLUGIN;
  ilk_cache *cache = nullptr;
  ASSERT_EQ(ilk_cache_open(&where, &cache), ILK_OK) << ilk_message();
  ilk_source_kernel source{};
  source.size = sizeof source;
  source.name = "fill.hip";
  source.source = "extern \"C\" __global__ void fill(int *x) { x[threadIdx.x] = 7; }";
  source.entry = "fill";
  source.target = "gfx90a";
  ilk_kernel *kernel = nullptr;
  ASSERT_EQ(ilk_kernel_compile(cache, &source, &kernel), ILK_OK) << ilk_message();
  const void *bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(ilk_kernel_get_part(kernel, ILK_PART_BINARY, &bytes, &size), ILK_OK);
  EXPECT_EQ(std::string_view(static_cast<const char *>(bytes), 4), "\x7f"
                                                                     "ELF");
  source.hiprtc_path = "/no/such/libhiprtc.so.7";
  source.entry = "other";
  ilk_kernel *none = nullptr;
  EXPECT_NE(ilk_kernel_compile(cache, &source, &none), ILK_OK);
  ilk_kernel_destroy(kernel);
  ilk_cache_close(cache);
}

} // namespace
} // namespace interlock
