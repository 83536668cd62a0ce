// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Input that cannot be judged: exit code 2 and one sentence on stderr that names the file, the line and what is wrong;
// and input that only looks bad, which is judged.
#include "Command.h"

#include "analysis/ScopeModel/Rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

using namespace interlock::test;
using testing::HasSubstr;

namespace {

const std::string header = ".version 8.0\n.target sm_90\n.address_size 64\n";
const std::string kernel = header + ".visible .entry k(.param .u64 p)\n{\n  ret;\n}\n";

std::string file(const std::string &bytes, const std::string &name = "/k.ptx") {
  return writeFile(freshFolder() + name, bytes);
}

void expectRefused(const std::vector<std::string> &arguments, const std::string &says) {
  Outcome outcome = runCommand(arguments);
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(says));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_LT(outcome.err.size(), 1500u);
  EXPECT_THAT(outcome.err, testing::Not(testing::EndsWith(".\n")));
}

/// The sentence about a file with these bytes starts with its name.
void expectUnusable(const std::string &bytes, const std::string &says) {
  std::string name = file(bytes);
  expectRefused({name}, name + says);
}

TEST(BadInput, TextThatIsNoPtx) {
  expectUnusable("",
                 ": expected PTX, which begins with .version, or AMDGCN assembly with .amdgcn_target, found neither");
  expectUnusable("// only a comment\n", ": expected PTX, which begins with .version");
  expectUnusable("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx906\"\n",
                 ": expected assembly for one of gfx90a, gfx942, gfx950, gfx1100, gfx1201, gfx1250, got gfx906");
  expectUnusable("\t.amdhsa_kernel k\n\t.end_amdhsa_kernel\n", ": expected .amdgcn_target to name one of gfx90a");
  expectUnusable("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\ts_mov_b32 s0,\n", ":2:");
  expectUnusable("int main() {}\n", ":1:1: expected a directive at module scope, found 'int'");
  std::string junk;
  for (unsigned i = 0; i < 4096; ++i)
    junk += char(i * 2654435761u >> 13);
  expectUnusable(junk, ":1:");
  expectUnusable(std::string(1000, '\0') + "x", ":1:1: expected a directive at module scope, found a NUL byte");
  expectUnusable("\xef\xbb\xbf" + kernel,
                 ":1:1: expected a directive at module scope, found a byte that PTX does not use");
}

TEST(BadInput, ATruncatedKernelIsNeverTakenForAWhole) {
  size_t end = kernel.rfind('}');
  for (size_t size = header.size() + 1; size <= end; ++size) {
    Outcome outcome = runCommand({"-"}, {}, kernel.substr(0, size));
    ASSERT_EQ(outcome.code, 2) << kernel.substr(0, size);
    ASSERT_THAT(outcome.err, testing::StartsWith("-:"));
  }
  expectUnusable(kernel.substr(0, end), ":4:17: expected the body of k to be closed before the end of the text");
}

TEST(BadInput, APlaceIsNamed) {
  expectUnusable(header + ".visible .entry k()\n{\n  mov.u32 %r1 %r2;\n}\n",
                 ":6:15: expected ';' after the operands of mov");
}

TEST(GoodInput, CarriageReturnsAndClosingNuls) {
  std::string crlf;
  for (char c : kernel)
    crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(runCommand({file(crlf)}).code, 0);
  EXPECT_EQ(runCommand({file(kernel + '\0')}).code, 0);
}

TEST(GoodInput, AVersionFromTheFutureIsReadAndSaidSo) {
  std::string future = ".version 12.5\n.target sm_200a\n.address_size 64\n.some_new_directive 7\n.visible .entry k()\n"
                       ".another_one 1, 2 (3)\n{\n  brand.new::instruction.x [0], {1, 2};\n  ret;\n}\n";
  Outcome outcome = runCommand({file(future)});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("note: PTX 12.5 is newer than 9.4"));
  EXPECT_THAT(outcome.out, HasSubstr("unknown directives were skipped: another_one (1), some_new_directive (1)"));
  EXPECT_THAT(outcome.out, HasSubstr("brand (1)"));
  auto json = runCommand({"--format", "json", file(future)}).json();
  EXPECT_EQ(json["inputs"][0]["isa_known"], false);
  EXPECT_EQ(json["inputs"][0]["unknown_opcodes"]["brand"], 1);
}

