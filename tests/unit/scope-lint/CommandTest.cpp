// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// scope-lint as its users run it: exit codes, formats, contracts and waivers on files.
#include "Command.h"

#include "analysis/ScopeModel/Rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace interlock::test;
using interlock::scope::findRule;
using interlock::scope::Rule;
using testing::HasSubstr;

namespace {

/// The example of a rule that is flagged, and its twin, as files.
struct Examples {
  explicit Examples(const char *id) : rule(*findRule(id)), folder(freshFolder()) {
    flagged = writeFile(folder + "/flagged.ptx", std::string(rule.flagged()));
    clean = writeFile(folder + "/clean.ptx", std::string(rule.clean()));
  }
  const Rule &rule;
  std::string folder, flagged, clean;
};

TEST(ScopeLint, TheVerifiersRulesAreJudgedOnDemand) {
  for (const char *id : {"SL30", "SL31", "SL32"}) {
    Examples examples(id);
    EXPECT_EQ(runCommand({examples.flagged}).code, 0);
    Outcome strict = runCommand({"--strict", examples.flagged});
    EXPECT_EQ(strict.code, 1);
    EXPECT_THAT(strict.out, HasSubstr(std::string("[") + id + "]"));
    EXPECT_EQ(runCommand({"--strict", examples.clean}).code, 0);
    EXPECT_THAT(runCommand({"--explain", id}).out, HasSubstr("`scope-lint` with `--strict`"));
  }
}

TEST(ScopeLint, ExitCodeSaysWhatWasFound) {
  Examples sl01("SL01");
  Outcome clean = runCommand({sl01.clean});
  EXPECT_EQ(clean.code, 0) << clean.out;
  Outcome flagged = runCommand({sl01.flagged});
  EXPECT_EQ(flagged.code, 1);
  EXPECT_THAT(flagged.out, HasSubstr("[SL01]"));
  EXPECT_THAT(flagged.out, HasSubstr(sl01.flagged + ":"));
  EXPECT_EQ(flagged.err, "");
  EXPECT_EQ(runCommand({sl01.clean, sl01.flagged}).code, 1);
  EXPECT_EQ(runCommand({"--fail-on", "error", sl01.flagged}).code, 1);
}

TEST(ScopeLint, FailOnIsTheMildestThatFails) {
  Examples sl27("SL27"); // a warning
  EXPECT_EQ(runCommand({"--fail-on", "error", sl27.flagged}).code, 0);
  EXPECT_EQ(runCommand({"--fail-on", "warning", sl27.flagged}).code, 1);
  EXPECT_EQ(runCommand({"--fail-on", "note", sl27.flagged}).code, 1);
  EXPECT_EQ(runCommand({sl27.flagged}).code, 1);
}

TEST(ScopeLint, ReadsStandardInput) {
  Outcome outcome = runCommand({"-"}, {}, std::string(findRule("SL01")->flagged()));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, testing::StartsWith("-:"));
  EXPECT_EQ(runCommand({"-"}, {}, std::string(findRule("SL01")->clean())).code, 0);
}

TEST(ScopeLint, FormatsAgree) {
  Examples sl01("SL01");
  auto json = runCommand({"--format", "json", sl01.flagged, sl01.clean}).json();
  ASSERT_TRUE(json.is_object());
  ASSERT_EQ(json["inputs"].size(), 2u);
  EXPECT_EQ(json["inputs"][0]["findings"][0]["rule"], "SL01");
  EXPECT_EQ(json["summary"]["exit_code"], 1);
  auto sarif = runCommand({"--format", "sarif", sl01.flagged, sl01.clean}).json();
  ASSERT_TRUE(sarif.is_object());
  EXPECT_EQ(sarif["runs"][0]["results"][0]["ruleId"], "SL01");
  EXPECT_EQ(sarif["runs"][0]["invocations"][0]["exitCode"], 1);
}

TEST(ScopeLint, AWaiverInTheTextCoversItsFinding) {
  Examples sl01("SL01");
  std::string waived =
      writeFile(sl01.folder + "/waived.ptx", "// contract: waive SL01: weighed\n" + std::string(sl01.rule.flagged()));
  Outcome outcome = runCommand({waived});
  EXPECT_EQ(outcome.out.find("[SL01]"), std::string::npos) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr(" waived"));
  auto json = runCommand({"--format", "json", waived}).json();
  EXPECT_EQ(json["inputs"][0]["waived"][0]["waiver"]["reason"], "weighed");
}

TEST(ScopeLint, AWaiverOfAContractFileIsUsedIfAnyInputNeedsIt) {
  Examples sl01("SL01");
  std::string contract = writeFile(sl01.folder + "/c.txt", "waive SL01: weighed\n");
  EXPECT_EQ(runCommand({"--contract", contract, sl01.flagged, sl01.clean}).code, 0);
  Outcome unused = runCommand({"--contract", contract, sl01.clean});
  EXPECT_EQ(unused.code, 1);
  EXPECT_THAT(unused.out, HasSubstr(contract + ":1:1: warning: "));
  EXPECT_THAT(unused.out, HasSubstr("[unused-waiver]"));
  EXPECT_EQ(runCommand({"--fail-on", "error", "--contract", contract, sl01.clean}).code, 0);
}

