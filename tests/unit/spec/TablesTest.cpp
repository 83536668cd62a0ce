// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Names, targets and models: what users write and what it stands for.
#include "tests/unit/spec/Specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace interlock {
namespace {

using testing::HasSubstr;

template <typename T> void expectInverse(std::initializer_list<T> values, Result<T> (*parse)(std::string_view)) {
  std::set<std::string_view> names;
  for (T value : values) {
    EXPECT_TRUE(names.insert(name(value)).second) << name(value);
    auto parsed = parse(name(value));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, value);
  }
  for (std::string_view wrong : {"", " ", "?", "BF16", "bf16 ", "dispatch,combine"}) {
    auto refused = parse(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, Code::badInput);
    for (std::string_view good : names)
      EXPECT_THAT(refused.error().message, HasSubstr(std::string(good)));
  }
}

TEST(Names, ReadBackAndListWhatWouldDo) {
  expectInverse<DType>({DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2},
                       parseDType);
  expectInverse<KernelKind>({KernelKind::dispatch, KernelKind::combine, KernelKind::dispatchEpilogue,
                             KernelKind::combinePrologue, KernelKind::packExperts},
                            parseKernelKind);
  expectInverse<LaunchMode>(
      {LaunchMode::any, LaunchMode::cluster, LaunchMode::forward, LaunchMode::peers, LaunchMode::cooperative},
      parseLaunchMode);
  expectInverse<Schedule>({Schedule::gridStride, Schedule::claimed, Schedule::clc}, parseSchedule);
  expectInverse<WaitStrategy>({WaitStrategy::relaxedFence, WaitStrategy::acquire}, parseWaitStrategy);
}

TEST(Names, BytesOfAnElement) {
  EXPECT_EQ(byteSize(DType::f32), 4u);
  EXPECT_EQ(byteSize(DType::f16), 2u);
  EXPECT_EQ(byteSize(DType::bf16), 2u);
  for (DType dtype : {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2})
    EXPECT_EQ(byteSize(dtype), 1u) << name(dtype);
}

// PTX ISA, ".target": the version that introduced each chip.
TEST(Targets, ChipsAndTheirLowestPtx) {
  std::vector<std::pair<std::string_view, uint32_t>> found;
  for (const TargetInfo &target : targets())
    if (!target.isAMD())
      found.emplace_back(target.name, target.minPtxIsa);
  EXPECT_THAT(found, testing::UnorderedElementsAre(testing::Pair("sm_80", 70u), testing::Pair("sm_90a", 80u),
                                                   testing::Pair("sm_100a", 86u), testing::Pair("sm_103a", 88u),
                                                   testing::Pair("sm_120a", 87u)));
}

TEST(Targets, WhatAChipHas) {
  for (const TargetInfo &target : targets()) {
    if (target.isAMD())
      continue;
    EXPECT_EQ(target.vendor, "nvptx");
    EXPECT_STREQ(target.textPart(), "ptx");
    EXPECT_STREQ(target.binaryPart(), "cubin");
    EXPECT_EQ(target.remoteShared, target.clusters) << target.name;
    EXPECT_EQ(target.warpWidth, 32u);
    EXPECT_THAT(std::string(target.name), testing::StartsWith("sm_" + std::to_string(target.computeCapability)));
    // Clusters, transaction barriers and restricted fences all came with compute capability 9.0.
    bool hopper = target.computeCapability >= 90;
    EXPECT_EQ(target.clusters, hopper) << target.name;
    EXPECT_EQ(target.asyncBarrier, hopper) << target.name;
    EXPECT_EQ(target.restrictedFence, hopper) << target.name;
    // Every chip keeps 1 KiB of its shared memory per CTA for itself.
    EXPECT_EQ((target.maxSharedBytes + 1024) % 1024, 0u) << target.name;
    auto again = findTarget(target.name);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->name, target.name);
  }
}

