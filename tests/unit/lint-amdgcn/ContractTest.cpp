// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Contracts and waivers in the comments of an assembly text: what each place makes them hold for.
#include "tests/unit/lint-amdgcn/Check.h"

namespace interlock::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The text with a line put before the first line that begins with `before`.
std::string with(std::string text, const std::string &line, const std::string &before) {
  size_t at = text.find("\n" + before);
  EXPECT_NE(at, std::string::npos) << before;
  return text.insert(at + 1, line + "\n");
}

std::string flagged(std::string_view rule) { return std::string(scope::findRule(rule)->flagged()); }

std::string errorOf(const std::string &text) {
  auto module = amdgcn::read(text, "k.s");
  EXPECT_TRUE(module);
  if (!module)
    return {};
  auto contract = contractOfComments(*module, "k.s");
  if (!contract)
    return contract.error().str();
  auto missing = findMissingParameter(*contract, *module);
  return missing ? missing->str() : "";
}

TEST(Contract, ByNumberAndByByteAreOne) {
  std::string narrow = cleanText("contract-says-device-gfx942");
  for (const char *statement : {"; contract: param 1 peers=sys", "// contract: kernarg 8 peers=sys, signal"}) {
    std::string text = with(narrow.substr(narrow.find("\t.amdgcn_target")), statement, "fence_release:");
    EXPECT_THAT(rulesOf(checkAssembly(text)), ElementsAre("AM01", "AM03")) << statement;
  }
}

TEST(Contract, SignalMakesAPlainStoreAnAnnouncement) {
  std::string text = flagged("AM01");
  size_t flag = text.find(" sc0 sc1\n\ts_endpgm");
  ASSERT_NE(flag, std::string::npos);
  text.erase(flag, 8);
  EXPECT_THAT(rulesOf(checkAssembly(text)), IsEmpty()) << "without a scope and a contract it is data like any other";
  EXPECT_THAT(rulesOf(checkAssembly("; contract: param 1 peers=sys, signal\n" + text)), ElementsAre("AM01", "AM03"));
}

TEST(Contract, OfTheDataLowersWhatIsAsked) {
  // Only this workgroup reads the data, so that nothing has to be written back.
  EXPECT_THAT(rulesOf(checkAssembly("; contract: param 0 peers=cta\n" + flagged("AM01"))), IsEmpty());
}

TEST(Contract, ThePlaceDecidesWhatItHoldsFor) {
  std::string text = flagged("AM04");
  size_t before = text.find("; contract: param 0 peers=gpu\n");
  ASSERT_NE(before, std::string::npos);
  std::string without = text.erase(before, std::string_view("; contract: param 0 peers=gpu\n").size());
  auto severities = [](const std::string &t) {
    std::vector<std::string> out;
    for (const scope::Finding &f : checkAssembly(t).findings)
      out.emplace_back(scope::name(f.severity));
    return out;
  };
  EXPECT_THAT(severities(without), ElementsAre("warning"));
  EXPECT_THAT(severities(with(without, "; contract: param 0 peers=gpu", "fence_acquire:")), ElementsAre("error"));
  EXPECT_THAT(severities(with(without, "; contract: param 0 ro-during-kernel", "\ts_endpgm")), IsEmpty());
  EXPECT_THAT(severities(with(without, "; contract: kernel fence_acquire param 0 peers=gpu", "\t.text")),
              ElementsAre("error"));
}

TEST(Contract, AWaiverHoldsForItsInstruction) {
  std::string text = flagged("AM01");
  std::string waived = with(text, "\t; contract: waive AM01: the host flushes", "\tglobal_store_dword v1, v0");
  Report report = checkAssembly(waived);
  EXPECT_THAT(report.findings, IsEmpty());
  ASSERT_EQ(report.waived.size(), 1u);
  EXPECT_EQ(report.waived[0].waiver.reason, "the host flushes");
  report = checkAssembly(with(text, "\t; contract: waive AM01: the host flushes", "\ts_endpgm"));
  EXPECT_THAT(rulesOf(report), ElementsAre("AM01"));
  EXPECT_EQ(report.unusedWaivers.size(), 1u);
}

TEST(Contract, BadStatementsAreOneSentence) {
  std::string text = flagged("AM01");
  EXPECT_THAT(errorOf("; contract: param 9 peers=sys\n" + text),
              HasSubstr("k.s:1:1: expected an argument of some kernel, got param 9, which it does not have"));
  EXPECT_THAT(errorOf("; contract: kernarg 4096 signal\n" + text), HasSubstr("got kernarg 4096"));
  EXPECT_THAT(errorOf("; contract: param 0 peers=moon\n" + text), HasSubstr("pairs-across-kernels or signal"));
  EXPECT_THAT(errorOf("; contract: waive AM77: why\n" + text), HasSubstr("expected a rule"));
  EXPECT_EQ(errorOf("; contract: param 2 peers=sys\n" + text), "");
}

} // namespace
} // namespace interlock::lint
