// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A code object says what the assembly said that it was made of: the same instructions, kernels, data and findings.
#include "tests/plugin/Objects.h"

#include "analysis/AMDGCN/Reader.h"
#include "analysis/LintAMDGCN/Lint.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/tool/Command.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;

amdgcn::Module read(const std::string &text) {
  auto module = amdgcn::read(text, "test.s");
  EXPECT_TRUE(module) << (module ? "" : module.error().str());
  return module ? std::move(*module) : amdgcn::Module();
}

/// Labels have other names; the disassembler writes no offset, and numbers below zero, in its own way; and a person may
/// have put modifiers in another order.
std::string comparable(const std::string &instruction) {
  static const std::regex label(R"((\.L\w+|\(\.L\w+-\.L\w+\)\S*))"), noOffset(R"(^(s_load\S* .*), null$)"),
      barrier(R"(^(s_barrier_wait) 0xfff)"), modifiers(R"(^(.*) sc0 nt sc1$)");
  std::string text = std::regex_replace(instruction, label, "label");
  text = std::regex_replace(text, noOffset, "$1, 0");
  text = std::regex_replace(text, modifiers, "$1 sc0 sc1 nt");
  if (std::regex_search(text, barrier))
    text = fmt::format("s_barrier_wait {}", int16_t(std::stoul(text.substr(text.rfind(' ')), nullptr, 16)));
  return text;
}

/// Where loops are aligned, the object has s_nop 0 for what the text has a directive for.
bool isPadding(const amdgcn::Instruction &each) { return each.text() == "s_nop 0"; }

std::vector<std::string> instructionsOf(const amdgcn::Module &module) {
  std::vector<std::string> out;
  for (const amdgcn::Instruction &each : module.instructions)
    if (!isPadding(each))
      out.push_back(comparable(each.text()));
  return out;
}

/// Where branches lead, by the instructions' numbers.
std::vector<std::pair<size_t, size_t>> branchesOf(const amdgcn::Module &module) {
  std::vector<size_t> number; // without the padding
  for (size_t n = 0; const amdgcn::Instruction &each : module.instructions)
    number.push_back(isPadding(each) ? n : n++);
  std::vector<std::pair<size_t, size_t>> out;
  for (size_t i = 0; i < module.instructions.size(); ++i)
    for (const amdgcn::Operand &operand : module.instructions[i].operands)
      if (operand.kind == amdgcn::OperandKind::label)
        out.emplace_back(number[i], number[operand.index]);
  return out;
}

/// What the lint finds, without places that differ between the texts.
std::vector<std::string> findingsOf(const amdgcn::Module &module, const lint::Contract &contract) {
  lint::Options options;
  options.contract = contract;
  auto report = lint::check(module, options);
  EXPECT_TRUE(report) << (report ? "" : report.error());
  std::vector<std::string> out;
  if (report)
    for (const scope::Finding &finding : report->findings) {
      std::string line = fmt::format("{} {} {} {}", finding.rule, scope::name(finding.severity), finding.function,
                                     comparable(finding.place.text));
      for (const scope::RelatedPlace &related : finding.related)
        line += fmt::format("; {}: {}", related.says, comparable(related.place.text));
      out.push_back(line);
    }
  return out;
}

lint::Contract contractOf(const amdgcn::Module &module) {
  auto contract = lint::contractOfComments(module, "test.s");
  EXPECT_TRUE(contract);
  return contract ? std::move(*contract) : lint::Contract();
}

