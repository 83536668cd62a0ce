// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The matrix: what is varied alone, and then everything against everything by a seeded draw.
#include "EndToEnd.h"

#include "runtime/Ops/Random.h"

#include <fmt/format.h>

using namespace interlock;
using test::EndToEndCase;
using test::expectRight;

namespace {

constexpr const char *chips[] = {"sm_80", "sm_90a", "sm_100a", "sm_103a", "sm_120a"};

TEST(EndToEnd, EveryType) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2})
    for (DType combine : {DType::f32, DType::f16, DType::bf16}) {
      EndToEndCase each;
      each.label = fmt::format("{} to {}", name(dtype), name(combine));
      each.trip.layer.dtype = dtype;
      each.trip.layer.combineDType = combine;
      each.trip.layer.scaleBytes = byteSize(dtype) == 1 ? 16 : 0;
      expectRight(each);
    }
}

TEST(EndToEnd, EveryScheduleClusterTargetAndWait) {
  for (const char *chip : chips)
    for (Schedule schedule : {Schedule::gridStride, Schedule::claimed, Schedule::clc})
      for (uint32_t cluster : {1u, 2u, 4u, 8u})
        for (WaitStrategy wait : {WaitStrategy::relaxedFence, WaitStrategy::acquire}) {
          auto target = findTarget(chip);
          ASSERT_TRUE(target);
          if ((schedule == Schedule::clc && !hasLaunchControl(*target)) || (cluster > 1 && !target->clusters) ||
              (wait == WaitStrategy::relaxedFence && !target->restrictedFence))
            continue; // refused when the spec is made (tests/unit/spec)
          EndToEndCase each;
          each.label = fmt::format("{} {} cluster {} {}", chip, name(schedule), cluster, name(wait));
          each.machine.target = chip;
          each.trip.operation.schedule = schedule;
          each.trip.operation.cluster = cluster;
          each.trip.operation.wait = wait;
          each.trip.operation.dispatch.grid = each.trip.operation.combine.grid = 2 * cluster;
          each.trip.operation.dispatch.tileTokens = each.trip.operation.combine.tileTokens = 1;
          expectRight(each);
        }
}

// An AMD chip with clusters, behind caches: claimed tiles go through mailboxes, which a step finds as the last one left
// them.
TEST(EndToEnd, ClustersOfAnAMDChip) {
  for (Schedule schedule : {Schedule::gridStride, Schedule::claimed})
    for (uint32_t cluster : {2u, 4u, 8u})
      for (uint64_t seed = 1; seed <= 8; ++seed) {
        EndToEndCase each;
        each.label = fmt::format("gfx1250 {} cluster {} seed {}", name(schedule), cluster, seed);
        each.machine.target = "gfx1250";
        each.machine.memory = EmulatorMemory::cached;
        each.machine.seed = seed;
        each.trip.operation.schedule = schedule;
        each.trip.operation.cluster = cluster;
        each.trip.operation.dispatch.grid = each.trip.operation.combine.grid = (1 + seed % 3) * cluster;
        each.trip.operation.dispatch.tileTokens = each.trip.operation.combine.tileTokens = 1 + seed % 2;
        expectRight(each);
      }
}

TEST(EndToEnd, OddShapes) {
  struct Shape {
    uint32_t ranks, experts, topk, hidden;
    DType dtype;
    std::vector<uint32_t> tokens;
  };
  for (const Shape &shape : {Shape{1, 1, 1, 8, DType::bf16, {1}}, Shape{1, 7, 7, 24, DType::bf16, {5}},
                             Shape{2, 3, 1, 8, DType::f16, {0, 1}}, Shape{3, 10, 5, 2888, DType::bf16, {0, 1, 17}},
                             Shape{3, 4, 4, 12, DType::f32, {2, 3, 4}}, // the last rank owns no expert
                             Shape{4, 64, 32, 64, DType::f32, {9}}, Shape{5, 33, 3, 2880, DType::bf16, {3, 0, 0, 1, 2}},
                             Shape{8, 256, 8, 512, DType::bf16, {16}}, Shape{8, 32, 32, 16, DType::f8e5m2, {33, 0}},
                             Shape{33, 66, 6, 16, DType::f16, {2, 0, 3}}, Shape{64, 64, 8, 8, DType::bf16, {1, 2}}}) {
    EndToEndCase each;
    each.label = fmt::format("{} ranks, {} experts, top-{}, hidden {} {}", shape.ranks, shape.experts, shape.topk,
                             shape.hidden, name(shape.dtype));
    each.trip.layer.ranks = shape.ranks;
    each.trip.layer.experts = shape.experts;
    each.trip.layer.topk = shape.topk;
    each.trip.layer.hidden = shape.hidden;
    each.trip.layer.dtype = shape.dtype;
    each.trip.layer.combineDType = byteSize(shape.dtype) == 1 ? DType::bf16 : shape.dtype;
    each.trip.tokens = shape.tokens;
    expectRight(each);
  }
}

