// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the lint makes of a text besides the rules: waivers, contracts, options, calls, counts, and texts that are
// large, twisted or damaged.
#include "analysis/ScopeModel/Rules.h"
#include "tests/unit/lint/Check.h"

#include <random>

namespace interlock::lint {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

std::string flaggedBy(const char *rule) { return std::string(scope::findRule(rule)->flagged()); }

std::string kernel(const std::string &body) {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg "
         ".pred %p<9>;\n"
         ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\n" +
         body + "ret;\n}\n";
}

Report checkWith(const std::string &text, Options options) {
  auto module = ptx::read(text, "test.ptx");
  EXPECT_TRUE(module);
  return check(*module, options);
}

TEST(Waivers, TakeOutWhatTheyNameAndAreMissedIfUnused) {
  std::string text = flaggedBy("SL01");
  Report plain = checkText(text);
  ASSERT_THAT(plain.findings, SizeIs(1));
  Options options;
  options.contract.waivers = {{"SL01", "", "known", 0, {}}, {"SL02", "", "never happens", 0, {}}};
  Report waived = checkWith(text, options);
  EXPECT_THAT(waived.findings, IsEmpty());
  ASSERT_THAT(waived.waived, SizeIs(1));
  ASSERT_THAT(waived.unusedWaivers, SizeIs(1));
  EXPECT_EQ(waived.unusedWaivers[0].rule, "SL02");

  options.contract.waivers = {{"SL01", "other", "of another kernel", 0, {}}};
  EXPECT_THAT(checkWith(text, options).findings, SizeIs(1));
  options.contract.waivers = {{"SL01", "", "of that line", plain.findings[0].place.line, {}}};
  EXPECT_THAT(checkWith(text, options).findings, IsEmpty());
}

TEST(Contracts, AKernelWithAnEntryOfItsOwnHasThatOnly) {
  std::string text(scope::findRule("SL18")->flagged());
  Options options;
  options.contract.params[""][1].peers = Peers::sys;
  EXPECT_THAT(summary(checkWith(text, options), scope::Severity::error), SizeIs(1));
  options.contract.params["kernel"][0].peers = Peers::gpu;
  EXPECT_THAT(summary(checkWith(text, options), scope::Severity::error), IsEmpty());
}

TEST(Options, ClusterSizeOneMakesEveryPeerTheCtaItself) {
  std::string text = flaggedBy("SL07");
  text.erase(text.find(".reqnctapercluster"),
             text.find('\n', text.find(".reqnctapercluster")) - text.find(".reqnctapercluster"));
  Options options;
  EXPECT_EQ(checkWith(text, options).findings.at(0).rule, "SL07");
  options.clusterSize = 1;
  EXPECT_THAT(summary(checkWith(text, options), scope::Severity::warning), IsEmpty());
}

TEST(Report, CountsAndUnknownOpcodes) {
  Report report =
      checkText(kernel("frobnicate.sync %r1, [%rd1];\nfrobnicate.sync %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\n"));
  EXPECT_EQ(report.functions, 1u);
  EXPECT_EQ(report.instructions, 6u);
  EXPECT_THAT(report.unknownOpcodes, ElementsAre(Pair("frobnicate", 2u)));
}

TEST(Report, NothingIsClaimedAcrossAnUnknownOpcode) {
  std::string flag = flaggedBy("SL03");
  size_t at = flag.find("st.relaxed");
  EXPECT_THAT(summary(checkText(flag), scope::Severity::error), SizeIs(1));
  EXPECT_THAT(summary(checkText(flag.substr(0, at) + "frobnicate;\n  " + flag.substr(at)), scope::Severity::warning),
              IsEmpty());
}

TEST(Report, SourceLinesFollowLoc) {
  std::string text = flaggedBy("SL01");
  text.insert(text.find(".visible"), ".file 1 \"kernel.cu\"\n");
  text.insert(text.find("  st.release"), "  .loc 1 42 7\n");
  Report report = checkText(text);
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].place.sourceFile, "kernel.cu");
  EXPECT_EQ(report.findings[0].place.sourceLine, 42u);
}

TEST(Objects, ElementsOfARingAreOneObjectAndNeighboursAreNot) {
  // full[stage] and empty[stage] in one array: the waits must not be taken for each other's.
  std::string ring = kernel(R"(
mov.u32 %r1, bars;
mov.u32 %r2, %tid.x;
setp.ne.u32 %p1, %r2, 0;
@%p1 bra consumer;
mbarrier.init.shared::cta.b64 [bars], 1;
mbarrier.init.shared::cta.b64 [bars+8], 1;
mbarrier.init.shared::cta.b64 [bars+16], 1;
mbarrier.init.shared::cta.b64 [bars+24], 1;
consumer:
bar.sync 0;
mov.u32 %r3, 0;
next:
shl.b32 %r4, %r3, 3;
add.u32 %r5, %r1, %r4;
poll:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5+16], %r3;
@!%p2 bra poll;
mbarrier.arrive.shared::cta.b64 _, [%r5];
add.u32 %r3, %r3, 1;
setp.lt.u32 %p3, %r3, 2;
@%p3 bra next;
)");
  ring.insert(ring.find(".reg .pred"), ".shared .align 8 .b8 bars[32];\n");
  EXPECT_THAT(summary(checkText(ring), scope::Severity::warning), IsEmpty());
}

