// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The peers of the generated kernels in CUDA and HIP C++, on emulated ranks: the PTX that NVRTC makes of them, and what
// hiprtc's code objects disassemble to, against the same reference, bit for bit. Skips where there is no NVRTC or
// hiprtc.
#include "EndToEnd.h"

#include "interlock/prepare.hpp"
#include "runtime/Ops/Random.h"
#include "runtime/SourceJit/Hiprtc.h"
#include "runtime/SourceJit/Nvrtc.h"
#include "runtime/SourceJit/SourceTemplates.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace interlock;
using test::EndToEndCase;
using test::expectRight;

namespace {

class SourceKernels : public testing::Test {
protected:
  void SetUp() override {
    if (auto nvrtc = Nvrtc::find({}); !nvrtc)
      GTEST_SKIP() << nvrtc.error().message;
  }
  static EndToEndCase sourceCase(std::string label) {
    EndToEndCase each;
    each.label = std::move(label);
    each.trip.operation.kernels = KernelOrigin::source;
    return each;
  }
};

struct Shape {
  uint32_t ranks, experts, topk, hidden;
  DType dtype;
  std::vector<uint32_t> tokens;
  double masked = 0;
  bool expertRows = false;
  uint32_t capacity = 0;
  bool ownInPlace = false;

  std::string name() const {
    return fmt::format("{} ranks, {} experts, top-{}, hidden {}, {} masked", ranks, experts, topk, hidden, masked);
  }
};

EndToEndCase shaped(EndToEndCase each, const Shape &shape) {
  LayerSpec &layer = each.trip.layer;
  layer.ranks = shape.ranks;
  layer.experts = shape.experts;
  layer.topk = shape.topk;
  layer.hidden = shape.hidden;
  layer.dtype = layer.combineDType = shape.dtype;
  layer.expertRows = shape.expertRows;
  layer.capacity = shape.capacity;
  layer.ownInPlace = shape.ownInPlace;
  each.trip.tokens = shape.tokens;
  each.routing.mask = shape.masked;
  return each;
}

TEST_F(SourceKernels, EveryType) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2})
    for (DType combine : {DType::f32, DType::f16, DType::bf16}) {
      EndToEndCase each = sourceCase(fmt::format("{} to {}", name(dtype), name(combine)));
      each.trip.layer.dtype = dtype;
      each.trip.layer.combineDType = combine;
      each.trip.layer.scaleBytes = byteSize(dtype) == 1 ? 16 : 0;
      expectRight(each);
    }
}

TEST_F(SourceKernels, EveryScheduleClusterAndTarget) {
  for (const char *chip : {"sm_80", "sm_90a", "sm_100a"})
    for (Schedule schedule : {Schedule::gridStride, Schedule::claimed})
      for (uint32_t cluster : {1u, 2u, 4u}) {
        if (cluster > 1 && !findTarget(chip)->clusters)
          continue;
        EndToEndCase each = sourceCase(fmt::format("{} {} cluster {}", chip, name(schedule), cluster));
        each.machine.target = chip;
        each.trip.operation.schedule = schedule;
        each.trip.operation.cluster = cluster;
        each.trip.operation.dispatch.grid = each.trip.operation.combine.grid = 2 * cluster;
        each.trip.operation.dispatch.tileTokens = each.trip.operation.combine.tileTokens = 1;
        expectRight(each);
      }
}

TEST_F(SourceKernels, OddShapesMaskedIdsAndRowsPerExpert) {
  for (const Shape &shape :
       {Shape{1, 1, 1, 8, DType::bf16, {1}}, Shape{1, 7, 7, 24, DType::bf16, {5}, 0.3},
        Shape{2, 3, 1, 8, DType::f16, {0, 1}}, Shape{3, 10, 5, 2888, DType::bf16, {0, 1, 17}, 0.2, true},
        Shape{3, 4, 4, 12, DType::f32, {2, 3, 4}}, // the last rank owns no expert
        Shape{4, 64, 32, 64, DType::f32, {9}, 0.5}, Shape{5, 33, 3, 2880, DType::bf16, {3, 0, 0, 1, 2}, 1.0},
        Shape{4, 16, 4, 64, DType::bf16, {30}, 0.1, true, 5},
        Shape{3, 10, 3, 64, DType::bf16, {0, 9, 21}, 0.4, false, 0, true}}) {
    expectRight(shaped(sourceCase(shape.name()), shape));
  }
}

