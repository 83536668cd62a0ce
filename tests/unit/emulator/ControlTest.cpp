// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Divergence, calls, special registers, and exchange inside a warp.
#include "tests/unit/emulator/Harness.h"

#include <functional>

namespace interlock::emu::test {
namespace {

using testing::HasSubstr;

class Control : public MachineTest {
protected:
  /// Runs a body on 32 (or `threads`) threads that leaves a value in %r50; what each thread left.
  std::vector<uint32_t> lanes(const std::string &body, unsigned threads = 32, const std::string &declarations = "") {
    uint64_t out = zeros(4 * threads);
    run(kernelText("mov.u32 %r40, %tid.x; mov.u32 %r41, %laneid;\n" + body +
                       "\nmul.wide.u32 %rd50, %r40, 4; add.s64 %rd50, %rd50, %rd100; st.global.u32 [%rd50], %r50;",
                   1, "sm_90a", "", declarations),
        grid(1, threads), {out});
    return download<uint32_t>(out, threads);
  }
};

TEST_F(Control, DivergenceAndReconvergence) {
  // Lanes loop tid times; behind the loop all of them are together again.
  auto v = lanes("mov.u32 %r1, 0; setp.eq.u32 %p1, %r40, 0; @%p1 bra done;\n"
                 "loop: add.u32 %r1, %r1, 3; sub.u32 %r2, %r40, 1; setp.lt.u32 %p2, %r1, %r40; @%p2 bra loop;\n"
                 "done: activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r50, %r3, 1000, %r1;");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(v[i], 32000 + (i == 0 ? 0 : (i + 2) / 3 * 3)) << i;
}

TEST_F(Control, NestedIfElse) {
  auto v = lanes("and.b32 %r1, %r40, 1; setp.ne.u32 %p1, %r1, 0; and.b32 %r2, %r40, 2; setp.ne.u32 %p2, %r2, 0;\n"
                 "@%p1 bra odd; @%p2 bra e2; mov.u32 %r50, 0; bra end; e2: mov.u32 %r50, 2; bra end;\n"
                 "odd: @!%p2 bra o0; mov.u32 %r50, 3; bra end; o0: mov.u32 %r50, 1; end:");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(v[i], i & 3);
}

TEST_F(Control, BranchIndex) {
  auto v = lanes("rem.u32 %r1, %r40, 3;\nts: .branchtargets a, b, c;\nbrx.idx %r1, ts;\n"
                 "a: mov.u32 %r50, 10; bra e; b: mov.u32 %r50, 20; bra e; c: mov.u32 %r50, 30; e:");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(v[i], 10 * (i % 3 + 1));
}

TEST_F(Control, CallsRecursionAndDivergentReturns) {
  auto v = lanes(
      "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r40; call.uni (r), fib, (a); ld.param.b32 %r50, [r]; }", 16,
      ".func (.param .b32 r) fib(.param .b32 n) { .reg .b32 %a<9>; .reg .pred %q; .local .b32 keep;\n"
      "ld.param.b32 %a1, [n]; setp.lt.u32 %q, %a1, 2; @!%q bra deep; st.param.b32 [r], %a1; ret;\n"
      "deep: st.local.b32 [keep], %a1; sub.u32 %a2, %a1, 1; { .param .b32 p; .param .b32 o; st.param.b32 [p], %a2;\n"
      "call (o), fib, (p); ld.param.b32 %a3, [o]; } ld.local.b32 %a1, [keep]; sub.u32 %a2, %a1, 2;\n"
      "{ .param .b32 p; .param .b32 o; st.param.b32 [p], %a2; call (o), fib, (p); ld.param.b32 %a4, [o]; }\n"
      "add.u32 %a5, %a3, %a4; st.param.b32 [r], %a5; ret; }");
  uint32_t fib[16] = {0, 1};
  for (int i = 2; i < 16; ++i)
    fib[i] = fib[i - 1] + fib[i - 2];
  for (uint32_t i = 0; i < 16; ++i)
    EXPECT_EQ(v[i], fib[i]) << i;
}

TEST_F(Control, IndirectCallsAndRegisterParameters) {
  auto v = lanes("mov.u64 %rd1, twice; mov.u64 %rd2, thrice; and.b32 %r1, %r40, 1; setp.eq.u32 %p1, %r1, 0;\n"
                 "selp.b64 %rd3, %rd1, %rd2, %p1;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
                 "call (%r50), %rd3, (%r40), proto;",
                 32,
                 ".func (.reg .b32 o) twice(.reg .b32 i) { add.u32 o, i, i; ret; }\n"
                 ".func (.reg .b32 o) thrice(.reg .b32 i) { add.u32 o, i, i; add.u32 o, o, i; ret; }");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(v[i], i * (2 + (i & 1)));
}

TEST_F(Control, SpecialRegisters) {
  uint64_t out = zeros(4 * 16 * 8);
  LaunchConfig c = grid(4, 4, 2);
  c.grid.y = 2;
  c.block.y = 2;
  run(kernelText(
          "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.y;\n"
          "setp.ne.u32 %p1, %r3, 3; @%p1 exit; setp.ne.u32 %p1, %r4, 1; @%p1 exit;\n"
          "mad.lo.u32 %r5, %r2, 4, %r1; mul.wide.u32 %rd1, %r5, 64; add.s64 %rd1, %rd1, %rd100;\n"
          "mov.u32 %r6, %laneid; mov.u32 %r7, %nctaid.x; mov.u32 %r8, %ntid.y; mov.u32 %r9, %clusterid.x;\n"
          "mov.u32 %r10, %cluster_ctarank; mov.u32 %r11, %cluster_nctarank; mov.u32 %r12, %nclusterid.x;\n"
          "mov.u32 %r13, %cluster_ctaid.x; mov.u32 %r14, %lanemask_lt; mov.u32 %r15, WARP_SZ;\n"
          "st.global.v4.u32 [%rd1], {%r6, %r7, %r8, %r9}; st.global.v4.u32 [%rd1+16], {%r10, %r11, %r12, %r13};\n"
          "st.global.v2.u32 [%rd1+32], {%r14, %r15};",
          1),
      c, {out});
  auto w = download<uint32_t>(out, 8 * 16);
  for (uint32_t cta = 0; cta < 8; ++cta) {
    const uint32_t *g = &w[cta * 16];
    std::vector<uint32_t> want{7, 4, 2, cta % 4 / 2, cta % 2, 2, 2, cta % 2, 127, 32};
    EXPECT_EQ(std::vector<uint32_t>(g, g + 10), want) << cta;
  }
}

TEST_F(Control, ShuffleModes) {
  struct Case {
    const char *mode, *b, *c;
    std::function<uint32_t(uint32_t)> from;
  };
  const Case cases[] = {
      {"up", "1", "0", [](uint32_t i) { return i >= 1 ? i - 1 : i; }},
      {"down", "3", "31", [](uint32_t i) { return i + 3 <= 31 ? i + 3 : i; }},
      {"bfly", "5", "31", [](uint32_t i) { return i ^ 5; }},
      {"idx", "9", "31", [](uint32_t) { return 9u; }},
      {"idx", "2", "0x181f", [](uint32_t i) { return (i & 24) | 2; }}, // segments of 8
      {"up", "2", "0x1800", [](uint32_t i) { return (i & 7) >= 2 ? i - 2 : i; }},
      {"down", "2", "0x181f", [](uint32_t i) { return (i & 7) + 2 < 8 ? i + 2 : i; }},
  };
  for (const Case &c : cases) {
    auto v = lanes("add.u32 %r1, %r40, 100; shfl.sync." + std::string(c.mode) + ".b32 %r2|%p1, %r1, " + c.b + ", " +
                   c.c + ", -1; selp.u32 %r3, 1000, 0, %p1; add.u32 %r50, %r2, %r3;");
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(v[i] % 1000, 100 + c.from(i)) << c.mode << c.b << c.c << " lane " << i;
    EXPECT_EQ(v[31] >= 1000, c.from(31) != 31) << c.mode;
  }
}

TEST_F(Control, VotesMatchReduxElect) {
  auto ballot = lanes("setp.gt.u32 %p1, %r40, 20; vote.sync.ballot.b32 %r50, %p1, -1;");
  EXPECT_EQ(ballot[3], 0xffe00000u);
  auto any =
      lanes("setp.gt.u32 %p1, %r40, 20; vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, !%p1, -1;\n"
            "vote.sync.uni.pred %p4, %p1, -1; selp.u32 %r1, 1, 0, %p2; selp.u32 %r2, 2, 0, %p3; selp.u32 %r3, 4, 0, "
            "%p4; add.u32 %r50, %r1, %r2; add.u32 %r50, %r50, %r3;");
  EXPECT_EQ(any[0], 1u);
  auto match = lanes("rem.u32 %r1, %r40, 5; match.any.sync.b32 %r50, %r1, -1;");
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t want = 0;
    for (uint32_t j = i % 5; j < 32; j += 5)
      want |= 1u << j;
    EXPECT_EQ(match[i], want);
  }
  auto all = lanes("mov.u64 %rd1, 7; match.all.sync.b64 %r1|%p1, %rd1, 0xffff; @!%p1 trap; mov.u32 %r50, %r1;", 16);
  EXPECT_EQ(all[0], 0xffffu);
  auto redux = lanes("redux.sync.add.u32 %r1, %r40, -1; sub.s32 %r2, %r40, 10; redux.sync.min.s32 %r3, %r2, -1;\n"
                     "sub.s32 %r50, %r1, %r3;");
  EXPECT_EQ(redux[7], 31u * 16 + 10);
}

TEST_F(Control, ElectPicksOneOfTheMask) {
  auto v = lanes("setp.lt.u32 %p2, %r40, 4; mov.u32 %r50, 7; @%p2 bra out; elect.sync %r1|%p1, 0xfffffff0;\n"
                 "selp.u32 %r2, 100, 0, %p1; add.u32 %r50, %r1, %r2; out:");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(v[i], i < 4 ? 7 : i == 4 ? 104 : 4);
}

TEST_F(Control, SyncGathersDivergedLanes) {
  // Odd lanes take a detour; the shuffle still sees everybody.
  for (uint64_t seed = 0; seed < 8; ++seed) {
    options.seed = seed;
    open();
    auto v = lanes("and.b32 %r1, %r40, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, %r40; @%p1 bra meet;\n"
                   "mul.lo.u32 %r2, %r40, 10; add.u32 %r2, %r2, 1; meet:\n"
                   "shfl.sync.bfly.b32 %r50, %r2, 1, 31, -1; bar.warp.sync -1;");
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(v[i], (i ^ 1) % 2 ? (i ^ 1) * 10 + 1 : i ^ 1);
  }
}

TEST_F(Control, SpinInsideOneWarpIsLetGo) {
  // Lane 0 waits for lane 31, which stands at a higher program counter.
  for (uint64_t seed = 0; seed < 8; ++seed) {
    options.seed = seed;
    open();
    uint64_t flag = zeros(4);
    run(kernelText("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @!%p1 bra set;\n"
                   "wait: ld.relaxed.gpu.global.u32 %r2, [%rd100]; setp.ne.u32 %p2, %r2, 31; @%p2 bra wait; bra end;\n"
                   "set: st.relaxed.gpu.global.u32 [%rd100], %r1; end:",
                   1),
        grid(1, 32), {flag});
  }
}

TEST_F(Control, CarriesAndWidthOfConversions) {
  auto v = lanes("mov.u32 %r1, 0xffffffff; add.cc.u32 %r2, %r1, %r40; addc.u32 %r3, 0, 5; cvt.s8.s32 %r4, -3;\n"
                 "cvt.u8.u32 %r5, 0x1ff; mad.lo.u32 %r50, %r3, 1000, %r5; sub.u32 %r50, %r50, %r4;");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(v[i], (i ? 6000u : 5000u) + 255 + 3);
}

TEST_F(Control, TrapUnknownAndTargets) {
  EXPECT_THAT(errorOf(kernelText("trap;", 0), grid(1, 1), {}), HasSubstr("the kernel trapped"));
  std::string unknown = kernelText("setp.eq.u32 %p1, 1, 2; @!%p1 bra over; frobnicate.b32 %r1, %r2; over:", 0);
  EXPECT_EQ(errorOf(unknown, grid(1, 1), {}), "no error"); // not reached
  EXPECT_THAT(errorOf(kernelText("frobnicate.b32 %r1, %r2;", 0), grid(1, 1), {}), HasSubstr("frobnicate.b32"));
  options.chip = "sm_80";
  open();
  EXPECT_THAT(errorOf(kernelText("", 0), grid(1, 1), {}),
              HasSubstr("expected PTX for sm_80 or older, found .target sm_90a"));
  EXPECT_THAT(errorOf(kernelText("mapa.shared::cluster.u32 %r1, %r2, 0;", 0, "sm_80"), grid(1, 1), {}),
              HasSubstr("needs sm_90"));
  EXPECT_THAT(errorOf(kernelText("", 0, "sm_80"), grid(2, 1, 2), {}), HasSubstr("expected no cluster"));
}

TEST_F(Control, LaunchesThatCannotBe) {
  std::string text = kernelText("", 1, "sm_90a", ".maxntid 64, 1, 1");
  EXPECT_THAT(errorOf(text, grid(1, 65), {0}), HasSubstr("at most the 64 threads"));
  EXPECT_THAT(errorOf(text, grid(1, 64), {}), HasSubstr("expected 8 bytes of parameters"));
  EXPECT_THAT(errorOf(text, grid(3, 1, 2), {0}), HasSubstr("a multiple of the cluster"));
  EXPECT_THAT(errorOf(text, grid(1, 1, 1, 300000), {0}), HasSubstr("bytes of shared memory"));
  options.residency = 2;
  open();
  EXPECT_THAT(errorOf(text, grid(4, 1, 4), {0}), HasSubstr("a residency of at least the cluster size 4"));
}

} // namespace
} // namespace interlock::emu::test
