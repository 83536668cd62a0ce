// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The ELF specification, "Program Header", "Note Section" and "Dynamic Section".
#include "runtime/Spec/ElfFile.h"

#include <cstring>
#include <fstream>
#include <functional>

#include <elf.h>

namespace interlock {
namespace {

/// Reads so many bytes at a place; false if they are not all there.
using ReadAt = std::function<bool(uint64_t at, void *to, size_t size)>;

ReadAt readerOf(std::ifstream &file) {
  return [&file](uint64_t at, void *to, size_t size) {
    file.seekg(std::streamoff(at));
    return bool(file.read(static_cast<char *>(to), std::streamsize(size)));
  };
}

/// The program headers; none if it is no 64-bit ELF file.
std::vector<Elf64_Phdr> segmentsOf(const ReadAt &readAt) {
  Elf64_Ehdr head;
  if (!readAt(0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr))
    return {};
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  if (!readAt(head.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr)))
    return {};
  return segments;
}

std::optional<std::string> noteIn(const ReadAt &readAt, std::string_view owner, uint32_t type) {
  constexpr uint64_t longest = 1 << 20; // metadata of many kernels, but no accident
  for (const Elf64_Phdr &segment : segmentsOf(readAt)) {
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

} // namespace

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
  return noteIn(readerOf(file), owner, type);
}

std::optional<std::string> noteOfBytes(std::string_view bytes, std::string_view owner, uint32_t type) {
  auto readAt = [bytes](uint64_t at, void *to, size_t size) {
    if (at > bytes.size() || size > bytes.size() - at)
      return false;
    std::memcpy(to, bytes.data() + at, size);
    return true;
  };
  return noteIn(readAt, owner, type);
}

std::string buildIdOfFile(const std::string &path) {
  return hex(noteOfFile(path, ELF_NOTE_GNU, NT_GNU_BUILD_ID).value_or(""));
}

std::vector<std::string> neededByFile(const std::string &path) {
  constexpr uint64_t longest = 1 << 24;
  std::ifstream file(path, std::ios::binary);
  const ReadAt readAt = readerOf(file);
  const std::vector<Elf64_Phdr> segments = segmentsOf(readAt);
  std::vector<Elf64_Dyn> entries;
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_DYNAMIC && segment.p_filesz <= longest) {
      entries.resize(segment.p_filesz / sizeof(Elf64_Dyn));
      if (!readAt(segment.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn)))
        return {};
    }
  uint64_t strings = 0, size = 0;
  for (const Elf64_Dyn &entry : entries) {
    strings = entry.d_tag == DT_STRTAB ? entry.d_un.d_ptr : strings;
    size = entry.d_tag == DT_STRSZ ? entry.d_un.d_val : size;
  }
  std::string names;
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD && strings >= segment.p_vaddr && strings - segment.p_vaddr < segment.p_filesz &&
        size <= longest) {
      names.resize(size);
      if (!readAt(segment.p_offset + (strings - segment.p_vaddr), names.data(), size))
        return {};
      break;
    }
  std::vector<std::string> needed;
  for (const Elf64_Dyn &entry : entries)
    if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < names.size())
      needed.emplace_back(names.c_str() + entry.d_un.d_val);
  return needed;
}

} // namespace interlock