// Rows of whole packets, with any rest over what a warp takes at a time: no size is a special case.
TEST(EndToEnd, B04HiddenSizesWithAnyRest) {
  uint32_t i = 0;
  for (uint32_t hidden = 64; hidden <= 640; hidden += 24, ++i) {
    EndToEndCase each;
    const char *const targets[] = {"sm_90a", "sm_80", "gfx942", "gfx1100"};
    each.machine.target = targets[i % 4];
    each.trip.layer.hidden = hidden;
    each.trip.layer.ranks = 2;
    each.trip.layer.dtype = each.trip.layer.combineDType = i % 3 ? DType::bf16 : DType::f16;
    if (hidden % 16 == 0 && i % 5 == 0) {
      each.trip.layer.dtype = DType::f8e4m3fn;
      each.trip.layer.combineDType = DType::bf16;
    }
    each.trip.tokens = {9, 5};
    each.label = fmt::format("{}, hidden {}, {}", each.machine.target, hidden, name(each.trip.layer.dtype));
    each.steps = 1;
    expectRight(each);
  }
}

// Around the width of a warp, of a wave, and of a mask of ranks.
TEST(EndToEnd, B05RanksAroundTheWidthOfAWarp) {
  for (const char *chip : {"sm_90a", "gfx942", "gfx1100"})
    for (uint32_t ranks : {31u, 32u, 33u, 63u, 64u}) {
      EndToEndCase each;
      each.label = fmt::format("{}, {} ranks", chip, ranks);
      each.machine.target = chip;
      each.trip.layer.ranks = ranks;
      each.trip.layer.experts = 2 * ranks - 1;
      each.trip.layer.topk = 6;
      each.trip.layer.hidden = 16;
      each.trip.tokens = {3, 0, 7};
      each.steps = 1;
      expectRight(each);
    }
}

// Ids are read four at a time where a row of them is whole packets and the first begins one.
TEST(EndToEnd, ListsThatBeginAnywhere) {
  for (const char *chip : {"sm_90a", "gfx942"})
    for (uint32_t topk : {3u, 4u, 8u})
      for (uint32_t offset : {0u, 4u, 8u, 12u}) {
        EndToEndCase each;
        each.label = fmt::format("{} top-{}, lists at {}", chip, topk, offset);
        each.machine.target = chip;
        each.trip.layer.topk = topk;
        each.trip.listOffset = offset;
        expectRight(each);
      }
}

TEST(EndToEnd, EveryBlockAndTileAndGrid) {
  for (uint32_t block : {32u, 96u, 512u, 1024u})
    for (uint32_t tile : {1u, 8u, 32u})
      for (uint32_t grid : {1u, 2u, 7u}) {
        EndToEndCase each;
        each.label = fmt::format("grid {} of {} threads, tile {}", grid, block, tile);
        each.trip.operation.dispatch = each.trip.operation.combine = {grid, block, tile};
        each.steps = 1;
        expectRight(each);
      }
}

TEST(EndToEnd, ScalesOfAnyWidthTravelVerbatim) {
  for (uint32_t bytes : {4u, 12u, 16u, 20u, 224u, 1028u}) {
    EndToEndCase each;
    each.label = fmt::format("{} bytes of scales", bytes);
    each.trip.layer.scaleBytes = bytes;
    each.trip.layer.dtype = DType::f8e4m3fn;
    expectRight(each);
  }
}

TEST(EndToEnd, ModesOfCombine) {
  for (bool weighted : {false, true})
    for (bool expertRows : {false, true}) {
      EndToEndCase each;
      each.label = fmt::format("weighted {}, expert rows {}", weighted, expertRows);
      each.trip.weighted = weighted;
      each.trip.layer.expertRows = expertRows;
      expectRight(each);
    }
}

