// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Contract statements in the comments of a PTX text: what each place makes them hold for.
#include "analysis/Lint/Contract.h"
#include "analysis/PTX/Reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock::lint {
namespace {

tl::expected<Contract, ContractError> contractOf(std::string_view ptx) {
  auto module = ptx::read(ptx, "k.ptx");
  EXPECT_TRUE(module) << module.error().str();
  return contractOfComments(ptx, *module, "k.ptx");
}

Contract mustRead(std::string_view ptx) {
  auto contract = contractOf(ptx);
  EXPECT_TRUE(contract) << contract.error().str();
  return contract ? *contract : Contract();
}

constexpr std::string_view text = R"(// contract: param 0 peers=sys
.version 8.0
.target sm_90
// contract: waive SL02: of the whole file

// contract: param 1 ro-during-kernel
//contract: waive SL03: of a
.visible .entry a( // contract: param 2 peers=gpu
  .param .u64 p, .param .u64 q, .param .u64 r)
{
  .reg .b32 %r<3>;
  // contract: waive SL04: the add
  // not a contract
  .loc 1 2 3
L: add.u32 %r1, %r1, 1;
  mov.u32 %r1, 2; // contract: waive SL05: the mov
  /* // contract: nonsense */
  ret;
  // contract: param 0 peers=cta
  // contract: kernel b param 0 peers=nic
  // contract: waive SL06 kernel b: another's
}
.visible .entry b(.param .u64 p) { ret; }
)";

TEST(ContractComments, HoldForWhatTheyStandBy) {
  Contract c = mustRead(text);
  EXPECT_EQ(c.params[""].size(), 1u);
  EXPECT_EQ(c.params[""][0].peers, Peers::sys);
  EXPECT_TRUE(c.params["a"][1].readOnlyDuringKernel);
  EXPECT_EQ(c.params["a"][2].peers, Peers::gpu);
  EXPECT_EQ(c.params["a"][0].peers, Peers::cta);
  EXPECT_EQ(c.params["b"][0].peers, Peers::nic);
  struct Expected {
    const char *rule, *function;
    uint32_t line;
  };
  std::vector<Expected> expected = {
      {"SL02", "", 0}, {"SL03", "a", 0}, {"SL04", "a", 15}, {"SL05", "a", 16}, {"SL06", "b", 0}};
  ASSERT_EQ(c.waivers.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(c.waivers[i].rule, expected[i].rule);
    EXPECT_EQ(c.waivers[i].function, expected[i].function) << expected[i].rule;
    EXPECT_EQ(c.waivers[i].line, expected[i].line) << expected[i].rule;
  }
  EXPECT_EQ(c.waivers[2].writtenAt.line, 12u);
  EXPECT_EQ(c.waivers[2].writtenAt.column, 3u);
}

TEST(ContractComments, CarriageReturnsDoNotMatter) {
  std::string crlf;
  for (char c : text)
    crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  Contract a = mustRead(text), b = mustRead(crlf);
  ASSERT_EQ(a.waivers.size(), b.waivers.size());
  for (size_t i = 0; i < a.waivers.size(); ++i) {
    EXPECT_EQ(a.waivers[i].reason, b.waivers[i].reason);
    EXPECT_EQ(a.waivers[i].line, b.waivers[i].line);
  }
  EXPECT_EQ(b.params["a"].size(), 3u);
}

TEST(ContractComments, AWaiverBehindTheLastInstructionHoldsForNone) {
  Contract c = mustRead(".version 8.0\n.target sm_90\n.entry k() {\nret;\n// contract: waive SL01: x\n}\n");
  EXPECT_EQ(c.waivers[0].line, 6u);
}

TEST(ContractComments, ErrorsNameThePlace) {
  auto contract = contractOf(".version 8.0\n.target sm_90\n.entry k() {\n  // contract: waive SL01\nret; }\n");
  ASSERT_FALSE(contract);
  EXPECT_EQ(contract.error().str(), "k.ptx:4:3: expected a colon and the reason after 'waive SL01': a waiver says why");
}

TEST(ContractComments, ManyStayQuick) {
  std::string ptx = ".version 8.0\n.target sm_90\n.entry k() {\n";
  for (int i = 0; i < 200000; ++i)
    ptx += "// contract: waive SL01: x\n";
  ptx += "ret;\n}\n";
  Contract c = mustRead(ptx);
  ASSERT_EQ(c.waivers.size(), 200000u);
  EXPECT_EQ(c.waivers[0].line, 200004u);
}

} // namespace
} // namespace interlock::lint
