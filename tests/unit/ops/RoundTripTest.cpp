// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The round trip against the protocol in scalar code: right kernels pass, and each fault that a kernel can have is
// found.
#include "runtime/Ops/RoundTrip.h"

#include "FakeKernels.h"
#include "ProtocolDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace interlock;
using test::Fault;
using test::ProtocolDriver;
using testing::HasSubstr;

namespace {

RoundTripOptions someOptions() {
  RoundTripOptions options;
  options.layer.ranks = 3;
  options.layer.experts = 10;
  options.layer.topk = 5;
  options.layer.hidden = 24;
  options.layer.maxTokens = 19;
  options.tokens = {11, 17, 0};
  options.distinctExperts = true;
  return options;
}

struct Trip {
  ProtocolDriver driver{1};
  test::FakeKernels kernels;
  std::optional<RoundTrip> trip;
  RoutingOptions routing;
  uint64_t steps = 0;

  explicit Trip(const RoundTripOptions &options, double mask = 0.2) {
    routing.mask = mask;
    auto created = RoundTrip::create(driver, kernels.cache(), options);
    EXPECT_TRUE(created) << created.error().message;
    if (created)
      trip.emplace(std::move(*created));
  }
  std::vector<TokenRouting> ids() { return *makeRouting(trip->layer(), routing, trip->tokens(), steps++); }
  StepReport step(uint64_t dead = 0) {
    auto report = trip->step(ids(), dead);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : StepReport();
  }
};

void expectClean(const StepReport &report) {
  EXPECT_EQ(report.mismatches, 0u);
  for (const std::string &finding : report.findings)
    ADD_FAILURE() << finding;
}

TEST(RoundTrip, RightKernelsPassForEveryTypeAndMode) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2})
    for (DType combine : {DType::f32, DType::f16, DType::bf16})
      for (bool expertRows : {false, true})
        for (bool distinct : {false, true}) {
          RoundTripOptions options = someOptions();
          options.layer.hidden = 32;
          options.layer.dtype = dtype;
          options.layer.combineDType = combine;
          options.layer.expertRows = expertRows;
          options.layer.scaleBytes = 8;
          options.distinctExperts = distinct;
          options.weighted = !expertRows;
          Trip trip(options);
          ASSERT_TRUE(trip.trip);
          for (int step = 0; step < 4; ++step)
            expectClean(trip.step());
        }
}

TEST(RoundTrip, GraphsAreReplayedWithNewRouting) {
  RoundTripOptions options = someOptions();
  options.graph = true;
  Trip trip(options);
  for (int step = 0; step < 20; ++step)
    expectClean(trip.step());
  EXPECT_EQ(trip.driver.launches, 6u); // captured once: three ranks, two kernels
}

TEST(RoundTrip, OverflowIsCheckedToo) {
  RoundTripOptions options = someOptions();
  options.layer.capacity = 3;
  Trip trip(options);
  StepReport report = trip.step();
  expectClean(report);
  EXPECT_TRUE(report.ranks[0].dispatch.result.overflow);
  EXPECT_GT(report.ranks[0].dispatch.result.dropped, 0u);
  EXPECT_GT(report.ranks[1].dispatch.result.wanted, report.ranks[1].dispatch.result.received);
}

TEST(RoundTrip, OwnRowsInPlaceAreCheckedToo) {
  for (bool graph : {false, true})
    for (bool check : {false, true}) {
      RoundTripOptions options = someOptions();
      options.layer.ownInPlace = true;
      options.graph = graph;
      options.check = check;
      Trip trip(options);
      ASSERT_TRUE(trip.trip);
      for (int step = 0; step < 4; ++step) {
        StepReport report = trip.step();
        expectClean(report);
        EXPECT_GE(report.ranks[1].dispatch.result.received, 17u);
        EXPECT_LT(report.ranks[1].dispatch.bytes,
                  report.ranks[1].combine.bytes); // its own rows it reads, but sends none
      }
    }
}

TEST(RoundTrip, BadIdsAreCheckedToo) {
  Trip trip(someOptions());
  auto routing = trip.ids();
  routing[0].ids[3] = 10;
  routing[1].ids[0] = -7;
  auto report = trip.trip->step(routing);
  ASSERT_TRUE(report);
  expectClean(*report);
  EXPECT_TRUE(report->ranks[0].dispatch.result.badId);
  EXPECT_TRUE(report->ranks[1].dispatch.result.badId);
  EXPECT_FALSE(report->ranks[2].dispatch.result.badId);
}

TEST(RoundTrip, AMissingRankIsReportedAndThenLeftOut) {
  Trip trip(someOptions());
  expectClean(trip.step());
  auto lost = trip.trip->stepWithout(trip.ids(), 1u << 1);
  ASSERT_TRUE(lost) << lost.error().message;
  for (uint32_t rank : {0u, 2u}) {
    EXPECT_TRUE(lost->ranks[rank].dispatch.result.peerLost);
    EXPECT_EQ(lost->ranks[rank].dispatch.result.lost, 2u);
  }
  for (int step = 0; step < 3; ++step)
    expectClean(trip.step(1u << 1)); // over the survivors; the record of the loss is cleared with the new mask
}

TEST(RoundTrip, EveryFaultIsFound) {
  struct Case {
    Fault fault;
    const char *says;
  };
  for (const Case &each : {Case{Fault::rowBit, "expected byte 47"}, Case{Fault::strayRow, "stay unwritten"},
                           Case{Fault::metaWeight, "weights: expected byte 0"}, Case{Fault::metaToken, "token index"},
                           Case{Fault::slot, "expected slot"}, Case{Fault::count, "expected a count of"},
                           Case{Fault::received, "expected received to be"},
                           Case{Fault::operation, "expected operation number to be 1, got 2"},
                           Case{Fault::combineBit, "combined token 0: expected byte 0"},
                           Case{Fault::combineWeight, "combined token 0, weights"},
                           Case{Fault::strayCombine, "combined rows behind the last token"},
                           Case{Fault::combineOrder, "combined token"}}) {
    RoundTripOptions options = someOptions();
    options.layer.combineDType = DType::f32; // an order of additions shows in every bit
    Trip trip(options, 0.1);
    trip.driver.fault = each.fault;
    StepReport report = trip.step();
    EXPECT_GT(report.mismatches, 0u) << each.says;
    EXPECT_THAT(report.findings, testing::Contains(HasSubstr(each.says)));
  }
}

TEST(RoundTrip, CountsThatDoNotFitAreRefused) {
  ProtocolDriver driver(1);
  test::FakeKernels kernels;
  auto message = [&](auto change) {
    RoundTripOptions options = someOptions();
    change(options);
    auto trip = RoundTrip::create(driver, kernels.cache(), options);
    EXPECT_FALSE(trip);
    return trip ? "" : trip.error().message;
  };
  EXPECT_THAT(message([](auto &o) { o.tokens = {20}; }), HasSubstr("at most 19 tokens per rank, got 20"));
  EXPECT_THAT(message([](auto &o) { o.tokens = {1, 1, 1, 1}; }), HasSubstr("one token count per rank"));

  Trip trip(someOptions());
  auto routing = trip.ids();
  routing[0].ids.pop_back();
  EXPECT_FALSE(trip.trip->step(routing));
  routing.pop_back();
  EXPECT_FALSE(trip.trip->step(routing));
}

} // namespace