TEST(EndToEnd, SeedsAndResidency) {
  for (Schedule schedule : {Schedule::gridStride, Schedule::claimed, Schedule::clc})
    for (uint32_t residency : {2u, 4u, 132u})
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        EndToEndCase each;
        each.label = fmt::format("{}, {} resident, seed {}", name(schedule), residency, seed);
        each.machine.residency = residency;
        each.machine.seed = each.routing.seed = each.trip.seed = seed;
        each.trip.operation.schedule = schedule;
        each.trip.operation.cluster = 2;
        // all tiles that the spec allows for, so that there are CTAs to cancel
        each.trip.operation.dispatch.grid = each.trip.operation.combine.grid = schedule == Schedule::clc ? 0 : 8;
        if (schedule == Schedule::clc)
          each.machine.target = "sm_100a";
        each.trip.operation.dispatch.tileTokens = each.trip.operation.combine.tileTokens = 1;
        expectRight(each);
      }
}

TEST(EndToEnd, RanksThatShareADevice) {
  for (uint32_t devices : {1u, 2u}) {
    EndToEndCase each;
    each.label = fmt::format("{} devices", devices);
    each.machine.devices = devices;
    each.trip.operation.dispatch = each.trip.operation.combine = {};
    each.trip.tokens = {40};
    expectRight(each);
  }
}

TEST(EndToEnd, GraphsAreReplayedWithNewRouting) {
  EndToEndCase each;
  each.label = "graph";
  each.trip.graph = true;
  each.steps = 12;
  expectRight(each);
}

TEST(EndToEnd, SkewAndMasks) {
  for (double mask : {0.0, 0.5, 1.0}) {
    EndToEndCase each;
    each.label = fmt::format("zipf, mask {}", mask);
    each.routing.kind = RoutingOptions::Kind::zipf;
    each.routing.skew = 4;
    each.routing.mask = mask;
    expectRight(each);
  }
}

TEST(EndToEnd, EverythingAgainstEverything) {
  Random random(2026);
  for (uint32_t i = 0; i < 40; ++i) {
    EndToEndCase each;
    LayerSpec &layer = each.trip.layer;
    each.machine.target = chips[random.below(5)];
    bool clusters = findTarget(each.machine.target)->clusters;
    layer.ranks = 1 + random.below(6);
    layer.experts = layer.ranks + random.below(40);
    layer.topk = 1 + random.below(std::min(layer.experts, 32u));
    layer.dtype = DType(random.below(6));
    layer.combineDType = DType(random.below(3));
    layer.hidden = 16 * (1 + random.below(24));
    layer.scaleBytes = 4 * random.below(9);
    layer.expertRows = random.below(2);
    layer.maxTokens = 1 + random.below(40);
    layer.capacity = random.below(2) ? 1 + random.below(layer.maxTokens) : 0;
    layer.ownInPlace = layer.capacity == 0 && random.below(2);
    each.trip.tokens.clear();
    for (uint32_t rank = 0; rank < layer.ranks; ++rank)
      each.trip.tokens.push_back(random.below(4) ? random.below(layer.maxTokens + 1) : 0);
    each.trip.weighted = random.below(4) != 0;
    each.trip.graph = random.below(4) == 0;
    OperationOptions &operation = each.trip.operation;
    operation.schedule = Schedule(random.below(hasLaunchControl(*findTarget(each.machine.target)) ? 3 : 2));
    operation.cluster = clusters ? 1u << random.below(4) : 1;
    for (LaunchGeometry *geometry : {&operation.dispatch, &operation.combine})
      *geometry = {operation.cluster * (1 + random.below(3)), 32 * (1 + random.below(8)), 1u << random.below(6)};
    each.machine.residency = random.below(2) ? 0 : operation.cluster * (1 + random.below(4));
    each.machine.seed = each.routing.seed = each.trip.seed = i;
    each.routing.kind = random.below(2) ? RoutingOptions::Kind::zipf : RoutingOptions::Kind::uniform;
    each.routing.mask = random.below(2) ? 0.3 : 0;
    each.steps = 3;
    each.label =
        fmt::format("draw {}: {} {} ranks {} experts top-{} hidden {} {}>{} cap {} cluster {} {}", i,
                    each.machine.target, layer.ranks, layer.experts, layer.topk, layer.hidden, name(layer.dtype),
                    name(layer.combineDType), layer.capacity, operation.cluster, name(operation.schedule));
    expectRight(each);
  }
}

} // namespace
