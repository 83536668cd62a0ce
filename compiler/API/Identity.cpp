// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Content, never paths or times: the linkers' build ids of the binary that holds this code and of the assembler, and a
// digest of the templates.
#include "compiler/API/Compile.h"

#include "compiler/Target/CubinAssembler.h"
#include "templates/Embedded.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SHA256.h"

#include <nlohmann/json.hpp>

#include <elf.h>
#include <link.h>

namespace interlock {
namespace {

/// Looks for the build id in the loaded object whose segments contain `address`.
struct BuildIdQuery {
  uintptr_t address;
  std::string buildId;
};

std::string buildIdInNotes(const uint8_t *notes, size_t size) {
  size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    auto *header = reinterpret_cast<const ElfW(Nhdr) *>(notes + at);
    auto padded = [](size_t n) { return (n + 3) & ~size_t(3); };
    size_t description = at + sizeof(*header) + padded(header->n_namesz);
    if (description + header->n_descsz > size)
      break;
    if (header->n_type == NT_GNU_BUILD_ID)
      return llvm::toHex(llvm::ArrayRef<uint8_t>(notes + description, header->n_descsz), /*LowerCase=*/true);
    at = description + padded(header->n_descsz);
  }
  return {};
}

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
          buildIdInNotes(reinterpret_cast<const uint8_t *>(info->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  }
  return 1;
}

std::string ownBuildId() {
  BuildIdQuery query{reinterpret_cast<uintptr_t>(&ownBuildId), {}};
  dl_iterate_phdr(visitObject, &query);
  return query.buildId;
}

std::string templatesDigest() {
  llvm::SHA256 hash;
  for (const templates::EmbeddedFile &file : templates::embedded()) {
    hash.update(llvm::StringRef(file.name));
    hash.update(llvm::StringRef("\0", 1));
    hash.update(llvm::StringRef(std::to_string(file.text.size())));
    hash.update(llvm::StringRef("\0", 1));
    hash.update(llvm::StringRef(file.text));
  }
  std::array<uint8_t, 32> digest = hash.final();
  return llvm::toHex(digest, /*LowerCase=*/true);
}

/// Which build of nvJitLink there is. Its notes say so, and loading it would take longer than a lookup in the cache;
/// what a linker left without a build id is loaded and asked for its version.
std::string assemblerBuild() {
  std::optional<VendorLibrary> file = target::CubinAssembler::locate();
  if (file && !file->buildId.empty())
    return file->path.substr(file->path.rfind('/') + 1) + " " + file->buildId;
  auto assembler = target::CubinAssembler::find();
  return assembler ? (*assembler)->identity() : "none";
}

} // namespace

const std::string &compilerIdentity() {
  static const std::string identity = [] {
    nlohmann::json json = {{"digest", ownBuildId()},
                           {"templates", templatesDigest()},
                           {"llvm", LLVM_VERSION_STRING},
                           {"assembler", assemblerBuild()}};
    return json.dump();
  }();
  return identity;
}

} // namespace interlock
