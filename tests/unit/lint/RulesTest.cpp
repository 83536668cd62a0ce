// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The rule table keeps its word: each flagged example yields its rule first, and the clean twin nothing to act on.
#include "analysis/ScopeModel/Rules.h"
#include "tests/unit/lint/Check.h"

#include <set>

namespace interlock::lint {
namespace {

using testing::IsEmpty;

TEST(Rules, AreInOrder) {
  std::vector<std::string> ids;
  for (const scope::Rule &rule : scope::rules(scope::Language::ptx)) {
    ids.emplace_back(rule.id);
    EXPECT_EQ(scope::findRule(rule.id), &rule);
    EXPECT_FALSE(rule.title.empty() || rule.section.empty() || rule.explanation.empty()) << rule.id;
  }
  ASSERT_EQ(ids.size(), 32u);
  for (size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(ids[i], fmt::format("SL{:02}", i + 1));
  EXPECT_EQ(scope::findRule("SL33"), nullptr);
}

class RuleExample : public testing::TestWithParam<size_t> {
protected:
  const scope::Rule &rule = scope::rules(scope::Language::ptx)[GetParam()];
  Report checked(std::string_view text) const {
    Options options;
    options.strict = rule.strict;
    return checkText(std::string(text), options);
  }
};

TEST_P(RuleExample, FlaggedIsFlaggedByThisRuleFirst) {
  Report report = checked(rule.flagged());
  ASSERT_FALSE(report.findings.empty()) << rule.id;
  const scope::Finding &first = report.findings[0];
  EXPECT_EQ(first.rule, rule.id);
  // SL26 is a note in the plain case; its example shows the grave one.
  EXPECT_GE(first.severity, rule.severity);
  EXPECT_GT(first.place.line, 0u);
  EXPECT_FALSE(first.message.empty() || first.fix.empty() || first.place.text.empty());
}

TEST_P(RuleExample, CleanTwinIsClean) {
  EXPECT_THAT(summary(checked(rule.clean()), scope::Severity::warning), IsEmpty());
}

TEST_P(RuleExample, StrictRulesAreSilentUnlessAskedFor) {
  if (!rule.strict)
    return;
  EXPECT_THAT(summary(checkText(std::string(rule.flagged())), scope::Severity::warning), IsEmpty());
}

TEST_P(RuleExample, MessageIsOneLowerCaseSentence) {
  for (const scope::Finding &f : checked(rule.flagged()).findings) {
    EXPECT_TRUE(f.message.substr(0, 9) == "expected ") << f.message;
    EXPECT_NE(f.message.back(), '.') << f.message;
    EXPECT_EQ(f.message.find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuleExample, testing::Range<size_t>(0, scope::rules(scope::Language::ptx).size()),
                         [](const auto &info) {
                           return std::string(scope::rules(scope::Language::ptx)[info.param].id);
                         });

} // namespace
} // namespace interlock::lint
