// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Walks tests/corpus/ptx: what is in flag/, and in note/ at the severity of a note, yields the rule that its first line
// names before any other; what is in clean/ yields nothing at warning or above.
#include "tests/unit/lint/Check.h"

#include <filesystem>
#include <fstream>

namespace interlock::lint {
namespace {

using testing::IsEmpty;

std::vector<std::filesystem::path> filesIn(const char *folder) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(std::filesystem::path(ILK_PTX_CORPUS) / folder))
    if (entry.path().extension() == ".ptx")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const std::filesystem::path &path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string testName(const testing::TestParamInfo<std::filesystem::path> &info) {
  std::string name = info.param.stem().string();
  for (char &c : name)
    c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

class Flagged : public testing::TestWithParam<std::filesystem::path> {};

/// Texts that show a fault of the rules which are judged on demand.
bool isStrict(const std::filesystem::path &path) { return path.parent_path().filename() == "strict"; }

TEST_P(Flagged, FirstFindingIsTheExpectedOne) {
  std::string text = read(GetParam());
  // `// expect: SLnn: why`, or `// expect: SLnn (warning): why`
  char rule[8] = {}, severity[16] = {};
  ASSERT_GE(std::sscanf(text.c_str(), "// expect: %4s (%15[a-z])", rule, severity), 1)
      << "expected `// expect: SLnn` in the first line";
  EXPECT_EQ(GetParam().stem().string().substr(0, 4), rule);
  Options options;
  options.strict = isStrict(GetParam());
  Report report = checkText(text, options);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].rule, rule) << report.findings[0].message;
  std::string wanted = *severity ? severity : "error";
  EXPECT_EQ(scope::name(report.findings[0].severity), wanted) << report.findings[0].message;
  EXPECT_THAT(report.unknownOpcodes, IsEmpty());
}

class Clean : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Clean, HasNothingAtWarningOrAbove) {
  Report report = checkText(read(GetParam()));
  EXPECT_THAT(summary(report, scope::Severity::warning), IsEmpty());
  EXPECT_THAT(report.unknownOpcodes, IsEmpty());
}

TEST_P(Clean, HasNothingOnDemandEither) {
  Options options;
  options.strict = true;
  EXPECT_THAT(summary(checkText(read(GetParam()), options), scope::Severity::warning), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(CorpusStrict, Flagged, testing::ValuesIn(filesIn("strict")), testName);
INSTANTIATE_TEST_SUITE_P(Corpus, Flagged, testing::ValuesIn(filesIn("flag")), testName);
INSTANTIATE_TEST_SUITE_P(CorpusNotes, Flagged, testing::ValuesIn(filesIn("note")), testName);
INSTANTIATE_TEST_SUITE_P(Corpus, Clean, testing::ValuesIn(filesIn("clean")), testName);

} // namespace
} // namespace interlock::lint
