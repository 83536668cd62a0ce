// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/plugin/Objects.h"

#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/tool/Command.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>

namespace interlock::test {
namespace {

constexpr const char *tools = INTERLOCK_LLVM_BIN "/";

/// Runs one of LLVM's tools, which writes `made`.
std::string toolMade(const std::vector<std::string> &command, const std::string &made) {
  Outcome outcome = runProgram(command);
  EXPECT_EQ(outcome.code, 0) << command[0] << ": " << outcome.err;
  return outcome.code == 0 ? slurp(made) : std::string();
}

std::string linkedObject(const TempFolder &folder) {
  return toolMade({std::string(tools) + "ld.lld", "-shared", folder.string("k.o"), "-o", folder.string("k.hsaco")},
                  folder.string("k.hsaco"));
}

template <typename T> void append(std::string &to, const T &value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

} // namespace

std::vector<std::string> amdChips() {
  std::vector<std::string> chips;
  for (const TargetInfo &target : targets())
    if (target.isAMD())
      chips.emplace_back(target.name);
  return chips;
}

std::vector<KernelSpec> kernelsFor(const std::string &chip) {
  KernelSpec spec;
  spec.layer = {.ranks = 4, .experts = 32, .topk = 4, .hidden = 512, .maxTokens = 64};
  spec.target = chip;
  spec.blockThreads = 256;
  std::vector<KernelSpec> specs = {spec, spec, localKernel(KernelKind::dispatchEpilogue, 4, 512, DType::bf16, chip),
                                   localKernel(KernelKind::combinePrologue, 4, 512, DType::bf16, chip)};
  specs[1].kernel = KernelKind::combine;
  return specs;
}

std::map<std::string, std::string> partsOf(const KernelSpec &spec, const std::vector<std::string> &parts) {
  auto made = makePluginCompiler({.path = INTERLOCK_PLUGIN})->compile(spec, parts);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? *made : std::map<std::string, std::string>();
}

std::string linked(const std::string &assembly, const std::string &chip) {
  TempFolder folder;
  std::string made = toolMade({std::string(tools) + "llvm-mc", "-triple=amdgcn-amd-amdhsa", "-mcpu=" + chip,
                               "-filetype=obj", writeFile(folder.string("k.s"), assembly), "-o", folder.string("k.o")},
                              folder.string("k.o"));
  return made.empty() ? made : linkedObject(folder);
}

std::string compiledIr(const std::string &ir, const std::string &chip) {
  TempFolder folder;
  std::string made = toolMade({std::string(tools) + "llc", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=" + chip,
                               "-filetype=obj", writeFile(folder.string("k.ll"), ir), "-o", folder.string("k.o")},
                              folder.string("k.o"));
  return made.empty() ? made : linkedObject(folder);
}

std::string bundleOf(const std::vector<std::pair<std::string, std::string>> &entries) {
  std::string header = "__CLANG_OFFLOAD_BUNDLE__", content;
  append(header, uint64_t(entries.size()));
  uint64_t size = header.size();
  for (const auto &[name, bytes] : entries)
    size += 24 + name.size();
  for (const auto &[name, bytes] : entries) {
    append(header, size + content.size());
    append(header, uint64_t(bytes.size()));
    append(header, uint64_t(name.size()));
    header += name;
    content += bytes;
  }
  return header + content;
}

std::string programWith(const std::string &section, const std::string &bytes) {
  std::string names = std::string(1, '\0') + section + '\0' + ".shstrtab" + '\0';
  Elf64_Ehdr head = {};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_type = ET_EXEC;
  head.e_machine = EM_X86_64;
  head.e_version = EV_CURRENT;
  head.e_ehsize = sizeof(Elf64_Ehdr);
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = 3;
  head.e_shstrndx = 2;
  std::string content = bytes + names;
  content.resize((content.size() + 7) / 8 * 8);
  head.e_shoff = sizeof(head) + content.size();
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_flags = SHF_ALLOC;
  sections[1].sh_offset = sizeof(head);
  sections[1].sh_size = bytes.size();
  sections[1].sh_addralign = 1;
  sections[2].sh_name = Elf64_Word(section.size() + 2);
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sizeof(head) + bytes.size();
  sections[2].sh_size = names.size();
  std::string file;
  append(file, head);
  file += content;
  append(file, sections);
  return file;
}

std::string disassembled(const std::string &object) {
  auto made = disassemble({.path = INTERLOCK_PLUGIN}, object);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made && made->size() == 1 ? made->front().text : std::string();
}

} // namespace interlock::test
