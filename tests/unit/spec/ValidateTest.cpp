// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Every limit from both sides, and that the value which a message proposes is really taken.
#include "tests/unit/spec/Specs.h"

#include "runtime/Spec/WindowLayout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace interlock {
namespace {

using test::smallLayer;
using test::smallSpec;
using testing::HasSubstr;

/// House rules of a message: one lower-case sentence without a full stop.
void expectSentence(const std::string &message) {
  ASSERT_FALSE(message.empty());
  EXPECT_FALSE(std::isupper(static_cast<unsigned char>(message.front()))) << message;
  EXPECT_NE(message.back(), '.') << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

void expectLayer(const LayerSpec &layer, bool good, const char *part = "") {
  auto status = validate(layer);
  ASSERT_EQ(status.has_value(), good) << (good ? status.error().message : canonicalForm({.layer = layer}));
  if (good)
    return;
  EXPECT_EQ(status.error().code, Code::badInput);
  EXPECT_THAT(status.error().message, HasSubstr(part));
  expectSentence(status.error().message);
}

template <typename T> LayerSpec with(T LayerSpec::*field, T value) {
  LayerSpec layer = smallLayer();
  layer.*field = value;
  return layer;
}

TEST(ValidateLayer, LimitsFromBothSides) {
  expectLayer(smallLayer(), true);
  for (uint32_t ranks : {1u, 2u, 3u, 64u})
    expectLayer(with(&LayerSpec::ranks, ranks), true);
  for (uint32_t ranks : {0u, 65u, ~0u})
    expectLayer(with(&LayerSpec::ranks, ranks), false, "ranks from 1 to 64");
  for (uint32_t topk : {1u, 5u, 32u})
    expectLayer(with(&LayerSpec::topk, topk), true);
  for (uint32_t topk : {0u, 33u, ~0u})
    expectLayer(with(&LayerSpec::topk, topk), false, "top-k from 1 to 32");
  for (uint32_t experts : {8u, 10u, 1000u})
    expectLayer(with(&LayerSpec::experts, experts), true);
  expectLayer(with(&LayerSpec::experts, 0u), false, "experts");
  expectLayer(with(&LayerSpec::experts, 7u), false, "top-k to be at most the number of experts, 7, got 8");
  expectLayer(with(&LayerSpec::maxTokens, 0u), false, "tokens per rank");
  expectLayer(with(&LayerSpec::maxTokens, 1u), true);
  expectLayer(with(&LayerSpec::capacity, 4096u), true);
  expectLayer(with(&LayerSpec::capacity, 4097u), false, "capacity");
  for (uint32_t capacity : {0u, 64u, 4095u, 4096u}) {
    LayerSpec layer = with(&LayerSpec::capacity, capacity);
    layer.ownInPlace = true;
    expectLayer(layer, capacity == 0 || capacity == 4096, "own rows stay in place, got a capacity of");
  }
  for (uint32_t bytes : {0u, 4u, 36u, 224u})
    expectLayer(with(&LayerSpec::scaleBytes, bytes), true);
  for (uint32_t bytes : {1u, 2u, 3u, 5u})
    expectLayer(with(&LayerSpec::scaleBytes, bytes), false, "multiple of 4 bytes");
}

// More ranks than experts leaves ranks without an expert, which is right.
TEST(ValidateLayer, FewerExpertsThanRanks) {
  LayerSpec layer = smallLayer();
  layer.ranks = 64;
  layer.experts = 10;
  expectLayer(layer, true);
}

TEST(ValidateLayer, CombineWorksOnFloatsOnly) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16})
    expectLayer(with(&LayerSpec::combineDType, dtype), true);
  for (DType dtype : {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2}) {
    expectLayer(with(&LayerSpec::combineDType, dtype), false, "f32, f16 or bf16");
    expectLayer(with(&LayerSpec::dtype, dtype), true);
  }
}

// An enumerator from a newer or broken caller is refused, not divided by.
TEST(ValidateLayer, NumbersThatAreNoDType) {
  expectLayer(with(&LayerSpec::dtype, DType(99)), false, "dtype");
  expectLayer(with(&LayerSpec::combineDType, DType(99)), false, "f32, f16 or bf16");
}

constexpr DType everyDType[] = {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2};