TEST(ScopeLint, AContractTellsWhoAccessesAParameter) {
  // Gpu scope is too narrow for a flag that another device reads, which only a contract can know.
  std::string ptx = writeFile(freshFolder() + "/k.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n"
                                                        ".visible .entry k(.param .u64 data, .param .u64 flag)\n{\n"
                                                        ".reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
                                                        "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag];\n"
                                                        "st.global.u32 [%rd1], 1;\n"
                                                        "st.release.gpu.global.u32 [%rd2], 1;\nret;\n}\n");
  EXPECT_EQ(runCommand({ptx}).code, 0);
  Outcome outcome = runCommand({"--contract", writeFile(freshFolder() + "/c", "param 1 peers=sys\n"), ptx});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("[SL18]"));
}

TEST(ScopeLint, TheClusterSizeDecidesWhatCrossesCtas) {
  std::string text(findRule("SL08")->flagged());
  size_t directive = text.find(".reqnctapercluster");
  ASSERT_NE(directive, std::string::npos);
  text.erase(directive, text.find('\n', directive) - directive);
  std::string ptx = writeFile(freshFolder() + "/k.ptx", text);
  EXPECT_THAT(runCommand({ptx}).out, HasSubstr("[SL08]"));
  EXPECT_THAT(runCommand({"--cluster", "2", ptx}).out, HasSubstr("[SL08]"));
  EXPECT_THAT(runCommand({"--cluster", "1", ptx}).out, testing::Not(HasSubstr("[SL08]")));
}

TEST(ScopeLint, TellsAssemblyByItsContent) {
  std::string folder = freshFolder();
  for (const char *name : {"/k.s", "/k.ptx", "/k"}) {
    std::string file = writeFile(folder + name, std::string(findRule("AM01")->flagged()));
    Outcome outcome = runCommand({file});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out,
                HasSubstr(": error: expected buffer_wbl2 sc0 sc1 and s_waitcnt vmcnt(0) between the data"));
    EXPECT_THAT(outcome.out, HasSubstr("[AM01]"));
    EXPECT_THAT(outcome.out, HasSubstr("note: stored here"));
    EXPECT_THAT(outcome.out,
                HasSubstr("LLVM, User Guide for AMDGPU Backend: Memory Model (scope-lint --explain AM01)"));
  }
  std::string clean = writeFile(folder + "/clean", std::string(findRule("AM01")->clean()));
  Outcome outcome = runCommand({clean});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  // Both kinds in one run, each by its own rules.
  outcome = runCommand({clean, writeFile(folder + "/k.S", std::string(findRule("SL01")->flagged()))});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("[SL01]"));
}

TEST(ScopeLint, FormatsAndContractsAreThoseOfPtx) {
  std::string folder = freshFolder(), file = writeFile(folder + "/k.s", std::string(findRule("AM01")->flagged()));
  Outcome json = runCommand({"--format", "json", file});
  EXPECT_EQ(json.code, 1);
  EXPECT_THAT(json.out, HasSubstr("\"language\": \"amdgcn\""));
  EXPECT_THAT(json.out, HasSubstr("\"gfx942\""));
  EXPECT_THAT(json.out, HasSubstr("\"rule\": \"AM01\""));
  Outcome sarif = runCommand({"--format", "sarif", file});
  EXPECT_EQ(sarif.code, 1);
  EXPECT_THAT(sarif.out, HasSubstr("\"ruleId\": \"AM01\""));
  EXPECT_EQ(runCommand({"--contract", writeFile(folder + "/near", "param 0 peers=cta\n"), file}).code, 0);
  EXPECT_EQ(runCommand({"--contract", writeFile(folder + "/waive", "waive AM01: flushed by the host\n"), file}).code,
            0);
  Outcome missing = runCommand({"--contract", writeFile(folder + "/missing", "kernarg 800 signal\n"), file});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("expected an argument of some kernel, got kernarg 800"));
  Outcome ptx = runCommand(
      {"--contract", folder + "/missing", writeFile(folder + "/k.ptx", std::string(findRule("SL01")->flagged()))});
  EXPECT_EQ(ptx.code, 2);
  EXPECT_THAT(ptx.err, HasSubstr("got 'kernarg': PTX names its parameters"));
}

TEST(ScopeLint, ExplainsEveryRule) {
  for (const Rule &rule : interlock::scope::rules()) {
    Outcome outcome = runCommand({"--explain", std::string(rule.id)});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, testing::StartsWith("# " + std::string(rule.id)));
    EXPECT_THAT(outcome.out, HasSubstr(std::string(rule.section)));
    EXPECT_THAT(outcome.out, HasSubstr("## Not flagged"));
  }
  Outcome all = runCommand({"--explain", "all"});
  EXPECT_EQ(all.code, 0);
  for (const Rule &rule : interlock::scope::rules())
    EXPECT_THAT(all.out, HasSubstr("# " + std::string(rule.id) + ": "));
}

TEST(ScopeLint, HelpNamesEveryOptionAndExitCode) {
  Outcome help = runCommand({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char *word :
       {"--format", "--cluster", "--contract", "--fail-on", "--explain", "--version", "FILE", "Exit code"})
    EXPECT_THAT(help.out, HasSubstr(word));
  EXPECT_THAT(runCommand({"--version"}).out, testing::MatchesRegex("scope-lint [0-9.]+\n"));
}

} // namespace
