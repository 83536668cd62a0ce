// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock inspect` with the real compiler: every step of a kernel without a GPU, lines that lead back to the
// expanded kernel, and the names of protocol steps (corpus D02 to D06).
#include "analysis/PTX/Reader.h"
#include "interlock/cache.hpp"
#include "runtime/Cache/KernelCache.h"
#include "tests/plugin/Kernels.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/cache/Processes.h"
#include "tests/unit/tool/Command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::TempFolder;
using testing::HasSubstr;

const std::vector<std::string> steps = {"stages", "expanded", "verified", "lowered", "llvm"};

Outcome interlockIn(const TempFolder &folder, const std::vector<std::string> &arguments,
                    const std::string &plugin = INTERLOCK_PLUGIN) {
  return test::runCommand(arguments, {"INTERLOCK_CACHE_DIR=" + folder.string(), "INTERLOCK_COMPILER=" + plugin,
                                      "PATH=" + folder.string("empty")});
}

std::vector<std::string> claimed(const std::string &kernel, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"inspect", "--kernel",   kernel,    "--ranks",   "4",   "--experts",
                                        "32",      "--topk",     "4",       "--hidden",  "512", "--tokens",
                                        "64",      "--schedule", "claimed", "--cluster", "4"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// The one file of a folder that ends so, or nothing.
std::string fileWith(const fs::path &folder, const std::string &suffix) {
  for (const fs::path &file : test::filesBelow(folder))
    if (file.string().ends_with(suffix))
      return file.string();
  return {};
}

ptx::Module read(const std::string &text) {
  auto module = ptx::read(text, "inspected.ptx");
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().str());
  return module ? std::move(*module) : ptx::Module();
}

const ptx::Function &kernelOf(const ptx::Module &module) {
  static const ptx::Function none;
  for (const ptx::Function &function : module.functions)
    if (function.entry && function.defined)
      return function;
  ADD_FAILURE() << "no kernel";
  return none;
}

/// Instructions that signal, wait or order.
bool isStep(const ptx::Instruction &instruction) {
  static const std::set<std::string_view> always = {
      "fence", "membar", "mbarrier", "bar", "barrier", "red", "atom", "griddepcontrol", "clusterlaunchcontrol"};
  if (always.contains(instruction.opcode))
    return true;
  return instruction.has("async") || instruction.has("release") || instruction.has("acquire") ||
         instruction.has("relaxed") || instruction.has("volatile");
}

bool isMemory(const ptx::Instruction &instruction) {
  static const std::set<std::string_view> opcodes = {"ld", "st", "atom", "red", "cp"};
  return opcodes.contains(instruction.opcode) && !instruction.has("param");
}

/// What stands behind `//` on an instruction's line.
std::string labelOf(const std::vector<std::string> &lines, const ptx::Instruction &instruction) {
  const std::string &line = lines.at(instruction.at.line - 1);
  size_t at = line.rfind("// ");
  return at == std::string::npos ? "" : line.substr(at + 3);
}