void expectSameKernels(const amdgcn::Module &text, const amdgcn::Module &object) {
  ASSERT_EQ(text.kernels.size(), object.kernels.size());
  for (size_t i = 0; i < text.kernels.size(); ++i) {
    const amdgcn::Kernel &a = text.kernels[i], &b = object.kernels[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.symbol, b.symbol);
    EXPECT_EQ(a.metadata, b.metadata);
    ASSERT_EQ(a.arguments.size(), b.arguments.size());
    for (size_t k = 0; k < a.arguments.size(); ++k)
      EXPECT_EQ(std::tuple(a.arguments[k].offset, a.arguments[k].size, a.arguments[k].valueKind, a.arguments[k].name),
                std::tuple(b.arguments[k].offset, b.arguments[k].size, b.arguments[k].valueKind, b.arguments[k].name));
    // Whatever the text says, the object says too; but counts of registers are rounded, and what the assembler adds to
    // them is no part of a descriptor.
    for (const auto &[directive, value] : a.descriptor)
      if (!directive.starts_with("next_free_") && !directive.starts_with("reserve_") && directive != "accum_offset") {
        ASSERT_EQ(b.descriptor.count(directive), 1u) << directive;
        EXPECT_EQ(b.descriptor.at(directive), value) << directive;
      }
  }
}

class OfChip : public testing::TestWithParam<std::string> {};

TEST_P(OfChip, OurKernelsComeBackAsTheyWere) {
  for (const KernelSpec &spec : test::kernelsFor(GetParam())) {
    SCOPED_TRACE(name(spec.kernel));
    auto parts = test::partsOf(spec, {"asm", "hsaco"});
    amdgcn::Module text = read(parts["asm"]), object = read(test::disassembled(parts["hsaco"]));
    EXPECT_EQ(object.target.substr(0, text.target.size()), text.target);
    EXPECT_EQ(object.codeObjectVersion, text.codeObjectVersion);
    EXPECT_EQ(instructionsOf(object), instructionsOf(text));
    EXPECT_EQ(branchesOf(object), branchesOf(text));
    expectSameKernels(text, object);
    EXPECT_EQ(findingsOf(object, {}), findingsOf(text, {}));
    EXPECT_TRUE(object.unknownDirectives.empty());
  }
}

