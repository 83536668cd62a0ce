// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The gate on both kinds of text: what is not ordered is refused with the line and what would do, and milder findings
// go along as JSON.
#include "compiler/Target/Gate.h"
#include "analysis/ScopeModel/Rules.h"

#include <gmock/gmock.h>

namespace interlock::target {
namespace {

using testing::HasSubstr;

std::string flagged(const char *rule) { return std::string(scope::findRule(rule)->flagged()); }
std::string clean(const char *rule) { return std::string(scope::findRule(rule)->clean()); }

TEST(Gate, RefusesPtxThatIsNotOrdered) {
  auto refused = gatePtx(flagged("SL01"), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::compile);
  EXPECT_THAT(refused.error().message, HasSubstr("of the PTX, `st.release"));
  EXPECT_THAT(refused.error().message, HasSubstr("[SL01]"));
  EXPECT_TRUE(gatePtx(clean("SL01"), 0));
}

TEST(Gate, RefusesAssemblyThatIsNotOrdered) {
  auto refused = gateAmdgcn(flagged("AM02"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::compile);
  EXPECT_THAT(refused.error().message, HasSubstr("the kernel that was emitted is not ordered: line "));
  EXPECT_THAT(refused.error().message, HasSubstr("of the assembly, `global_store_dword"));
  EXPECT_THAT(refused.error().message, HasSubstr("[AM02]; put s_waitcnt vmcnt(0) behind the write-back"));
  EXPECT_TRUE(gateAmdgcn(clean("AM02")));
}

TEST(Gate, MilderFindingsGoAlong) {
  auto findings = gateAmdgcn(flagged("AM11"));
  ASSERT_TRUE(findings);
  ASSERT_EQ(findings->size(), 1u);
  EXPECT_EQ((*findings)[0]["rule"], "AM11");
  EXPECT_EQ((*findings)[0]["severity"], "note");
}

TEST(Gate, WhatCannotBeReadOrJudgedIsOurFault) {
  for (const char *text : {"\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\ts_mov_b32 s0,\n",
                           "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx906\"\n"}) {
    auto refused = gateAmdgcn(text);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::internal);
    EXPECT_THAT(refused.error().message, testing::StartsWith("expected "));
  }
}

} // namespace
} // namespace interlock::target
