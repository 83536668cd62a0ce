// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What is varied alone, and then everything against everything by a seeded draw. All ranks share the device.
#include "tests/gpu/Device.h"

#include "runtime/Ops/Random.h"

#include <fmt/format.h>

using namespace interlock;
using test::expectRight;
using test::GpuCase;

namespace {

class GpuMatrix : public test::GpuTest {
protected:
  /// Whether the device's chip can make this; what it cannot is refused when the spec is made (tests/unit/spec).
  bool can(uint32_t cluster, WaitStrategy wait) {
    auto info = test::device()->info(0);
    auto target = info ? findTarget(info->target) : tl::unexpected(info.error());
    EXPECT_TRUE(target) << target.error().message;
    return target && (cluster == 1 || target->clusters) && (wait == WaitStrategy::acquire || target->restrictedFence);
  }
};

TEST_F(GpuMatrix, EveryType) {
  for (uint32_t ranks : {2u, 4u, 8u})
    for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2})
      for (DType combine : {DType::f32, DType::f16, DType::bf16}) {
        // With four ranks each type to each; a kernel takes the driver a while to assemble.
        if (ranks != 4 && combine != (byteSize(dtype) == 1 ? DType::bf16 : dtype))
          continue;
        GpuCase each;
        each.label = fmt::format("{} ranks, {} to {}", ranks, name(dtype), name(combine));
        each.trip.layer.ranks = ranks;
        each.trip.tokens = {37, 0};
        each.trip.layer.dtype = dtype;
        each.trip.layer.combineDType = combine;
        each.trip.layer.scaleBytes = byteSize(dtype) == 1 ? 32 : 0;
        expectRight(each);
      }
}

TEST_F(GpuMatrix, EveryScheduleClusterAndWait) {
  for (uint32_t ranks : {2u, 4u, 8u})
    for (Schedule schedule : {Schedule::gridStride, Schedule::claimed})
      for (uint32_t cluster : {1u, 2u, 4u, 8u})
        for (WaitStrategy wait : {WaitStrategy::relaxedFence, WaitStrategy::acquire}) {
          if (!can(cluster, wait))
            continue;
          GpuCase each;
          each.label = fmt::format("{} ranks, {}, cluster {}, {}", ranks, name(schedule), cluster, name(wait));
          each.trip.layer.ranks = ranks;
          each.trip.tokens = {200, 3};
          each.trip.operation.schedule = schedule;
          each.trip.operation.cluster = cluster;
          each.trip.operation.wait = wait;
          each.trip.operation.dispatch = {0, 256, 4};
          each.trip.operation.combine = {0, 256, 2};
          expectRight(each);
        }
}

TEST_F(GpuMatrix, OddShapes) {
  // At most 32 ranks a GPU: it has that many hardware queues, and streams that share one wait for each other.
  struct Shape {
    uint32_t ranks, experts, topk, hidden;
    std::vector<uint32_t> tokens;
  };
  const Shape shapes[] = {
      {1, 1, 1, 8, {1}},           {3, 10, 5, 2888, {0, 1, 17}},   {7, 64, 32, 72, {40, 0, 3}},
      {8, 256, 8, 7168, {130, 1}}, {5, 3, 2, 1032, {33, 0, 0, 2}}, {16, 16, 16, 8, {65}},
      {24, 48, 6, 16, {9, 0, 2}},
  };
  for (const Shape &shape : shapes) {
    GpuCase each;
    each.label =
        fmt::format("{} ranks, {} experts, top-{}, hidden {}", shape.ranks, shape.experts, shape.topk, shape.hidden);
    each.trip.layer.ranks = shape.ranks;
    each.trip.layer.experts = shape.experts;
    each.trip.layer.topk = shape.topk;
    each.trip.layer.hidden = shape.hidden;
    each.trip.tokens = shape.tokens;
    each.routing.mask = 0.2;
    expectRight(each);
  }
}

TEST_F(GpuMatrix, MasksAndNoTokensAtAll) {
  for (double mask : {0.1, 0.9, 1.0}) {
    GpuCase each;
    each.label = fmt::format("mask {}", mask);
    each.routing.mask = mask;
    expectRight(each);
  }
  GpuCase nothing;
  nothing.label = "no tokens";
  nothing.trip.layer.maxTokens = 5;
  nothing.trip.tokens = {0};
  expectRight(nothing);
}

TEST_F(GpuMatrix, ExpertRowsSumsAndSkew) {
  for (bool expertRows : {false, true})
    for (bool weighted : {false, true}) {
      GpuCase each;
      each.label = fmt::format("expert rows {}, weighted {}", expertRows, weighted);
      each.trip.layer.expertRows = expertRows;
      each.trip.weighted = weighted;
      each.routing.kind = RoutingOptions::Kind::zipf;
      each.routing.skew = 1.2;
      expectRight(each);
    }
}

TEST_F(GpuMatrix, OwnRowsInPlace) {
  for (uint32_t ranks : {1u, 2u, 4u})
    for (bool graph : {false, true}) {
      GpuCase each;
      each.label = fmt::format("own rows in place, {} ranks, graph {}", ranks, graph);
      each.trip.layer.ranks = ranks;
      each.trip.tokens.resize(ranks);
      each.trip.layer.ownInPlace = true;
      each.trip.graph = graph;
      each.routing.mask = 0.3;
      expectRight(each);
    }
}

