// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What can be said about AMDGCN assembly and about code objects without running them.
#pragma once

#include "runtime/Cache/Compiler.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace interlock::tool {

/// Whether bytes begin as files do that disassemble() takes: ELF files and offload bundles.
bool looksLikeCodeObject(std::string_view bytes);
/// Whether a text is AMDGCN assembly, which `.amdgcn_target` tells.
bool looksLikeAmdgcn(std::string_view text);

/// Describes assembly: for each object its chip, and for each of its kernels LDS, scratch memory, registers, arguments
/// with their offsets, and how often each instruction occurs that orders or waits. `badInput` with file:line:column
/// where one cannot be read.
[[nodiscard]] Result<nlohmann::json> describeAmdgcn(const std::vector<Disassembly> &objects, const std::string &file);

/// The same as lines for people.
std::string amdgcnAsText(const nlohmann::json &description);

} // namespace interlock::tool
