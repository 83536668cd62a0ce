// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The reader: what each construct of the language becomes.
#include "analysis/PTX/Reader.h"
#include "tests/unit/ptx/Corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace interlock::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Module mustRead(std::string_view text) {
  auto m = read(text, "t.ptx");
  EXPECT_TRUE(m) << m.error().str();
  return m ? std::move(*m) : Module();
}

Module body(std::string statements, std::string declarations = "") {
  return mustRead(".version 8.6\n.target sm_90a\n.address_size 64\n" + declarations +
                  ".entry k() {\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n" + statements +
                  "\n}\n");
}

std::string errorOf(std::string_view text) {
  auto m = read(text, "t.ptx");
  return m ? "no error" : m.error().str();
}

std::string bodyError(std::string statements) {
  return errorOf(".version 8.6\n.target sm_90a\n.entry k() {\n.reg .b32 %r<9>;\n" + statements + "\n}\n");
}

TEST(Reader, ModuleHeader) {
  Module m = mustRead(corpus::kernel);
  EXPECT_EQ(m.version, 86u);
  EXPECT_THAT(m.targets, ElementsAre("sm_90a", "debug"));
  EXPECT_EQ(m.addressSize, 64u);
  ASSERT_EQ(m.variables.size(), 5u);
  EXPECT_EQ(m.findVariable("counter")->initial, (std::vector<uint8_t>{7, 0, 0, 0}));
  EXPECT_EQ(m.findVariable("table")->space, Space::constant);
  EXPECT_EQ(m.findVariable("table")->size, 8u);
  EXPECT_THAT(m.findVariable("table")->initial, ElementsAre(0, 0, 128, 63, 255));
  EXPECT_TRUE(m.findVariable("dyn")->unsized);
  EXPECT_EQ(m.findVariable("dyn")->linkage, Linkage::external);
}

TEST(Reader, InitialisersWithSymbolsAndRows) {
  Module m = mustRead(corpus::kernel);
  const Variable &links = *m.findVariable("links");
  ASSERT_EQ(links.relocations.size(), 2u);
  EXPECT_EQ(links.relocations[0].symbol, "counter");
  EXPECT_EQ(links.relocations[1].offset, 8u);
  EXPECT_EQ(links.relocations[1].addend, 4);
  EXPECT_TRUE(links.relocations[1].generic);
  EXPECT_EQ(links.initial[16], 5);
  const Variable &matrix = *m.findVariable("matrix");
  EXPECT_EQ(matrix.size, 24u);
  ASSERT_EQ(matrix.initial.size(), 24u);
  auto at = [&](size_t i) {
    float f;
    std::memcpy(&f, &matrix.initial[4 * i], 4);
    return f;
  };
  EXPECT_EQ(at(0), 1.0f);
  EXPECT_EQ(at(1), 2.0f);
  EXPECT_EQ(at(2), 0.0f);
  EXPECT_EQ(at(3), 3.0f);
  EXPECT_EQ(at(5), 5.0f);
}

TEST(Reader, EntryHeader) {
  Module m = mustRead(corpus::kernel);
  const Function &k = *m.findFunction("k");
  EXPECT_TRUE(k.entry);
  ASSERT_EQ(k.params.size(), 3u);
  EXPECT_EQ(k.params[0].align, 8u); // the .align behind .ptr is the pointee's
  EXPECT_EQ(k.params[1].offset, 8u);
  EXPECT_EQ(k.params[2].offset, 16u);
  EXPECT_EQ(k.paramBytes, 40u);
  EXPECT_EQ((*k.bounds.maxThreads)[0], 256u);
  EXPECT_EQ((*k.bounds.requiredCluster)[0], 4u);
  EXPECT_TRUE(k.bounds.explicitCluster);
  EXPECT_EQ(*k.bounds.minCtasPerSm, 2u);
  EXPECT_FALSE(m.findFunction("other")->defined);
  EXPECT_EQ(m.findFunction("other")->paramBytes, 32u);
}

