// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A vendor's compiler library takes tens of milliseconds to load; its notes take microseconds to read.
#include "runtime/Spec/VendorLibrary.h"

#include "runtime/Spec/ElfFile.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace interlock {
namespace {

bool exists(const std::string &path) { return ::access(path.c_str(), R_OK) == 0; }

std::optional<std::string> loadedAlready(const char *name) {
  void *library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library)
    return std::nullopt;
  link_map *map = nullptr;
  std::optional<std::string> path;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
    path = map->l_name;
  ::dlclose(library);
  return path;
}

/// The loader's own search path as it was when the process started.
std::vector<std::string> loaderFolders() {
  void *self = ::dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size;
  std::vector<std::string> folders;
  if (self && ::dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<std::byte> storage(size.dls_size);
    auto *info = reinterpret_cast<Dl_serinfo *>(storage.data());
    if (::dlinfo(self, RTLD_DI_SERINFOSIZE, info) == 0 && ::dlinfo(self, RTLD_DI_SERINFO, info) == 0)
      for (unsigned i = 0; i < info->dls_cnt; ++i)
        folders.emplace_back(info->dls_serpath[i].dls_name);
  }
  if (self)
    ::dlclose(self);
  return folders;
}

/// /etc/ld.so.cache in glibc's format 1.1 (dl-cache.h): a head, entries, strings at offsets from the head.
std::optional<std::string> inLoaderCache(std::string_view name) {
  struct Head {
    char magic[20];
    uint32_t count, stringBytes;
    uint8_t flags, padding[3];
    uint32_t extension, unused[3];
  };
  struct Entry {
    int32_t flags;
    uint32_t name, path, osVersion;
    uint64_t hardware;
  };
  static_assert(sizeof(Head) == 48 && sizeof(Entry) == 24);
  constexpr std::string_view magic = "glibc-ld.so.cache1.1";
  constexpr int32_t elf64 = 0x0303; // FLAG_ELF_LIBC6 | FLAG_X8664_LIB64
  std::ifstream stream("/etc/ld.so.cache", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  Head head;
  if (bytes.size() < sizeof head || bytes.compare(0, magic.size(), magic) != 0)
    return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.count > (bytes.size() - sizeof head) / sizeof(Entry))
    return std::nullopt;
  for (uint32_t i = 0; i < head.count; ++i) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + sizeof head + i * sizeof entry, sizeof entry);
    if (entry.flags != elf64 || entry.name >= bytes.size() || entry.path >= bytes.size())
      continue;
    if (name == bytes.c_str() + entry.name && exists(bytes.c_str() + entry.path))
      return bytes.c_str() + entry.path;
  }
  return std::nullopt;
}

std::optional<std::string> locate(const char *name, std::span<const char *const> folders) {
  if (auto path = loadedAlready(name))
    return path;
  for (const std::string &folder : loaderFolders())
    if (std::string path = folder + "/" + name; exists(path))
      return path;
  if (auto path = inLoaderCache(name))
    return path;
  for (const char *folder : folders)
    if (std::string path = std::string(folder) + "/" + name; exists(path))
      return path;
  return std::nullopt;
}

} // namespace

std::optional<VendorLibrary> findVendorLibrary(std::span<const char *const> names,
                                               std::span<const char *const> folders) {
  for (const char *name : names)
    if (auto path = locate(name, folders))
      return VendorLibrary{*path, buildIdOfFile(*path)};
  return std::nullopt;
}

} // namespace interlock
