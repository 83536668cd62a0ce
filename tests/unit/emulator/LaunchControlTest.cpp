// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Cluster launch control: every CTA of the grid is done once, by its own launch or by a cluster that cancelled it.
#include "tests/unit/emulator/Harness.h"

#include <algorithm>

namespace interlock::emu::test {
namespace {

using testing::HasSubstr;

/// Thread 0 of each cluster asks until the answer is no, and adds 1 at the index of each CTA that it stands for (p0);
/// p1 counts the CTAs that ran.
std::string persistent(const std::string &multicast, const std::string &afterwards = "") {
  return kernelText(
      ".shared .align 8 .b64 b; .shared .align 16 .b8 s[16];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0; setp.ne.u32 %p1, %r1, 0;\n"
      "@%p1 bra ready; mbarrier.init.shared::cta.b64 [b], 1; fence.mbarrier_init.release.cluster;\n"
      "atom.global.add.u32 %r20, [%rd101], 1; ready: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
      "mov.u32 %r4, %cluster_ctarank; or.b32 %r5, %r4, %r1; setp.ne.u32 %p2, %r5, 0;\n"
      "next: @%p1 bra expected; mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [b], 16; expected:\n"
      "@%p2 bra asked; clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" +
          multicast +
          ".b128 [s], [b]; asked:\n"
          "@%p1 bra done; mul.wide.u32 %rd1, %r2, 4; add.s64 %rd2, %rd100, %rd1; atom.global.add.u32 %r20, [%rd2], 1; done:\n"
          "and.b32 %r6, %r3, 1;\n"
          "poll: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [b], %r6; @!%p3 bra poll;\n"
          "ld.shared.b128 %q0, [s]; fence.proxy.async.shared::cta;\n"
          "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q0; @!%p4 bra end;\n"
          "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r7, %q0; add.u32 %r2, %r7, %r4;\n"
          "add.u32 %r3, %r3, 1; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; bra next; end:\n" +
          afterwards,
      2, "sm_100a");
}

class LaunchControl : public MachineTest {
protected:
  void SetUp() override { options.chip = "sm_100a"; }
};

TEST_F(LaunchControl, EveryCtaIsDoneOnce) {
  for (uint32_t cluster : {1u, 2u, 4u})
    for (uint32_t residency : {4u, 8u, 132u})
      for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(testing::Message() << "cluster " << cluster << " residency " << residency << " seed " << seed);
        options.residency = residency;
        options.seed = seed;
        open();
        const uint32_t ctas = 48;
        uint64_t done = zeros(ctas * 4), ran = zeros(4);
        run(persistent(cluster > 1 ? ".multicast::cluster::all" : ""), grid(ctas, 64, cluster), {done, ran});
        EXPECT_EQ(download<uint32_t>(done, ctas), std::vector<uint32_t>(ctas, 1));
        uint32_t launched = download<uint32_t>(ran, 1)[0];
        EXPECT_GE(launched, std::min(residency, ctas));
        if (residency < ctas)
          EXPECT_LT(launched, ctas) << "expected some to be cancelled";
      }
}

TEST_F(LaunchControl, AskingAgainAfterNoIsAFault) {
  open();
  uint64_t done = zeros(4), ran = zeros(4);
  EXPECT_THAT(errorOf(persistent("", "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
                                     "b128 [s], [b];\n"),
                      grid(1, 1), {done, ran}),
              HasSubstr("expected no try_cancel after one whose answer was no"));
}

TEST_F(LaunchControl, WhatIsNoAnswerIsAFault) {
  open();
  EXPECT_THAT(errorOf(kernelText("mov.b128 %q0, {%rd100, %rd100};\n"
                                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q0;",
                                 1, "sm_100a"),
                      grid(1, 1), {0}),
              HasSubstr("expected the answer to a try_cancel, found other bits"));
}

TEST_F(LaunchControl, OldChipsHaveNone) {
  options.chip = "sm_90a";
  open();
  EXPECT_THAT(errorOf(kernelText("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q0;", 1, "sm_90a"),
                      grid(1, 1), {0}),
              HasSubstr("needs sm_100"));
}

} // namespace
} // namespace interlock::emu::test