// A tile may have more tokens than a warp has lanes: the default where few CTAs send over a link.
TEST_F(SourceKernels, TilesLargerThanAWarp) {
  for (uint32_t tile : {31u, 32u, 33u, 64u, 100u}) {
    EndToEndCase each = sourceCase(fmt::format("tiles of {}", tile));
    each.trip.tokens = {150, 33, 64, 0};
    each.trip.layer.capacity = tile == 33 ? 20 : 0;
    each.trip.operation.dispatch.tileTokens = each.trip.operation.combine.tileTokens = tile;
    expectRight(each);
  }
}

TEST_F(SourceKernels, AScheduleThatTheyHaveNotIsRefused) {
  EndToEndCase each = sourceCase("clc");
  auto driver = openEmulator({.target = "sm_100a", .devices = 4});
  ASSERT_TRUE(driver);
  each.trip.operation.schedule = Schedule::clc;
  auto trip = RoundTrip::create(**driver, test::sharedCache(), each.trip);
  ASSERT_FALSE(trip);
  EXPECT_EQ(trip.error().code, Code::unsupported);
  EXPECT_THAT(trip.error().message, testing::HasSubstr("for a kernel from source, got clc"));
}

TEST_F(SourceKernels, EverySchedule) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    EndToEndCase each = sourceCase(fmt::format("seed {}", seed));
    each.machine.seed = seed;
    each.machine.residency = seed % 2 ? 1 : 0;
    each.trip.operation.schedule = seed % 3 ? Schedule::claimed : Schedule::gridStride;
    each.steps = 3;
    expectRight(each);
  }
}

// The gate has nothing against them, neither error nor warning.
TEST_F(SourceKernels, PassTheGateWithoutAWord) {
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine})
    for (uint32_t cluster : {1u, 4u}) {
      KernelSpec spec;
      spec.kernel = kind;
      spec.layer = EndToEndCase().trip.layer;
      spec.layer.maxTokens = 21;
      spec.cluster = cluster;
      spec.schedule = Schedule::claimed;
      auto source = sourceOf(spec);
      ASSERT_TRUE(source) << source.error().message;
      auto made = compileSource(test::sharedCache(), *source);
      ASSERT_TRUE(made) << made.error().message;
      for (const auto &finding : nlohmann::json::parse(made->meta)["findings"])
        EXPECT_EQ(finding["severity"], "note") << finding.dump(2);
      EXPECT_EQ(made->cluster, cluster);
      EXPECT_EQ(made->maxThreads, spec.blockThreads);
    }
}

// One layer, one geometry, one cache: four kernels, not two.
TEST_F(SourceKernels, AreNotTakenForGeneratedOnes) {
  auto cache = KernelCache::open({.compiler = makePluginCompiler({INTERLOCK_COMPILER_PLUGIN, {}})});
  auto driver = openEmulator({.devices = 4});
  ASSERT_TRUE(driver);
  for (KernelOrigin origin : {KernelOrigin::generated, KernelOrigin::source, KernelOrigin::generated}) {
    EndToEndCase each;
    each.trip.operation.kernels = origin;
    auto trip = RoundTrip::create(**driver, *cache, each.trip);
    ASSERT_TRUE(trip) << trip.error().message;
  }
  EXPECT_EQ(cache->counters().compiled, 4u);
}

// What a prewarm from source leaves is what an operation from source asks for: frozen, it compiles nothing more.
void expectPrewarmed(const char *target) {
  auto cache = KernelCache::open({.compiler = makePluginCompiler({INTERLOCK_COMPILER_PLUGIN, {}})});
  EndToEndCase each;
  each.trip.operation.kernels = KernelOrigin::source;
  each.trip.layer.maxTokens = 21;
  Deployment deployment{{each.trip.layer}, {{target, 132, 1}}, {each.trip.operation}};
  auto kernels = enumerateKernels(deployment);
  ASSERT_TRUE(kernels) << kernels.error().message;
  PrewarmReport first = prewarmFromSource(*cache, *kernels, {.threads = 2});
  for (const PrewarmFailure &failure : first.failures)
    ADD_FAILURE() << failure.error.message;
  EXPECT_EQ(first.compiled, kernels->size());
  EXPECT_EQ(prewarmFromSource(*cache, *kernels).cached, kernels->size());
  cache->freeze(true);
  auto driver = openEmulator({.target = target, .devices = 4});
  ASSERT_TRUE(driver);
  auto trip = RoundTrip::create(**driver, *cache, each.trip);
  EXPECT_TRUE(trip) << trip.error().message;
}