TEST(Reader, InstructionsKeepModifiersInOrder) {
  Module m =
      body("fence.acquire.sync_restrict::shared::cluster.cluster;\n  ld.global.L2::128B.v2.f32 {%f1,%f2}, [%rd1+8];");
  const auto &code = m.functions[0].instructions;
  EXPECT_THAT(code[0].mods, ElementsAre("acquire", "sync_restrict::shared::cluster", "cluster"));
  EXPECT_THAT(code[1].mods, ElementsAre("global", "L2::128B", "v2", "f32"));
  EXPECT_EQ(code[1].vectorLength(), 2u);
  EXPECT_EQ(code[1].type(), Type::f32);
  EXPECT_EQ(code[1].text(), "ld.global.L2::128B.v2.f32 {%f1, %f2}, [%rd1+8]");
  EXPECT_EQ(code[1].at.line, 7u);
  EXPECT_EQ(code[1].at.column, 3u);
  EXPECT_EQ(code[1].operands[1].at.column, 40u);
}

TEST(Reader, Operands) {
  Module m = body("mov.b32 %r1, -5; mov.f32 %f1, -1.5; mov.f32 %f1, -0f3F800000; mov.b64 %rd1, arr+12; "
                  "setp.eq.or.s32 %p1|%p2, %r1, 0xFFU, !%p3; mov.u32 %r1, %ctaid.y; ld.global.b32 %r2, [arr+4-8]; "
                  "mov.u32 %r1, (3*4)|1; mov.u32 %r3, ~0; mov.u32 %r2, WARP_SZ; st.global.b32 [64], %r1; "
                  "mov.b64 %rd1, 0d3FF0000000000000;",
                  ".global .b8 arr[64];\n");
  const auto &c = m.functions[0].instructions;
  EXPECT_EQ(int64_t(c[0].operands[1].bits), -5);
  EXPECT_EQ(c[1].operands[1].kind, OperandKind::float64);
  EXPECT_EQ(c[1].operands[1].bits, 0xBFF8000000000000u);
  EXPECT_EQ(c[2].operands[1].bits, 0xBF800000u);
  EXPECT_EQ(c[3].operands[1].kind, OperandKind::symbol);
  EXPECT_EQ(c[3].operands[1].bits, 12u);
  EXPECT_EQ(c[4].operands[0].kind, OperandKind::pair);
  EXPECT_EQ(c[4].operands[0].elements.size(), 2u);
  EXPECT_EQ(c[4].operands[2].bits, 255u);
  EXPECT_TRUE(c[4].operands[3].negated);
  EXPECT_EQ(c[5].operands[1].kind, OperandKind::special);
  EXPECT_EQ(c[5].operands[1].name, "ctaid");
  EXPECT_EQ(c[5].operands[1].component, 'y');
  EXPECT_EQ(int64_t(c[6].operands[1].bits), -4);
  EXPECT_EQ(c[6].operands[1].elements[0].name, "arr");
  EXPECT_EQ(c[7].operands[1].bits, 13u);
  EXPECT_EQ(c[8].operands[1].bits, ~uint64_t(0));
  EXPECT_EQ(c[9].operands[1].name, "WARP_SZ");
  EXPECT_EQ(c[10].operands[0].elements[0].bits, 64u);
  EXPECT_EQ(c[11].operands[1].kind, OperandKind::float64);
}

TEST(Reader, NestedScopesShadow) {
  Module m = mustRead(corpus::kernel);
  const Function &k = *m.findFunction("k");
  std::vector<uint32_t> r1;
  for (size_t i = 0; i < k.registers.size(); ++i)
    if (k.registers[i].name == "%r1")
      r1.push_back(uint32_t(i));
  EXPECT_EQ(r1.size(), 2u);
  // Both scopes have a label `again`; each branch goes to its own.
  std::vector<uint32_t> targets;
  for (const Instruction &in : k.instructions)
    if (in.opcode == "bra" && in.operands[0].name == "again")
      targets.push_back(in.operands[0].index);
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_LT(targets[0], targets[1]);
}

