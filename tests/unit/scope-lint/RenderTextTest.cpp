// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Findings for people, character by character; and the exit code.
#include "Samples.h"

#include "analysis/ScopeModel/Rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace interlock::lint {
namespace {

using testing::HasSubstr;

std::string rendered(const Judged &input) {
  std::ostringstream out;
  makeTextRenderer(out)->judged(input);
  return out.str();
}

TEST(RenderText, AFindingAsAWhole) {
  Judged input = samples::judged();
  input.isa = 86;
  input.unknownDirectives = {};
  input.report = {};
  input.report.findings = {samples::error()};
  std::string section(scope::findRule("SL01")->section);
  EXPECT_EQ(rendered(input), "k.ptx:4:2: error: expected a release at gpu scope, got cta [SL01]\n"
                             "    4 |  st.release.cta.u32 [%rd1], 1;\n"
                             "      |  ^\n"
                             "  compiled from dir/my kernel.cu:37\n"
                             "k.ptx:5:3: note: acquired here\n"
                             "    5 |   ld.acquire.gpu.u32 %r1, [%rd1];\n"
                             "      |   ^\n"
                             "  fix: use st.release.gpu\n"
                             "  PTX ISA: " +
                                 section + " (scope-lint --explain SL01)\n");
}

TEST(RenderText, NothingToSayIsNothing) {
  Judged input = samples::judged();
  input.isa = newestKnownIsa;
  input.unknownDirectives = {};
  input.report = {};
  EXPECT_EQ(rendered(input), "");
  std::ostringstream out;
  makeTextRenderer(out)->finish({});
  EXPECT_EQ(out.str(), "");
}

TEST(RenderText, SaysWhatWasNotJudged) {
  std::string text = rendered(samples::judged());
  EXPECT_THAT(text, HasSubstr("k.ptx: note: PTX 9.9 is newer than 9.4"));
  EXPECT_THAT(text, HasSubstr("k.ptx: note: unknown directives were skipped: later (1)\n"));
  EXPECT_THAT(text, HasSubstr("k.ptx: note: unknown opcodes were taken to touch any memory: frob (2), twist (1)\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "k.ptx:2:1: warning: expected a finding of SL27 that this waiver covers, found none [unused-waiver]\n"));
}

TEST(RenderText, SumsUp) {
  std::ostringstream out;
  samples::renderAll(*makeTextRenderer(out));
  EXPECT_THAT(out.str(),
              testing::EndsWith("c.txt:9:1: warning: expected a finding of SL27 that this waiver covers, found "
                                "none [unused-waiver]\n1 errors, 2 warnings, 1 notes, 1 waived\n"));
}

TEST(RenderText, LongLinesAreCutAroundTheCaret) {
  std::string text(100000, 'a');
  text += "X" + std::string(100000, 'b');
  Judged input{"k.ptx", text, 80, {}, {}, {}};
  scope::Finding f = samples::note();
  f.place.line = 1;
  f.place.column = 100001;
  input.report.findings = {f};
  std::istringstream lines(rendered(input));
  std::string head, line, caret;
  std::getline(lines, head), std::getline(lines, line), std::getline(lines, caret);
  EXPECT_LT(line.size(), 150u);
  // The ellipsis is one column of three bytes.
  EXPECT_EQ(line.find('X') - 2, caret.find('^'));
}

TEST(RenderText, BytesThatATerminalWouldObeyAreNotShown) {
  Judged input{"k\x1b.ptx", "\x1b[31mred\n", 80, {}, {}, {}};
  scope::Finding f = samples::note();
  f.place = {1, 1, "", "a\nb.cu", 3};
  f.message = "named \x07";
  input.report.findings = {f};
  std::string text = rendered(input);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_EQ(text.find('\x07'), text.npos);
  EXPECT_THAT(text, HasSubstr("compiled from a b.cu:3"));
}

TEST(RenderText, APlaceBehindTheTextIsNoLine) {
  Judged input{"k.ptx", "one\n", 80, {}, {}, {}};
  scope::Finding f = samples::note();
  f.place = {40, 7, "", "", 0};
  input.report.findings = {f};
  EXPECT_EQ(rendered(input).find('^'), std::string::npos);
}

TEST(Summary, ExitCodes) {
  using scope::Severity;
  auto code = [](Severity failOn, std::vector<Severity> severities, uint32_t unusable = 0, bool unusedWaiver = false) {
    Report report;
    for (Severity severity : severities)
      report.findings.emplace_back().severity = severity;
    Summary summary;
    summary.failOn = failOn;
    summary.unusable = unusable;
    summary.count(report);
    if (unusedWaiver)
      summary.unusedWaivers.emplace_back();
    return summary.exitCode();
  };
  EXPECT_EQ(code(Severity::note, {}), 0);
  EXPECT_EQ(code(Severity::error, {Severity::warning, Severity::note}), 0);
  EXPECT_EQ(code(Severity::error, {Severity::error}), 1);
  EXPECT_EQ(code(Severity::warning, {Severity::note}), 0);
  EXPECT_EQ(code(Severity::warning, {Severity::warning}), 1);
  EXPECT_EQ(code(Severity::note, {Severity::note}), 1);
  EXPECT_EQ(code(Severity::error, {}, 0, true), 0);
  EXPECT_EQ(code(Severity::warning, {}, 0, true), 1);
  EXPECT_EQ(code(Severity::note, {}, 0, true), 1);
  EXPECT_EQ(code(Severity::error, {Severity::error}, 1), 2);
}

} // namespace
} // namespace interlock::lint
