// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Waivers against findings.
#include "analysis/Lint/Waivers.h"

#include <gtest/gtest.h>

namespace interlock::lint {
namespace {

scope::Finding finding(std::string_view rule, std::string function, uint32_t line) {
  scope::Finding f;
  f.rule = rule;
  f.function = std::move(function);
  f.place.line = line;
  return f;
}

Waiver waiver(std::string rule, std::string function, uint32_t line, std::string reason = "because") {
  Waiver w;
  w.rule = std::move(rule);
  w.function = std::move(function);
  w.line = line;
  w.reason = std::move(reason);
  return w;
}

Report applied(std::vector<Waiver> waivers) {
  Report report;
  report.findings = {finding("SL01", "a", 5), finding("SL01", "a", 7), finding("SL02", "a", 5),
                     finding("SL01", "b", 5)};
  Contract contract;
  contract.waivers = std::move(waivers);
  applyWaivers(report, contract);
  return report;
}

TEST(Waivers, CoverALineAFunctionOrTheFile) {
  EXPECT_EQ(applied({}).findings.size(), 4u);
  EXPECT_EQ(applied({waiver("SL01", "a", 5)}).findings.size(), 3u);
  EXPECT_EQ(applied({waiver("SL01", "a", 0)}).findings.size(), 2u);
  EXPECT_EQ(applied({waiver("SL01", "", 0)}).findings.size(), 1u);
  Report report = applied({waiver("SL01", "", 0, "reason")});
  ASSERT_EQ(report.waived.size(), 3u);
  EXPECT_EQ(report.waived[1].finding.place.line, 7u);
  EXPECT_EQ(report.waived[1].waiver.reason, "reason");
  EXPECT_TRUE(report.unusedWaivers.empty());
}

TEST(Waivers, ThatCoverNothingAreListed) {
  Report report =
      applied({waiver("SL01", "a", 6), waiver("SL02", "b", 0), waiver("SL03", "", 0), waiver("SL02", "a", 5)});
  ASSERT_EQ(report.unusedWaivers.size(), 3u);
  EXPECT_EQ(report.unusedWaivers[2].rule, "SL03");
  EXPECT_EQ(report.findings.size(), 3u);
}

TEST(Waivers, TwoForOneFindingAreBothUsed) {
  Report report = applied({waiver("SL02", "a", 5, "first"), waiver("SL02", "", 0, "second")});
  EXPECT_TRUE(report.unusedWaivers.empty());
  EXPECT_EQ(report.waived[0].waiver.reason, "first");
}

} // namespace
} // namespace interlock::lint
