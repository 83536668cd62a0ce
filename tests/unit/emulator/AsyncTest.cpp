// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Asynchronous operations: cp.async, bulk copies, st.async and red.async, with what makes their results visible.
#include "tests/unit/emulator/Harness.h"

#include <numeric>

namespace interlock::emu::test {
namespace {

using testing::HasSubstr;

class Async : public MachineTest {
protected:
  void forSeeds(const std::function<void()> &body, uint64_t n = 8) {
    for (uint64_t seed = 0; seed < n; ++seed) {
      options.seed = seed;
      open();
      body();
    }
  }
  std::vector<uint32_t> iota(size_t n) {
    std::vector<uint32_t> v(n);
    std::iota(v.begin(), v.end(), 1);
    return v;
  }
};

const std::string initBarrier = "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra go; "
                                "mbarrier.init.shared::cta.b64 [b], 1; go: bar.sync 0;\n";

TEST_F(Async, CopyGroups) {
  forSeeds([&] {
    uint64_t in = upload(iota(128 * 4)), out = zeros(128 * 16);
    run(kernelText(".shared .align 16 .b8 s[2048]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.u32 "
                   "%r3, %r3, %r2;\n"
                   "cvt.u64.u32 %rd1, %r2; add.s64 %rd2, %rd100, %rd1; add.s64 %rd3, %rd101, %rd1;\n"
                   "cp.async.ca.shared.global [%r3], [%rd2], 8; cp.async.commit_group;\n"
                   "cp.async.ca.shared.global [%r3+8], [%rd2+8], 8, 4; cp.async.commit_group; cp.async.wait_group 1;\n"
                   "ld.shared.v2.u32 {%r4, %r5}, [%r3]; cp.async.wait_all; ld.shared.v2.u32 {%r6, %r7}, [%r3+8];\n"
                   "st.global.v4.u32 [%rd3], {%r4, %r5, %r6, %r7};",
                   2),
        grid(1, 128), {in, out});
    auto v = download<uint32_t>(out, 512);
    for (uint32_t i = 0; i < 512; ++i)
      EXPECT_EQ(v[i], i % 4 == 3 ? 0 : i + 1); // the last 4 bytes are zero-filled
  });
}

TEST_F(Async, CopyWithoutWaitIsSeenAsSuch) {
  bool stale = false;
  forSeeds([&] {
    uint64_t in = upload(iota(4)), out = zeros(16);
    run(kernelText(".shared .align 16 .b8 s[16]; cp.async.cg.shared.global [s], [%rd100], 16; cp.async.commit_group;\n"
                   "ld.shared.u32 %r1, [s]; st.global.u32 [%rd101], %r1; cp.async.wait_group 0;",
                   2),
        grid(1, 1), {in, out});
    stale |= download<uint32_t>(out, 1)[0] != 1;
  });
  EXPECT_TRUE(stale);
}

TEST_F(Async, CopyArrivesOnMbarrier) {
  for (std::string noinc : {"", ".noinc"})
    forSeeds([&] {
      uint64_t in = upload(iota(32 * 4)), out = zeros(32 * 4);
      std::string count = noinc.empty() ? "1" : "32";
      run(kernelText(
              ".shared .align 16 .b8 s[512]; .shared .align 8 .b8 b[8]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n"
              "@%p1 bra go; mbarrier.init.shared::cta.b64 [b], " +
                  count +
                  "; go: bar.sync 0; shl.b32 %r2, %r1, 4; mov.u32 %r3, s;\n"
                  "add.u32 %r3, %r3, %r2; cvt.u64.u32 %rd1, %r2; add.s64 %rd2, %rd100, %rd1; cp.async.ca.shared.global "
                  "[%r3], [%rd2], 16;\n"
                  "cp.async.mbarrier.arrive" +
                  noinc + ".shared.b64 [b]; bar.sync 0;\n" +
                  (noinc.empty() ? "@!%p1 mbarrier.arrive.shared::cta.b64 _, [b];\n" : "") +
                  "w: mbarrier.try_wait.parity.shared::cta.b64 %p2, [b], 0; @!%p2 bra w; xor.b32 %r4, %r1, 7; shl.b32 "
                  "%r4, %r4, 4;\n"
                  "mov.u32 %r5, s; add.u32 %r5, %r5, %r4; ld.shared.u32 %r6, [%r5]; mul.wide.u32 %rd3, %r1, 4; add.s64 "
                  "%rd3, %rd3, %rd101;\n"
                  "st.global.u32 [%rd3], %r6;",
              2),
          grid(1, 32), {in, out});
      auto v = download<uint32_t>(out, 32);
      for (uint32_t i = 0; i < 32; ++i)
        EXPECT_EQ(v[i], 4 * (i ^ 7) + 1);
    });
}

TEST_F(Async, BulkPipelineThroughSharedMemory) {
  // A two-stage ring: one thread copies 8 tiles of 256 bytes in and out.
  forSeeds([&] {
    uint64_t in = upload(iota(8 * 64)), out = zeros(8 * 256);
    run(kernelText(".shared .align 128 .b8 s[512]; .shared .align 8 .b8 b[16]; mbarrier.init.shared::cta.b64 [b], 1;\n"
                   "mbarrier.init.shared::cta.b64 [b+8], 1; mov.u32 %r1, 0; mov.u32 %r10, s; mov.u32 %r11, b;\n"
                   "loop: and.b32 %r2, %r1, 1; shl.b32 %r3, %r2, 8; add.u32 %r3, %r3, %r10; shl.b32 %r4, %r2, 3; "
                   "add.u32 %r4, %r4, %r11;\n"
                   "shr.u32 %r5, %r1, 1; and.b32 %r5, %r5, 1; mul.wide.u32 %rd1, %r1, 256; add.s64 %rd2, %rd100, %rd1; "
                   "add.s64 %rd3, %rd101, %rd1;\n"
                   "cp.async.bulk.wait_group.read 1;\n"
                   "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 256;\n"
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd2], 256, [%r4];\n"
                   "w: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], %r5; @!%p1 bra w;\n"
                   "ld.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, 1000; st.shared.u32 [%r3], %r6; "
                   "fence.proxy.async.shared::cta;\n"
                   "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r3], 256; cp.async.bulk.commit_group;\n"
                   "add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 8; @%p2 bra loop; cp.async.bulk.wait_group 0;",
                   2),
        grid(1, 1), {in, out});
    auto v = download<uint32_t>(out, 512);
    for (uint32_t i = 0; i < 512; ++i)
      EXPECT_EQ(v[i], i + 1 + (i % 64 == 0 ? 1000 : 0)) << i;
  });
}

TEST_F(Async, BulkMulticastAndPeerCopy) {
  forSeeds([&] {
    uint64_t in = upload(iota(8)), out = zeros(4 * 8 * 4);
    run(kernelText(
            ".shared .align 16 .b8 s[32]; .shared .align 16 .b8 t[32]; .shared .align 8 .b8 b[16]; mov.u32 %r1, "
            "%cluster_ctarank;\n"
            "mbarrier.init.shared::cta.b64 [b], 1; mbarrier.init.shared::cta.b64 [b+8], 1; "
            "fence.mbarrier_init.release.cluster;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 32; mbarrier.arrive.expect_tx.shared::cta.b64 _, [b+8], "
            "32;\n"
            "barrier.cluster.arrive; barrier.cluster.wait; setp.ne.u32 %p1, %r1, 2; mov.b16 %h1, 0xF;\n"
            "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%rd100], "
            "32, [b], %h1;\n"
            "w: mbarrier.try_wait.parity.shared::cta.b64 %p2, [b], 0; @!%p2 bra w;\n"
            "ld.shared.u32 %r2, [s]; mad.lo.u32 %r2, %r1, 100, %r2; st.shared.u32 [s], %r2; "
            "fence.proxy.async.shared::cta;\n"
            "add.u32 %r3, %r1, 1; and.b32 %r3, %r3, 3; mov.u32 %r4, t; mapa.shared::cluster.u32 %r5, %r4, %r3; mov.u32 "
            "%r6, b;\n"
            "mapa.shared::cluster.u32 %r7, %r6, %r3; mov.u32 %r8, s;\n"
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r8], 32, [%r7+8];\n"
            "x: mbarrier.try_wait.parity.shared::cta.b64 %p2, [b+8], 0; @!%p2 bra x;\n"
            "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [t]; mul.wide.u32 %rd1, %r1, 16; add.s64 %rd1, %rd1, %rd101;\n"
            "st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13}; barrier.cluster.arrive; barrier.cluster.wait;",
            2),
        grid(4, 1, 4), {in, out});
    auto v = download<uint32_t>(out, 16);
    for (uint32_t i = 0; i < 16; ++i)
      EXPECT_EQ(v[i], i % 4 + 1 + (i % 4 == 0 ? 100 * ((i / 4 + 3) & 3) : 0));
  });
}

