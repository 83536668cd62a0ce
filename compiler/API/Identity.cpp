// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The plugin's note, and what it states when it is asked: the same (runtime/Spec/PluginIdentity.h).
#include "compiler/API/Compile.h"

#include "compiler/Target/CubinAssembler.h"
#include "runtime/Spec/CompilerPlugin.h"
#include "runtime/Spec/ElfFile.h"
#include "runtime/Spec/PluginIdentity.h"
#include "templates/Digest.inc"

#include "llvm/Config/llvm-config.h"

#include <cstddef>

#include <elf.h>
#include <link.h>

#define ILK_TEXT_OF(value) #value
#define ILK_TEXT(macro) ILK_TEXT_OF(macro)
#define ILK_NOTE_TEXT                                                                                                  \
  "{\"abi\":" ILK_TEXT(ILK_COMPILER_ABI) ",\"llvm\":\"" LLVM_VERSION_STRING "\",\"templates\":\"" ILK_TEMPLATES_DIGEST \
                                         "\"}"

namespace interlock {
namespace {

/// Looks for the build id in the loaded object whose segments contain `address`.
struct BuildIdQuery {
  uintptr_t address;
  std::string buildId;
};

int visitObject(dl_phdr_info *info, size_t, void *data) {
  auto *query = static_cast<BuildIdQuery *>(data);
  bool here = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    here |= segment.p_type == PT_LOAD && query->address >= begin && query->address < begin + segment.p_memsz;
  }
  if (!here)
    return 0;
  for (int i = 0; i < info->dlpi_phnum && query->buildId.empty(); ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE)
      query->buildId =
          hex(findNote({reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr), segment.p_memsz},
                       ELF_NOTE_GNU, NT_GNU_BUILD_ID)
                  .value_or(""));
  }
  return 1;
}

std::string ownBuildId() {
  BuildIdQuery query{reinterpret_cast<uintptr_t>(&ownBuildId), {}};
  dl_iterate_phdr(visitObject, &query);
  return query.buildId;
}

/// What the file tells without being loaded. The linker's build id changes with it, since it is content.
struct Note {
  uint32_t ownerBytes, textBytes, type;
  char owner[(sizeof(pluginNoteOwner) + 3) & ~size_t(3)];
  char text[(sizeof(ILK_NOTE_TEXT) + 3) & ~size_t(3)];
};
static_assert(offsetof(Note, text) % 4 == 0);
__attribute__((section(".note.interlock"), used, aligned(4)))
const Note note = {sizeof(pluginNoteOwner), sizeof(ILK_NOTE_TEXT), pluginNoteType, "Interlock", ILK_NOTE_TEXT};

/// Which build of nvJitLink there is. Its notes say so, and loading it would take longer than a lookup in the cache;
/// what a linker left without a build id is loaded and asked for its version.
std::string ownAssembler() {
  if (auto build = assemblerBuild(findNvJitLink()))
    return *build;
  auto assembler = target::CubinAssembler::find();
  return assembler ? (*assembler)->identity() : "none";
}

} // namespace

const std::string &compilerIdentity() {
  static const std::string identity =
      pluginIdentity(std::string(note.text, note.textBytes), ownBuildId(), ownAssembler()).value_or("");
  return identity;
}

} // namespace interlock