// LLVM, "User Guide for AMDGPU Backend", processors: the chips of issue 5, their wave and their LDS.
TEST(Targets, WhatAnAMDChipHas) {
  struct Chip {
    const char *name;
    uint32_t wave, shared;
    bool clusters;
    F8 f8;
  };
  const Chip chips[] = {{"gfx90a", 64, 64, false, F8::none},  {"gfx942", 64, 64, false, F8::fnuz},
                        {"gfx950", 64, 160, false, F8::ocp},  {"gfx1250", 32, 320, true, F8::ocp},
                        {"gfx1100", 32, 64, false, F8::none}, {"gfx1201", 32, 64, false, F8::ocp}};
  size_t amd = 0;
  for (const TargetInfo &target : targets())
    amd += target.isAMD();
  EXPECT_EQ(amd, std::size(chips));
  for (const Chip &chip : chips) {
    auto target = findTarget(chip.name);
    ASSERT_TRUE(target) << chip.name;
    EXPECT_EQ(target->vendor, "amdgcn");
    EXPECT_EQ(target->warpWidth, chip.wave) << chip.name;
    EXPECT_EQ(target->features, "+wavefrontsize" + std::to_string(chip.wave)) << chip.name;
    EXPECT_EQ(target->maxSharedBytes, chip.shared * 1024) << chip.name;
    EXPECT_EQ(target->clusters, chip.clusters) << chip.name;
    EXPECT_EQ(target->f8, chip.f8) << chip.name;
    EXPECT_FALSE(target->remoteShared) << chip.name;
    EXPECT_EQ(cheapestWait(*target), WaitStrategy::relaxedFence) << chip.name;
    EXPECT_STREQ(target->textPart(), "asm");
    EXPECT_STREQ(target->binaryPart(), "hsaco");
  }
}

TEST(Targets, AnUnknownOneListsWhatWouldDo) {
  for (std::string_view wrong : {"sm_90", "sm_999", "", "SM_90A", "gfx942x"}) {
    auto refused = findTarget(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, Code::badInput);
    EXPECT_THAT(refused.error().message, HasSubstr("sm_90a"));
    EXPECT_THAT(refused.error().message, HasSubstr("'" + std::string(wrong) + "'"));
  }
}

struct Published {
  const char *model;
  uint32_t hidden, experts, topk;
};

// From each model's published config.json.
TEST(Models, FiguresAsPublished) {
  const Published published[] = {
      {"deepseek-v3", 7168, 256, 8},  {"kimi-k2", 7168, 384, 8},    {"qwen3-235b-a22b", 4096, 128, 8},
      {"gpt-oss-120b", 2880, 128, 4}, {"mixtral-8x7b", 4096, 8, 2}, {"llama-4-maverick", 5120, 128, 1},
      {"glm-4.5", 5120, 160, 8},
  };
  EXPECT_EQ(models().size(), std::size(published));
  for (const Published &expected : published) {
    auto model = findModel(expected.model);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->hidden, expected.hidden) << expected.model;
    EXPECT_EQ(model->experts, expected.experts) << expected.model;
    EXPECT_EQ(model->topk, expected.topk) << expected.model;
    EXPECT_THAT(std::string(model->source), HasSubstr("config.json"));
  }
}

TEST(Models, EachGivesALayerThatCanBeGenerated) {
  for (const ModelPreset &model : models())
    for (const TargetInfo &target : targets())
      for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine}) {
        KernelSpec spec = test::smallSpec();
        spec.kernel = kind;
        spec.target = std::string(target.name);
        spec.layer.hidden = model.hidden;
        spec.layer.experts = model.experts;
        spec.layer.topk = model.topk;
        auto status = validate(spec);
        EXPECT_TRUE(status) << model.name << " on " << target.name << ": " << status.error().message;
      }
}

TEST(Models, AnUnknownOneListsWhatWouldDo) {
  auto refused = findModel("deepseek-v4");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("deepseek-v3, kimi-k2"));
  EXPECT_THAT(refused.error().message, HasSubstr("'deepseek-v4'"));
}

} // namespace
} // namespace interlock