// Rows that are not whole packets are refused with multiples that would do; they must do for both kinds of row.
TEST(ValidateLayer, WholePacketsAndWhatWouldDo) {
  const std::regex proposal("got [0-9]+: (?:([0-9]+) or )?([0-9]+) would do");
  for (DType dtype : everyDType)
    for (DType combine : {DType::f32, DType::f16, DType::bf16})
      for (uint32_t hidden = 1; hidden <= 70; ++hidden) {
        LayerSpec layer = smallLayer();
        layer.hidden = hidden;
        layer.dtype = dtype;
        layer.combineDType = combine;
        bool whole = hidden * byteSize(dtype) % 16 == 0 && hidden * byteSize(combine) % 16 == 0;
        expectLayer(layer, whole, "16-byte packets");
        if (whole)
          continue;
        std::string message = validate(layer).error().message;
        std::smatch match;
        ASSERT_TRUE(std::regex_search(message, match, proposal)) << message;
        for (size_t i = 1; i < match.size(); ++i) {
          if (!match[i].matched)
            continue;
          layer.hidden = uint32_t(std::stoul(match[i]));
          EXPECT_TRUE(validate(layer)) << message << ", but " << layer.hidden << " is refused";
        }
        EXPECT_NE(match[1], match[2]) << message;
      }
}

// Addresses are base + rank*stride + offset in 64 bits, so the windows of all ranks must fit with room to spare.
TEST(ValidateLayer, WhatIsTakenFitsAnAddressSpace) {
  LayerSpec huge = smallLayer();
  huge.ranks = 64;
  huge.topk = 32;
  huge.dtype = huge.combineDType = DType::f32;
  huge.hidden = 1u << 20;
  huge.expertRows = true;
  unsigned taken = 0, refused = 0;
  for (uint32_t tokens = 1; tokens <= 1u << 24; tokens *= 2) {
    huge.maxTokens = tokens;
    if (auto status = validate(huge)) {
      ++taken;
      // No machine maps more than 57 bits.
      EXPECT_LE(windowLayout(huge).size, (uint64_t(1) << 57) / huge.ranks) << tokens;
    } else {
      ++refused;
      expectSentence(status.error().message);
      EXPECT_THAT(status.error().message, HasSubstr("would do"));
    }
  }
  EXPECT_GT(taken, 0u);
  EXPECT_GT(refused, 0u);
}

void expectKernel(const KernelSpec &spec, bool good, Code code = Code::badInput, const char *part = "") {
  auto status = validate(spec);
  ASSERT_EQ(status.has_value(), good) << (good ? status.error().message : canonicalForm(spec));
  if (good)
    return;
  EXPECT_EQ(status.error().code, code) << status.error().message;
  EXPECT_THAT(status.error().message, HasSubstr(part));
  expectSentence(status.error().message);
}

template <typename T> KernelSpec with(T KernelSpec::*field, T value) {
  KernelSpec spec = smallSpec();
  spec.*field = value;
  return spec;
}

TEST(ValidateKernel, LimitsFromBothSides) {
  for (uint32_t cluster : {1u, 2u, 4u, 8u})
    expectKernel(with(&KernelSpec::cluster, cluster), true);
  for (uint32_t cluster : {0u, 3u, 6u, 16u})
    expectKernel(with(&KernelSpec::cluster, cluster), false, Code::badInput, "cluster of 1, 2, 4 or 8");
  for (uint32_t threads : {32u, 96u, 1024u})
    expectKernel(with(&KernelSpec::blockThreads, threads), true);
  for (uint32_t threads : {0u, 1u, 31u, 33u, 1056u, ~0u})
    expectKernel(with(&KernelSpec::blockThreads, threads), false, Code::badInput, "multiple of 32");
  for (uint32_t tokens : {1u, 3u, 32u, 683u, 1024u})
    expectKernel(with(&KernelSpec::tileTokens, tokens), true);
  for (uint32_t tokens : {0u, 1025u})
    expectKernel(with(&KernelSpec::tileTokens, tokens), false, Code::badInput, "tokens per tile");
  expectKernel(with(&KernelSpec::target, std::string("sm_91")), false, Code::badInput, "a target of");
}

// A tile's tables must fit the static shared memory; one of 32 tokens does whatever the layer.
TEST(ValidateKernel, ATileFitsSharedMemory) {
  KernelSpec spec = smallSpec();
  spec.layer.ranks = 64;
  spec.layer.topk = 32;
  spec.tileTokens = 32;
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine}) {
    spec.kernel = kind;
    expectKernel(spec, true);
  }
  spec.kernel = KernelKind::dispatch;
  spec.tileTokens = 1024;
  expectKernel(spec, false, Code::badInput, "fewer tokens per tile would do");
}