TEST_F(Async, StoreAsyncHandOffAcrossACluster) {
  // CTA 0 hands a number to each CTA of the cluster through a one-slot ring; they free the slot by a remote arrive.
  forSeeds(
      [&] {
        uint64_t out = zeros(4 * 4);
        run(kernelText(".shared .align 8 .b8 full[8]; .shared .align 8 .b8 empty[8]; .shared .align 16 .b8 slot[16];\n"
                       "mov.u32 %r1, %cluster_ctarank; mov.u32 %r10, full; mov.u32 %r11, empty; mov.u32 %r12, slot;\n"
                       "mov.u32 %r13, %tid.x; setp.ne.u32 %p9, %r13, 0;\n"
                       "@%p9 bra go; mbarrier.init.shared::cta.b64 [full], 1; mbarrier.init.shared::cta.b64 [empty], "
                       "4; fence.mbarrier_init.release.cluster;\n"
                       "go: barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;\n"
                       "@%p9 bra finish; mov.u32 %r2, 0; mov.u32 %r30, 0;\n"
                       "loop: and.b32 %r3, %r2, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra consume;\n"
                       "xor.b32 %r4, %r3, 1;\n"
                       "we: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p2, [empty], %r4; @!%p2 bra we;\n"
                       "fence.acquire.sync_restrict::shared::cluster.cluster; mov.u32 %r5, 0;\n"
                       "send: mapa.shared::cluster.u32 %r6, %r12, %r5; mapa.shared::cluster.u32 %r7, %r10, %r5; "
                       "mad.lo.u32 %r8, %r2, 10, %r5;\n"
                       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r6], {%r8, %r2}, [%r7];\n"
                       "add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 4; @%p3 bra send;\n"
                       "consume: mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [full], 8;\n"
                       "wf: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [full], %r3; @!%p2 bra wf;\n"
                       "ld.shared.v2.u32 {%r20, %r21}, [slot]; setp.ne.u32 %p4, %r21, %r2; @%p4 trap; add.u32 %r30, "
                       "%r30, %r20;\n"
                       "mapa.shared::cluster.u32 %r22, %r11, 0; mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
                       "[%r22];\n"
                       "add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, 6; @%p5 bra loop;\n"
                       "mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd1, %rd100; st.global.u32 [%rd1], %r30;\n"
                       "finish: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
                       1),
            grid(4, 64, 4), {out});
        auto v = download<uint32_t>(out, 4);
        for (uint32_t i = 0; i < 4; ++i)
          EXPECT_EQ(v[i], 150 + 6 * i);
      },
      16);
}