TEST_F(SourceKernels, AFrozenCacheHasThemAfterAPrewarm) { expectPrewarmed("sm_90a"); }

/// The same for gfx90a, which every hiprtc can be asked for.
class HipSourceKernels : public testing::Test {
protected:
  void SetUp() override {
    if (auto hiprtc = Hiprtc::find({}); !hiprtc)
      GTEST_SKIP() << hiprtc.error().message;
  }
  static EndToEndCase hipCase(std::string label) {
    EndToEndCase each;
    each.label = std::move(label);
    each.machine.target = "gfx90a";
    each.trip.operation.kernels = KernelOrigin::source;
    return each;
  }
};

TEST_F(HipSourceKernels, EveryType) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    EndToEndCase each = hipCase(std::string(name(dtype)));
    each.trip.layer.dtype = each.trip.layer.combineDType = dtype;
    expectRight(each);
  }
}

TEST_F(HipSourceKernels, EveryScheduleAndManyWaves) {
  for (Schedule schedule : {Schedule::gridStride, Schedule::claimed})
    for (uint32_t threads : {64u, 256u}) {
      EndToEndCase each = hipCase(fmt::format("{}, {} threads", name(schedule), threads));
      each.trip.operation.schedule = schedule;
      each.trip.operation.dispatch = each.trip.operation.combine = {3, threads, 2};
      expectRight(each);
    }
}

TEST_F(HipSourceKernels, OddShapesMaskedIdsAndRowsPerExpert) {
  for (const Shape &shape :
       {Shape{1, 7, 7, 24, DType::bf16, {5}, 0.3}, Shape{3, 10, 5, 2888, DType::bf16, {0, 1, 17}, 0.2, true},
        Shape{4, 64, 32, 64, DType::f32, {9}, 0.5}, Shape{4, 16, 4, 64, DType::bf16, {30}, 0.1, true, 5}}) {
    expectRight(shaped(hipCase(shape.name()), shape));
  }
}

// Behind caches that nothing keeps coherent, a fence that is missing shows.
TEST_F(HipSourceKernels, ManySeedsBehindCaches) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    EndToEndCase each = hipCase(fmt::format("seed {}", seed));
    each.machine.seed = seed;
    each.machine.memory = EmulatorMemory::cached;
    each.machine.residency = seed % 2 ? 1 : 0;
    each.trip.operation.schedule = seed % 3 ? Schedule::claimed : Schedule::gridStride;
    expectRight(each);
  }
}

TEST_F(HipSourceKernels, PassTheGateWithoutAWord) {
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine})
    for (Schedule schedule : {Schedule::gridStride, Schedule::claimed}) {
      KernelSpec spec;
      spec.kernel = kind;
      spec.layer = EndToEndCase().trip.layer;
      spec.layer.maxTokens = 21;
      spec.target = "gfx90a";
      spec.blockThreads = 256;
      spec.wait = WaitStrategy::acquire;
      spec.schedule = schedule;
      auto source = sourceOf(spec);
      ASSERT_TRUE(source) << source.error().message;
      auto made = compileSource(test::sharedCache(), *source);
      ASSERT_TRUE(made) << made.error().message;
      auto meta = nlohmann::json::parse(made->meta);
      for (const auto &finding : meta["findings"])
        EXPECT_EQ(finding["severity"], "note") << finding.dump(2);
      EXPECT_EQ(meta["scratch_bytes"], 0);
      EXPECT_EQ(made->maxThreads, spec.blockThreads);
    }
}

TEST_F(HipSourceKernels, AFrozenCacheHasThemAfterAPrewarm) { expectPrewarmed("gfx90a"); }

} // namespace
