// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What goes wrong on purpose: full destinations, ids that name no expert, ranks that never come.
#include "tests/gpu/Device.h"

using namespace interlock;
using test::expectClean;
using test::GpuCase;

namespace {

class GpuFaults : public test::GpuTest {
protected:
  /// A round trip of the case, or none with a failure recorded.
  std::unique_ptr<RoundTrip> open(const GpuCase &each) {
    auto trip = RoundTrip::create(*test::device(), test::sharedCache(), each.trip);
    EXPECT_TRUE(trip) << trip.error().message;
    return trip ? std::make_unique<RoundTrip>(std::move(*trip)) : nullptr;
  }
  std::vector<TokenRouting> routingOf(RoundTrip &trip, uint64_t step = 0) {
    auto routing = makeRouting(trip.layer(), {}, trip.tokens(), step);
    EXPECT_TRUE(routing) << routing.error().message;
    return routing ? *routing : std::vector<TokenRouting>();
  }
};

TEST_F(GpuFaults, AFullDestinationDropsAndTellsTheTrueCount) {
  for (uint32_t capacity : {1u, 12u, 36u, 37u}) {
    SCOPED_TRACE("capacity " + std::to_string(capacity));
    GpuCase each;
    each.trip.tokens = {37, 2, 37, 0};
    each.trip.layer.capacity = capacity;
    auto trip = open(each);
    ASSERT_TRUE(trip);
    for (uint64_t step = 0; step < 2; ++step) {
      auto routing = routingOf(*trip, step);
      for (uint32_t rank : {0u, 2u}) // every token to rank 0
        for (size_t i = 0; i < routing[rank].ids.size(); ++i)
          routing[rank].ids[i] = int32_t(i % 4);
      auto report = trip->step(routing);
      expectClean(report);
      ASSERT_TRUE(report);
      const OperationResult &first = report->ranks[0].dispatch.result;
      EXPECT_EQ(first.overflow, capacity < 37);
      EXPECT_EQ(first.dropped, 37 - capacity);
      EXPECT_GE(first.wanted, 74u);
      EXPECT_EQ(report->ranks[3].dispatch.result.dropped, 0u);
    }
  }
}

TEST_F(GpuFaults, IdsThatNameNoExpertAreMaskedAndReported) {
  auto trip = open({});
  ASSERT_TRUE(trip);
  auto routing = routingOf(*trip);
  routing[0].ids[0] = 16;
  routing[0].ids[5] = INT32_MAX;
  routing[2].ids[1] = -2;
  routing[2].ids[2] = INT32_MIN;
  auto report = trip->step(routing);
  expectClean(report);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->ranks[0].dispatch.result.badId);
  EXPECT_FALSE(report->ranks[3].dispatch.result.badId);
  EXPECT_TRUE(report->ranks[2].dispatch.result.badId);
  report = trip->step(routingOf(*trip, 1)); // the status is of one launch
  expectClean(report);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->ranks[0].dispatch.result.badId);
}

TEST_F(GpuFaults, AMissingRankIsAStatusAndTheSurvivorsGoOn) {
  GpuCase each;
  each.trip.operation.timeoutNs = 50'000'000;
  auto trip = open(each);
  ASSERT_TRUE(trip);
  for (uint64_t step = 0; step < 3; ++step)
    expectClean(trip->step(routingOf(*trip, step)));
  auto lost = trip->stepWithout(routingOf(*trip, 3), 1u << 2);
  ASSERT_TRUE(lost) << lost.error().message;
  for (uint32_t rank : {0u, 1u, 3u}) {
    EXPECT_TRUE(lost->ranks[rank].dispatch.result.peerLost);
    EXPECT_EQ(lost->ranks[rank].dispatch.result.lost, 1u << 2);
    EXPECT_EQ(lost->ranks[rank].dispatch.result.number, 7u);
  }
  // What was lost stays lost, and every operation says so: also those that did not have to wait for it.
  auto again = trip->stepWithout(routingOf(*trip, 4), 1u << 2);
  ASSERT_TRUE(again) << again.error().message;
  for (uint32_t rank : {0u, 1u, 3u})
    for (const OperationResult &result :
         {lost->ranks[rank].combine.result, again->ranks[rank].dispatch.result, again->ranks[rank].combine.result}) {
      EXPECT_TRUE(result.peerLost);
      EXPECT_EQ(result.lost, 1u << 2);
    }
  for (uint64_t step = 5; step < 9; ++step)
    expectClean(trip->step(routingOf(*trip, step), 1u << 2));
}

} // namespace
