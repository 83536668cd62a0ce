// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The wave test: local kernels are right for any grid, also for one of which only a part can be resident. Each case is
// a process of its own with a deadline, so that a kernel that hangs is a failure and nothing else. Part of the
// emulator's test program, where one CTA runs at a time, and of the GPU's.
#include "tests/peers/Peers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace interlock::test {
namespace {

using testing::HasSubstr;

/// Each case's.
constexpr double deadlineSeconds = 10;
constexpr uint32_t hiddenSizes[] = {72, 1024, 2880, 7168};
/// Stages of the kernels' rings where rows are one piece: what a batch is.
constexpr uint32_t stages = 6;

struct WaveCase {
  const char *kernel;
  uint32_t hidden;
  bool programmatic;
  uint32_t groups, grid;
  std::string label() const {
    return fmt::format("{}, hidden {}, {}{} groups on {} CTAs", kernel, hidden, programmatic ? "programmatic, " : "",
                       groups, grid);
  }
};

std::vector<std::string> arguments(const WaveCase &each) {
  std::vector<std::string> list{"--kernel",
                                each.kernel,
                                "--check",
                                "--hidden",
                                std::to_string(each.hidden),
                                "--topk",
                                "4",
                                "--stages",
                                std::to_string(stages),
                                "--groups",
                                std::to_string(each.groups),
                                "--grid",
                                std::to_string(each.grid)};
  if (each.programmatic)
    list.push_back("--programmatic");
  if (peerDevice().name == "emulator")
    list.insert(list.end(), {"--target", "sm_90a", "--residency", "1"});
  return list;
}

class Wave : public testing::TestWithParam<std::tuple<const char *, bool>> {
protected:
  void SetUp() override {
    if (!peerDevice().missing.empty())
      GTEST_SKIP() << peerDevice().missing;
  }
  static const char *kernel() { return std::get<0>(GetParam()); }
  static bool programmatic() { return std::get<1>(GetParam()); }

  /// Runs it and returns what can be resident, 0 after a failure.
  static uint32_t expectRight(const WaveCase &each) {
    SCOPED_TRACE(each.label());
    PeerEnd end = runInterlock(arguments(each), deadlineSeconds);
    EXPECT_FALSE(end.late) << "it has not ended after " << deadlineSeconds << " seconds";
    EXPECT_EQ(end.code, 0) << end.err;
    nlohmann::json report = end.json();
    if (!report.is_object() || !report.contains("resident_ctas")) {
      ADD_FAILURE() << "expected a report, got '" << end.out << "'";
      return 0;
    }
    EXPECT_EQ(report["launch_mode"], "any");
    EXPECT_EQ(report["wrong_rows"], 0u) << report["first_wrong"];
    EXPECT_EQ(report["status"], 0u);
    EXPECT_EQ(report["grid"], each.grid);
    EXPECT_GT(report["rows"], each.groups) << "rows that nobody writes are compared too";
    return report["resident_ctas"];
  }
};

// None, one, a part of a ring's stages, all of them, and so many that each stage is used again: on few CTAs, and on a
// grid that is larger than what can be resident, where those that come later have work of their own in the last case.
TEST_P(Wave, AnyGridIsRight) {
  for (uint32_t hidden : hiddenSizes) {
    uint32_t resident = expectRight({kernel(), hidden, programmatic(), 1, 1});
    ASSERT_GT(resident, 0u);
    uint32_t over = 2 * resident + 7;
    for (uint32_t groups : {0u, 1u, stages / 2, stages})
      expectRight({kernel(), hidden, programmatic(), groups, over});
    expectRight({kernel(), hidden, programmatic(), 7 * stages + 1, 3});
    ASSERT_EQ(expectRight({kernel(), hidden, programmatic(), over + 9, over}), resident);
    ASSERT_GT(over, resident) << "the largest grid must not fit at once, else nothing is shown";
    if (HasFailure())
      return; // the larger sizes of a broken kernel say nothing new
  }
}

// The same for every CTA of a grid that is larger than what can be resident: each fills a part of its ring, all of it,
// and uses its stages again. With the smallest rows, of which there can be so many.
TEST_P(Wave, EveryCtaOfAnyGridUsesItsRing) {
  uint32_t resident = expectRight({kernel(), hiddenSizes[0], programmatic(), 1, 1});
  ASSERT_GT(resident, 0u);
  uint32_t over = 2 * resident + 7;
  for (uint32_t each : {stages / 2, stages, 2 * stages + 1})
    EXPECT_EQ(expectRight({kernel(), hiddenSizes[0], programmatic(), over * each, over}), resident);
}

// What the kernels would be if they asked for more than they need: a launch that cannot be.
TEST_P(Wave, TheCooperativeFlagIsRefused) {
  WaveCase first{kernel(), hiddenSizes[0], programmatic(), 0, 1};
  uint32_t resident = expectRight(first);
  ASSERT_GT(resident, 0u);
  first.grid = 2 * resident + 7;
  std::vector<std::string> forced = arguments(first);
  forced.push_back("--cooperative");
  PeerEnd end = runInterlock(forced, deadlineSeconds);
  EXPECT_FALSE(end.late);
  EXPECT_NE(end.code, 0);
  // CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
  std::string expected = peerDevice().name == "cuda" ? "(720)" : fmt::format("at most {} CTAs", resident);
  EXPECT_THAT(end.err + end.out, HasSubstr(expected));
}

INSTANTIATE_TEST_SUITE_P(Local, Wave,
                         testing::Combine(testing::Values("dispatch_epilogue", "combine_prologue"), testing::Bool()),
                         [](const auto &info) {
                           return fmt::format("{}{}", std::get<0>(info.param),
                                              std::get<1>(info.param) ? "_programmatic" : "");
                         });

} // namespace
} // namespace interlock::test
