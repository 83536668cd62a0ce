// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Launches captured once and replayed while the ids in their buffers change.
#include "tests/gpu/Device.h"

using namespace interlock;
using test::GpuCase;

namespace {

class GpuGraph : public test::GpuTest {};

GpuCase graphCase(uint32_t ranks, uint32_t replays) {
  GpuCase each;
  each.label = std::to_string(ranks) + " ranks";
  each.trip.layer.ranks = ranks;
  each.trip.tokens = {32, 7};
  each.trip.graph = true;
  each.trip.distinctExperts = false; // rows stay on the device, so a replay takes a millisecond
  each.routing.mask = 0.1;
  each.steps = test::onGpu() ? replays : 4;
  return each;
}

TEST_F(GpuGraph, AThousandReplaysWithChangingRouting) {
  GpuCase each = graphCase(4, 1000);
  auto last = test::runCase(each);
  ASSERT_TRUE(last);
  // Every replay was an operation of its own: the counter lives on the device and each kernel advanced it.
  EXPECT_EQ(last->ranks[0].dispatch.result.number, 2 * each.steps - 1);
  EXPECT_EQ(last->ranks[0].combine.result.number, 2 * each.steps);
}

TEST_F(GpuGraph, TwoAndEightRanks) {
  for (uint32_t ranks : {2u, 8u})
    test::expectRight(graphCase(ranks, 200));
}

TEST_F(GpuGraph, ClaimedTilesInClusters) {
  auto info = test::device()->info(0);
  ASSERT_TRUE(info) << info.error().message;
  auto target = findTarget(info->target);
  ASSERT_TRUE(target) << target.error().message;
  for (uint32_t cluster : {1u, 2u, 4u, 8u}) {
    if (cluster > 1 && !target->clusters)
      continue;
    GpuCase each = graphCase(4, 100);
    each.label = "clusters of " + std::to_string(cluster);
    each.trip.operation.schedule = Schedule::claimed;
    each.trip.operation.cluster = cluster;
    each.trip.operation.dispatch = each.trip.operation.combine = {8, 128, 2};
    test::expectRight(each);
  }
}

} // namespace