TEST(BadInput, ALineOf200Megabytes) {
  constexpr size_t size = 200 << 20;
  std::string name = file("");
  // One token: the sentence says its place in few words. One statement after the other: read as what it is.
  writeFile(name, std::string(size, 'x'));
  expectRefused({name}, name + ":1:1: expected a directive at module scope, found 'xxxx");
  writeFile(name, kernel + std::string(size - (20 << 20), ' ') + std::string(20 << 20, ';'));
  EXPECT_EQ(runCommand({name}).code, 0);
  std::filesystem::remove(name);
}

TEST(BadInput, FilesThatCannotBeRead) {
  expectRefused({"/nowhere/k.ptx"}, "/nowhere/k.ptx: expected a file that can be read: No such file or directory");
  std::string folder = freshFolder();
  expectRefused({folder}, folder + ": expected a file, got a directory");
  std::string sparse = file("");
  std::filesystem::resize_file(sparse, (uint64_t(1) << 30) + 1);
  expectRefused({sparse}, sparse + ": expected at most 1024 MiB");
}

TEST(BadInput, OneUnusableInputDoesNotStopTheOthers) {
  std::string flagged = file(std::string(interlock::scope::findRule("SL01")->flagged())), bad = file("nonsense");
  for (const auto &order : {std::vector{bad, flagged}, std::vector{flagged, bad}}) {
    Outcome outcome = runCommand(order);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.out, HasSubstr("[SL01]"));
    EXPECT_THAT(outcome.err, testing::StartsWith(bad + ":1:1: "));
  }
  auto json = runCommand({"--format", "json", bad, flagged}).json();
  EXPECT_THAT(json["inputs"][0]["unusable"].get<std::string>(), HasSubstr("found 'nonsense'"));
  EXPECT_EQ(json["inputs"][1]["findings"][0]["rule"], "SL01");
  EXPECT_EQ(json["summary"]["unusable"], 1);
}

TEST(BadInput, Contracts) {
  std::string ptx = file(kernel);
  auto refused = [&](const std::string &contract, const std::string &says) {
    std::string name = file(contract, "/c.txt");
    expectRefused({"--contract", name, ptx}, name + says);
  };
  refused("param 0 peers=everyone\n", ":1:1: expected peers=cta|cluster|gpu|sys|nic");
  refused("\nwaive SL01\n", ":2:1: expected a colon and the reason");
  refused("param 1 peers=sys\n",
          ":1:1: expected a parameter of a kernel such as k, got param 1: it has 1, counted from 0");
  refused("kernel k param 3 peers=sys\n", ":1:1: expected a parameter of k, got param 3");
  refused("kernel other param 0 peers=sys\n", ":1:1: expected the name of a function that is there, got other");
  expectRefused({"--contract", "/nowhere/c", ptx}, "/nowhere/c: expected a file that can be read");
  std::string commented = "// contract: param 7 peers=sys\n" + kernel;
  expectUnusable(commented, ":1:1: expected a parameter of a kernel such as k, got param 7");
  expectUnusable(kernel + "// contract: nonsense\n",
                 ":8:1: expected 'param', 'kernarg', 'kernel' or 'waive', got 'nonsense'");
}

TEST(BadInput, CommandLines) {
  expectRefused({}, "scope-lint: expected a file, or - for standard input, got none");
  expectRefused({"--explain", "SL99"}, "scope-lint: expected a rule, got 'SL99': there are SL01, ");
  expectRefused({"--format", "xml", "-"}, "expected text, json, sarif, got 'xml'");
  expectRefused({"--fail-on", "never", "-"}, "expected error, warning, note, got 'never'");
  expectRefused({"--cluster", "0", "-"}, "--cluster");
  expectRefused({"--cluster", "17", "-"}, "--cluster");
  expectRefused({"--nonsense", "-"}, "--nonsense");
}

TEST(BadInput, AFullDiskIsNoSuccess) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "this system has no /dev/full";
  std::string flagged = file(std::string(interlock::scope::findRule("SL01")->flagged()));
  std::string line = std::string(INTERLOCK_COMMAND) + " " + flagged + " > /dev/full 2> /dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2);
}

} // namespace
