// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Walks tests/corpus/amdgcn, most of it as llc 22.1.8 emits it and the rest with one thing taken away: what is in
// flag/, and in note/ at the severity of a note, yields the rule that its first line names before any other; what is in
// clean/ yields nothing at warning or above.
#include "tests/unit/lint-amdgcn/Check.h"

#include <set>

namespace interlock::lint {
namespace {

using testing::IsEmpty;

std::string testName(const testing::TestParamInfo<std::filesystem::path> &info) {
  std::string name = info.param.stem().string();
  for (char &c : name)
    c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

class Flagged : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Flagged, FirstFindingIsTheExpectedOne) {
  std::string text = readFile(GetParam());
  // `; expect: AMnn: why`, or `; expect: AMnn (warning): why`
  char rule[8] = {}, severity[16] = {};
  ASSERT_GE(std::sscanf(text.c_str(), "; expect: %4s (%15[a-z])", rule, severity), 1)
      << "expected `; expect: AMnn` in the first line";
  EXPECT_EQ(GetParam().stem().string().substr(0, 4), rule);
  Report report = checkAssembly(text);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].rule, rule) << report.findings[0].message;
  std::string wanted = *severity ? severity : "error";
  EXPECT_EQ(scope::name(report.findings[0].severity), wanted) << report.findings[0].message;
  EXPECT_THAT(report.unknownOpcodes, IsEmpty());
}

class Clean : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Clean, HasNothingAtWarningOrAbove) {
  Report report = checkAssembly(readFile(GetParam()));
  EXPECT_GT(report.functions, 0u);
  EXPECT_THAT(summary(report, scope::Severity::warning), IsEmpty());
  EXPECT_THAT(report.unknownOpcodes, IsEmpty());
  EXPECT_THAT(report.unusedWaivers, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Corpus, Flagged, testing::ValuesIn(filesIn("flag")), testName);
INSTANTIATE_TEST_SUITE_P(CorpusNotes, Flagged, testing::ValuesIn(filesIn("note")), testName);
INSTANTIATE_TEST_SUITE_P(Corpus, Clean, testing::ValuesIn(filesIn("clean")), testName);

/// Where the code of two generations differs, each has its own case.
TEST(Corpus, HasEachRuleOnEachChipThatCanBreakIt) {
  std::set<std::string> found;
  for (const char *folder : {"flag", "note"})
    for (const auto &file : filesIn(folder)) {
      std::string stem = file.stem().string();
      found.insert(stem.substr(0, 4) + stem.substr(stem.rfind('-')));
    }
  const std::vector<std::string> all = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"};
  const std::map<std::string, std::vector<std::string>> lacking = {
      {"AM01", {"gfx1100"}},                                 // its caches are write-through
      {"AM08", {"gfx90a", "gfx1100", "gfx1201", "gfx1250"}}, // sc0 is of gfx940
      {"AM09", {"gfx90a", "gfx1100"}},                       // a store does not say that it is volatile
      {"AM10", {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"}}};
  for (const scope::Rule &rule : scope::rules(scope::Language::amdgcn))
    for (const std::string &chip : all) {
      auto without = lacking.find(std::string(rule.id));
      bool can = without == lacking.end() ||
                 std::find(without->second.begin(), without->second.end(), chip) == without->second.end();
      EXPECT_EQ(found.count(fmt::format("{}-{}", rule.id, chip)), can ? 1u : 0u) << rule.id << ' ' << chip;
    }
}

} // namespace
} // namespace interlock::lint