TEST(ValidateKernel, WhatAChipLacks) {
  KernelSpec spec = with(&KernelSpec::target, std::string("sm_80"));
  expectKernel(spec, true); // with one CTA per cluster either strategy is the same code
  spec.wait = WaitStrategy::acquire;
  expectKernel(spec, true);
  spec.schedule = Schedule::claimed;
  expectKernel(spec, true);
  for (uint32_t cluster : {2u, 4u, 8u}) {
    spec.cluster = cluster;
    expectKernel(spec, false, Code::unsupported, "sm_80 has no thread-block clusters");
  }
}

TEST(ValidateKernel, WhatAnAMDChipLacks) {
  for (const char *chip : {"gfx90a", "gfx942", "gfx950", "gfx1250", "gfx1100", "gfx1201"}) {
    KernelSpec spec = with(&KernelSpec::target, std::string(chip));
    spec.blockThreads = 256;
    for (WaitStrategy wait : {WaitStrategy::relaxedFence, WaitStrategy::acquire})
      for (Schedule schedule : {Schedule::gridStride, Schedule::claimed}) {
        spec.wait = wait;
        spec.schedule = schedule;
        expectKernel(spec, true);
      }
    spec.cluster = 4;
    bool clusters = std::string_view(chip) == "gfx1250";
    spec.schedule = Schedule::gridStride;
    expectKernel(spec, clusters, Code::unsupported, "has no thread-block clusters");
    // Where CTAs have no way into each other's shared memory, tiles go through the window.
    spec.schedule = Schedule::claimed;
    expectKernel(spec, clusters, Code::unsupported, "has no thread-block clusters");
  }
  KernelSpec odd = with(&KernelSpec::target, std::string("gfx942"));
  odd.blockThreads = 96;
  expectKernel(odd, false, Code::badInput, "a multiple of 64 and at most 1024, got 96");
}

TEST(ValidateKernel, ClusterLaunchControlNeedsItsChips) {
  KernelSpec spec = smallSpec();
  spec.schedule = Schedule::clc;
  for (const char *chip : {"sm_100a", "sm_103a", "sm_120a"}) {
    spec.target = chip;
    expectKernel(spec, true);
  }
  spec.target = "sm_90a";
  expectKernel(spec, false, Code::unsupported, "sm_90a has no cluster launch control");
  spec.target = "gfx1250";
  expectKernel(spec, false, Code::unsupported, "gfx1250 has no cluster launch control");
}

TEST(ValidateKernel, PackingNeedsItsTablesAndItsNumbers) {
  for (const TargetInfo &target : targets())
    for (uint32_t experts : {8u, 2048u, 8u * 1017}) {
      LayerSpec layer = smallLayer();
      layer.experts = experts;
      KernelSpec spec = packKernel(layer, target.name);
      expectKernel(spec, true);
      EXPECT_EQ(spec.layer.maxTokens, 4096u);
    }
  EXPECT_FALSE(validate(packKernel(with(&LayerSpec::ranks, 0u))));
  KernelSpec spec = packKernel(smallLayer());
  EXPECT_EQ(canonicalForm(spec), canonicalForm(packKernel(with(&LayerSpec::combineDType, DType::f16))))
      << "what the kernel does not depend on";
  spec.layer.experts = 1u << 20;
  expectKernel(spec, false, Code::badInput, "fewer threads or more ranks would do");
  spec = packKernel(smallLayer());
  spec.stages = 2;
  expectKernel(spec, false, Code::badInput, "expected 0 stages and no programmatic launch for pack_experts");
  spec = packKernel(smallLayer());
  spec.cluster = 2;
  expectKernel(spec, false, Code::badInput, "a cluster of 1 CTA");
  spec = packKernel(smallLayer());
  spec.layer.ranks = 64;
  spec.layer.maxTokens = 1u << 22;
  spec.layer.hidden = 8;
  expectKernel(spec, false, Code::badInput, "pairs of a received row and an expert, got 2147483648");
}

TEST(ValidateKernel, ALayerThatIsWrongIsRefusedToo) {
  KernelSpec spec = smallSpec();
  spec.layer.topk = 33;
  expectKernel(spec, false, Code::badInput, "top-k");
}

} // namespace
} // namespace interlock
