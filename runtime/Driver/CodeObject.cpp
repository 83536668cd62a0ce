// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The metadata is a MessagePack map in the note NT_AMDGPU_METADATA, since code object V3.
#include "runtime/Driver/CodeObject.h"

#include "runtime/Spec/ElfFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace interlock {

namespace {
constexpr uint32_t metadataNote = 32; // NT_AMDGPU_METADATA

uint32_t number(const nlohmann::json &map, const char *field) {
  auto found = map.find(field);
  return found != map.end() && found->is_number_unsigned() && *found <= UINT32_MAX ? found->get<uint32_t>() : 0;
}

std::string_view text(const nlohmann::json &map, const char *field) {
  auto found = map.find(field);
  return found != map.end() && found->is_string() ? std::string_view(found->get_ref<const std::string &>())
                                                  : std::string_view();
}

ObjectKernel describe(const nlohmann::json &map) {
  ObjectKernel kernel;
  kernel.kernargBytes = number(map, ".kernarg_segment_size");
  kernel.sharedBytes = number(map, ".group_segment_fixed_size");
  kernel.scratchBytes = number(map, ".private_segment_fixed_size");
  kernel.maxThreads = number(map, ".max_flat_workgroup_size");
  kernel.waveWidth = number(map, ".wavefront_size");
  kernel.vgprs = number(map, ".vgpr_count");
  kernel.agprs = number(map, ".agpr_count");
  kernel.sgprs = number(map, ".sgpr_count");
  if (auto arguments = map.find(".args"); arguments != map.end() && arguments->is_array())
    for (const nlohmann::json &argument : *arguments)
      if (argument.is_object() && !text(argument, ".value_kind").starts_with("hidden_"))
        kernel.parameterBytes =
            std::max(kernel.parameterBytes, number(argument, ".offset") + number(argument, ".size"));
  if (auto size = map.find(".reqd_workgroup_size"); size != map.end() && size->is_array() && size->size() == 3) {
    uint64_t threads = 1;
    for (const nlohmann::json &each : *size)
      threads *= each.is_number_unsigned() ? std::min<uint64_t>(each.get<uint64_t>(), 1u << 20) : 0;
    kernel.requiredThreads = uint32_t(std::min<uint64_t>(threads, UINT32_MAX));
  }
  return kernel;
}
} // namespace

std::optional<ObjectKernel> kernelOfObject(std::string_view object, std::string_view name) {
  auto note = noteOfBytes(object, "AMDGPU", metadataNote);
  if (!note)
    return std::nullopt;
  const nlohmann::json all = nlohmann::json::from_msgpack(*note, /*strict=*/true, /*allow_exceptions=*/false);
  auto kernels = all.is_object() ? all.find("amdhsa.kernels") : all.end();
  if (!all.is_object() || kernels == all.end() || !kernels->is_array())
    return std::nullopt;
  for (const nlohmann::json &kernel : *kernels)
    if (kernel.is_object() && text(kernel, ".name") == name)
      return describe(kernel);
  return std::nullopt;
}

} // namespace interlock
