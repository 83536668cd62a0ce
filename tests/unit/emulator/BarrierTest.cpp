// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// CTA barriers, cluster barriers and mbarriers.
#include "analysis/Emulator/Mbarrier.h"
#include "tests/unit/emulator/Harness.h"

namespace interlock::emu::test {
namespace {

using testing::HasSubstr;

class Barriers : public MachineTest {
protected:
  void forSeeds(const std::function<void()> &body, uint64_t n = 8) {
    for (uint64_t seed = 0; seed < n; ++seed) {
      options.seed = seed;
      open();
      body();
    }
  }
};

TEST_F(Barriers, SyncOrdersSharedMemory) {
  forSeeds([&] {
    uint64_t out = zeros(4 * 256);
    run(kernelText(
            ".shared .align 4 .b8 s[1024]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, "
            "%r3, %r2;\nst.shared.u32 [%r4], %r1; barrier.sync 0; sub.u32 %r5, 1020, %r2; add.u32 %r5, %r5, %r3;\n"
            "ld.shared.u32 %r6, [%r5]; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd1, %rd100; st.global.u32 [%rd1], "
            "%r6;",
            1),
        grid(1, 256), {out});
    auto v = download<uint32_t>(out, 256);
    for (uint32_t i = 0; i < 256; ++i)
      EXPECT_EQ(v[i], 255 - i);
  });
}

TEST_F(Barriers, ExitedThreadsAreNotWaitedFor) {
  forSeeds([&] {
    run(kernelText("mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 40; @%p1 exit; bar.sync 0; bar.sync 0;", 0),
        grid(1, 100), {});
  });
}

TEST_F(Barriers, ArriveAndSyncWithCounts) {
  // Warps 0 and 1 produce and arrive, warps 2 and 3 wait.
  forSeeds([&] {
    uint64_t out = zeros(16);
    run(kernelText(".shared .align 4 .b8 s[4]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 64; @%p1 bra consume;\n"
                   "mov.u32 %r2, 9; st.shared.u32 [s], %r2; bar.arrive 5, 128; bra end;\n"
                   "consume: bar.sync 5, 128; ld.shared.u32 %r3, [s]; red.global.add.u32 [%rd100], %r3; end:",
                   1),
        grid(1, 128), {out});
    EXPECT_EQ(download<uint32_t>(out, 1)[0], 9u * 64);
  });
}

TEST_F(Barriers, Reductions) {
  uint64_t out = zeros(16);
  run(kernelText(
          "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 70; bar.red.popc.u32 %r2, 1, %p1; bar.red.and.pred %p2, 1, %p1;\n"
          "bar.red.or.pred %p3, 1, %p1; selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 1, 0, %p3;\n"
          "setp.ne.u32 %p4, %r1, 99; @%p4 exit; st.global.v4.u32 [%rd100], {%r2, %r3, %r4, %r4};",
          1),
      grid(1, 128), {out});
  EXPECT_EQ(download<uint32_t>(out, 3), (std::vector<uint32_t>{70, 0, 1}));
}

TEST_F(Barriers, ClusterBarrierAndDistributedSharedMemory) {
  forSeeds([&] {
    uint64_t out = zeros(4 * 8);
    run(kernelText(
            ".shared .align 4 .b8 s[4]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %ctaid.x; add.u32 %r3, %r2, 100;\n"
            "st.shared.u32 [s], %r3; barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
            "add.u32 %r4, %r1, 1; and.b32 %r4, %r4, 3; mov.u32 %r5, s; mapa.shared::cluster.u32 %r6, %r5, %r4;\n"
            "ld.shared::cluster.u32 %r7, [%r6]; getctarank.shared::cluster.u32 %r8, %r6; setp.ne.u32 %p1, %r8, %r4; "
            "@%p1 trap;\ncvta.shared::cluster.u64 %rd5, %rd6; mov.u64 %rd6, s; cvta.shared.u64 %rd6, %rd6; mapa.u64 "
            "%rd7, "
            "%rd6, %r4;\nld.u32 %r9, [%rd7]; setp.ne.u32 %p1, %r9, %r7; @%p1 trap;\n"
            "mul.wide.u32 %rd1, %r2, 4; add.s64 %rd1, %rd1, %rd100; st.global.u32 [%rd1], %r7;\n"
            "barrier.cluster.arrive.relaxed; barrier.cluster.wait;",
            1),
        grid(8, 1, 4), {out});
    auto v = download<uint32_t>(out, 8);
    for (uint32_t i = 0; i < 8; ++i)
      EXPECT_EQ(v[i], 100 + (i & 4) + ((i + 1) & 3));
  });
}

TEST_F(Barriers, PeerThatHasEndedIsAFault) {
  std::string e = errorOf(
      kernelText(".shared .align 4 .b8 s[4]; mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1; @%p1 exit;\n"
                 "nanosleep.u32 100000; mov.u32 %r5, s; mapa.shared::cluster.u32 %r6, %r5, 1; "
                 "ld.shared::cluster.u32 %r7, [%r6];",
                 0),
      grid(2, 1, 2), {});
  EXPECT_THAT(e, HasSubstr("which has ended"));
}

TEST_F(Barriers, MbarrierPhasesBothFormsOfWait) {
  forSeeds([&] {
    uint64_t out = zeros(64);
    run(kernelText(
            ".shared .align 8 .b8 b[8]; .shared .align 4 .b8 s[4]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n"
            "@%p1 bra ready; mbarrier.init.shared::cta.b64 [b], 64; mov.u32 %r9, 0; st.shared.u32 [s], %r9; ready: "
            "bar.sync 0;\n"
            "mov.u32 %r2, 0;\n"
            "loop: atom.shared.add.u32 %r3, [s], 1;\n"
            "mbarrier.arrive.shared::cta.b64 %rd1, [b];\n"
            "mbarrier.pending_count.b64 %r6, %rd1; setp.eq.u32 %p4, %r6, 0; @%p4 trap;\n"
            "and.b32 %r4, %r2, 1;\n"
            "w1: mbarrier.try_wait.parity.shared::cta.b64 %p2, [b], %r4; @!%p2 bra w1;\n"
            "w2: mbarrier.test_wait.shared::cta.b64 %p2, [b], %rd1; @!%p2 bra w2;\n"
            "ld.shared.u32 %r5, [s]; add.u32 %r7, %r2, 1; mul.lo.u32 %r8, %r7, 64; setp.lt.u32 %p3, %r5, %r8; @%p3 "
            "trap;\n"
            "bar.sync 0; mov.u32 %r2, %r7; setp.lt.u32 %p3, %r2, 5; @%p3 bra loop; @!%p1 st.global.u32 [%rd100], %r5;",
            1),
        grid(1, 64), {out});
    EXPECT_EQ(download<uint32_t>(out, 1)[0], 320u);
  });
}

TEST_F(Barriers, MbarrierMisuse) {
  std::string s = ".shared .align 8 .b8 b[8]; ";
  EXPECT_THAT(errorOf(kernelText(s + "mbarrier.arrive.shared::cta.b64 %rd1, [b];", 0), grid(1, 1), {}),
              HasSubstr("expected an initialised mbarrier"));
  EXPECT_THAT(
      errorOf(kernelText(s + "mbarrier.init.shared::cta.b64 [b], 2; mbarrier.arrive.shared::cta.b64 %rd1, [b], 3;", 0),
              grid(1, 1), {}),
      HasSubstr("arrival count of 1 to the 2 arrivals"));
  EXPECT_THAT(
      errorOf(
          kernelText(
              s + "mbarrier.init.shared::cta.b64 [b], 1; mbarrier.arrive.noComplete.shared::cta.b64 %rd1, [b], 1;", 0),
          grid(1, 1), {}),
      HasSubstr(".noComplete"));
  EXPECT_THAT(errorOf(kernelText(s + "mbarrier.init.shared::cta.b64 [b], 1; mbarrier.inval.shared::cta.b64 [b];\n"
                                     "mbarrier.test_wait.parity.shared::cta.b64 %p1, [b], 0;",
                                 0),
                      grid(1, 1), {}),
              HasSubstr("expected an initialised mbarrier"));
  EXPECT_THAT(
      errorOf(
          kernelText(s + "mov.u32 %r1, b; mapa.shared::cluster.u32 %r2, %r1, 1; mbarrier.arrive.shared::cta.b64 %rd1, "
                         "[%r2]; barrier.cluster.arrive; barrier.cluster.wait;",
                     0),
          grid(2, 1, 2), {}),
      HasSubstr("can only reach its own"));
}

TEST_F(Barriers, MbarrierDropAndDeadlockReport) {
  uint64_t out = zeros(4);
  run(kernelText(".shared .align 8 .b8 b[8]; mbarrier.init.shared::cta.b64 [b], 2; "
                 "mbarrier.arrive_drop.shared::cta.b64 _, [b];\n"
                 "mbarrier.arrive.shared::cta.b64 _, [b]; mbarrier.arrive.shared::cta.b64 _, [b];\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 %p1, [b], 1; @!%p1 trap; mov.u32 %r1, 1; st.global.u32 "
                 "[%rd100], %r1;",
                 1),
      grid(1, 1), {out});
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 1u);
  std::string e = errorOf(kernelText(".shared .align 8 .b8 b[8]; mbarrier.init.shared::cta.b64 [b], 3;\n"
                                     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 48;\n"
                                     "w: mbarrier.try_wait.parity.shared::cta.b64 %p1, [b], 0; @!%p1 bra w;",
                                     0),
                          grid(1, 1), {});
  EXPECT_THAT(e, HasSubstr("which is in phase 0 with 2 arrivals and 48 bytes to come"));
}

TEST(MbarrierWord, PacksEveryField) {
  for (int32_t tx : {0, 1, -1, 1048575, -1048575})
    for (bool phase : {false, true}) {
      Mbarrier b;
      b.pending = 12345;
      b.expected = Mbarrier::maxCount;
      b.tx = tx;
      b.phase = phase;
      b.valid = true;
      Mbarrier c = Mbarrier::unpack(b.pack());
      EXPECT_EQ(c.pending, b.pending);
      EXPECT_EQ(c.expected, b.expected);
      EXPECT_EQ(c.tx, tx);
      EXPECT_EQ(c.phase, phase);
      EXPECT_TRUE(c.valid);
    }
  Mbarrier b;
  b.tx = 1048575;
  EXPECT_NE(b.transact(1), "");
}

} // namespace
} // namespace interlock::emu::test
