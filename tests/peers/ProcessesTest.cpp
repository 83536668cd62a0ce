// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks in several processes: every bit as in one, and a process that is gone is a status in the others.
#include "tests/peers/Peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

using interlock::test::PeerEnd;
using interlock::test::Peers;
using testing::HasSubstr;

namespace {

using Arguments = std::vector<std::string>;

class Processes : public testing::Test {
protected:
  void SetUp() override {
    if (auto device = interlock::test::peerDevice(); !device.missing.empty())
      GTEST_SKIP() << device.missing;
  }
};

/// A step that takes the emulator a few milliseconds.
Arguments smallLayer(uint32_t ranks) {
  return {"--ranks",   std::to_string(ranks),
          "--experts", "10",
          "--topk",    "3",
          "--hidden",  "72",
          "--tokens",  "7",
          "--grid",    "2",
          "--block",   "64",
          "--tile",    "4"};
}

Arguments with(Arguments arguments, const Arguments &more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_F(Processes, EveryBitIsAsInTheReference) {
  struct Case {
    uint32_t processes, ranks;
    Arguments arguments;
  };
  const Case cases[] = {
      {2, 2, {"--model", "deepseek-v3", "--hidden", "512", "--tokens", "64"}},
      {3, 3, {"--experts", "10", "--topk", "5", "--hidden", "2888", "--tokens", "0,1,17", "--mask", "0.2"}},
      {2, 5, {"--experts", "12", "--topk", "4", "--hidden", "136", "--tokens", "9,0,21", "--steps", "6"}},
      {2,
       2,
       {"--experts", "64", "--topk", "32", "--hidden", "64", "--dtype", "f32", "--tokens", "40", "--schedule",
        "claimed", "--cluster", "4"}},
      {2,
       2,
       {"--experts", "8", "--topk", "2", "--hidden", "256", "--dtype", "f8e4m3fn", "--scale-bytes", "8", "--tokens",
        "30", "--capacity", "11"}},
      {2, 2, {"--experts", "8", "--topk", "2", "--hidden", "64", "--tokens", "12,5", "--graph", "--steps", "30"}},
  };
  for (const Case &each : cases) {
    Arguments arguments = with(each.arguments, {"--check", "--processes", std::to_string(each.processes), "--ranks",
                                                std::to_string(each.ranks)});
    SCOPED_TRACE(testing::PrintToString(arguments));
    PeerEnd end = interlock::test::runInterlock(arguments, 60);
    ASSERT_EQ(end.code, 0) << end.out << end.err;
    auto report = end.json();
    EXPECT_EQ(report["mismatches"], 0);
    EXPECT_EQ(report["processes"], each.processes);
    ASSERT_EQ(report["ranks"].size(), each.ranks);
    for (uint32_t rank = 0; rank < each.ranks; ++rank) {
      EXPECT_EQ(report["ranks"][rank]["rank"], rank);
      EXPECT_NE(report["ranks"][rank]["dispatch"]["status"], "peer lost");
    }
  }
}

/// A survivor ended by itself, in time, and blames process 1, which has rank 1 only.
void expectBlamed(const PeerEnd &end) {
  EXPECT_FALSE(end.late);
  EXPECT_EQ(end.code, 1) << end.out << end.err;
  auto report = end.json();
  ASSERT_TRUE(report.is_object()) << end.out << end.err;
  if (report.contains("error")) { // it was gone before the windows were mapped, or at a meeting
    EXPECT_THAT(report["error"].value("message", ""), HasSubstr("process 1"));
    return;
  }
  for (const auto &rank : report["ranks"])
    for (const char *phase : {"dispatch", "combine"}) {
      EXPECT_EQ(rank[phase]["lost"], 2);
      EXPECT_EQ(rank[phase]["status"], "peer lost");
    }
}

// Without a check nothing but the kernels' waits keeps the processes together, as in an engine.
TEST_F(Processes, AProcessThatEndsEarlyIsLostToTheOthers) {
  Arguments layer = with(smallLayer(3), {"--timeout-ms", "300"});
  Peers peers({with(layer, {"--steps", "40"}), with(layer, {"--steps", "5"}), with(layer, {"--steps", "40"})});
  auto ends = peers.wait(60);
  EXPECT_EQ(ends[1].code, 0) << ends[1].out << ends[1].err;
  for (size_t survivor : {0u, 2u}) {
    expectBlamed(ends[survivor]);
    EXPECT_FALSE(ends[survivor].json().contains("error")) << ends[survivor].out;
  }
}

// At any time: before it has come to the meeting, while it is set up, in a kernel, between two. How long it takes to
// get there is the device's: a short run tells.
TEST_F(Processes, AProcessThatIsKilledIsLostToTheOthers) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  for (const PeerEnd &end : Peers({smallLayer(2), smallLayer(2)}).wait(60))
    ASSERT_EQ(end.code, 0) << end.out << end.err;
  auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  // One that is killed before it has come to the meeting is missed only when that is over.
  auto meeting = std::max(3 * whole, std::chrono::milliseconds(3000));
  Arguments layer = with(smallLayer(2), {"--timeout-ms", "300", "--meet-timeout-ms", std::to_string(meeting.count())});
  // The survivor goes on without the other to its own end, some seconds later.
  const std::string steps = interlock::test::peerDevice().name == "cuda" ? "100000" : "1000";
  for (double moment : {0.05, 0.4, 1.0, 1.5, 2.5}) {
    SCOPED_TRACE(moment);
    Peers peers({with(layer, {"--steps", steps}), with(layer, {"--steps", "1000000"})});
    std::this_thread::sleep_for(moment * whole);
    peers.kill(1);
    auto ends = peers.wait(60);
    if (ends[0].code == 0) // the survivor was quicker than the murderer
      continue;
    expectBlamed(ends[0]);
    EXPECT_EQ(ends[1].code, 128 + 9);
  }
}

TEST_F(Processes, ThoseThatDoNotFitTogetherAreToldApart) {
  Arguments other = smallLayer(2);
  other[5] = "2"; // top-k
  Peers peers({smallLayer(2), other});
  for (const PeerEnd &end : peers.wait(60)) {
    EXPECT_FALSE(end.late);
    EXPECT_EQ(end.code, 2) << end.err;
    EXPECT_THAT(end.err, HasSubstr("expected the same layer"));
  }
}

TEST_F(Processes, TheLauncherSaysWhoFailed) {
  PeerEnd end = interlock::test::runInterlock(with(smallLayer(2), {"--processes", "2", "--cluster", "3"}), 60);
  EXPECT_FALSE(end.late);
  EXPECT_EQ(end.code, 2) << end.out << end.err;
  EXPECT_THAT(end.err, HasSubstr("cluster"));
}

} // namespace
