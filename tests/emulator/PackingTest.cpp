// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rows packed by expert on the device, between a dispatch and a combine of several ranks: the lists, the rows, the
// padding, and what combine makes of it, bit for bit as in the oracle, with no read of the host in between.
#include "EndToEnd.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/Random.h"

#include <fmt/format.h>

using namespace interlock;
using test::EndToEndCase;
using test::expectRight;

namespace {

EndToEndCase packedCase(const PackingOptions &packing) {
  EndToEndCase each;
  each.trip.operation.packing = packing;
  return each;
}

TEST(Packing, EveryChip) {
  for (const TargetInfo &chip : targets())
    for (uint32_t alignment : {1u, 8u}) {
      EndToEndCase each = packedCase({.alignment = alignment, .zeroPadding = true, .grid = 3});
      each.label = fmt::format("{}, alignment {}", chip.name, alignment);
      each.machine.target = chip.name;
      each.machine.seed = each.routing.seed = alignment;
      each.routing.mask = 0.2;
      if (chip.isAMD())
        each.machine.memory = EmulatorMemory::cached;
      expectRight(each);
    }
}

TEST(Packing, OddShapes) {
  struct Shape {
    uint32_t ranks, experts, topk, hidden;
    DType dtype;
    std::vector<uint32_t> tokens;
  };
  for (const Shape &shape : {Shape{1, 1, 1, 8, DType::bf16, {1}}, Shape{1, 70, 32, 24, DType::bf16, {5}},
                             Shape{2, 3, 1, 8, DType::f16, {0, 1}}, Shape{3, 10, 5, 136, DType::bf16, {0, 1, 17}},
                             Shape{3, 4, 4, 12, DType::f32, {2, 3, 4}}, // the last rank owns no expert
                             Shape{4, 64, 32, 64, DType::f32, {9}}, Shape{5, 33, 3, 64, DType::bf16, {3, 0, 0, 1, 2}},
                             Shape{2, 600, 8, 16, DType::bf16, {40, 70}}, // more experts than a warp has lanes
                             Shape{33, 66, 6, 16, DType::f16, {2, 0, 3}}, Shape{64, 64, 8, 8, DType::bf16, {1, 2}},
                             Shape{4, 16, 4, 64, DType::bf16, {0}}})
    for (uint64_t seed : {1u, 2u}) {
      EndToEndCase each = packedCase({.alignment = 4, .zeroPadding = seed == 1, .grid = uint32_t(seed * 2)});
      each.label = fmt::format("{} ranks, {} experts, top-{}, hidden {} {}, seed {}", shape.ranks, shape.experts,
                               shape.topk, shape.hidden, name(shape.dtype), seed);
      each.trip.layer.ranks = shape.ranks;
      each.trip.layer.experts = shape.experts;
      each.trip.layer.topk = shape.topk;
      each.trip.layer.hidden = shape.hidden;
      each.trip.layer.dtype = each.trip.layer.combineDType = shape.dtype;
      each.trip.tokens = shape.tokens;
      each.machine.seed = each.routing.seed = each.trip.seed = seed;
      expectRight(each);
    }
}

TEST(Packing, TypesAndScales) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2})
    for (uint32_t scales : {0u, 20u, 224u}) {
      EndToEndCase each = packedCase({.alignment = 16, .zeroPadding = true});
      each.label = fmt::format("{}, {} bytes of scales", name(dtype), scales);
      each.trip.layer.dtype = dtype;
      each.trip.layer.combineDType = byteSize(dtype) == 1 ? DType::bf16 : dtype;
      each.trip.layer.scaleBytes = scales;
      expectRight(each);
    }
}

TEST(Packing, AnyGrid) {
  for (const char *target : {"sm_80", "sm_90a", "gfx942", "gfx1100"})
    for (uint32_t grid : {1u, 2u, 5u, 13u, 100u}) {
      EndToEndCase each = packedCase({.alignment = 4, .zeroPadding = true, .grid = grid});
      each.label = fmt::format("{}, {} CTAs", target, grid);
      each.machine.target = target;
      each.machine.residency = 3;
      each.machine.seed = grid;
      each.trip.operation.dispatch = each.trip.operation.combine = {2, 64, 4};
      expectRight(each);
    }
}

// sum_k w[k] * x: identity experts, for which nothing leaves the device.
TEST(Packing, IdentityExpertsWeightedAndNot) {
  for (bool weighted : {false, true})
    for (bool graph : {false, true}) {
      EndToEndCase each = packedCase({});
      each.label = fmt::format("weighted {}, graph {}", weighted, graph);
      each.trip.distinctExperts = false;
      each.trip.weighted = weighted;
      each.trip.graph = graph;
      each.steps = 4;
      expectRight(each);
    }
}

// Rows without room are left out and counted; nothing is written behind the array.
TEST(Packing, FullArraysSaySo) {
  for (const char *target : {"sm_80", "sm_90a", "gfx942", "gfx1100"})
    for (uint32_t capacity : {4u, 16u, 24u}) {
      EndToEndCase each = packedCase({.alignment = 4, .capacity = capacity, .zeroPadding = true, .grid = 2});
      each.label = fmt::format("{}, room for {}", target, capacity);
      each.machine.target = target;
      each.routing.seed = capacity;
      auto machine = test::open(each);
      ASSERT_TRUE(machine.trip);
      auto routing = makeRouting(machine.trip->layer(), each.routing, machine.trip->tokens(), 0);
      ASSERT_TRUE(routing);
      auto report = machine.trip->step(*routing);
      test::expectClean(report);
      uint32_t dropped = 0;
      for (const RankReport &rank : report->ranks) {
        ASSERT_TRUE(rank.packing);
        EXPECT_LE(rank.packing->rows, capacity);
        EXPECT_EQ(rank.packing->overflow, rank.packing->dropped > 0);
        dropped += rank.packing->dropped;
      }
      EXPECT_GT(dropped, 0u) << each.label;
    }
}

