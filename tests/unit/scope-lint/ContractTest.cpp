// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Contract files: each statement, each way to get one wrong, and a contract held against a module.
#include "analysis/Lint/Contract.h"
#include "analysis/PTX/Reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock::lint {
namespace {

using testing::HasSubstr;

Contract mustRead(std::string_view text) {
  auto contract = readContract(text, "c.txt");
  EXPECT_TRUE(contract) << contract.error().str();
  return contract ? *contract : Contract();
}

std::string errorOf(std::string_view text) {
  auto contract = readContract(text, "c.txt");
  return contract ? "no error" : contract.error().str();
}

ptx::Module module(std::string_view text) {
  auto read = ptx::read(text, "k.ptx");
  EXPECT_TRUE(read) << read.error().str();
  return std::move(*read);
}

TEST(Contract, EveryStatement) {
  Contract c = mustRead("# who sees what\r\n"
                        "param 0 peers=sys   # of every kernel\r\n"
                        "\r\n"
                        "  kernel dispatch param 3 ro-during-kernel\n"
                        "kernel dispatch param 5 peers=nic, pairs-across-kernels\n"
                        "kernel dispatch param 5 ro-during-kernel\n"
                        "waive SL27: every CTA is resident # 7 of them\n"
                        "waive SL01 kernel dispatch : the launcher: checks");
  EXPECT_EQ(c.params[""][0].peers, Peers::sys);
  EXPECT_FALSE(c.params[""][0].readOnlyDuringKernel);
  EXPECT_TRUE(c.params["dispatch"][3].readOnlyDuringKernel);
  EXPECT_FALSE(c.params["dispatch"][3].peers);
  const ParamContract &five = c.params["dispatch"][5];
  EXPECT_EQ(five.peers, Peers::nic);
  EXPECT_TRUE(five.pairsAcrossKernels && five.readOnlyDuringKernel);
  EXPECT_EQ(five.writtenAt.line, 6u);
  ASSERT_EQ(c.waivers.size(), 2u);
  EXPECT_EQ(c.waivers[0].rule, "SL27");
  EXPECT_EQ(c.waivers[0].function, "");
  EXPECT_EQ(c.waivers[0].reason, "every CTA is resident # 7 of them");
  EXPECT_EQ(c.waivers[1].function, "dispatch");
  EXPECT_EQ(c.waivers[1].reason, "the launcher: checks");
  EXPECT_EQ(c.waivers[1].writtenAt.file, "c.txt");
  EXPECT_EQ(c.waivers[1].writtenAt.line, 8u);
  for (auto [word, peers] : {std::pair("cta", Peers::cta), {"cluster", Peers::cluster}, {"gpu", Peers::gpu}})
    EXPECT_EQ(mustRead(std::string("param 1 peers=") + word).params[""][1].peers, peers);
}

TEST(Contract, ErrorsNameTheLineAndWhatWouldDo) {
  EXPECT_EQ(errorOf("\n  peers=sys"), "c.txt:2:3: expected 'param', 'kernarg', 'kernel' or 'waive', got 'peers=sys'");
  EXPECT_THAT(errorOf("param x peers=sys"), HasSubstr("expected the number of a parameter"));
  EXPECT_THAT(errorOf("param -1 peers=sys"), HasSubstr("got '-1'"));
  EXPECT_THAT(errorOf("param 1x peers=sys"), HasSubstr("got '1x'"));
  EXPECT_THAT(errorOf("param 99999999999 peers=sys"), HasSubstr("got '99999999999'"));
  EXPECT_THAT(errorOf("param 1"), HasSubstr("expected peers=cta|cluster|gpu|sys|nic, ro-during-kernel"));
  EXPECT_THAT(errorOf("param 1 # nothing"), HasSubstr("got nothing"));
  EXPECT_THAT(errorOf("param 1 peers=warp"), HasSubstr("got 'peers=warp'"));
  EXPECT_THAT(errorOf("param 1 peers=sys peers=gpu sometimes"), HasSubstr("got 'sometimes'"));
  EXPECT_THAT(errorOf("kernel"), HasSubstr("expected the name of a kernel"));
  EXPECT_THAT(errorOf("kernel k waive SL01: x"), HasSubstr("expected 'param'"));
  EXPECT_THAT(errorOf("waive"), HasSubstr("expected a rule such as SL01 after 'waive', got nothing"));
  EXPECT_THAT(errorOf("waive SL99: x"), HasSubstr("got 'SL99'"));
  EXPECT_THAT(errorOf("waive SL01"), HasSubstr("expected a colon and the reason after 'waive SL01'"));
  EXPECT_THAT(errorOf("waive SL01:   "), HasSubstr("the reason"));
  EXPECT_THAT(errorOf("waive SL01 kernel: x"), HasSubstr("expected the name of a kernel"));
  EXPECT_THAT(errorOf("waive SL01 k: x"), HasSubstr("expected 'kernel NAME' or a colon"));
  EXPECT_LT(errorOf("param " + std::string(1 << 20, '7')).size(), 300u);
}

TEST(Contract, OneSourceDoesNotContradictItself) {
  EXPECT_EQ(errorOf("param 0 peers=sys\nparam 0 peers=sys"), "no error");
  EXPECT_EQ(errorOf("param 0 peers=sys\nkernel k param 0 peers=gpu"), "no error");
  EXPECT_EQ(errorOf("param 0 peers=sys\nparam 0 peers=gpu"),
            "c.txt:2:1: expected one peers= of param 0, got peers=gpu beside peers=sys of line 1");
}

TEST(Contract, MergedTheLaterOneWins) {
  Contract c = mustRead("param 0 peers=gpu\nparam 1 ro-during-kernel\nwaive SL01: a");
  merge(c, mustRead("param 0 peers=sys\nparam 1 pairs-across-kernels\nwaive SL01: b"));
  EXPECT_EQ(c.params[""][0].peers, Peers::sys);
  EXPECT_TRUE(c.params[""][1].readOnlyDuringKernel && c.params[""][1].pairsAcrossKernels);
  EXPECT_EQ(c.waivers.size(), 2u);
}

TEST(Contract, MissingParameters) {
  ptx::Module m = module(".version 8.0\n.target sm_90\n.entry a(.param .u64 p) { ret; }\n"
                         ".entry b(.param .u64 p, .param .u64 q) { ret; }\n");
  auto missing = [&](std::string_view text) {
    auto error = findMissingParameter(mustRead(text), m);
    return error ? error->str() : "none";
  };
  EXPECT_EQ(missing("kernel a param 0 peers=sys\nkernel b param 1 peers=sys"), "none");
  EXPECT_EQ(missing("\nkernel a param 1 peers=sys"),
            "c.txt:2:1: expected a parameter of a, got param 1: it has 1, counted from 0");
  EXPECT_EQ(missing("param 1 peers=sys"), "none"); // b has one
  EXPECT_THAT(missing("param 2 peers=sys"), HasSubstr("a kernel such as b, got param 2: it has 2"));
  EXPECT_THAT(missing("param 1 peers=sys\nkernel b param 0 peers=gpu"), HasSubstr("a kernel such as a"));
  EXPECT_EQ(missing("kernel elsewhere param 7 peers=sys"), "none"); // of another input, perhaps
}

TEST(Contract, MissingFunctions) {
  std::set<std::string, std::less<>> names = {"a", "b"};
  EXPECT_FALSE(
      findMissingFunction(mustRead("param 0 peers=sys\nkernel a param 0 peers=sys\nwaive SL01 kernel b: x"), names));
  EXPECT_EQ(findMissingFunction(mustRead("kernel c param 0 peers=sys"), names)->str(),
            "c.txt:1:1: expected the name of a function that is there, got c");
  EXPECT_EQ(findMissingFunction(mustRead("waive SL01: y\nwaive SL01 kernel d: x"), names)->at.line, 2u);
}

} // namespace
} // namespace interlock::lint
