// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Nothing but the kernels' own signals keeps steps, ranks and operations apart.
#include "tests/gpu/Device.h"
#include "tests/gpu/Pipeline.h"

using namespace interlock;
using test::Pipeline;
using test::PipelineOptions;

namespace {

class GpuOverlap : public test::GpuTest {
protected:
  PipelineOptions pipeline(uint32_t ranks, uint64_t seed) {
    PipelineOptions options;
    options.layer.ranks = ranks;
    options.layer.experts = 4 * ranks;
    options.layer.topk = 3;
    options.layer.hidden = 512;
    options.layer.maxTokens = 40;
    // Grids small enough that all ranks of two operations are resident together.
    options.operation.dispatch = options.operation.combine = {4, 128, 2};
    options.operation.timeoutNs = 5'000'000'000;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      options.tokens.push_back(rank % 3 == 1 ? 7 : 40);
    options.steps = test::onGpu() ? 40 : 4;
    options.seed = seed;
    return options;
  }
  std::unique_ptr<Pipeline> open(const PipelineOptions &options) {
    return Pipeline::create(*test::device(), test::sharedCache(), options);
  }
};

TEST_F(GpuOverlap, StepsFollowEachOtherWithoutTheHost) {
  for (uint32_t ranks : {2u, 4u, 8u}) {
    SCOPED_TRACE(ranks);
    PipelineOptions options = pipeline(ranks, ranks);
    auto one = open(options);
    ASSERT_TRUE(one);
    // Rank after rank, so that they start far apart.
    for (uint32_t rank = 0; rank < ranks; ++rank)
      for (uint32_t step = 0; step < options.steps; ++step) {
        one->dispatch(rank, step);
        one->combine(rank, step);
      }
    one->expectRight();
  }
}

TEST_F(GpuOverlap, TwoStepsInFlight) {
  for (uint32_t ranks : {2u, 4u, 8u}) {
    SCOPED_TRACE(ranks);
    PipelineOptions options = pipeline(ranks, 10 + ranks);
    auto one = open(options);
    ASSERT_TRUE(one);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      for (uint32_t step = 0; step < options.steps; ++step) {
        one->dispatch(rank, step);
        if (step > 0)
          one->combine(rank, step - 1);
      }
      one->combine(rank, options.steps - 1);
    }
    one->expectRight();
  }
}

TEST_F(GpuOverlap, TwoOperationsOnTheirOwnStreams) {
  for (uint32_t ranks : {2u, 4u, 8u}) {
    SCOPED_TRACE(ranks);
    PipelineOptions first = pipeline(ranks, 20 + ranks), second = pipeline(ranks, 30 + ranks);
    auto one = open(first), two = open(second);
    ASSERT_TRUE(one && two);
    for (uint32_t step = 0; step < first.steps; ++step)
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        one->dispatch(rank, step);
        two->dispatch(ranks - 1 - rank, step);
        one->combine(rank, step);
        two->combine(ranks - 1 - rank, step);
      }
    one->expectRight();
    two->expectRight();
  }
}

} // namespace
