// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loads, stores, atomics and their checks.
#include "tests/unit/emulator/Harness.h"

#include <algorithm>

namespace interlock::emu::test {
namespace {

using testing::HasSubstr;

/// %rd10 = p0 + 4 * global thread index, %r1 = the index.
const std::string index4 = "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                           "mad.lo.s32 %r1, %r2, %r3, %r1;\n"
                           "mul.wide.u32 %rd9, %r1, 4; add.s64 %rd10, %rd100, %rd9;\n";

class Memory : public MachineTest {};

TEST_F(Memory, StoresGoWhereTheyShould) {
  uint64_t out = zeros(4 * 3 * 70);
  run(kernelText(index4 + "st.global.u32 [%rd10], %r1;", 1), grid(3, 70), {out});
  auto got = download<uint32_t>(out, 210);
  for (uint32_t i = 0; i < 210; ++i)
    EXPECT_EQ(got[i], i);
}

TEST_F(Memory, WidthsAndSignExtension) {
  uint64_t in = upload<uint8_t>({0x80, 0xff, 0x01, 0xfe, 0x88, 0x77, 0x66, 0x95, 1, 2, 3, 4, 5, 6, 7, 8});
  uint64_t out = zeros(128);
  run(kernelText(
          "ld.global.u8 %r1, [%rd100]; st.global.u32 [%rd101], %r1;\n"
          "ld.global.s8 %r1, [%rd100]; st.global.u32 [%rd101+4], %r1;\n"
          "ld.global.s16 %r1, [%rd100+2]; st.global.u32 [%rd101+8], %r1;\n"
          "ld.global.s32 %rd1, [%rd100+4]; st.global.u64 [%rd101+16], %rd1;\n"
          "ld.global.v2.u16 {%h1, %h2}, [%rd100+4]; st.global.v2.u16 [%rd101+24], {%h2, %h1};\n"
          "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd100]; st.global.v4.b32 [%rd101+32], {%r4, %r3, %r2, %r1};\n"
          "ld.global.b128 %q1, [%rd100]; st.global.b128 [%rd101+48], %q1;\n"
          "ld.global.b8 %r1, [%rd100+1]; st.global.b8 [%rd101+64], %r1;\n"
          "mov.b128 {%rd1, %rd2}, %q1; st.global.v2.b64 [%rd101+80], {%rd2, %rd1};",
          2),
      grid(1, 1), {in, out});
  auto w = download<uint32_t>(out, 32);
  EXPECT_EQ(w[0], 0x80u);
  EXPECT_EQ(w[1], 0xffffff80u);
  EXPECT_EQ(w[2], 0xfffffe01u);
  EXPECT_EQ(w[4], 0x95667788u);
  EXPECT_EQ(w[5], 0xffffffffu);
  EXPECT_EQ(w[6], 0x77889566u);
  EXPECT_EQ(w[8], 0x08070605u);
  EXPECT_EQ(w[11], 0xfe01ff80u);
  EXPECT_EQ(w[12], 0xfe01ff80u);
  EXPECT_EQ(w[15], 0x08070605u);
  EXPECT_EQ(w[16], 0xffu);
  EXPECT_EQ(w[20], 0x04030201u);
  EXPECT_EQ(w[22], 0xfe01ff80u);
}

TEST_F(Memory, EightWideVectors) {
  options.chip = "sm_100a";
  open();
  uint64_t in = upload<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8}), out = zeros(32);
  run(kernelText("ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd100];\n"
                 "st.global.v8.b32 [%rd101], {%r8,%r7,%r6,%r5,%r4,%r3,%r2,%r1};",
                 2, "sm_100", "", "", "8.8"),
      grid(1, 1), {in, out});
  EXPECT_EQ(download<uint32_t>(out, 8), (std::vector<uint32_t>{8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST_F(Memory, SharedLocalConstAndGeneric) {
  uint64_t out = zeros(4 * 64);
  run(kernelText(index4 + ".shared .align 4 .b8 buf[256]; .local .align 4 .b8 loc[16];\n"
                          "shl.b32 %r4, %r1, 2; mov.u32 %r5, buf; add.u32 %r6, %r5, %r4;\n"
                          "st.shared.u32 [%r6], %r1; bar.sync 0;\n"
                          "xor.b32 %r7, %r4, 4; add.u32 %r7, %r7, %r5; cvt.u64.u32 %rd1, %r7;\n"
                          "cvta.shared.u64 %rd2, %rd1; ld.u32 %r8, [%rd2];\n" // generic load of the neighbour's
                          "mov.u64 %rd3, loc; st.local.u32 [%rd3+4], %r8; cvta.local.u64 %rd4, %rd3;\n"
                          "ld.u32 %r9, [%rd4+4]; ld.const.u32 %r10, [table+4]; add.u32 %r9, %r9, %r10;\n"
                          "cvta.to.shared.u64 %rd5, %rd2; setp.eq.u64 %p1, %rd5, %rd1; @!%p1 trap;\n"
                          "isspacep.shared %p2, %rd2; @!%p2 trap; isspacep.global %p2, %rd10; @!%p2 trap;\n"
                          "isspacep.local %p2, %rd4; @!%p2 trap; isspacep.local %p2, %rd10; @%p2 trap;\n"
                          "st.global.u32 [%rd10], %r9;",
                 1, "sm_90a", "", ".const .align 4 .u32 table[2] = {7, 1000};"),
      grid(1, 64), {out});
  auto got = download<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], (i ^ 1) + 1000);
}

TEST_F(Memory, DynamicSharedFollowsStatic) {
  uint64_t out = zeros(16);
  run(kernelText(".shared .align 16 .b8 fixed[40]; mov.u32 %r1, dyn; mov.u32 %r2, fixed; sub.u32 %r3, %r1, %r2;\n"
                 "mov.u32 %r4, 5; st.shared.u32 [dyn+12], %r4; ld.shared.u32 %r5, [%r1+12];\n"
                 "mov.u32 %r6, %dynamic_smem_size; st.global.v4.u32 [%rd100], {%r3, %r5, %r6, %r6};",
                 1, "sm_90a", "", ".extern .shared .align 16 .b8 dyn[];"),
      grid(1, 1, 1, 64), {out});
  EXPECT_EQ(download<uint32_t>(out, 3), (std::vector<uint32_t>{48, 5, 64}));
}

TEST_F(Memory, GlobalVariablesAndInitialisers) {
  std::string text =
      kernelText("ld.global.u64 %rd1, [link]; ld.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1;\n"
                 "st.global.u32 [count], %r1;",
                 0, "sm_90a", "", ".global .align 4 .u32 count = 41;\n.global .align 8 .u64 link = generic(count);");
  auto m = machine->load(0, text, "g.ptx");
  ASSERT_TRUE(m) << m.error().message;
  ASSERT_TRUE(enqueue(*machine->kernel(*m, "k"), grid(1, 1), {}));
  ASSERT_TRUE(machine->synchronizeAll());
  EXPECT_EQ(download<uint32_t>(*machine->symbol(*m, "count"), 1)[0], 42u);
}

TEST_F(Memory, AtomicsAdd) {
  uint64_t out = zeros(64), old = zeros(4 * 96);
  run(kernelText(
          "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %rd101, %rd1;\n"
          "atom.global.add.u32 %r2, [%rd100], 1; st.global.u32 [%rd2], %r2; red.global.add.f32 [%rd100+4], "
          "0f3F000000;\n"
          "red.relaxed.sys.global.max.s32 [%rd100+8], %r1; red.global.or.b32 [%rd100+12], %r1;\n"
          "atom.global.inc.u32 %r3, [%rd100+16], 9; cvt.u64.u32 %rd3, %r1; red.global.add.u64 [%rd100+24], %rd3;\n"
          "red.global.add.noftz.f16x2 [%rd100+32], %r5; red.global.add.noftz.bf16x2 [%rd100+36], %r6;",
          2),
      grid(1, 96), {out, old});
  auto w = download<uint32_t>(out, 10);
  EXPECT_EQ(w[0], 96u);
  float f;
  std::memcpy(&f, &w[1], 4);
  EXPECT_EQ(f, 48.0f);
  EXPECT_EQ(w[2], 95u);
  EXPECT_EQ(w[3], 127u);
  EXPECT_EQ(w[4], 96u % 10);
  EXPECT_EQ(w[6], 95u * 96 / 2);
  auto o = download<uint32_t>(old, 96);
  std::sort(o.begin(), o.end());
  for (uint32_t i = 0; i < 96; ++i)
    EXPECT_EQ(o[i], i);
}

TEST_F(Memory, HalfAtomics) {
  uint64_t out = zeros(16);
  run(kernelText("mov.b32 %r1, 0x3C004000; red.global.add.noftz.f16x2 [%rd100], %r1;\n" // 1, 2
                 "mov.b32 %r2, 0x3F804000; red.global.add.noftz.bf16x2 [%rd100+4], %r2;\n"
                 "mov.b16 %h1, 0x3C00; atom.global.add.noftz.f16 %h2, [%rd100+8], %h1;",
                 1),
      grid(1, 3), {out});
  auto w = download<uint16_t>(out, 6);
  EXPECT_EQ(w[1], 0x4200); // 3
  EXPECT_EQ(w[0], 0x4600); // 6
  EXPECT_EQ(w[3], 0x4040); // 3
  EXPECT_EQ(w[2], 0x40c0); // 6
  EXPECT_EQ(w[4], 0x4200);
}

TEST_F(Memory, CompareAndSwapAndExchange) {
  uint64_t out = upload<uint64_t>({5, 0, 11, 12, 0, 0, 0, 0});
  run(kernelText(
          "atom.global.cas.b32 %r1, [%rd100], 5, 9; atom.global.cas.b32 %r2, [%rd100], 5, 77;\n"
          "st.global.v2.u32 [%rd100+8], {%r1, %r2}; mov.b64 %rd1, 11; mov.b64 %rd2, 12; mov.b64 %rd3, 21;\n"
          "mov.b128 %q1, {%rd1, %rd2}; mov.b128 %q2, {%rd3, %rd1}; atom.global.cas.b128 %q3, [%rd100+16], %q1, %q2;\n"
          "mov.b128 {%rd4, %rd5}, %q3; st.global.v2.u64 [%rd100+32], {%rd4, %rd5};\n"
          "atom.global.exch.b64 %rd6, [%rd100+48], %rd3; st.global.u64 [%rd100+56], %rd6;",
          1),
      grid(1, 1), {out});
  auto w = download<uint64_t>(out, 8);
  EXPECT_EQ(w[0], 9u);
  EXPECT_EQ(w[1], uint64_t(9) << 32 | 5);
  EXPECT_EQ(w[2], 21u);
  EXPECT_EQ(w[3], 11u);
  EXPECT_EQ(w[4], 11u);
  EXPECT_EQ(w[5], 12u);
  EXPECT_EQ(w[6], 21u);
  EXPECT_EQ(w[7], 0u);
}

TEST_F(Memory, OutOfBoundsNamesEverything) {
  uint64_t out = zeros(40);
  std::string e = errorOf(kernelText(index4 + "st.global.u32 [%rd10], %r1;", 1), grid(1, 32), {out});
  EXPECT_THAT(e, HasSubstr("test.ptx:"));
  EXPECT_THAT(e, HasSubstr("st.global.u32 [%rd10], %r1"));
  EXPECT_THAT(e, HasSubstr("lane 10"));
  EXPECT_THAT(e, HasSubstr("0 bytes past the end of the allocation of 40 bytes"));
  // Usable afterwards.
  uint64_t big = zeros(4 * 32);
  run(kernelText(index4 + "st.global.u32 [%rd10], %r1;", 1), grid(1, 32), {big});
  EXPECT_EQ(download<uint32_t>(big, 32)[31], 31u);
}

TEST_F(Memory, Misaligned) {
  uint64_t out = zeros(64);
  EXPECT_THAT(errorOf(kernelText("st.global.v4.u32 [%rd100+4], {%r1,%r1,%r1,%r1};", 1), grid(1, 1), {out}),
              HasSubstr("expected an address that is a multiple of 16"));
}

TEST_F(Memory, NullSharedAndReleased) {
  EXPECT_THAT(errorOf(kernelText("ld.global.u32 %r1, [%rd100+8];", 1), grid(1, 1), {0}), HasSubstr("null pointer"));
  EXPECT_THAT(errorOf(kernelText(".shared .b8 s[16]; mov.u32 %r2, s; ld.shared.u32 %r1, [%r2+16];", 0), grid(1, 1), {}),
              HasSubstr("inside the 16 bytes of shared memory"));
  uint64_t a = zeros(64);
  std::string text = kernelText("ld.global.u32 %r1, [%rd100];", 1);
  KernelId k = load(text);
  ASSERT_TRUE(enqueue(k, grid(1, 1), {a}));
  ASSERT_TRUE(machine->synchronizeAll());
  ASSERT_TRUE(machine->release(a));
  ASSERT_TRUE(enqueue(k, grid(1, 1), {a}));
  EXPECT_FALSE(machine->synchronizeAll());
}

} // namespace
} // namespace interlock::emu::test