TEST(Reader, RegisterFamilies) {
  Module m = mustRead(".version 7.0\n.target sm_80\n.entry k(){ .reg .b32 %r1<4>; .reg .b64 %r<4294967295>; "
                      "mov.b32 %r13, 1; mov.b64 %r14, 1; mov.b64 %r99999, 2; ret; }");
  const Function &k = m.functions[0];
  ASSERT_EQ(k.registers.size(), 3u);
  EXPECT_EQ(k.registers[0].type, Type::b32);
  EXPECT_EQ(k.registers[1].type, Type::b64);
}

TEST(Reader, TablesCallsAndSourceLines) {
  Module m = mustRead(corpus::kernel);
  const Function &k = *m.findFunction("k");
  ASSERT_EQ(k.tables.size(), 1u);
  ASSERT_EQ(k.tables[0].entries.size(), 2u);
  EXPECT_EQ(k.tables[0].entries[0].kind, OperandKind::label);
  EXPECT_EQ(k.tables[0].entries[0].index, k.instructions.size() - 1);
  bool sawCall = false, sawOpaque = false;
  for (const Instruction &in : k.instructions) {
    if (in.opcode == "call") {
      sawCall = true;
      ASSERT_EQ(in.operands.size(), 3u);
      EXPECT_EQ(in.operands[1].kind, OperandKind::symbol);
      EXPECT_EQ(in.operands[1].symbolScope, SymbolScope::callee);
      EXPECT_EQ(m.functions[in.operands[1].index].name, "other");
    }
    if (in.opcode == "frobnicate") {
      sawOpaque = true;
      EXPECT_THAT(in.mods, ElementsAre("x::y", "z"));
    }
    if (in.opcode == "fence") {
      EXPECT_EQ(in.source.line, 13u);
    }
  }
  EXPECT_TRUE(sawCall);
  EXPECT_TRUE(sawOpaque);
}

TEST(Reader, TensorOperand) {
  Module m = mustRead(corpus::kernel);
  for (const Instruction &in : m.findFunction("k")->instructions)
    if (in.opcode == "cp") {
      ASSERT_EQ(in.operands.size(), 3u);
      EXPECT_EQ(in.operands[1].kind, OperandKind::address);
      ASSERT_EQ(in.operands[1].elements.size(), 2u);
      EXPECT_EQ(in.operands[1].elements[1].kind, OperandKind::vector);
      EXPECT_EQ(in.operands[2].bits, 8u);
      EXPECT_EQ(in.operands[2].elements[0].symbolScope, SymbolScope::function);
    }
}

TEST(Reader, OldAndUnknownDirectives) {
  Module m = mustRead(corpus::old);
  EXPECT_EQ(m.findFunction("twice")->registers.size(), 2u);
  Module s = mustRead(corpus::sections);
  EXPECT_TRUE(s.findFunction("f")->defined);
  EXPECT_EQ(s.functions.size(), 1u);
  EXPECT_EQ(s.files.at(0).path, "/src/a.cu");
}

TEST(Reader, HeaderDirectivesOfAnyIsa) {
  Module m =
      mustRead(".version 9.4\n.target sm_100a\n.visible .entry k(.param .u64 p)\n.reqntid 128\n.blocksareclusters\n"
               ".reqnctapercluster 2, 1, 1\n.pragma \"nounroll\", \"x\";\n.some_later_directive name, 4 (x, [y])\n"
               ".minnctapersm 2\n{ ret; }\n.func f() .abi_preserve 8 .abi_preserve_control 14;\n"
               ".func .attribute(.unified(1, 2)) g();\n.visible .func h() .noreturn;");
  EXPECT_EQ((*m.findFunction("k")->bounds.requiredCluster)[0], 2u);
  EXPECT_EQ(*m.findFunction("k")->bounds.minCtasPerSm, 2u);
  EXPECT_EQ(m.findFunction("k")->instructions.size(), 1u);
  EXPECT_FALSE(m.findFunction("f")->defined);
  EXPECT_TRUE(m.findFunction("h")->noReturn);
}