TEST_F(Async, ReduceAsyncAndBulkReduce) {
  forSeeds([&] {
    uint64_t out = upload<uint32_t>({100, 200, 300, 400}), sums = zeros(4);
    run(kernelText(
            ".shared .align 8 .b8 b[8]; .shared .align 16 .b8 acc[16]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, 0;\n"
            "mbarrier.init.shared::cta.b64 [b], 1; st.shared.u32 [acc], %r2; fence.mbarrier_init.release.cluster; "
            "barrier.cluster.arrive; barrier.cluster.wait;\n"
            "xor.b32 %r3, %r1, 1; mov.u32 %r4, acc; mov.u32 %r5, b; mapa.shared::cluster.u32 %r6, %r4, %r3; "
            "mapa.shared::cluster.u32 %r7, %r5, %r3;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 8; add.u32 %r8, %r1, 5;\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r6], %r8, [%r7];\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r6], %r8, [%r7];\n"
            "w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b], 0; @!%p2 bra w;\n"
            "ld.shared.u32 %r9, [acc]; red.global.add.u32 [%rd101], %r9; st.shared.v4.u32 [acc], {%r8, %r8, %r8, "
            "%r8};\n"
            "fence.proxy.async.shared::cta; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd100], "
            "[acc], 16;\n"
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; barrier.cluster.arrive; barrier.cluster.wait;",
            2),
        grid(2, 1, 2), {out, sums});
    EXPECT_EQ(download<uint32_t>(out, 4), (std::vector<uint32_t>{111, 211, 311, 411}));
    EXPECT_EQ(download<uint32_t>(sums, 1)[0], 22u);
  });
}

TEST_F(Async, FaultsNameTheIssuer) {
  std::string s = ".shared .align 16 .b8 s[64]; .shared .align 8 .b8 b[8];" + initBarrier;
  EXPECT_THAT(
      errorOf(kernelText(
                  s + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd100], 24, [b];", 1),
              grid(1, 1), {zeros(64)}),
      HasSubstr("whole 16-byte packets"));
  std::string e = errorOf(
      kernelText(s + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd100], 64, [b];", 1),
      grid(1, 1), {zeros(32)});
  EXPECT_THAT(e, HasSubstr("expected 64 allocated bytes"));
  EXPECT_THAT(e, HasSubstr("issued in k on device 0"));
}

} // namespace
} // namespace interlock::emu::test
