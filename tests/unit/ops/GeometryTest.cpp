// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Default launch geometries: always launchable, and resident together where ranks share a device.
#include "interlock/operation.hpp"

#include <gtest/gtest.h>

using namespace interlock;

namespace {

LayerSpec layerOf(uint32_t tokens) {
  LayerSpec layer;
  layer.ranks = 8;
  layer.experts = 256;
  layer.topk = 8;
  layer.hidden = 7168;
  layer.maxTokens = tokens;
  return layer;
}

TEST(Geometry, RanksThatShareADeviceAreResidentTogether) {
  DeviceInfo h200{"NVIDIA H200", "sm_90a", 132, 90, 13000};
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine})
    for (uint32_t tokens : {1u, 31u, 128u, 4096u, 1u << 20})
      for (uint32_t cluster : {1u, 2u, 4u, 8u})
        for (uint32_t sharing : {1u, 2u, 4u, 8u}) {
          LaunchGeometry geometry = defaultGeometry(layerOf(tokens), kind, cluster, h200, sharing);
          EXPECT_GE(geometry.grid, cluster);
          EXPECT_EQ(geometry.grid % cluster, 0u);
          EXPECT_LE(geometry.grid * sharing, 132u);
          KernelSpec spec{kind,    layerOf(tokens),       "sm_90a",           Schedule::gridStride,
                          cluster, geometry.blockThreads, geometry.tileTokens};
          EXPECT_TRUE(validate(spec));
        }
}

// Whole waves, of 64 lanes or of 32: whatever is asked, what comes out is a kernel that can be.
TEST(Geometry, FitsTheWaveOfEveryTarget) {
  for (const TargetInfo &target : targets())
    for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine})
      for (uint32_t tokens : {1u, 31u, 4096u}) {
        DeviceInfo device{"", std::string(target.name), 304, 0, 0};
        LaunchGeometry geometry = defaultGeometry(layerOf(tokens), kind, 1, device, 2);
        KernelSpec spec{kind, layerOf(tokens),       std::string(target.name), Schedule::gridStride,
                        1,    geometry.blockThreads, geometry.tileTokens,      WaitStrategy::acquire};
        EXPECT_TRUE(validate(spec)) << target.name;
      }
}

TEST(Geometry, FewTokensTakeFewCtas) {
  DeviceInfo h200{"NVIDIA H200", "sm_90a", 132, 90, 13000};
  EXPECT_EQ(defaultGeometry(layerOf(1), KernelKind::dispatch, 1, h200, 1).grid, 1u);
  EXPECT_EQ(defaultGeometry(layerOf(1), KernelKind::dispatch, 4, h200, 1).grid, 4u);
  EXPECT_EQ(defaultGeometry(layerOf(8192), KernelKind::dispatch, 1, h200, 2).grid, 66u);
}

// What two H200s showed: few CTAs fill the link, and a short operation takes more of them.
TEST(Geometry, ARankAloneOnItsDeviceLeavesMostOfItToOthers) {
  DeviceInfo h200{"NVIDIA H200", "sm_90a", 132, 90, 13000};
  LaunchGeometry dispatch = defaultGeometry(layerOf(8192), KernelKind::dispatch, 1, h200, 1);
  EXPECT_EQ(dispatch.grid, 14u);
  EXPECT_EQ(dispatch.tileTokens, 586u); // its share, in one tile
  EXPECT_EQ(defaultGeometry(layerOf(8192), KernelKind::dispatch, 1, h200, 1, {16, 0, 0}).tileTokens, 16u);
  EXPECT_EQ(dispatch.blockThreads, 1024u);
  LayerSpec inPlace = layerOf(8192);
  inPlace.ownInPlace = true;
  EXPECT_EQ(defaultGeometry(inPlace, KernelKind::dispatch, 1, h200, 1).grid, 8u);
  EXPECT_EQ(defaultGeometry(inPlace, KernelKind::dispatch, 1, h200, 1).tileTokens, 1024u);
  EXPECT_EQ(defaultGeometry(inPlace, KernelKind::combine, 1, h200, 1).grid, 16u);
  LaunchGeometry combine = defaultGeometry(layerOf(8192), KernelKind::combine, 1, h200, 1);
  EXPECT_EQ(combine.grid, 16u);
  EXPECT_EQ(combine.tileTokens, 512u); // likewise
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine}) {
    LaunchGeometry few = defaultGeometry(layerOf(128), kind, 1, h200, 1);
    EXPECT_EQ(few.grid, 64u);
    EXPECT_EQ(few.tileTokens, 2u);
  }
  // A group of one has no link.
  LayerSpec alone = layerOf(8192);
  alone.ranks = 1;
  EXPECT_EQ(defaultGeometry(alone, KernelKind::dispatch, 1, h200, 1).grid, 132u);
}

// Fewer CTAs take larger tiles.
TEST(Geometry, TheTileFollowsTheGridThatIsAskedFor) {
  DeviceInfo h200{"NVIDIA H200", "sm_90a", 132, 90, 13000};
  EXPECT_EQ(defaultGeometry(layerOf(128), KernelKind::dispatch, 1, h200, 2, {8, 0, 0}).tileTokens, 16u);
  EXPECT_EQ(defaultGeometry(layerOf(128), KernelKind::combine, 1, h200, 1, {132, 0, 0}).tileTokens, 1u);
}

TEST(Geometry, WhatIsAskedForStays) {
  DeviceInfo small{"small", "sm_90a", 2, 90, 0};
  LaunchGeometry asked{6, 256, 32}, got = defaultGeometry(layerOf(64), KernelKind::combine, 2, small, 8, asked);
  EXPECT_EQ(got.grid, 6u);
  EXPECT_EQ(got.blockThreads, 256u);
  EXPECT_EQ(got.tileTokens, 32u);
  EXPECT_EQ(defaultGeometry(layerOf(64), KernelKind::combine, 2, small, 8).grid, 2u);
}

} // namespace