TEST(Reader, UnknownDirectivesAreSkippedInBalance) {
  Module m =
      body(".pragma \"used_bytes_mask 0xf\";\nmov.u32 %r1, 1;\n.later 5 (a; b)\n{\n.reg .b32 %t;\nmov.u32 %t, 2;\n}\n"
           ".section .debug_x\n{ .b8 1, 2 $L: }\nmov.u32 %r1, 3;",
           ".section .debug_str\n{\nL0:\n.b8 99,0\n.b64 L0-L0\n}\n.alias a, b;\n.later_block { ( [ ] ) { } }\n");
  EXPECT_EQ(m.functions[0].instructions.size(), 3u); // the scope after `.later` is code
}

TEST(Reader, OpaqueInitialisersAndSelectors) {
  Module m = body("vadd.u32.u32.u32.sat %r1, %r2.b0, -%r3.h1; vote.sync.any.pred %p1|_, !%p2, -1;",
                  ".global .samplerref s = { addr_mode_0 = clamp_to_edge, filter_mode = linear };\n"
                  ".global .texref t;\n.global .attribute(.managed) .align 4 .u32 g = 1;\n");
  EXPECT_EQ(m.findVariable("s")->type, Type::opaque);
  EXPECT_EQ(m.findVariable("g")->initial[0], 1);
  const Instruction &vadd = m.functions[0].instructions[0];
  EXPECT_EQ(vadd.operands[1].kind, OperandKind::reg);
  EXPECT_EQ(vadd.operands[1].name, "%r2.b0");
  EXPECT_TRUE(vadd.operands[2].negated);
}

TEST(Reader, InlinedCodeIsPlacedInTheFileOfItsFunction) {
  Module m = body(".loc 1 10 3\nnop;\n"                                          // the kernel
                  ".loc 1 20 5, function_name $a, inlined_at 1 10 3\nnop;\n"     // a helper beside it
                  ".loc 2 30 7, function_name $b + 8, inlined_at 1 20 5\nnop;\n" // a header, called by the helper
                  ".loc 3 40 9, function_name $c, inlined_at 2 30 7\nnop;\n"     // another, called by the first
                  ".loc 2 30 7\nnop;\n.loc 1 11 3\nnop;\n"
                  ".loc 5 1 1, function_name $d, inlined_at 5 1 1\nnop;"); // nonsense that goes in a circle
  std::vector<std::pair<uint32_t, uint32_t>> places;
  for (const Instruction &in : m.functions[0].instructions)
    places.emplace_back(in.source.file, in.source.line);
  EXPECT_THAT(places, ElementsAre(std::pair(1, 10), std::pair(1, 20), std::pair(1, 20), std::pair(1, 20),
                                  std::pair(2, 30), std::pair(1, 11), std::pair(5, 1)));
}

TEST(Reader, VersionsFromTheFuture) {
  EXPECT_EQ(mustRead(".version 12.3\n.target sm_200").version, 123u);
  EXPECT_EQ(mustRead(".version 9.10\n.target sm_100").version, 99u);
  EXPECT_EQ(mustRead(".version 6.0\r\n.target sm_70\r\n").version, 60u);
}

TEST(Reader, NulsEndATextAndNothingElse) {
  EXPECT_EQ(mustRead(std::string(".version 8.0\n.target sm_90\n\0\0", 29)).version, 80u);
  EXPECT_THAT(errorOf(std::string(".version 8.0\n\0.target sm_90\n", 28)),
              HasSubstr("t.ptx:2:1: expected a directive at module scope, found a NUL byte"));
}

