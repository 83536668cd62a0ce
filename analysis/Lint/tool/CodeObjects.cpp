// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "analysis/Lint/tool/CodeObjects.h"

#include "analysis/Lint/tool/Process.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <elf.h>
#include <filesystem>

namespace interlock::lint {
namespace {

constexpr Elf64_Half machineAmdGpu = 224; ///< EM_AMDGPU, which older <elf.h> do not name

/// A structure at `at`, if all of it is there.
template <typename T> bool take(std::string_view bytes, uint64_t at, T &value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T))
    return false;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return true;
}

bool hasSection(std::string_view bytes, const Elf64_Ehdr &head, std::string_view wanted) {
  Elf64_Shdr names, section;
  if (head.e_shentsize != sizeof(Elf64_Shdr) ||
      !take(bytes, head.e_shoff + uint64_t(head.e_shstrndx) * sizeof(Elf64_Shdr), names))
    return false;
  for (uint64_t i = 0; i < head.e_shnum; ++i) {
    if (!take(bytes, head.e_shoff + i * sizeof(Elf64_Shdr), section))
      return false;
    uint64_t at = names.sh_offset + section.sh_name;
    if (at < bytes.size() && bytes.substr(at).starts_with(wanted) && at + wanted.size() < bytes.size() &&
        bytes[at + wanted.size()] == '\0')
      return true;
  }
  return false;
}

/// "gfx942" of "amdgcn-amd-amdhsa--gfx942:xnack-".
std::string chipOf(const std::string &target) {
  size_t begin = target.find("gfx");
  return begin == target.npos ? "amdgcn" : target.substr(begin, target.find(':', begin) - begin);
}

std::string firstLine(std::string_view text) {
  return std::string(text.substr(0, std::min<size_t>(text.find('\n'), 400)));
}

} // namespace

bool holdsAmdCode(std::string_view bytes) {
  if (bytes.starts_with("__CLANG_OFFLOAD_BUNDLE__") || bytes.starts_with("CCOB"))
    return true;
  Elf64_Ehdr head;
  if (!bytes.starts_with(ELFMAG) || !take(bytes, 0, head) || head.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  return head.e_machine == machineAmdGpu || hasSection(bytes, head, ".hip_fatbin");
}

tl::expected<std::vector<InputText>, std::string> disassemble(const std::string &name, const std::string &searchPath) {
  if (name == "-")
    return tl::unexpected<std::string>("expected text on standard input, got a code object: name it as a file");
  auto command = findProgram("interlock", searchPath);
  if (!command)
    return tl::unexpected<std::string>("expected the interlock command to disassemble a code object, found none beside "
                                       "scope-lint or in PATH");
  std::error_code error;
  // Absolute, so that no name is taken for an option or an entry of the cache.
  std::string file = std::filesystem::absolute(name, error).string();
  auto output = runProcess({*command, "--json", "inspect", "--emit", "asm", file}, std::chrono::seconds(120));
  if (!output)
    return tl::unexpected(std::move(output.error()));
  if (output->exitCode != 0) {
    std::string says = firstLine(output->err);
    if (says.starts_with("interlock: "))
      says.erase(0, std::strlen("interlock: "));
    return tl::unexpected(says.empty() ? fmt::format("expected {} to disassemble a code object, it failed with {}",
                                                     *command, output->exitCode)
                                       : says);
  }
  auto json = nlohmann::json::parse(output->out, nullptr, false);
  if (!json.is_object() || !json["objects"].is_array() || json["objects"].empty())
    return tl::unexpected(
        fmt::format("expected {} to print the assembly of a code object, it printed something else", *command));
  std::vector<InputText> texts;
  for (const nlohmann::json &each : json["objects"])
    texts.push_back(
        {fmt::format("{}:{}.{}.s", name, texts.size() + 1, chipOf(each.value("target", ""))), each.value("asm", "")});
  return texts;
}

} // namespace interlock::lint
