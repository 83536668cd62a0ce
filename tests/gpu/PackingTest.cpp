// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rows packed by expert on a GPU, between a dispatch and a combine of ranks that share it: every bit of the lists, the
// packed rows and the combined ones as in the oracle.
#include "tests/gpu/Device.h"

#include <fmt/format.h>

using namespace interlock;
using test::expectRight;
using test::GpuCase;

namespace {

struct GpuPacking : test::GpuTest {};

TEST_F(GpuPacking, AlignmentsPaddingAndGraphs) {
  for (uint32_t alignment : {1u, 16u, 128u})
    for (bool zeroPadding : {false, true})
      for (bool graph : {false, true}) {
        GpuCase each;
        each.label = fmt::format("alignment {}, zero padding {}, graph {}", alignment, zeroPadding, graph);
        each.trip.operation.packing = PackingOptions{.alignment = alignment, .zeroPadding = zeroPadding};
        each.trip.graph = graph;
        each.routing.mask = 0.1;
        each.steps = 3;
        expectRight(each);
      }
}

TEST_F(GpuPacking, ManyTokensAndExperts) {
  for (uint32_t experts : {16u, 250u, 1000u})
    for (uint64_t seed : {1u, 2u, 3u}) {
      GpuCase each;
      each.label = fmt::format("{} experts, seed {}", experts, seed);
      each.trip.layer.experts = experts;
      each.trip.layer.topk = 8;
      each.trip.tokens = test::onGpu() ? std::vector<uint32_t>{700, 0, 1, 333} : std::vector<uint32_t>{30, 0, 1};
      each.trip.operation.packing = PackingOptions{.alignment = 8, .zeroPadding = true};
      each.trip.seed = each.routing.seed = seed;
      expectRight(each);
    }
}

TEST_F(GpuPacking, AnyGrid) {
  for (uint32_t grid : {1u, 7u, 131u, 1000u}) {
    GpuCase each;
    each.label = fmt::format("{} CTAs", grid);
    each.trip.operation.packing = PackingOptions{.alignment = 4, .zeroPadding = true, .grid = grid};
    expectRight(each);
  }
}

TEST_F(GpuPacking, QuantisedRowsWithScales) {
  GpuCase each;
  each.label = "fp8 with scales";
  each.trip.layer.dtype = DType::f8e4m3fn;
  each.trip.layer.scaleBytes = 32;
  each.trip.operation.packing = PackingOptions{.alignment = 32, .zeroPadding = true};
  expectRight(each);
}

TEST_F(GpuPacking, FullArraysSaySo) {
  GpuCase each;
  each.label = "room for 16 rows";
  each.trip.operation.packing = PackingOptions{.alignment = 8, .capacity = 16};
  auto report = test::runCase(each);
  ASSERT_TRUE(report);
  uint32_t dropped = 0;
  for (const RankReport &rank : report->ranks)
    dropped += rank.packing ? rank.packing->dropped : 0;
  EXPECT_GT(dropped, 0u);
}

} // namespace