/// The steps of docs/protocol.md.
std::set<std::string> documentedSteps() {
  std::string text = test::slurp(fs::path(INTERLOCK_SOURCE) / "docs/protocol.md");
  text.erase(0, text.find("## Steps"));
  std::set<std::string> names;
  static const std::regex name("`([a-z_]+\\.[a-z_]+)`");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

/// A section of a cubin by its name, or nothing.
std::string sectionOf(const std::string &cubin, const std::string &wanted) {
  Elf64_Ehdr head;
  if (cubin.size() < sizeof head)
    return {};
  std::memcpy(&head, cubin.data(), sizeof head);
  std::vector<Elf64_Shdr> sections(head.e_shnum);
  std::memcpy(sections.data(), cubin.data() + head.e_shoff, sizeof(Elf64_Shdr) * head.e_shnum);
  for (const Elf64_Shdr &section : sections)
    if (cubin.c_str() + sections[head.e_shstrndx].sh_offset + section.sh_name == wanted)
      return cubin.substr(section.sh_offset, section.sh_size);
  return {};
}

/// EIATTR_REGCOUNT of the first kernel (attribute 0x2f of .nv.info: a symbol, then a number).
uint32_t registersOf(const std::string &cubin) {
  std::string info = sectionOf(cubin, ".nv.info");
  for (size_t at = 0; at + 12 <= info.size();) {
    uint16_t size = 0;
    std::memcpy(&size, info.data() + at + 2, 2);
    uint32_t count = 0;
    std::memcpy(&count, info.data() + at + 8, 4);
    if (info[at + 1] == 0x2f)
      return count;
    at += 4 + size;
  }
  return 0;
}

TEST(Inspect, D02EveryPartOfAFreshKernelWithoutAGpu) {
  TempFolder folder;
  Outcome outcome = interlockIn(folder, claimed("dispatch", {"--emit", "mlir,llvm,ptx,meta", "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  auto parts = outcome.json()["parts"];
  EXPECT_THAT(parts["stages"]["text"].get<std::string>(), HasSubstr("ep.dispatch"));
  EXPECT_THAT(parts["expanded"]["text"].get<std::string>(), HasSubstr("sync.consumer_wait"));
  EXPECT_THAT(parts["verified"]["text"].get<std::string>(), HasSubstr("scope(cluster)"));
  EXPECT_THAT(parts["lowered"]["text"].get<std::string>(), HasSubstr("llvm.func"));
  EXPECT_THAT(parts["llvm"]["text"].get<std::string>(),
              testing::AllOf(HasSubstr("ptx_kernel"), testing::Not(HasSubstr("!dbg"))));
  EXPECT_THAT(parts["ptx"]["text"].get<std::string>(), HasSubstr(".visible .entry"));
  EXPECT_THAT(parts["meta"]["text"].get<std::string>(), HasSubstr("\"entry\""));
  EXPECT_EQ(outcome.json()["notes"], nlohmann::json::array());
}

TEST(Inspect, D02EveryPartOfACachedKernelByItsKey) {
  TempFolder folder;
  Outcome fresh = interlockIn(folder, claimed("combine", {"--emit", "all", "-o", folder.string("fresh")}));
  std::string key = interlockIn(folder, {"inspect", "--json"}).json()["entries"][0]["key"];
  Outcome outcome = interlockIn(folder, {"inspect", key.substr(0, 12), "-o", folder.string("cached"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const std::string &part : steps) {
    std::string file = outcome.json()["parts"][part]["file"];
    EXPECT_NE(test::slurp(file), "") << part;
    EXPECT_EQ(fs::path(file).filename().string().find("combine-" + key.substr(0, 16)), 0u) << file;
  }
  EXPECT_NE(fileWith(folder.path() / "fresh", ".lowered.mlir"), "");
  EXPECT_EQ(test::slurp(fileWith(folder.path() / "fresh", ".lowered.mlir")),
            test::slurp(fileWith(folder.path() / "cached", ".lowered.mlir")));
  EXPECT_EQ(interlockIn(folder, {"inspect", "--key", key, "--emit", "ptx"}).out,
            interlockIn(folder, {"inspect", "--key", key, "--emit", "ptx"}, "/no/such/plugin").out);
}

TEST(Inspect, D02SaysWhichToolIsMissing) {
  TempFolder folder;
  Outcome sass = interlockIn(folder, claimed("dispatch", {"--emit", "sass"}));
  EXPECT_EQ(sass.code, 2);
  EXPECT_THAT(sass.err, HasSubstr("expected nvdisasm or cuobjdump on the PATH"));
  std::string key = interlockIn(folder, {"inspect", "--json"}).json()["entries"][0]["key"];
  // what was not asked for by name is missing without an error
  Outcome all = interlockIn(folder, {"inspect", "--key", key, "-o", folder.string("all"), "--json"}, "/no/such/plugin");
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.json()["parts"]["sass"]["missing"].get<std::string>(), HasSubstr("nvdisasm"));
  EXPECT_THAT(all.json()["parts"]["expanded"]["missing"].get<std::string>(), HasSubstr("compiler plugin"));
  EXPECT_NE(test::slurp(all.json()["parts"]["ptx"]["file"].get<std::string>()), "");
  Outcome named = interlockIn(folder, {"inspect", "--key", key, "--emit", "expanded"}, "/no/such/plugin");
  EXPECT_EQ(named.code, 2);
  EXPECT_THAT(named.err, HasSubstr("expected the compiler plugin"));
}

TEST(Inspect, D02RefusesWhatIsNoKernelAndNoPart) {
  TempFolder folder;
  Outcome part = interlockIn(folder, claimed("dispatch", {"--emit", "ptx,sas"}));
  EXPECT_EQ(part.code, 2);
  EXPECT_THAT(part.err, HasSubstr("got 'sas'"));
  EXPECT_EQ(interlockIn(folder, {"inspect", "--key", "f00", "--emit", "ptx"}).code, 2);
  EXPECT_EQ(interlockIn(folder, {"inspect", "--emit", "ptx"}).code, 2);
  EXPECT_EQ(interlockIn(folder, claimed("dispatch", {"--key", "f00"})).code, 2);
  EXPECT_THAT(interlockIn(folder, claimed("dispatch", {"--emit", "cubin"})).err, HasSubstr("expected -o DIR"));
  std::string inTheWay = test::writeFile(folder.string("file"), "no folder");
  EXPECT_THAT(interlockIn(folder, claimed("dispatch", {"--emit", "ptx", "-o", inTheWay})).err,
              HasSubstr("expected a folder to write to"));
}

TEST(Inspect, D03LinesAreThoseOfTheDumpedFile) {
  for (const char *kernel : {"dispatch", "combine"}) {
    TempFolder folder;
    ASSERT_EQ(interlockIn(folder, claimed(kernel, {"-o", folder.string("out")})).code, 0);
    std::string text = test::slurp(fileWith(folder.path() / "out", ".ptx"));
    std::string expanded = fileWith(folder.path() / "out", ".expanded.mlir");
    ptx::Module module = read(text);
    ASSERT_EQ(module.files.size(), 1u);
    EXPECT_EQ(module.files[0].path, expanded);
    const std::vector<std::string> source = linesOf(test::slurp(expanded)), lines = linesOf(text);
    size_t resolved = 0;
    for (const ptx::Instruction &instruction : kernelOf(module).instructions) {
      if (!isStep(instruction))
        continue;
      ASSERT_LE(instruction.source.line, source.size()) << instruction.text();
      ASSERT_GT(instruction.source.line, 0u) << instruction.text();
      const std::string &line = source[instruction.source.line - 1];
      EXPECT_THAT(line, HasSubstr("sync.")) << instruction.text();
      EXPECT_THAT(line, HasSubstr("sync.step = \"" + labelOf(lines, instruction) + "\"")) << instruction.text();
      ++resolved;
    }
    EXPECT_GT(resolved, 20u);
  }
}

TEST(Inspect, D03TheInstructionsAreTheSameWithAndWithoutLines) {
  for (const char *kernel : {"dispatch", "combine"}) {
    TempFolder folder;
    std::string plain = interlockIn(folder, claimed(kernel, {"--emit", "ptx"})).out;
    ASSERT_EQ(interlockIn(folder, claimed(kernel, {"-o", folder.string("out")})).code, 0);
    std::string lined = test::slurp(fileWith(folder.path() / "out", ".ptx"));
    EXPECT_EQ(plain.find(".loc"), std::string::npos);
    EXPECT_NE(lined.find(".loc"), std::string::npos);
    ptx::Module with = read(lined), without = read(plain);
    const auto &a = kernelOf(with).instructions, &b = kernelOf(without).instructions;
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(a[i].text(), b[i].text());
  }
}

// A process that runs under a profiler loads kernels whose lines are those of files that were written for it.
TEST(Inspect, D03AProcessLoadsKernelsWithLines) {
  TempFolder folder;
  auto plain =
      KernelCache::open({.directory = folder.string(), .compiler = makePluginCompiler({.path = INTERLOCK_PLUGIN})});
  const std::string lines = folder.string("lines");
  auto lined = openKernelCache({.directory = folder.string(), .compilerPath = INTERLOCK_PLUGIN, .lineFolder = lines});
  for (const KernelSpec &kernel : test::kernels()) {
    auto without = plain->get(kernel), with = lined->get(kernel);
    ASSERT_TRUE(without && with) << (with ? "" : with.error().message);
    EXPECT_EQ(with->outcome, interlock::Outcome::miss) << "another kernel to the cache";
    if (kernel.target.substr(0, 2) != "sm")
      continue;
    ptx::Module module = read(with->artifact->text), bare = read(without->artifact->text);
    ASSERT_EQ(module.files.size(), 1u);
    EXPECT_EQ(module.files[0].path.substr(0, lines.size() + 1), lines + "/");
    const size_t length = linesOf(test::slurp(module.files[0].path)).size();
    const auto &a = kernelOf(module).instructions, &b = kernelOf(bare).instructions;
    ASSERT_EQ(a.size(), b.size());
    size_t placed = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].text(), b[i].text());
      EXPECT_LE(a[i].source.line, length);
      placed += a[i].source.line != 0;
    }
    EXPECT_GT(placed, a.size() / 2);
  }
  auto nowhere = openKernelCache({.compilerPath = INTERLOCK_PLUGIN, .lineFolder = "/proc/no/such"});
  auto refused = nowhere->get(test::kernels()[0]);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("which lines of a kernel would name"));
}

TEST(Inspect, D04LinesDoNotMakeADebugKernel) {
  for (const char *kernel : {"dispatch", "combine"}) {
    TempFolder folder;
    Outcome outcome = interlockIn(folder, claimed(kernel, {"-o", folder.string("out"), "--json"}));
    ASSERT_EQ(outcome.code, 0);
    ptx::Module module = read(test::slurp(fileWith(folder.path() / "out", ".ptx")));
    EXPECT_THAT(module.targets, testing::ElementsAre("sm_90a")); // no ", debug"
    if (outcome.json()["parts"]["cubin"].contains("missing"))
      GTEST_SKIP() << outcome.json()["parts"]["cubin"]["missing"];
    std::string lined = test::slurp(fileWith(folder.path() / "out", ".cubin"));
    // the cached one, written where there is no compiler to make one with lines
    Outcome cached =
        interlockIn(folder,
                    {"inspect", "--key", interlockIn(folder, {"inspect", "--json"}).json()["entries"][0]["key"], "-o",
                     folder.string("cached"), "--emit", "cubin"},
                    "/no/such/plugin");
    ASSERT_EQ(cached.code, 0) << cached.err;
    std::string plain = test::slurp(fileWith(folder.path() / "cached", ".cubin"));
    std::string code = ".text.ep_" + std::string(kernel);
    EXPECT_NE(sectionOf(lined, ".debug_line"), "");
    EXPECT_EQ(sectionOf(plain, ".debug_line"), "");
    ASSERT_NE(sectionOf(plain, code), "");
    EXPECT_TRUE(sectionOf(plain, code) == sectionOf(lined, code)) << "the machine code differs";
    EXPECT_GT(registersOf(plain), 0u);
    EXPECT_EQ(registersOf(plain), registersOf(lined));
  }
}

TEST(Inspect, D06MemoryAndSyncInstructionsKeepTheirPlace) {
  for (const char *kernel : {"dispatch", "combine"}) {
    TempFolder folder;
    ASSERT_EQ(interlockIn(folder, claimed(kernel, {"-o", folder.string("out")})).code, 0);
    ptx::Module module = read(test::slurp(fileWith(folder.path() / "out", ".ptx")));
    size_t all = 0, placed = 0;
    for (const ptx::Instruction &instruction : kernelOf(module).instructions)
      if (isMemory(instruction) || isStep(instruction)) {
        ++all;
        placed += instruction.source.line != 0;
      }
    EXPECT_GT(all, 50u);
    // A load that stands for several of the expanded kernel, or was moved out of its block, has no line of its own.
    EXPECT_GE(placed * 100, all * 90) << placed << " of " << all;
  }
}

TEST(Inspect, D06EverySignalAndWaitHasTheNameOfItsStep) {
  const std::set<std::string> documented = documentedSteps();
  ASSERT_GT(documented.size(), 10u);
  TempFolder folder;
  for (const KernelSpec &spec : test::kernels()) {
    auto parts = makePluginCompiler({.path = INTERLOCK_PLUGIN})->compile(spec, {"ptx"});
    ASSERT_TRUE(parts.has_value()) << parts.error().message;
    ptx::Module module = read((*parts)["ptx"]);
    const std::vector<std::string> lines = linesOf((*parts)["ptx"]);
    std::set<std::string> seen;
    for (const ptx::Instruction &instruction : kernelOf(module).instructions)
      if (isStep(instruction)) {
        std::string label = labelOf(lines, instruction);
        EXPECT_TRUE(documented.contains(label)) << canonicalForm(spec) << instruction.text() << ": '" << label << "'";
        seen.insert(label);
      }
    EXPECT_THAT(seen, testing::IsSupersetOf({"live.read", "started.tell", "started.await", "ticket.take"}));
    if (spec.kernel == KernelKind::dispatch)
      EXPECT_THAT(seen, testing::IsSupersetOf({"arrived.tell", "arrived.await", "count.add", "slots.drop"}));
    if (spec.schedule == Schedule::claimed)
      EXPECT_THAT(seen, testing::IsSupersetOf({"tile.ready", "tile.acquire", "tile.claim", "tile.publish", "tile.wait",
                                               "tile.free", "tile.drain"}));
  }
}

} // namespace
} // namespace interlock