TEST(Reader, SurvivesMoves) {
  Module a = mustRead(corpus::kernel);
  Module b = std::move(a);
  Module c;
  c = std::move(b);
  EXPECT_NE(c.findFunction("k"), nullptr);
  EXPECT_EQ(c.findFunction("k")->instructions[0].mnemonic(), "ld.param.u64");
}

TEST(ReaderErrors, NameThePlace) {
  EXPECT_EQ(bodyError("mov.u32 %r1 %r2;"), "t.ptx:5:13: expected ';' after the operands of mov, found '%r2'");
  EXPECT_EQ(bodyError("bra nowhere;"), "t.ptx:5:1: expected a label of k after bra, found nowhere");
  EXPECT_EQ(bodyError("@%q bra x; x:"), "t.ptx:5:2: expected a declared predicate register after '@', found %q");
  EXPECT_THAT(bodyError("a: ret; a: ret;"), HasSubstr("expected each label once in a scope"));
  EXPECT_THAT(bodyError("mov.u32 %r1, 1/0;"), HasSubstr("expected a divisor other than 0"));
  EXPECT_THAT(bodyError("mov.f32 %r1, 0f123;"), HasSubstr("0f literal without exactly 8"));
  EXPECT_THAT(bodyError("mov.u32 %r1, 99999999999999999999;"), HasSubstr("more than 64 bits"));
  EXPECT_THAT(bodyError("/* "), HasSubstr("a comment that is never closed"));
  EXPECT_THAT(errorOf(".version 8.6\n.target sm_90\n.entry k() {"), HasSubstr("t.ptx:3:8: expected the body of k"));
  EXPECT_THAT(errorOf(".version abc"), HasSubstr("expected a version such as 8.6"));
  EXPECT_THAT(errorOf("hello"), HasSubstr("t.ptx:1:1: expected a directive at module scope, found 'hello'"));
  EXPECT_THAT(errorOf(".func f(){} .func f(){}"), HasSubstr("expected one definition of f"));
  EXPECT_THAT(errorOf(".global .b8 x[2] = {1,2,3};"), HasSubstr("at most 2 bytes"));
  EXPECT_THAT(errorOf(".global .b8 x[0xffffffffffff][0xffffffffffff];"), HasSubstr("less than 2^48"));
  EXPECT_THAT(errorOf(".section x { (]"), HasSubstr("brackets to be balanced"));
}

TEST(ReaderErrors, BoundTheNesting) {
  auto nested = [](size_t depth) { return std::string(depth, '{') + "ret;" + std::string(depth, '}'); };
  EXPECT_EQ(body(nested(200)).functions[0].instructions.size(), 1u);
  EXPECT_THAT(bodyError(nested(100000)), HasSubstr("nested less than 256 deep"));
}

TEST(ReaderErrors, AreShortWhateverTheName) {
  std::string name(1 << 20, 'x');
  EXPECT_LT(bodyError("bra " + name + ";").size(), 1100u);
  EXPECT_LT(bodyError("mov.u32 %r1 " + name + ";").size(), 200u);
}

TEST(ReaderTypes, TableIsConsistent) {
  for (std::string_view n : {"pred", "b8", "u16", "s32", "b128", "f16x2", "bf16x2", "e4m3x2", "f64", "tf32"}) {
    Type t = parseType(n);
    ASSERT_NE(t, Type::none) << n;
    EXPECT_EQ(name(t), n);
  }
  EXPECT_EQ(parseType("global"), Type::none);
  EXPECT_EQ(bitWidth(Type::b128), 128u);
  EXPECT_EQ(bitWidth(Type::e5m2x2), 16u);
  EXPECT_TRUE(isSigned(Type::s8));
  EXPECT_TRUE(isFloat(Type::bf16));
  EXPECT_FALSE(isFloat(Type::b16));
}

} // namespace
} // namespace interlock::ptx
