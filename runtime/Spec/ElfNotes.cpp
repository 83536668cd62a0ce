// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The ELF specification, "Note Section": a head, the owner's name and the description, each padded to four bytes.
#include "runtime/Spec/ElfNotes.h"

#include <cstring>
#include <fstream>

#include <elf.h>

namespace interlock {

std::string hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : bytes)
    text.append({digits[byte >> 4], digits[byte & 15]});
  return text;
}

std::optional<std::string> findNote(std::string_view notes, std::string_view owner, uint32_t type) {
  auto padded = [](uint64_t n) { return (n + 3) & ~uint64_t(3); };
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    uint64_t name = at + sizeof note, description = name + padded(note.n_namesz);
    if (description + note.n_descsz > notes.size())
      break;
    // The name counts its zero byte.
    if (note.n_type == type && note.n_namesz == owner.size() + 1 && notes.substr(name, owner.size()) == owner)
      return std::string(notes.substr(description, note.n_descsz));
    at = description + padded(note.n_descsz);
  }
  return std::nullopt;
}

std::optional<std::string> noteOfFile(const std::string &path, std::string_view owner, uint32_t type) {
  std::ifstream file(path, std::ios::binary);
  auto readAt = [&](uint64_t at, void *to, size_t size) {
    file.seekg(std::streamoff(at));
    return bool(file.read(static_cast<char *>(to), std::streamsize(size)));
  };
  Elf64_Ehdr head;
  if (!readAt(0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr))
    return std::nullopt;
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    constexpr uint64_t longest = 1 << 16;
    Elf64_Phdr segment;
    if (!readAt(head.e_phoff + i * sizeof segment, &segment, sizeof segment))
      return std::nullopt;
    if (segment.p_type != PT_NOTE || segment.p_filesz > longest)
      continue;
    std::string notes(segment.p_filesz, '\0');
    if (!readAt(segment.p_offset, notes.data(), notes.size()))
      return std::nullopt;
    if (auto found = findNote(notes, owner, type))
      return found;
  }
  return std::nullopt;
}

std::string buildIdOfFile(const std::string &path) {
  return hex(noteOfFile(path, ELF_NOTE_GNU, NT_GNU_BUILD_ID).value_or(""));
}

} // namespace interlock
