// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A description of PTX from the reader's module.
#include "runtime/tools/InspectPtx.h"

#include "analysis/PTX/Reader.h"

#include <fmt/format.h>

#include <map>

namespace interlock::tool {

namespace {
/// Instructions that order, wait or run on their own: what one looks for in a kernel of ours.
bool isHandOff(std::string_view opcode) {
  for (std::string_view each : {"atom", "bar", "barrier", "cp", "fence", "griddepcontrol", "mbarrier", "membar", "red",
                                "st.async", "clusterlaunchcontrol", "elect"})
    if (opcode == each)
      return true;
  return false;
}

uint64_t sharedBytes(const ptx::Module &module, const ptx::Function &function) {
  uint64_t bytes = 0;
  for (const auto *list : {&module.variables, &function.variables})
    for (const ptx::Variable &variable : *list)
      if (variable.space == ptx::Space::shared && !variable.unsized)
        bytes = (bytes + variable.align - 1) / variable.align * variable.align + variable.size;
  return bytes;
}

nlohmann::json describeEntry(const ptx::Module &module, const ptx::Function &function) {
  std::map<std::string, uint32_t> handOffs;
  for (const ptx::Instruction &instruction : function.instructions)
    if (isHandOff(instruction.opcode) || instruction.has("async") || instruction.has("release") ||
        instruction.has("acquire"))
      ++handOffs[instruction.mnemonic()];
  nlohmann::json result = {{"name", function.name},
                           {"param_bytes", function.paramBytes},
                           {"instructions", function.instructions.size()},
                           {"registers", function.registers.size()},
                           {"shared_bytes", sharedBytes(module, function)},
                           {"hand_offs", handOffs}};
  if (function.bounds.requiredThreads)
    result["required_threads"] = *function.bounds.requiredThreads;
  if (function.bounds.maxThreads)
    result["max_threads"] = *function.bounds.maxThreads;
  if (function.bounds.requiredCluster)
    result["required_cluster"] = *function.bounds.requiredCluster;
  return result;
}
} // namespace

Result<nlohmann::json> describePtx(std::string_view text, const std::string &file) {
  auto module = ptx::read(text, file);
  if (!module)
    return makeError(Code::badInput, module.error().str());
  nlohmann::json entries = nlohmann::json::array();
  for (const ptx::Function &function : module->functions)
    if (function.entry && function.defined)
      entries.push_back(describeEntry(*module, function));
  return nlohmann::json{{"file", file},
                        {"ptx_isa", fmt::format("{}.{}", module->version / 10, module->version % 10)},
                        {"target", fmt::format("{}", fmt::join(module->targets, ", "))},
                        {"entries", entries}};
}

std::string asText(const nlohmann::json &description) {
  std::string text = fmt::format("{}: PTX ISA {}, target {}\n", description["file"].get<std::string>(),
                                 description["ptx_isa"].get<std::string>(), description["target"].get<std::string>());
  for (const auto &entry : description["entries"]) {
    text += fmt::format("kernel {}: {} bytes of parameters, {} instructions, {} bytes of shared memory\n",
                        entry["name"].get<std::string>(), entry["param_bytes"].get<uint64_t>(),
                        entry["instructions"].get<uint64_t>(), entry["shared_bytes"].get<uint64_t>());
    for (const char *bound : {"required_threads", "max_threads", "required_cluster"})
      if (entry.contains(bound))
        text += fmt::format("  {} {}\n", bound, entry[bound].dump());
    for (const auto &[mnemonic, count] : entry["hand_offs"].items())
      text += fmt::format("  {:4} x {}\n", count.get<uint32_t>(), mnemonic);
  }
  return text;
}

} // namespace interlock::tool
