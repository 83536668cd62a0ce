// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/OwnFile.h"

#include <filesystem>

#include <dlfcn.h>
#include <link.h>

namespace interlock {

namespace fs = std::filesystem;

namespace {
/// The file that this code was linked into. The loader knows the main program only by the name that it was called by,
/// which is no path when the shell found it on PATH, and leaves its link map's name empty.
fs::path ownFile(std::error_code &error) {
  Dl_info self{};
  void *extra = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&ownFile), &self, &extra, RTLD_DL_LINKMAP) || !extra)
    return fs::canonical("/proc/self/exe", error);
  const char *name = static_cast<const link_map *>(extra)->l_name;
  return fs::canonical(name && *name ? name : "/proc/self/exe", error);
}
} // namespace

std::vector<std::string> placesBesideOwnFile(const std::string &name, const std::string &folder) {
  std::error_code error;
  const fs::path own = ownFile(error).parent_path();
  if (error)
    return {};
  return {(own / name).string(), (own.parent_path() / folder / name).string()};
}

std::optional<std::string> findBesideOwnFile(const std::string &name, const std::string &folder) {
  for (const std::string &place : placesBesideOwnFile(name, folder))
    if (std::error_code error; fs::is_regular_file(place, error))
      return place;
  return std::nullopt;
}

} // namespace interlock
