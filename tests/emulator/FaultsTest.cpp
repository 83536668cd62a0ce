// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What goes wrong on purpose: full destinations, ids that name no expert, ranks that never come.
#include "EndToEnd.h"

using namespace interlock;
using test::EndToEndCase;
using test::expectClean;

namespace {

std::vector<TokenRouting> routingOf(test::Machine &machine, uint64_t step = 0) {
  auto routing = makeRouting(machine.trip->layer(), {}, machine.trip->tokens(), step);
  EXPECT_TRUE(routing) << routing.error().message;
  return *routing;
}

/// Both vendors, launches and graphs.
class Faults : public testing::TestWithParam<std::tuple<const char *, bool>> {
protected:
  static EndToEndCase faultCase() {
    EndToEndCase each;
    each.machine.target = std::get<0>(GetParam());
    each.trip.graph = std::get<1>(GetParam());
    return each;
  }
};

TEST_P(Faults, AFullDestinationDropsAndTellsTheTrueCount) {
  for (uint32_t capacity : {1u, 7u, 12u, 13u}) {
    EndToEndCase each = faultCase();
    each.trip.tokens = {13, 2, 13, 0};
    each.trip.layer.capacity = capacity;
    test::Machine machine = open(each);
    ASSERT_TRUE(machine.trip);
    for (uint64_t step = 0; step < 2; ++step) {
      auto routing = routingOf(machine, step);
      for (uint32_t rank : {0u, 2u}) // every token to one rank
        for (size_t i = 0; i < routing[rank].ids.size(); ++i)
          routing[rank].ids[i] = int32_t(i % 4);
      auto report = machine.trip->step(routing);
      expectClean(report);
      ASSERT_TRUE(report);
      const OperationResult &first = report->ranks[0].dispatch.result; // both a sender and the receiver
      EXPECT_EQ(first.overflow, capacity < 13);
      EXPECT_EQ(first.dropped, 13 - capacity);
      EXPECT_GE(first.wanted, 26u);
      EXPECT_EQ(report->ranks[3].dispatch.result.dropped, 0u);
    }
  }
}

TEST_P(Faults, IdsThatNameNoExpertAreMaskedAndReported) {
  EndToEndCase each = faultCase();
  test::Machine machine = open(each);
  ASSERT_TRUE(machine.trip);
  auto routing = routingOf(machine);
  routing[0].ids[0] = 16;
  routing[0].ids[5] = INT32_MAX;
  routing[2].ids[1] = -2;
  routing[2].ids[2] = INT32_MIN;
  auto report = machine.trip->step(routing);
  expectClean(report);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->ranks[0].dispatch.result.badId);
  EXPECT_FALSE(report->ranks[1].dispatch.result.badId);
  EXPECT_TRUE(report->ranks[2].dispatch.result.badId);
  report = machine.trip->step(routingOf(machine, 1)); // the status is of one launch
  expectClean(report);
  EXPECT_FALSE(report->ranks[0].dispatch.result.badId);
}

TEST_P(Faults, IdsPastTheLastRanksExpertsAreBadToo) {
  EndToEndCase each = faultCase();
  each.trip.layer.experts = 13; // the last rank owns one of its four
  test::Machine machine = open(each);
  ASSERT_TRUE(machine.trip);
  auto routing = routingOf(machine);
  routing[0].ids[0] = 13;
  routing[0].ids[1] = 15;
  expectClean(machine.trip->step(routing));
}

TEST_P(Faults, AMissingRankIsAStatusAndTheSurvivorsGoOn) {
  for (Schedule schedule : {Schedule::gridStride, Schedule::claimed}) {
    EndToEndCase each = faultCase();
    each.trip.operation.schedule = schedule;
    each.trip.operation.timeoutNs = 1'000'000;
    test::Machine machine = open(each);
    ASSERT_TRUE(machine.trip);
    for (uint64_t step = 0; step < 3; ++step)
      expectClean(machine.trip->step(routingOf(machine, step)));
    auto lost = machine.trip->stepWithout(routingOf(machine, 3), 1u << 2);
    ASSERT_TRUE(lost) << lost.error().message;
    for (uint32_t rank : {0u, 1u, 3u}) {
      EXPECT_TRUE(lost->ranks[rank].dispatch.result.peerLost);
      EXPECT_EQ(lost->ranks[rank].dispatch.result.lost, 1u << 2);
      EXPECT_EQ(lost->ranks[rank].dispatch.result.number, 7u);
    }
    // What was lost stays lost, and every operation says so: also those that did not have to wait for it.
    auto again = machine.trip->stepWithout(routingOf(machine, 4), 1u << 2);
    ASSERT_TRUE(again) << again.error().message;
    for (uint32_t rank : {0u, 1u, 3u})
      for (const OperationResult &result :
           {lost->ranks[rank].combine.result, again->ranks[rank].dispatch.result, again->ranks[rank].combine.result}) {
        EXPECT_TRUE(result.peerLost);
        EXPECT_EQ(result.lost, 1u << 2);
      }
    for (uint64_t step = 5; step < 9; ++step)
      expectClean(machine.trip->step(routingOf(machine, step), 1u << 2));
  }
}

TEST_P(Faults, ARankMayBeLeftOutFromTheStart) {
  EndToEndCase each = faultCase();
  test::Machine machine = open(each);
  ASSERT_TRUE(machine.trip);
  expectClean(machine.trip->step(routingOf(machine), 1u << 1));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Faults,
                         testing::Combine(testing::Values("sm_80", "sm_90a", "gfx942", "gfx1100", "gfx1250"),
                                          testing::Bool()),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + (std::get<1>(info.param) ? "_graph" : "");
                         });

} // namespace
