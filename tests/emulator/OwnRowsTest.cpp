// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Own rows in place: a rank's rows are where its own rows land before it dispatches, and its dispatch copies none.
#include "EndToEnd.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Memory/SymmetricArena.h"
#include "runtime/Ops/OperationKernels.h"
#include "runtime/Ops/TestRows.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock {
namespace {

using test::EndToEndCase;
using test::expectRight;

EndToEndCase inPlace(std::string label) {
  EndToEndCase each;
  each.label = std::move(label);
  each.trip.layer.ownInPlace = true;
  return each;
}

TEST(OwnRows, EveryChipAndSchedule) {
  for (const char *chip : {"sm_80", "sm_90a", "sm_100a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1250"})
    for (Schedule schedule : {Schedule::gridStride, Schedule::claimed, Schedule::clc}) {
      TargetInfo target = *findTarget(chip);
      if (schedule == Schedule::clc && !hasLaunchControl(target))
        continue;
      EndToEndCase each = inPlace(fmt::format("{}, {}", chip, name(schedule)));
      each.machine.target = chip;
      each.trip.operation.schedule = schedule;
      each.trip.operation.cluster = target.clusters ? 2 : 1;
      each.trip.operation.dispatch.grid = each.trip.operation.combine.grid = schedule == Schedule::clc ? 0 : 4;
      expectRight(each);
    }
}

TEST(OwnRows, RanksTokensAndMasks) {
  for (uint32_t ranks : {1u, 2u, 5u})
    for (double mask : {0.0, 0.5, 1.0}) {
      EndToEndCase each = inPlace(fmt::format("{} ranks, mask {}", ranks, mask));
      each.trip.layer.ranks = ranks;
      each.trip.tokens = {21, 0};
      each.trip.tokens.resize(std::min(ranks, 2u));
      each.routing.mask = mask;
      expectRight(each);
    }
}

TEST(OwnRows, TypesScalesAndRowsPerExpert) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f8e4m3fn})
    for (bool expertRows : {false, true}) {
      EndToEndCase each = inPlace(fmt::format("{}, expert rows {}", name(dtype), expertRows));
      each.trip.layer.dtype = dtype;
      each.trip.layer.scaleBytes = byteSize(dtype) == 1 ? 20 : 0;
      each.trip.layer.expertRows = expertRows;
      each.trip.weighted = !expertRows;
      expectRight(each);
    }
}

TEST(OwnRows, GraphsAndRanksThatShareADevice) {
  EndToEndCase each = inPlace("graph");
  each.trip.graph = true;
  each.machine.devices = 2;
  each.steps = 8;
  expectRight(each);
}

// Tokens without an expert here are received rows that no expert's rows name.
TEST(OwnRows, Packed) {
  for (const char *chip : {"sm_80", "sm_90a", "gfx942"})
    for (bool distinct : {false, true}) {
      EndToEndCase each = inPlace(fmt::format("{}, distinct experts {}", chip, distinct));
      each.machine.target = chip;
      each.trip.operation.packing = PackingOptions{.alignment = 4, .zeroPadding = true};
      each.trip.distinctExperts = distinct;
      each.routing.mask = 0.3;
      each.steps = 3;
      expectRight(each);
    }
}

TEST(OwnRows, ADeadRankIsLeftOut) {
  EndToEndCase each = inPlace("a dead rank");
  test::Machine machine = test::open(each);
  ASSERT_TRUE(machine.trip);
  for (uint64_t step = 0; step < 3; ++step) {
    auto routing = makeRouting(machine.trip->layer(), each.routing, machine.trip->tokens(), step);
    ASSERT_TRUE(routing);
    test::expectClean(machine.trip->step(*routing, step ? 0b1000 : 0));
  }
}

/// Runs the dispatch of the only rank on rows that lie elsewhere, which an operation would not allow, and returns its
/// landing buffer.
std::vector<std::byte> landingAfterDispatch(LayerSpec layer) {
  std::vector<std::byte> rows(layer.maxTokens * rowBytes(layer)), landed(rows.size());
  auto run = [&]() -> Status {
    ILK_ASSIGN_OR_RETURN(auto driver, openEmulator({.devices = 1}));
    ProcessGroup group{.own = {{0, 0}}};
    ILK_ASSIGN_OR_RETURN(SymmetricArena arena, SymmetricArena::create(*driver, layer, group));
    ILK_ASSIGN_OR_RETURN(auto kernels,
                         OperationKernels::get(*driver, test::sharedCache(), layer, group, OperationOptions()));
    ILK_RETURN_IF_ERROR(kernels.load(group));
    ILK_ASSIGN_OR_RETURN(StreamId stream, driver->createStream(0));
    uint64_t entries = uint64_t(layer.maxTokens) * layer.topk;
    ILK_ASSIGN_OR_RETURN(auto x, DeviceBuffer::create(*driver, 0, rows.size()));
    ILK_ASSIGN_OR_RETURN(auto lists, DeviceBuffer::create(*driver, 0, 3 * entries * 4));
    fillTestRows(layer.dtype, 1, 0, 0, rows);
    ILK_RETURN_IF_ERROR(driver->copyIn(stream, x.address(), rows.data(), rows.size()));
    ILK_RETURN_IF_ERROR(driver->fill(stream, lists.address(), 0, lists.bytes())); // expert 0 for all
    DeviceAddress landing = arena.landing(0, 0, 0);
    ILK_RETURN_IF_ERROR(driver->fill(stream, landing, 0xa5, landed.size()));
    DispatchParams params{arena.base(),
                          arena.stride(),
                          x.address(),
                          0,
                          lists.address(),
                          lists.address() + entries * 4,
                          lists.address() + 2 * entries * 4,
                          1'000'000'000,
                          0,
                          layer.maxTokens,
                          0,
                          0};
    ILK_RETURN_IF_ERROR(
        kernels.launch(KernelKind::dispatch, 0, stream, std::as_bytes(std::span<const DispatchParams, 1>(&params, 1))));
    ILK_RETURN_IF_ERROR(driver->copyOut(stream, landed.data(), landing, landed.size()));
    return driver->synchronize(stream);
  }();
  EXPECT_TRUE(run) << run.error().message;
  EXPECT_FALSE(std::all_of(rows.begin(), rows.end(), [](std::byte b) { return b == std::byte(0xa5); }));
  return landed;
}

TEST(OwnRows, AreNotWritten) {
  LayerSpec layer = EndToEndCase().trip.layer;
  layer.ranks = 1;
  layer.maxTokens = 9;
  auto untouched = [](const std::vector<std::byte> &bytes) {
    return std::count(bytes.begin(), bytes.end(), std::byte(0xa5)) == std::ptrdiff_t(bytes.size());
  };
  EXPECT_FALSE(untouched(landingAfterDispatch(layer)));
  layer.ownInPlace = true;
  EXPECT_TRUE(untouched(landingAfterDispatch(layer)));
}

} // namespace
} // namespace interlock
