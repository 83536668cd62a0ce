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

TEST(Geometry, FewTokensTakeFewCtas) {
  DeviceInfo h200{"NVIDIA H200", "sm_90a", 132, 90, 13000};
  EXPECT_EQ(defaultGeometry(layerOf(1), KernelKind::dispatch, 1, h200, 1).grid, 1u);
  EXPECT_EQ(defaultGeometry(layerOf(1), KernelKind::dispatch, 4, h200, 1).grid, 4u);
  EXPECT_EQ(defaultGeometry(layerOf(8192), KernelKind::dispatch, 1, h200, 1).grid, 132u);
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