TEST(Calls, RecursionAndChainsAreBounded) {
  std::string text = ".version 8.6\n.target sm_90a\n.address_size 64\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format(".func f{}(.param .b64 a);\n", i);
  for (int i = 0; i < 40; ++i) {
    text += fmt::format(
        ".func f{}(.param .b64 a)\n{{\n.reg .b64 %rd<2>;\nld.param.b64 %rd1, [a];\nst.release.gpu.u32 [%rd1], 1;\n", i);
    for (int k = 0; k < 8; ++k)
      text += fmt::format("{{ .param .b64 x; st.param.b64 [x], %rd1; call f{}, (x); }}\n", (i + 1) % 40);
    text += "ret;\n}\n";
  }
  text += ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
          "{ .param .b64 x; st.param.b64 [x], %rd1; call f0, (x); }\nret;\n}\n";
  EXPECT_EQ(checkText(text).functions, 41u);
}

TEST(Bounds, IrreducibleLoopsAndDeepChains) {
  std::string body =
      "bra b;\na:\nst.global.u32 [%rd1], 1;\nb:\nld.acquire.gpu.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 bra a;\nsetp.eq.u32 %p2, %r1, 1;\n@%p2 bra b;\n";
  EXPECT_THAT(summary(checkText(kernel(body)), scope::Severity::warning), IsEmpty());
  std::string chain;
  for (int i = 0; i < 50'000; ++i)
    chain += "add.u64 %rd1, %rd1, 4;\n";
  EXPECT_THAT(summary(checkText(kernel(chain + "st.global.u32 [%rd1], 1;\n"))), IsEmpty());
  std::string nest;
  for (int i = 0; i < 2'000; ++i)
    nest += fmt::format("L{}:\nld.acquire.gpu.global.u32 %r1, [%rd1+{}];\n", i, 4 * i);
  for (int i = 2'000; i-- > 0;)
    nest += fmt::format("setp.eq.u32 %p1, %r1, {};\n@%p1 bra L{};\n", i, i);
  EXPECT_THAT(summary(checkText(kernel(nest)), scope::Severity::warning), IsEmpty());
}

TEST(Bounds, EmptyBodiesAndStrangeControlFlow) {
  EXPECT_THAT(checkText(".version 8.6\n.target sm_90a\n.visible .entry k()\n{\n}\n").findings, IsEmpty());
  EXPECT_THAT(checkText(".version 8.6\n.target sm_90a\n.visible .entry k()\n{\nL: bra L;\n}\n").findings, IsEmpty());
  EXPECT_THAT(checkText(".version 8.6\n.target sm_90a\n.visible .entry k()\n{\ntrap;\nL:\nexit;\nbra L;\n}\n").findings,
              IsEmpty());
}

/// Lines of all examples, shuffled, dropped and doubled: whatever the reader takes, the lint must bear.
TEST(Bounds, DamagedTextsAreBorne) {
  std::mt19937 random(7);
  size_t taken = 0;
  for (const scope::Rule &rule : scope::rules(scope::Language::ptx))
    for (int round = 0; round < 40; ++round) {
      std::istringstream in{std::string(round % 2 ? rule.flagged() : rule.clean())};
      std::vector<std::string> lines;
      for (std::string line; std::getline(in, line);)
        lines.push_back(line);
      for (int k = 0; k < 4; ++k) {
        size_t at = random() % lines.size();
        switch (random() % 4) {
        case 0:
          lines.erase(lines.begin() + long(at));
          break;
        case 1:
          lines.insert(lines.begin() + long(random() % lines.size()), lines[at]);
          break;
        case 2:
          std::swap(lines[at], lines[random() % lines.size()]);
          break;
        default:
          if (size_t comma = lines[at].find(','); comma != std::string::npos)
            lines[at] = lines[at].substr(0, comma) + ";";
        }
      }
      std::string text;
      for (const std::string &line : lines)
        text += line + "\n";
      if (auto module = ptx::read(text, "damaged.ptx")) {
        Report report = check(*module);
        taken += report.functions > 0;
      }
    }
  EXPECT_GT(taken, 100u);
}

} // namespace
} // namespace interlock::lint
