// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The arena on an emulated device: zeroed control areas, regions that do not overlap, refusals before allocation.
#include "runtime/Memory/SymmetricArena.h"
#include "runtime/Memory/DeviceBuffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace interlock;

namespace {

LayerSpec someLayer() {
  LayerSpec layer;
  layer.ranks = 3;
  layer.experts = 10;
  layer.topk = 5;
  layer.hidden = 24;
  layer.maxTokens = 7;
  layer.scaleBytes = 12;
  return layer;
}

/// All ranks in this process, on devices in turns.
ProcessGroup allOn(uint32_t ranks, uint32_t devices = 1) {
  ProcessGroup group;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    group.own.push_back({rank, rank % devices});
  return group;
}

std::unique_ptr<Driver> emulator(uint32_t devices = 1) {
  EmulatorOptions options;
  options.devices = devices;
  auto driver = openEmulator(options);
  EXPECT_TRUE(driver) << driver.error().message;
  return driver ? std::move(*driver) : nullptr;
}

TEST(SymmetricArena, ControlAreasAreZero) {
  auto driver = emulator();
  ASSERT_TRUE(driver);
  auto arena = SymmetricArena::create(*driver, someLayer(), allOn(3));
  ASSERT_TRUE(arena) << arena.error().message;
  auto stream = driver->createStream(0);
  ASSERT_TRUE(stream);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    std::vector<std::byte> control(arena->controlBytes(), std::byte(1));
    ASSERT_TRUE(driver->copyOut(*stream, control.data(), arena->window(rank), control.size()));
    ASSERT_TRUE(driver->synchronize(*stream));
    EXPECT_THAT(control, testing::Each(std::byte(0)));
  }
}

TEST(SymmetricArena, RegionsDoNotOverlapAndEndInTheirWindow) {
  auto driver = emulator();
  ASSERT_TRUE(driver);
  for (bool expertRows : {false, true}) {
    LayerSpec layer = someLayer();
    layer.expertRows = expertRows;
    auto arena = SymmetricArena::create(*driver, layer, allOn(layer.ranks));
    ASSERT_TRUE(arena) << arena.error().message;
    const WindowLayout &layout = arena->layout();
    std::vector<std::pair<uint64_t, uint64_t>> ranges; // first byte, one past the last
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      ranges.push_back({arena->control(rank), arena->control(rank) + sizeof(ControlBlock)});
      uint64_t started = arena->window(rank) + layout.started, arrived = arena->window(rank) + layout.arrived;
      ranges.push_back({started, started + layer.ranks * WindowLayout::signalStride});
      ranges.push_back({arrived, arrived + layer.ranks * WindowLayout::signalStride});
      for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine})
        ranges.push_back({arena->result(rank, kind), arena->result(rank, kind) + sizeof(OpResult)});
      for (uint32_t buffer = 0; buffer < WindowLayout::buffers; ++buffer) {
        ranges.push_back({arena->counts(rank, buffer), arena->counts(rank, buffer) + layer.ranks * sizeof(uint32_t)});
        for (uint32_t source = 0; source < layer.ranks; ++source) {
          uint64_t landing = arena->landing(rank, buffer, source), meta = arena->meta(rank, buffer, source);
          uint64_t out = arena->expertOut(rank, buffer, source);
          ranges.push_back({landing, landing + layer.maxTokens * rowBytes(layer)});
          ranges.push_back({meta, meta + layer.maxTokens * (layout.metaScales + layer.scaleBytes)});
          ranges.push_back({out, out + layer.maxTokens * (expertRows ? layer.topk : 1) * combineRowBytes(layer)});
          EXPECT_EQ(landing % 16, 0u);
          EXPECT_EQ(meta % 16, 0u);
          EXPECT_EQ(out % 16, 0u);
        }
      }
      EXPECT_TRUE(std::all_of(ranges.begin(), ranges.end(), [&](auto range) {
        return range.first >= arena->base() && range.second <= arena->window(rank) + arena->stride();
      }));
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i)
      EXPECT_LE(ranges[i - 1].second, ranges[i].first);
  }
}

TEST(SymmetricArena, AnImpossibleLayerIsRefusedBeforeMemoryIsTaken) {
  auto driver = emulator();
  ASSERT_TRUE(driver);
  LayerSpec layer = someLayer();
  layer.ranks = 65;
  auto arena = SymmetricArena::create(*driver, layer, allOn(layer.ranks));
  ASSERT_FALSE(arena);
  EXPECT_EQ(arena.error().code, Code::badInput);
}

TEST(SymmetricArena, AnAllocationThatFailsSaysHowMuchWasAskedFor) {
  auto driver = emulator();
  ASSERT_TRUE(driver);
  LayerSpec layer = someLayer();
  layer.ranks = 64;
  layer.experts = 64;
  layer.hidden = 1u << 20;
  layer.maxTokens = 1u << 22; // 64 windows of 2 PiB
  auto arena = SymmetricArena::create(*driver, layer, allOn(layer.ranks));
  ASSERT_FALSE(arena);
  EXPECT_THAT(arena.error().message, testing::HasSubstr("bytes"));
}

TEST(SymmetricArena, MovesKeepOneOwner) {
  auto driver = emulator();
  ASSERT_TRUE(driver);
  auto arena = SymmetricArena::create(*driver, someLayer(), allOn(3));
  ASSERT_TRUE(arena);
  DeviceAddress base = arena->base();
  SymmetricArena other = std::move(*arena);
  EXPECT_EQ(other.base(), base);
  EXPECT_EQ(arena->base(), 0u);
  auto buffer = DeviceBuffer::create(*driver, 0, 100);
  ASSERT_TRUE(buffer);
  DeviceBuffer moved = std::move(*buffer);
  EXPECT_NE(moved.address(), 0u);
  EXPECT_EQ(buffer->address(), 0u);
}

} // namespace
