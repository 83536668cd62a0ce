// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The window's regions: where they must lie, that they do not overlap, and that they hold what is written there.
#include "runtime/Spec/WindowLayout.h"

#include "tests/unit/spec/Specs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace interlock {
namespace {

struct Region {
  const char *name;
  uint64_t at, bytes;
};

std::vector<Region> regionsOf(const LayerSpec &l, const WindowLayout &w) {
  uint64_t rows = uint64_t(WindowLayout::buffers) * l.ranks * l.rowsPerSource();
  return {{"control", w.control, sizeof(ControlBlock)},
          {"results", w.results, 2 * sizeof(OpResult)},
          {"started", w.started, uint64_t(l.ranks) * WindowLayout::signalStride},
          {"arrived", w.arrived, uint64_t(l.ranks) * WindowLayout::signalStride},
          {"counts", w.counts, uint64_t(WindowLayout::buffers) * l.ranks * 4},
          {"landing", w.landing, rows * w.rowStride},
          {"meta", w.meta, rows * w.metaStride},
          {"expertOut", w.expertOut, rows * w.outRows * w.combineRowStride},
          {"mailboxes", w.mailboxes, (uint64_t(l.maxTokens) + 1) / 2 * 4}};
}

class Layout : public testing::TestWithParam<LayerSpec> {};

TEST_P(Layout, RegionsAreAlignedAndApart) {
  const LayerSpec &layer = GetParam();
  ASSERT_TRUE(validate(layer));
  WindowLayout w = windowLayout(layer);
  std::vector<Region> regions = regionsOf(layer, w);
  for (const Region &a : regions) {
    EXPECT_EQ(a.at % 256, 0u) << a.name;
    EXPECT_LE(a.at + a.bytes, w.size) << a.name;
    for (const Region &b : regions)
      if (a.name != b.name) {
        EXPECT_TRUE(a.at + a.bytes <= b.at || b.at + b.bytes <= a.at) << a.name << " overlaps " << b.name;
      }
  }
}

TEST_P(Layout, AMetaRowHoldsItsParts) {
  const LayerSpec &layer = GetParam();
  WindowLayout w = windowLayout(layer);
  EXPECT_EQ(w.metaWeights, layer.topk * 4u);
  EXPECT_EQ(w.metaToken, layer.topk * 8u);
  EXPECT_GE(w.metaScales, w.metaToken + 4);
  EXPECT_EQ(w.metaScales % 16, 0u);
  EXPECT_GE(w.metaStride, w.metaScales + layer.scaleBytes);
  EXPECT_EQ(w.metaStride % 16, 0u);
}

TEST_P(Layout, RowsAreWholePackets) {
  const LayerSpec &layer = GetParam();
  WindowLayout w = windowLayout(layer);
  EXPECT_EQ(w.rowStride, uint64_t(layer.hidden) * byteSize(layer.dtype));
  EXPECT_EQ(w.combineRowStride, uint64_t(layer.hidden) * byteSize(layer.combineDType));
  EXPECT_EQ(w.rowStride % 16, 0u);
  EXPECT_EQ(w.combineRowStride % 16, 0u);
  EXPECT_EQ(w.outRows, layer.expertRows ? layer.topk : 1u);
}

TEST_P(Layout, NamedRegionsAreTheWholeWindowInOrder) {
  WindowLayout w = windowLayout(GetParam());
  std::vector<WindowRegion> named = windowRegions(GetParam());
  std::vector<Region> regions = regionsOf(GetParam(), w);
  ASSERT_EQ(named.size(), regions.size());
  uint64_t end = 0;
  for (size_t i = 0; i < named.size(); ++i) {
    EXPECT_EQ(named[i].offset, end) << named[i].name;
    EXPECT_EQ(named[i].offset, regions[i].at) << named[i].name << " is not " << regions[i].name;
    end += named[i].bytes;
  }
  EXPECT_EQ(end, w.size);
}

// A cluster begins with the unit of its own number, so a mailbox for each unit is enough.
TEST_P(Layout, EveryClusterWithAUnitHasAMailbox) {
  const LayerSpec &layer = GetParam();
  WindowLayout w = windowLayout(layer);
  for (uint32_t tokens = 0; tokens <= layer.maxTokens; ++tokens)
    for (uint32_t tile : {1u, 2u, 32u})
      for (uint32_t cluster : {2u, 4u, 8u}) {
        uint64_t tiles = (tokens + tile - 1) / tile, units = (tiles + cluster - 1) / cluster;
        ASSERT_LE(w.mailboxes + units * 4, w.size) << tokens << " tokens";
        ASSERT_LE(units * 4, regionsOf(layer, w).back().bytes) << tokens << " tokens";
      }
}

std::vector<LayerSpec> layers() {
  std::vector<LayerSpec> all = {test::smallLayer()};
  for (uint32_t ranks : {1u, 3u, 64u})
    for (uint32_t topk : {1u, 5u, 32u})
      for (uint32_t scales : {0u, 4u, 224u})
        for (bool expertRows : {false, true})
          for (uint32_t capacity : {0u, 1u, 17u}) {
            LayerSpec layer;
            layer.ranks = ranks;
            layer.experts = 64;
            layer.topk = topk;
            layer.hidden = 2880;
            layer.dtype = scales ? DType::f8e4m3fn : DType::bf16;
            layer.scaleBytes = scales;
            layer.maxTokens = 33;
            layer.capacity = capacity;
            layer.expertRows = expertRows;
            all.push_back(layer);
          }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Spec, Layout, testing::ValuesIn(layers()));

// 64-bit throughout: this layer's landing region alone is larger than 4 GiB.
TEST(LayoutSize, DoesNotWrap) {
  LayerSpec layer = test::smallLayer();
  layer.maxTokens = 65536;
  WindowLayout w = windowLayout(layer);
  EXPECT_EQ(w.meta - w.landing, uint64_t(2) * 8 * 65536 * 7168 * 2);
  EXPECT_GT(w.meta - w.landing, uint64_t(1) << 33);
}

// A capacity saves what it promises to save.
TEST(LayoutSize, FollowsTheCapacity) {
  LayerSpec layer = test::smallLayer();
  uint64_t whole = windowLayout(layer).size;
  layer.capacity = layer.maxTokens / 4;
  EXPECT_LT(windowLayout(layer).size, whole / 3);
}

// The kernels address these blocks by number (templates, compiler), so the offsets are an interface.
TEST(LayoutBlocks, OffsetsAreFixed) {
  EXPECT_EQ(offsetof(ControlBlock, op), 0u);
  EXPECT_EQ(offsetof(ControlBlock, ticket), 8u);
  EXPECT_EQ(offsetof(ControlBlock, claim), 12u);
  EXPECT_EQ(offsetof(ControlBlock, status), 16u);
  EXPECT_EQ(offsetof(ControlBlock, dropped), 20u);
  EXPECT_EQ(offsetof(ControlBlock, lost), 24u);
  EXPECT_EQ(offsetof(ControlBlock, dead), 32u);
  EXPECT_EQ(offsetof(ControlBlock, lastUse), 40u);
  EXPECT_EQ(offsetof(OpResult, status), 8u);
  EXPECT_EQ(offsetof(OpResult, lost), 16u);
  EXPECT_EQ(offsetof(OpResult, wanted), 28u);
  EXPECT_EQ(offsetof(DispatchParams, rank), 64u);
  EXPECT_EQ(offsetof(DispatchParams, buffer), 72u);
  EXPECT_EQ(offsetof(CombineParams, rank), 64u);
  EXPECT_EQ(offsetof(CombineParams, slots), 48u);
}

} // namespace
} // namespace interlock
