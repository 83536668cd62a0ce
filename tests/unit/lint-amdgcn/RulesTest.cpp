// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The rule table keeps its word: each flagged example yields its rule first, and the clean twin nothing to act on.
#include "analysis/ScopeModel/Rules.h"
#include "tests/unit/lint-amdgcn/Check.h"

namespace interlock::lint {
namespace {

using testing::IsEmpty;

std::span<const scope::Rule> amdgcnRules() { return scope::rules(scope::Language::amdgcn); }

TEST(Rules, AreElevenInOrder) {
  std::vector<std::string> ids;
  for (const scope::Rule &rule : amdgcnRules()) {
    ids.emplace_back(rule.id);
    EXPECT_EQ(scope::findRule(rule.id), &rule);
    EXPECT_FALSE(rule.title.empty() || rule.section.empty() || rule.explanation.empty()) << rule.id;
    EXPECT_FALSE(rule.flagged().empty() || rule.clean().empty()) << rule.id;
  }
  ASSERT_EQ(ids.size(), 11u);
  for (size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(ids[i], fmt::format("AM{:02}", i + 1));
  EXPECT_EQ(scope::rules().size(), scope::rules(scope::Language::ptx).size() + ids.size());
}

class RuleExample : public testing::TestWithParam<size_t> {
protected:
  const scope::Rule &rule = amdgcnRules()[GetParam()];
};

TEST_P(RuleExample, FlaggedIsFlaggedByThisRuleFirst) {
  Report report = checkAssembly(std::string(rule.flagged()));
  ASSERT_FALSE(report.findings.empty()) << rule.id;
  const scope::Finding &first = report.findings[0];
  EXPECT_EQ(first.rule, rule.id);
  EXPECT_GE(first.severity, rule.severity);
  EXPECT_GT(first.place.line, 0u);
  EXPECT_FALSE(first.message.empty() || first.fix.empty() || first.place.text.empty());
}

TEST_P(RuleExample, CleanTwinIsClean) {
  EXPECT_THAT(summary(checkAssembly(std::string(rule.clean())), scope::Severity::warning), IsEmpty());
}

TEST_P(RuleExample, MessageIsOneLowerCaseSentence) {
  for (const scope::Finding &f : checkAssembly(std::string(rule.flagged())).findings) {
    EXPECT_TRUE(f.message.substr(0, 9) == "expected ") << f.message;
    EXPECT_NE(f.message.find("found "), std::string::npos) << f.message;
    EXPECT_NE(f.message.back(), '.') << f.message;
    EXPECT_EQ(f.message.find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuleExample, testing::Range<size_t>(0, amdgcnRules().size()),
                         [](const auto &info) { return std::string(amdgcnRules()[info.param].id); });

} // namespace
} // namespace interlock::lint
