// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A description of assembly from the reader's module.
#include "runtime/tools/InspectAmdgcn.h"

#include "analysis/AMDGCN/Reader.h"

#include <fmt/format.h>

#include <map>

namespace interlock::tool {

namespace {
/// Instructions that order or wait: what one looks for in a kernel of ours.
bool isHandOff(std::string_view opcode) {
  for (std::string_view start : {"s_barrier", "s_sleep", "s_wait", "buffer_wb", "buffer_inv", "buffer_gl", "global_wb",
                                 "global_inv", "s_dcache", "s_icache"})
    if (opcode.starts_with(start))
      return true;
  return opcode.find("atomic") != opcode.npos || (opcode.starts_with("ds_") && opcode.find("cmps") != opcode.npos);
}

nlohmann::json describeKernel(const amdgcn::Module &module, const amdgcn::Kernel &kernel) {
  std::map<std::string, uint32_t> handOffs;
  size_t instructions = 0;
  if (kernel.function)
    for (const amdgcn::Instruction &each : module.code(module.functions[*kernel.function])) {
      ++instructions;
      if (isHandOff(each.opcode))
        ++handOffs[std::string(each.opcode)];
    }
  nlohmann::json arguments = nlohmann::json::array();
  for (const amdgcn::Argument &argument : kernel.arguments)
    arguments.push_back(
        {{"offset", argument.offset}, {"bytes", argument.size}, {"kind", argument.valueKind}, {"name", argument.name}});
  auto number = [&](std::string_view name) {
    auto found = kernel.metadata.find(name);
    return found == kernel.metadata.end() ? 0 : found->second;
  };
  return {{"name", kernel.name},
          {"descriptor", kernel.symbol},
          {"shared_bytes", kernel.directive("group_segment_fixed_size")},
          {"scratch_bytes", kernel.directive("private_segment_fixed_size")},
          {"wave_width", number("wavefront_size")},
          {"max_threads", number("max_flat_workgroup_size")},
          {"vgprs", number("vgpr_count")},
          {"sgprs", number("sgpr_count")},
          {"kernarg", {{"bytes", kernel.directive("kernarg_size")}, {"arguments", arguments}}},
          {"instructions", instructions},
          {"hand_offs", handOffs}};
}
} // namespace

bool looksLikeCodeObject(std::string_view bytes) {
  for (std::string_view magic : {"\x7f"
                                 "ELF",
                                 "__CLANG_OFFLOAD_BUNDLE__", "CCOB"})
    if (bytes.starts_with(magic))
      return true;
  return false;
}

bool looksLikeAmdgcn(std::string_view text) { return text.find(".amdgcn_target") != text.npos; }

Result<nlohmann::json> describeAmdgcn(const std::vector<Disassembly> &objects, const std::string &file) {
  nlohmann::json described = nlohmann::json::array();
  for (const Disassembly &object : objects) {
    auto module = amdgcn::read(object.text, file);
    if (!module)
      return makeError(Code::badInput, module.error().str());
    nlohmann::json kernels = nlohmann::json::array();
    for (const amdgcn::Kernel &kernel : module->kernels)
      kernels.push_back(describeKernel(*module, kernel));
    described.push_back({{"target", module->target}, {"code_object", module->codeObjectVersion}, {"kernels", kernels}});
  }
  return nlohmann::json{{"file", file}, {"objects", described}};
}

std::string amdgcnAsText(const nlohmann::json &description) {
  std::string text;
  for (const auto &object : description["objects"]) {
    text += fmt::format("{}: code object version {}, target {}\n", description["file"].get<std::string>(),
                        object["code_object"].get<uint32_t>(), object["target"].get<std::string>());
    for (const auto &kernel : object["kernels"]) {
      text += fmt::format("kernel {}: {} bytes of arguments, {} instructions, {} bytes of LDS, {} bytes of scratch, {} "
                          "VGPRs, {} SGPRs, waves of {}\n",
                          kernel["name"].get<std::string>(), kernel["kernarg"]["bytes"].get<int64_t>(),
                          kernel["instructions"].get<uint64_t>(), kernel["shared_bytes"].get<int64_t>(),
                          kernel["scratch_bytes"].get<int64_t>(), kernel["vgprs"].get<int64_t>(),
                          kernel["sgprs"].get<int64_t>(), kernel["wave_width"].get<int64_t>());
      for (const auto &argument : kernel["kernarg"]["arguments"])
        text +=
            fmt::format("  {:4}: {} bytes, {}{}{}\n", argument["offset"].get<uint32_t>(),
                        argument["bytes"].get<uint32_t>(), argument["kind"].get<std::string>(),
                        argument["name"].get<std::string>().empty() ? "" : " ", argument["name"].get<std::string>());
      for (const auto &[mnemonic, count] : kernel["hand_offs"].items())
        text += fmt::format("  {:4} x {}\n", count.get<uint32_t>(), mnemonic);
    }
  }
  return text;
}

} // namespace interlock::tool