TEST_F(GpuMatrix, AFewRealModels) {
  for (const char *model : {"deepseek-v3", "qwen3-235b-a22b", "mixtral-8x7b"}) {
    auto preset = findModel(model);
    ASSERT_TRUE(preset) << preset.error().message;
    GpuCase each;
    each.label = model;
    each.trip.layer.ranks = 8;
    each.trip.layer.hidden = test::onGpu() ? preset->hidden : 512;
    each.trip.layer.experts = preset->experts;
    each.trip.layer.topk = preset->topk;
    each.trip.tokens = {test::onGpu() ? 256u : 24u};
    each.trip.distinctExperts = false; // rows stay on the device
    each.steps = 1;
    expectRight(each);
  }
}

TEST_F(GpuMatrix, MoreCtasThanTheDeviceHolds) {
  // One rank: nobody else's kernel has to fit beside it. No CTA waits for another of its grid, so any number is right.
  for (uint32_t grid : {1u, 132u, 4000u}) {
    GpuCase each;
    each.label = fmt::format("grid {}", grid);
    each.trip.layer.ranks = 1;
    each.trip.tokens = {500};
    each.trip.operation.dispatch = each.trip.operation.combine = {test::onGpu() ? grid : std::min(grid, 200u), 256, 1};
    expectRight(each);
  }
}

// Pairs of a tile that are no multiple of the threads: lanes of one warp leave the loop over them in different rounds,
// and none may go on to the next tile before the others are done with this one.
TEST_F(GpuMatrix, LanesThatLeaveLate) {
  for (Schedule schedule : {Schedule::gridStride, Schedule::claimed})
    for (uint32_t threads : {64u, 96u, 192u, 224u})
      for (uint32_t topk : {7u, 13u, 15u}) {
        GpuCase each;
        each.label = fmt::format("{} threads, top-{}, {}", threads, topk, name(schedule));
        each.trip.layer.ranks = 1;
        each.trip.layer.experts = 26;
        each.trip.layer.topk = topk;
        each.trip.layer.hidden = 208;
        each.trip.layer.maxTokens = 90;
        each.trip.tokens = {76};
        each.trip.operation.schedule = schedule;
        each.trip.operation.dispatch = {4, threads, 16};
        expectRight(each);
      }
}

// A meta row has some words more than a warp has lanes: lanes leave the loop over them in different rounds. Whoever
// went on early found a cluster's next tile where the others waited for it for ever, or other addresses than theirs.
TEST_F(GpuMatrix, MetaRowsOfAWarpAndABit) {
  for (uint32_t topk : {16u, 17u, 20u})
    for (uint32_t hidden : {976u, 1024u})
      for (Schedule schedule : {Schedule::gridStride, Schedule::claimed}) {
        GpuCase each;
        each.label = fmt::format("top-{}, hidden {}, {}", topk, hidden, name(schedule));
        each.trip.layer.ranks = 1;
        each.trip.layer.experts = 54;
        each.trip.layer.topk = topk;
        each.trip.layer.hidden = hidden;
        each.trip.layer.dtype = DType::f32;
        each.trip.layer.combineDType = DType::f16;
        each.trip.tokens = {87};
        each.trip.operation.schedule = schedule;
        each.trip.operation.cluster = can(4, WaitStrategy::acquire) ? 4 : 1;
        each.trip.operation.dispatch = {16, 768, 32};
        expectRight(each);
      }
}

TEST_F(GpuMatrix, SeededDraw) {
  const uint32_t draws = test::drawsAskedFor() ? test::drawsAskedFor() : test::onGpu() ? 150 : 10;
  for (uint32_t i = 0; i < draws && !HasFailure(); ++i) {
    Random random(i, 7, 11);
    GpuCase each;
    LayerSpec &layer = each.trip.layer;
    OperationOptions &operation = each.trip.operation;
    layer.ranks = 1 + random.below(8);
    layer.experts = 1 + random.below(70);
    layer.topk = 1 + random.below(std::min(32u, layer.experts));
    const DType types[] = {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2};
    const DType combined[] = {DType::f32, DType::f16, DType::bf16};
    layer.dtype = types[random.below(5)];
    layer.combineDType = combined[random.below(3)];
    layer.hidden = 16 * (1 + random.below(80));
    layer.scaleBytes = byteSize(layer.dtype) == 1 ? 16 : 0;
    layer.expertRows = random.below(2);
    each.trip.weighted = random.below(2);
    each.trip.tokens.clear();
    for (uint32_t rank = 0; rank < layer.ranks; ++rank)
      each.trip.tokens.push_back(random.below(4) ? random.below(90) : 0);
    layer.maxTokens = 90;
    layer.capacity = random.below(3) ? 0 : 1 + random.below(90);
    layer.ownInPlace = layer.capacity == 0 && random.below(2);
    operation.schedule = random.below(2) ? Schedule::claimed : Schedule::gridStride;
    operation.cluster = can(8, WaitStrategy::acquire) ? 1u << random.below(4) : 1;
    const uint32_t clusters = std::max(1u, 16 / layer.ranks / operation.cluster);
    for (LaunchGeometry *geometry : {&operation.dispatch, &operation.combine})
      *geometry = {operation.cluster * (1 + random.below(clusters)), 32 * (1 + random.below(32)),
                   1u << random.below(6)};
    each.routing.seed = each.trip.seed = i;
    each.routing.kind = random.below(2) ? RoutingOptions::Kind::zipf : RoutingOptions::Kind::uniform;
    each.routing.mask = random.below(2) ? 0.3 : 0;
    each.steps = 3;
    each.label = fmt::format("draw {}: {} ranks, {} experts, top-{}, hidden {}, {} to {}, capacity {}, cluster {}, {}",
                             i, layer.ranks, layer.experts, layer.topk, layer.hidden, name(layer.dtype),
                             name(layer.combineDType), layer.capacity, operation.cluster, name(operation.schedule));
    expectRight(each);
  }
}

} // namespace
