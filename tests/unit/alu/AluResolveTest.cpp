// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What is known, what is refused, and how a warp is evaluated.
#include "tests/unit/alu/Form.h"
#include "tests/unit/alu/Samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock::emu::alu {
namespace {

class Refused : public testing::TestWithParam<const char *> {};

TEST_P(Refused, NamesTheInstruction) {
  std::string text = GetParam(), mnemonic = text.substr(0, text.find(' '));
  EXPECT_EQ(Form(text).error(), "the emulator does not know " + mnemonic);
}

INSTANTIATE_TEST_SUITE_P(All, Refused,
                         testing::Values("frobnicate.u32 %d, %a", "add.f128 %d, %a, %b", "add.sat.u32 %d, %a, %b",
                                         "mul.u32 %d, %a, %b", "add.new.s32 %d, %a, %b",
                                         "fma.rn.oob.f16 %d, %a, %b, %c", "add.rz.f16 %d, %a, %b",
                                         "min.xorsign.f32 %d, %a, %b", "setp.lt.later.u32 %p, %a, %b",
                                         "setp.num.s32 %p, %a, %b", "cvt.rs.f16x2.f32 %d, %a, %b, %c",
                                         "cvt.rn.e4m3x2.f32 %d, %a, %b", "cvt.s32.f32 %d, %a",
                                         "shf.l.b32 %d, %a, %b, %c", "prmt.b32.f5e %d, %a, %b, %c",
                                         "dp2a.s32.s32 %d, %a, %b, %c", "div.f16 %d, %a, %b", "bfe.u16 %d, %a, %b, %c",
                                         "cvt.rn.f32.f32.f32 %d, %a", "testp.odd.f32 %p, %a"));

TEST(Resolve, ModifiersMayStandInAnyOrder) {
  EXPECT_EQ(Form("add.f32.sat.ftz.rz %d, %a, %b")(0x3f800000, 0x3f800000).value, 0x3f800000u);
  EXPECT_EQ(Form("min.abs.xorsign.f32 %d, %a, %b")(0xbf800000, 0x40000000).value, 0xbf800000u);
}

TEST(Resolve, CarriesOnlyOnRequest) {
  auto module =
      ptx::read(".version 8.0\n.target sm_90\n.entry k() { .reg .b32 %r<3>; add.cc.u32 %r0, %r1, %r2; ret; }");
  ASSERT_TRUE(module);
  const ptx::Instruction &in = module->functions.at(0).instructions.at(0);
  EXPECT_FALSE(resolve(in));
  auto op = resolveExtended(in);
  ASSERT_TRUE(op);
  EXPECT_TRUE(op->carryOut);
  EXPECT_FALSE(op->carryIn);
}

TEST(Resolve, ResultIsExtendedToTheRegister) {
  auto module = ptx::read(".version 8.0\n.target sm_90\n.entry k() { .reg .b64 %r<3>; cvt.s8.s32 %r0, %r1; ret; }");
  ASSERT_TRUE(module);
  auto op = resolve(module->functions.at(0).instructions.at(0));
  ASSERT_TRUE(op);
  uint64_t a = 0x80, out = 0, second = 0;
  const uint64_t *in[4] = {&a};
  op->eval(*op, in, &out, &second, 1, 1);
  EXPECT_EQ(out, 0xffffff80u);
  op->extendTo = 64;
  op->eval(*op, in, &out, &second, 1, 1);
  EXPECT_EQ(out, 0xffffffffffffff80u);
}

/// One of every family, a full warp and every partial mask alike; idle lanes keep their values.
TEST(Warp, MaskedLanesAreUntouchedAndOthersAgree) {
  for (const char *text : {"add.s32 %d, %a, %b", "mad.hi.u64 %d, %a, %b, %c", "lop3.b32 %d, %a, %b, %c, 202",
                           "shl.b32 %d, %a, %b", "setp.lt.u32 %p|%q, %a, %b", "setp.geu.f32 %p|%q, %a, %b",
                           "selp.b32 %d, %a, %b, %c", "fma.rn.f32 %d, %a, %b, %c", "fma.rz.ftz.f32 %d, %a, %b, %c",
                           "add.rn.f16x2 %d, %a, %b", "fma.rp.f64 %d, %a, %b, %c", "cvt.rn.bf16x2.f32 %d, %a, %b",
                           "cvt.rzi.s32.f32 %d, %a", "addc.cc.u32 %d, %a, %b", "neg.f32 %d, %a"}) {
    Form form(text);
    ASSERT_EQ(form.error(), "");
    Random random{13};
    std::vector<std::vector<uint64_t>> rows(5, std::vector<uint64_t>(32));
    for (int round = 0; round < 200; ++round) {
      for (auto &row : rows)
        for (uint64_t &value : row)
          value = sample(random, 32);
      uint64_t mask = round == 0 ? 0xffffffff : round == 1 ? 0 : random() & 0xffffffff;
      std::vector<uint64_t> out(32, 0xabcdef), second(32, 0xfedcba);
      form.warp(rows, out, second, mask);
      for (size_t lane = 0; lane < 32; ++lane) {
        Outcome one = form(rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane], rows[4][lane]);
        ASSERT_EQ(out[lane], mask >> lane & 1 ? one.value : 0xabcdef) << text << " lane " << lane;
        if (!(mask >> lane & 1)) {
          ASSERT_EQ(second[lane], 0xfedcbau) << text;
        } else if (std::string(text).find("|%q") != std::string::npos) {
          ASSERT_EQ(second[lane], one.second) << text;
        }
      }
    }
  }
}

TEST(Warp, TheResultMayReplaceASource) {
  Form form("add.s32 %d, %a, %b");
  std::vector<uint64_t> values(32), twice(32), second(32);
  for (size_t lane = 0; lane < 32; ++lane)
    values[lane] = lane * 3;
  const uint64_t *in[4] = {values.data(), values.data()};
  form.op().eval(form.op(), in, values.data(), second.data(), 0xffffffff, 32);
  for (size_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(values[lane], lane * 6);
}

} // namespace
} // namespace interlock::emu::alu
