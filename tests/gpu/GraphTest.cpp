// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Launches captured once and replayed while the ids in their buffers change; operations that are made meanwhile.
#include "runtime/Memory/DeviceBuffer.h"
#include "tests/gpu/Device.h"
#include "tests/gpu/Pipeline.h"

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

// B08: another operation is compiled, loaded, given its memory and run while a stream of this thread captures; the
// capture is a graph in the end, of what its stream was given and nothing else.
TEST_F(GpuGraph, B08AnOperationIsMadeDuringACapture) {
  Driver &driver = *test::device();
  auto stream = driver.createStream(0);
  ASSERT_TRUE(stream) << stream.error().message;
  auto bytes = DeviceBuffer::create(driver, 0, 4);
  ASSERT_TRUE(bytes) << bytes.error().message;
  ASSERT_TRUE(driver.fill(*stream, bytes->address(), 0, 4));
  ASSERT_TRUE(driver.synchronize(*stream));

  ASSERT_TRUE(driver.beginCapture(*stream));
  EXPECT_TRUE(driver.fill(*stream, bytes->address(), 7, 4));
  test::PipelineOptions options;
  options.layer.ranks = 2;
  options.layer.experts = 6;
  options.layer.topk = 3;
  options.layer.hidden = 1032; // of no other test, so that its kernels are made now
  options.layer.maxTokens = 20;
  options.operation.dispatch = options.operation.combine = {4, 128, 2};
  options.tokens = {20, 7};
  options.steps = 2;
  auto pipeline = test::Pipeline::create(driver, test::sharedCache(), options);
  ASSERT_TRUE(pipeline);
  for (uint32_t step = 0; step < options.steps; ++step) {
    for (uint32_t rank = 0; rank < options.layer.ranks; ++rank)
      pipeline->dispatch(rank, step);
    for (uint32_t rank = 0; rank < options.layer.ranks; ++rank)
      pipeline->combine(rank, step);
  }
  pipeline->expectRight();
  auto graph = driver.endCapture(*stream);
  ASSERT_TRUE(graph) << graph.error().message;

  uint32_t value = 1;
  for (uint32_t expected : {0u, 0x07070707u}) { // not run while it was captured
    ASSERT_TRUE(driver.copyOut(*stream, &value, bytes->address(), 4));
    ASSERT_TRUE(driver.synchronize(*stream));
    EXPECT_EQ(value, expected);
    ASSERT_TRUE(driver.launchGraph(*stream, *graph));
  }
  ASSERT_TRUE(driver.synchronize(*stream));
  EXPECT_TRUE(driver.destroyGraph(*graph));
  EXPECT_TRUE(driver.destroyStream(*stream));
}

} // namespace