// LLVM's assembler makes the same machine code and descriptor of it.
TEST_P(OfChip, OurKernelsAreAssembledAgainToTheSameBytes) {
  for (const KernelSpec &spec : test::kernelsFor(GetParam())) {
    SCOPED_TRACE(name(spec.kernel));
    std::string text = test::disassembled(test::partsOf(spec, {"hsaco"})["hsaco"]);
    EXPECT_EQ(test::disassembled(test::linked(text, GetParam())), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Disassembly, OfChip, testing::ValuesIn(test::amdChips()),
                         [](const auto &info) { return info.param; });

// Data that code finds by its distance, functions that it calls by name and by pointer, addresses that a loader stores.
constexpr const char *program = R"(
@table = internal addrspace(4) constant [4 x i32] [i32 3, i32 5, i32 7, i32 11]
@counter = addrspace(1) global i32 42
@places = private addrspace(1) global [2 x ptr addrspace(1)] [ptr addrspace(1) @counter, ptr addrspace(1) null]
@which = addrspace(1) global ptr @helper
@room = internal addrspace(1) global [100 x i32] zeroinitializer
define void @helper(ptr addrspace(1) %p) noinline {
  store i32 7, ptr addrspace(1) %p
  ret void
}
define amdgpu_kernel void @k(ptr addrspace(1) %out, i32 %i) {
  %q = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 %i
  %v = load i32, ptr addrspace(4) %q
  store i32 %v, ptr addrspace(1) %out
  %o = getelementptr i32, ptr addrspace(1) %out, i32 1
  %g = load i32, ptr addrspace(1) @counter
  store i32 %g, ptr addrspace(1) %o
  %r = getelementptr [100 x i32], ptr addrspace(1) @room, i32 0, i32 %i
  store i32 %g, ptr addrspace(1) %r
  %pp = getelementptr [2 x ptr addrspace(1)], ptr addrspace(1) @places, i32 0, i32 %i
  %w = load ptr addrspace(1), ptr addrspace(1) %pp
  store i32 1, ptr addrspace(1) %w
  call void @helper(ptr addrspace(1) %o)
  %f = load ptr, ptr addrspace(1) @which
  call void %f(ptr addrspace(1) %out)
  ret void
})";

TEST_P(OfChip, AddressesBecomeSymbolsAgain) {
  std::string text = test::disassembled(test::compiledIr(program, GetParam()));
  EXPECT_THAT(text, ContainsRegex("table@rel(32@lo|64)\\+"));
  EXPECT_THAT(text, ContainsRegex("table:\n\t\\.long\t0x3, 0x5, 0x7, 0xb\n"));
  EXPECT_THAT(text, ContainsRegex("counter:\n\t\\.long\t0x2a"));
  EXPECT_THAT(text, ContainsRegex("which:\n\t\\.quad\thelper\n"));
  EXPECT_THAT(text, ContainsRegex("\\.Ldata_[0-9a-f]+:\n\t\\.quad\tcounter\n\t\\.(long\t0x0, 0x0|zero\t8)\n"));
  EXPECT_THAT(text, ContainsRegex("@nobits\n"));
  EXPECT_THAT(text, ContainsRegex("room:\n\t\\.zero\t400\n"));
  amdgcn::Module module = read(text);
  for (const amdgcn::Instruction &each : module.instructions)
    if (each.opcode == "s_getpc_b64" || each.opcode == "s_get_pc_i64") {
      const amdgcn::Instruction *behind = &each + 1;
      while (behind->operands.size() != 3)
        ++behind;
      EXPECT_EQ(behind->operands[2].kind, amdgcn::OperandKind::symbol) << behind->text();
    }
  // It is a text that a linker takes, with the same data and code but for distances.
  amdgcn::Module again = read(test::disassembled(test::linked(text, GetParam())));
  EXPECT_EQ(again.instructions.size(), module.instructions.size());
}

// What is no instruction is not left out.
TEST(Disassembly, WordsThatAreNoInstructionsStay) {
  std::string object = test::linked(R"(	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl	f
	.p2align	8
	.type	f,@function
f:
	s_nop 3
	.long 0xffffffff
	s_endpgm
	.size	f, .-f
)",
                                    "gfx942");
  amdgcn::Module module = read(test::disassembled(object));
  ASSERT_EQ(module.instructions.size(), 3u);
  EXPECT_EQ(module.instructions[1].text(), ".long 0xffffffff");
}