TEST(Packing, WithACapOnWhatSourcesSend) {
  EndToEndCase each = packedCase({.alignment = 2});
  each.label = "capacity 5";
  each.trip.layer.maxTokens = 21;
  each.trip.layer.capacity = 5;
  expectRight(each);
}

// A trace may name an expert twice for one token, and ids that are none: each naming is a pair of its own.
TEST(Packing, RepeatedAndForeignIds) {
  EndToEndCase each = packedCase({.alignment = 4, .zeroPadding = true});
  each.label = "repeated ids";
  auto machine = test::open(each);
  ASSERT_TRUE(machine.trip);
  auto routing = makeRouting(machine.trip->layer(), each.routing, machine.trip->tokens(), 0);
  ASSERT_TRUE(routing);
  Random random(7);
  for (TokenRouting &rank : *routing)
    for (int32_t &id : rank.ids)
      id = random.below(4) ? int32_t(random.below(5)) : random.below(2) ? -1 : 99;
  test::expectClean(machine.trip->step(*routing));
}

// What a rank that takes no part sent in an earlier step does not come again.
TEST(Packing, RanksThatAreLeftOut) {
  EndToEndCase each = packedCase({.alignment = 4, .zeroPadding = true});
  each.label = "rank 3 leaves";
  auto machine = test::open(each);
  ASSERT_TRUE(machine.trip);
  for (uint64_t dead : {0u, 0u, 8u, 8u}) {
    auto routing = makeRouting(machine.trip->layer(), each.routing, machine.trip->tokens(), dead);
    ASSERT_TRUE(routing);
    test::expectClean(machine.trip->step(*routing, dead));
  }
}

TEST(Packing, SeedsAndResidency) {
  for (const char *target : {"sm_80", "sm_90a", "gfx942", "gfx1100"})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      EndToEndCase each = packedCase({.alignment = 8, .zeroPadding = true, .grid = uint32_t(seed) + 2});
      each.label = fmt::format("{}, seed {}", target, seed);
      each.machine.target = target;
      each.machine.residency = uint32_t(seed);
      each.trip.operation.dispatch = each.trip.operation.combine = {1, 64, 4};
      each.machine.seed = each.routing.seed = each.trip.seed = seed;
      if (findTarget(target)->isAMD())
        each.machine.memory = EmulatorMemory::cached;
      expectRight(each);
    }
}

TEST(Packing, WhatCannotBeIsRefused) {
  EndToEndCase each;
  auto refused = [&](const PackingOptions &packing, const char *why) {
    EndToEndCase wrong = packedCase(packing);
    wrong.trip.layer.expertRows = each.trip.layer.expertRows;
    auto driver = openEmulator({.devices = 4});
    ASSERT_TRUE(driver);
    auto trip = RoundTrip::create(**driver, test::sharedCache(), wrong.trip);
    ASSERT_FALSE(trip);
    EXPECT_EQ(trip.error().code, Code::badInput);
    EXPECT_NE(trip.error().message.find(why), std::string::npos) << trip.error().message;
  };
  refused({.alignment = 0}, "a multiple of 1 to 65536, got 0");
  refused({.alignment = 1u << 17}, "a multiple of 1 to 65536");
  refused({.alignment = 8, .capacity = 20}, "room for a multiple of 8 packed rows");
  each.trip.layer.expertRows = true;
  refused({}, "a row per (token, rank)");
  each.trip.layer.expertRows = false;

  auto machine = test::open(each);
  ASSERT_TRUE(machine.trip);
  auto stream = machine.driver->createStream(0);
  ASSERT_TRUE(stream);
  Operation &operation = machine.trip->operation();
  auto handle = operation.dispatch(0, *stream, {});
  ASSERT_TRUE(handle) << handle.error().message;
  Status status = operation.convertDispatchOutput(0, *stream, *handle, {256, 0});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "expected an operation whose options ask for packing, got one without");

  EndToEndCase packs = packedCase({});
  auto other = test::open(packs);
  ASSERT_TRUE(other.trip);
  Operation &own = other.trip->operation();
  auto rows = DeviceBuffer::create(*other.driver, 0, 4096);
  auto mine = other.driver->createStream(0);
  ASSERT_TRUE(rows && mine);
  auto step = own.dispatch(0, *mine, {});
  ASSERT_TRUE(step) << step.error().message;
  auto says = [](const Status &refusal, const char *why) {
    ASSERT_FALSE(refusal);
    EXPECT_NE(refusal.error().message.find(why), std::string::npos) << refusal.error().message;
  };
  says(own.convertDispatchOutput(1, *mine, *step, {rows->address(), 0}),
       "a routing handle of rank 1, got one of rank 0");
  says(own.convertDispatchOutput(0, *mine, *step, {rows->address() + 8, 0}), "rows at a multiple of 16 bytes");
  says(own.convertDispatchOutput(0, *mine, *step, {rows->address(), 256}), "no scales of a layer that has none");
  says(own.convertCombineInput(0, *mine, *step, {0, true}), "a device pointer for rows, got none");
  says(operation.convertCombineInput(0, *stream, *step, {rows->address(), true}), "packing, got one without");
  ASSERT_TRUE(own.combine(0, *mine, *step, {}));
  says(own.convertCombineInput(0, *mine, *step, {rows->address(), true}), "before their step is combined");
}

} // namespace
