// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/PluginIdentity.h"

#include "runtime/Spec/CompilerPlugin.h"
#include "runtime/Spec/ElfFile.h"

#include <nlohmann/json.hpp>

#include <array>

namespace interlock {

std::optional<std::string> pluginIdentity(const std::string &note, const std::string &buildId,
                                          const std::string &assembler) {
  nlohmann::json json = nlohmann::json::parse(note.c_str(), nullptr, /*allow_exceptions=*/false);
  if (buildId.empty() || !json.is_object() || !json.contains("abi") || json["abi"] != ILK_COMPILER_ABI)
    return std::nullopt;
  json.erase("abi"); // it is the loader's business, and the build id changes with it
  json["digest"] = buildId;
  json["assembler"] = assembler;
  return json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
}

std::optional<VendorLibrary> findNvJitLink() {
  constexpr std::array names = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
  constexpr std::array folders = {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"};
  return findVendorLibrary(names, folders);
}

std::optional<std::string> assemblerBuild(const std::optional<VendorLibrary> &file) {
  if (!file)
    return "none";
  if (file->buildId.empty())
    return std::nullopt;
  return file->path.substr(file->path.rfind('/') + 1) + " " + file->buildId;
}

std::optional<std::string> identityOfPluginFile(const std::string &path) {
  std::optional<std::string> note = noteOfFile(path, pluginNoteOwner, pluginNoteType);
  std::optional<std::string> assembler = note ? assemblerBuild(findNvJitLink()) : std::nullopt;
  return assembler ? pluginIdentity(*note, buildIdOfFile(path), *assembler) : std::nullopt;
}

} // namespace interlock