std::vector<fs::path> corpus() {
  std::vector<fs::path> files;
  for (const char *folder : {"flag", "note", "clean"})
    for (const auto &entry : fs::directory_iterator(fs::path(ILK_AMDGCN_CORPUS) / folder))
      if (entry.path().extension() == ".s")
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string chipOf(const fs::path &file) {
  std::string stem = file.stem().string();
  return stem.substr(stem.rfind('-') + 1);
}

// Each mutant of the corpus, and each text that is right, is judged as a code object like the assembly.
TEST(Disassembly, TheCorpusIsJudgedAlike) {
  for (const fs::path &file : corpus()) {
    SCOPED_TRACE(file.filename());
    std::string source = test::slurp(file);
    amdgcn::Module text = read(source), object = read(test::disassembled(test::linked(source, chipOf(file))));
    lint::Contract contract = contractOf(text);
    EXPECT_EQ(findingsOf(object, contract), findingsOf(text, contract));
  }
}

/// scope-lint as JSON, with the real interlock command and plugin beside it.
nlohmann::json lint(const std::vector<std::string> &arguments, int code) {
  std::vector<std::string> command = {INTERLOCK_SCOPE_LINT, "--format", "json"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  test::Outcome outcome = test::runProgram(command, {"PATH=/nowhere"});
  EXPECT_EQ(outcome.code, code) << outcome.err << outcome.out;
  return outcome.json();
}

TEST(ScopeLint, JudgesCodeObjectsAndNamesThemAndTheLine) {
  test::TempFolder folder;
  std::string source = test::slurp(fs::path(ILK_AMDGCN_CORPUS) / "flag/AM01-no-write-back-gfx942.s");
  std::string flagged = test::linked(source, "gfx942"), file = test::writeFile(folder.string("-flag.hsaco"), flagged);
  std::string input = file + ":1.gfx942.s";
  nlohmann::json json = lint({file}, 1);
  ASSERT_EQ(json["inputs"].size(), 1u);
  EXPECT_EQ(json["inputs"][0]["input"], input);
  ASSERT_EQ(json["inputs"][0]["findings"].size(), 1u);
  const nlohmann::json &finding = json["inputs"][0]["findings"][0];
  EXPECT_EQ(finding["rule"], "AM01");
  // The line is that of the disassembly, which people see by the command, and where its address stands.
  std::string text = test::disassembled(flagged);
  for (int n = 1; n < int(finding["place"]["line"]); ++n)
    text.erase(0, text.find('\n') + 1);
  EXPECT_THAT(text.substr(0, text.find('\n')), ContainsRegex("global_store_dword .*; 0x[0-9a-f]+$"));
  test::Outcome shown = test::runProgram({INTERLOCK_SCOPE_LINT, file}, {"PATH=/nowhere"});
  EXPECT_THAT(shown.out, HasSubstr(input + ":" + std::to_string(int(finding["place"]["line"]))));
  EXPECT_THAT(shown.out, ContainsRegex("global_store_dword .*; 0x[0-9a-f]+\n"));
}

TEST(ScopeLint, JudgesEveryCodeObjectOfABundleAndOfAProgram) {
  test::TempFolder folder;
  std::vector<std::pair<std::string, std::string>> entries;
  for (const char *name : {"clean/atomic-with-sc1-gfx950.s", "flag/AM05-invalidate-before-the-wait-gfx1100.s"}) {
    std::string chip = chipOf(name);
    entries.emplace_back("hipv4-amdgcn-amd-amdhsa--" + chip,
                         test::linked(test::slurp(fs::path(ILK_AMDGCN_CORPUS) / name), chip));
  }
  for (const std::string &bytes :
       {test::bundleOf(entries), test::programWith(".hip_fatbin", test::bundleOf(entries))}) {
    std::string file = test::writeFile(folder.string("two"), bytes);
    nlohmann::json json = lint({file}, 1);
    ASSERT_EQ(json["inputs"].size(), 2u);
    EXPECT_EQ(json["inputs"][0]["input"], file + ":1.gfx950.s");
    EXPECT_EQ(json["inputs"][0]["findings"].size(), 0u);
    EXPECT_EQ(json["inputs"][1]["input"], file + ":2.gfx1100.s");
    EXPECT_EQ(json["inputs"][1]["findings"][0]["rule"], "AM05");
  }
}

// A copy elsewhere has no command beside it.
TEST(ScopeLint, SaysWhatIsMissing) {
  test::TempFolder folder;
  fs::copy_file(INTERLOCK_SCOPE_LINT, folder.path() / "scope-lint");
  std::string file = test::writeFile(folder.string("k"), test::bundleOf({}));
  auto refused = [&](const std::string &tool, const std::vector<std::string> &environment, const std::string &says) {
    test::Outcome outcome = test::runProgram({tool, file}, environment);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, file + ": " + says + "\n");
  };
  refused(folder.string("scope-lint"), {"PATH=/nowhere"},
          "expected the interlock command to disassemble a code object, found none beside scope-lint or in PATH");
  refused(INTERLOCK_SCOPE_LINT, {"PATH=/nowhere"},
          "expected a code object for an AMD GPU in the offload bundle, found none");
  test::Outcome outcome = test::runProgram({INTERLOCK_SCOPE_LINT, file}, {"INTERLOCK_COMPILER=/nowhere/plugin.so"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(file + ": expected the compiler plugin"));
  outcome = test::runProgram({INTERLOCK_SCOPE_LINT, "-"}, {}, test::bundleOf({}));
  EXPECT_EQ(outcome.err, "-: expected text on standard input, got a code object: name it as a file\n");
}

} // namespace
} // namespace interlock
