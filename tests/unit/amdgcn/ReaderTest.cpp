// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the AMDGCN reader makes of LLVM's text, and what it says of what is none.
#include "analysis/AMDGCN/Reader.h"
#include "tests/unit/amdgcn/Corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace interlock::amdgcn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Module mustRead(std::string_view text) {
  auto m = read(text, "t.s");
  EXPECT_TRUE(m) << m.error().str();
  return m ? std::move(*m) : Module();
}
std::string errorOf(std::string_view text) {
  auto m = read(text, "t.s");
  return m ? "no error" : m.error().str();
}
/// The first instruction with that mnemonic.
const Instruction &the(const Module &m, std::string_view mnemonic) {
  for (const Instruction &in : m.instructions)
    if (in.mnemonic == mnemonic)
      return in;
  ADD_FAILURE() << "no " << mnemonic;
  static Instruction none{"none"};
  return none;
}

TEST(Reader, Targets) {
  Module m = mustRead(corpus::kernel);
  EXPECT_EQ(m.target, "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
  EXPECT_EQ(m.processor(), "gfx942");
  EXPECT_EQ(m.codeObjectVersion, 6u);
  EXPECT_EQ(mustRead(corpus::newer).processor(), "gfx1250");
  EXPECT_EQ(mustRead("s_endpgm").processor(), "");
}

TEST(Reader, Kernels) {
  Module m = mustRead(corpus::kernel);
  ASSERT_EQ(m.kernels.size(), 1u);
  const Kernel &k = *m.findKernel("k");
  EXPECT_EQ(k.symbol, "k.kd");
  ASSERT_TRUE(k.function);
  EXPECT_EQ(m.functions[*k.function].name, "k");
  EXPECT_EQ(k.directive("group_segment_fixed_size"), 256);
  EXPECT_EQ(k.directive("private_segment_fixed_size"), 16); // by a .set further down
  EXPECT_EQ(k.directive("next_free_vgpr"), 40);             // 33, up to a multiple of 4, and 4 AGPRs
  EXPECT_EQ(k.directive("wavefront_size32", 7), 7);
  EXPECT_EQ(k.metadata.at("wavefront_size"), 64);
  EXPECT_EQ(k.metadata.at("uses_dynamic_stack"), 0);
  ASSERT_EQ(k.arguments.size(), 3u);
  EXPECT_EQ(k.arguments[0].name, "out");
  EXPECT_EQ(k.arguments[0].addressSpace, "global");
  EXPECT_EQ(k.arguments[1].offset, 8u);
  EXPECT_EQ(k.arguments[1].size, 4u);
  EXPECT_TRUE(k.arguments[2].hidden());
  EXPECT_EQ(k.arguments[2].valueKind, "hidden_block_count_x");
  EXPECT_EQ(k.explicitBytes(), 12u);
}

TEST(Reader, FunctionsAndLabels) {
  Module m = mustRead(corpus::kernel);
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_EQ(m.functions[1].name, "helper");
  EXPECT_EQ(m.code(m.functions[1]).size(), 1u);
  EXPECT_EQ(m.functionOf(m.functions[1].begin)->name, "helper");
  EXPECT_EQ(m.functionOf(0)->name, "k");
  const Instruction &branch = the(m, "s_cbranch_execz");
  ASSERT_EQ(branch.operands[0].kind, OperandKind::label);
  EXPECT_EQ(m.instructions[branch.operands[0].index].mnemonic, "s_endpgm");
}

TEST(Reader, Operands) {
  Module m = mustRead(corpus::kernel);
  const Instruction &load = the(m, "global_load_dwordx4");
  EXPECT_TRUE(load.operands[0].isRegister(RegisterFile::vgpr));
  EXPECT_EQ(load.operands[0].index, 6u);
  EXPECT_EQ(load.operands[0].count, 4u);
  EXPECT_TRUE(load.operands[2].isRegister(RegisterFile::sgpr));
  EXPECT_EQ(load.number("offset"), -16);
  EXPECT_TRUE(load.has("sc0") && load.has("sc1") && load.has("nt"));
  EXPECT_TRUE(the(m, "global_load_dword").operands[2].is("off"));
  const Instruction &add = the(m, "v_add_f32_e64");
  EXPECT_TRUE(add.operands[1].negated && add.operands[1].absolute);
  EXPECT_EQ(add.operands[2].kind, OperandKind::real);
  EXPECT_EQ(add.operands[2].value, 1.0);
  EXPECT_TRUE(add.has("clamp"));
  EXPECT_EQ(add.opcode, "v_add_f32");
  EXPECT_EQ(add.encoding, "e64");
  EXPECT_TRUE(the(m, "v_add_f32_sdwa").operands[1].sext);
  EXPECT_EQ(the(m, "v_add_f32_sdwa").word("src0_sel"), "WORD_1");
  EXPECT_THAT(the(m, "v_pk_fma_f32").find("op_sel")->numbers, ElementsAre(0, 1, 0));
  EXPECT_THAT(the(m, "v_mov_b32_dpp").find("quad_perm")->numbers, ElementsAre(1, 0, 3, 2));
  EXPECT_EQ(the(m, "v_mov_b32_dpp").number("row_mask"), 15);
  EXPECT_EQ(the(m, "ds_swizzle_b32").word("offset"), "swizzle(SWAP,16)");
  EXPECT_TRUE(the(m, "v_accvgpr_write_b32").operands[0].isRegister(RegisterFile::agpr));
  const Operand &hwreg = the(m, "s_getreg_b32").operands[1];
  EXPECT_EQ(hwreg.kind, OperandKind::call);
  ASSERT_EQ(hwreg.elements.size(), 3u);
  EXPECT_EQ(hwreg.elements[0].name, "HW_REG_IB_STS2");
  EXPECT_EQ(hwreg.elements[2].bits, 4u);
  const Operand &table = the(m, "s_addc_u32").operands[2];
  EXPECT_EQ(table.kind, OperandKind::symbol);
  EXPECT_EQ(table.name, "table");
  EXPECT_EQ(table.relocation, "rel32@hi");
  EXPECT_EQ(table.bits, 12u);
  EXPECT_NEAR(the(m, "v_mul_f32_e32").operands[1].value, 0.15915494, 1e-9);
  EXPECT_EQ(the(m, "v_mov_b32_e32").operands[1].bits, 0x40u);
}

TEST(Reader, WaitsAndFlags) {
  Module m = mustRead(corpus::kernel);
  const Instruction &wait = the(m, "s_waitcnt");
  EXPECT_EQ(wait.argument("vmcnt"), 0);
  EXPECT_EQ(wait.argument("lgkmcnt"), 0);
  EXPECT_EQ(wait.argument("expcnt"), std::nullopt);
  EXPECT_EQ(wait.source.line, 12u);
  EXPECT_TRUE(the(m, "buffer_wbl2").has("sc1"));
  EXPECT_TRUE(the(m, "buffer_wbl2").operands.empty());
  EXPECT_EQ(the(m, "ds_write_b32").number("offset"), 64);
  Module n = mustRead("s_waitcnt vmcnt(3) & lgkmcnt(2)\ns_waitcnt_vscnt null, 0x0\ns_wait_loadcnt 0x2\n");
  EXPECT_EQ(n.instructions[0].argument("lgkmcnt"), 2);
  EXPECT_EQ(n.instructions[1].operands[1].bits, 0u);
}

TEST(Reader, NewerSyntax) {
  Module m = mustRead(corpus::newer);
  const Instruction &load = the(m, "global_load_b128");
  EXPECT_EQ(load.word("scope"), "SCOPE_SYS");
  EXPECT_EQ(load.word("th"), "TH_LOAD_NT");
  EXPECT_TRUE(load.has("scale_offset"));
  EXPECT_EQ(the(m, "s_delay_alu").operands.size(), 3u);
  const Instruction &dual = the(m, "v_dual_fmac_f32");
  EXPECT_EQ(dual.operands.size(), 3u);
  ASSERT_EQ(dual.second.size(), 1u);
  EXPECT_EQ(dual.second[0].mnemonic, "v_dual_and_b32");
  EXPECT_EQ(dual.second[0].operands[1].bits, 0xffff0000u);
  EXPECT_EQ(the(m, "v_mov_b16_e32").operands[0].half, 'l');
  EXPECT_EQ(the(m, "v_mov_b16_e32").operands[1].half, 'h');
  EXPECT_EQ(int64_t(the(m, "s_barrier_signal").operands[0].bits), -1);
  EXPECT_EQ(the(m, "global_wb").word("scope"), "SCOPE_DEV");
  EXPECT_TRUE(the(m, "v_add_co_ci_u32_e64").operands[1].is("null"));
  EXPECT_EQ(the(m, "s_add_nc_u64").operands[2].relocation, "rel64");
  EXPECT_EQ(the(m, "s_sendmsg_rtn_b64").operands[1].elements[0].name, "MSG_RTN_GET_REALTIME");
}

TEST(Reader, Comments) {
  Module m = mustRead(corpus::kernel);
  EXPECT_EQ(the(m, "v_accvgpr_write_b32").comment, "spilled");
  const Comment *handoff = nullptr;
  for (const Comment &c : m.comments)
    if (c.text.starts_with("handoff"))
      handoff = &c;
  ASSERT_TRUE(handoff);
  EXPECT_FALSE(handoff->behindCode);
  EXPECT_EQ(m.instructions[handoff->instruction].mnemonic, "buffer_wbl2");
}

TEST(Reader, Data) {
  Module m = mustRead(corpus::kernel);
  const Symbol &table = *m.findSymbol("table");
  EXPECT_EQ(table.size, 16u);
  const Section &rodata = m.sections[table.section];
  EXPECT_EQ(rodata.name, ".rodata");
  EXPECT_EQ(rodata.align, 64u);
  EXPECT_EQ(rodata.size - table.offset, 4u + 8 + 6 + 6 + 3);
  EXPECT_EQ(rodata.bytes[table.offset], 1);
  ASSERT_EQ(rodata.relocations.size(), 1u);
  EXPECT_EQ(rodata.relocations[0].symbol, "table");
  EXPECT_EQ(rodata.relocations[0].addend, 8);
  EXPECT_EQ(rodata.bytes[table.offset + 12], 'a');
  EXPECT_EQ(rodata.bytes[table.offset + 13], ';');
  EXPECT_EQ(rodata.bytes[table.offset + 16], 1);
  EXPECT_EQ(rodata.bytes.back(), 0xff);
  EXPECT_EQ(m.findSymbol("tile")->kind, SymbolKind::local);
  EXPECT_EQ(m.findSymbol("tile")->size, 4096u);
  const Section &bss = m.sections[m.findSymbol("big")->section];
  EXPECT_EQ(bss.size, 1024u);
  EXPECT_TRUE(bss.bytes.empty());
  EXPECT_EQ(m.unknownDirectives.at(".later_directive"), 1u);
}

TEST(Reader, PrintsWhatItRead) {
  Module m = mustRead(corpus::kernel);
  EXPECT_EQ(the(m, "global_load_dwordx4").text(), "global_load_dwordx4 v[6:9], v1, s[0:1] offset:-16 sc0 sc1 nt");
  EXPECT_EQ(the(m, "v_add_f32_e64").text(), "v_add_f32_e64 v3, -|v2|, 1 clamp");
  EXPECT_EQ(the(m, "s_waitcnt").text(), "s_waitcnt vmcnt(0) lgkmcnt(0)");
  EXPECT_EQ(the(mustRead(corpus::newer), "v_dual_fmac_f32").text(),
            "v_dual_fmac_f32 v11, s9, v11 :: v_dual_and_b32 v10, 0xffff0000, v6");
}

TEST(Reader, SurvivesMoves) {
  Module a = mustRead(corpus::kernel);
  Module b = std::move(a);
  EXPECT_EQ(b.findKernel("k")->arguments[0].name, "out");
  EXPECT_EQ(b.instructions[0].mnemonic, "s_load_dwordx4");
}

TEST(ReaderErrors, NameThePlace) {
  EXPECT_EQ(errorOf("\ns_mov_b32 s0 s1 s2, s3\n"), "no error"); // words behind an operand are modifiers
  EXPECT_EQ(errorOf("\n\ts_mov_b32 s0, \n"), "t.s:2:15: expected an operand behind ',', found the end of the line");
  EXPECT_EQ(errorOf("v_mov_b32 v[3:1], v0"), "t.s:1:16: expected a range of registers such as v[0:3], found ']'");
  EXPECT_THAT(errorOf("v_add_f32 v0, |v1, v2"), HasSubstr("expected '|' behind an operand"));
  EXPECT_THAT(errorOf("a:\na:\n"), HasSubstr("t.s:2:1: expected each label once, found a again"));
  EXPECT_THAT(errorOf("?"), HasSubstr("expected a label, a directive or an instruction, found '?'"));
  EXPECT_THAT(errorOf(".amdhsa_kernel k\n.amdhsa_x 1\n"), HasSubstr("expected .end_amdhsa_kernel of k"));
  EXPECT_THAT(errorOf(".amdhsa_kernel k\n.amdhsa_x nothing\n.end_amdhsa_kernel\n"),
              HasSubstr("expected a value of .amdhsa_x that can be computed"));
  EXPECT_THAT(errorOf(".amdgpu_metadata\n---\n"), HasSubstr("expected .end_amdgpu_metadata"));
  EXPECT_THAT(errorOf("s_nop /* "), HasSubstr("expected '*/'"));
  EXPECT_THAT(errorOf(".rodata\n.zero 0x7fffffffffff\n"), HasSubstr("at most 256 MiB"));
  EXPECT_THAT(errorOf("v_dual_a v0, v1 :: v_dual_b v2, v3 :: v_dual_c v4, v5"), HasSubstr("at most two"));
  EXPECT_THAT(errorOf("v_mov_b32 v0, 99999999999999999999999"), "no error"); // a real number
  EXPECT_THAT(errorOf("ds_read_b32 v0, v1 offset:[1"), HasSubstr("to be closed"));
}

TEST(ReaderErrors, AreShortWhateverTheName) {
  std::string name(1 << 20, 'x');
  EXPECT_LT(errorOf("s_branch ?" + name).size(), 200u);
  EXPECT_LT(errorOf(name + ":\n" + name + ":\n").size(), 400u);
}

} // namespace
} // namespace interlock::amdgcn
