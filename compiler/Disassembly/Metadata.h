// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The metadata of a code object as the lines between `.amdgpu_metadata` and its end.
#pragma once

#include "interlock/status.hpp"

#include <string>
#include <string_view>

namespace interlock::disassembly {

/// From MessagePack, as the note has it, to YAML, as an assembly has it.
[[nodiscard]] Result<std::string> metadataText(std::string_view note);

} // namespace interlock::disassembly
