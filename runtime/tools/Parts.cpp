// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/Parts.h"

#include "runtime/tools/Finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <unistd.h>

namespace interlock::tool {

namespace {
constexpr Part table[] = {
    // name, suffix, cached, binary, vendor
    {"stages", ".stages.mlir"},
    {"expanded", ".expanded.mlir"},
    {"verified", ".verified.mlir"},
    {"lowered", ".lowered.mlir"},
    {"llvm", ".ll"},
    {"ptx", ".ptx", true, false, "nvptx"},
    {"cubin", ".cubin", true, true, "nvptx"},
    {"sass", ".sass", true, false, "nvptx"},
    {"asm", ".s", true, false, "amdgcn"},
    {"hsaco", ".hsaco", true, true, "amdgcn"},
    {"meta", ".meta.json", true},
};

bool isMlir(const Part &part) { return part.suffix.find(".mlir") != std::string_view::npos; }

tl::unexpected<Error> noPart(std::string_view name, std::string_view groups) {
  std::string names;
  for (const Part &part : table)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", part.name);
  return makeError(Code::badInput, fmt::format("expected --emit {}{}, got '{}'", names, groups, name));
}
} // namespace

std::span<const Part> parts() { return table; }

Result<Part> parsePart(std::string_view name) {
  for (const Part &part : table)
    if (part.name == name)
      return part;
  return noPart(name, "");
}

Status checkPart(const Part &part, const TargetInfo &target) {
  if (part.vendor.empty() || part.vendor == target.vendor)
    return {};
  return makeError(Code::badInput, fmt::format("expected --emit {} for {}, which is an {} chip, got '{}'",
                                               target.isAMD() ? "asm or hsaco" : "ptx, cubin or sass", target.name,
                                               target.isAMD() ? "AMD" : "NVIDIA", part.name));
}

Result<PartList> parseParts(const std::string &names) {
  PartList chosen;
  std::set<std::string_view> wanted;
  for (size_t at = 0; at <= names.size();) {
    size_t end = std::min(names.find(',', at), names.size());
    std::string_view name = std::string_view(names).substr(at, end - at);
    at = end + 1;
    chosen.all |= name == "all";
    size_t before = wanted.size();
    bool known = false;
    for (const Part &part : table)
      if (part.name == name || name == "all" || (name == "mlir" && isMlir(part))) {
        wanted.insert(part.name);
        known = true;
      }
    if (!known && wanted.size() == before)
      return noPart(name, ", mlir or all");
  }
  for (const Part &part : table)
    if (wanted.contains(part.name))
      chosen.parts.push_back(part);
  return chosen;
}

Result<std::string> cubinOf(const std::string &binary) {
  if (!binary.empty())
    return binary;
  return makeError(Code::notFound, "expected nvJitLink to assemble the PTX, found none; --emit ptx and ptxas would do");
}

Result<std::string> sassOf(const Context &context, const std::string &binary, bool lines) {
  auto nvdisasm = findProgram({"nvdisasm"}, context.searchPath);
  auto cuobjdump = findProgram({"cuobjdump"}, context.searchPath);
  if (!nvdisasm && !cuobjdump)
    return makeError(Code::notFound, "expected nvdisasm or cuobjdump on the PATH to print SASS, found neither");
  ILK_ASSIGN_OR_RETURN(std::string cubin, cubinOf(binary));
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "interlock-XXXXXX").string();
  int file = mkstemp(pattern.data());
  if (file < 0)
    return makeError(Code::notFound, fmt::format("expected to write {}, could not", pattern));
  close(file);
  std::ofstream(pattern, std::ios::binary) << cubin;
  std::vector<std::string> command = nvdisasm ? std::vector<std::string>{*nvdisasm, "-c", pattern}
                                              : std::vector<std::string>{*cuobjdump, "-sass", pattern};
  if (nvdisasm && lines)
    command.insert(command.begin() + 1, "-g");
  auto text = outputOf(command);
  std::filesystem::remove(pattern, error);
  if (!text)
    return makeError(Code::device, fmt::format("expected {} to read the cubin, but it failed", command.front()));
  return *text;
}

Result<std::string> cachedPart(const Context &context, const Part &part, const Artifact &artifact) {
  if (part.name == "ptx" || part.name == "asm")
    return artifact.text;
  if (part.name == "hsaco")
    return artifact.binary;
  if (part.name == "cubin")
    return cubinOf(artifact.binary);
  if (part.name == "sass")
    return sassOf(context, artifact.binary);
  return artifact.meta.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace interlock::tool
