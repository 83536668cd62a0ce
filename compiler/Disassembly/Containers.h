// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where code objects come in: alone, in an offload bundle, or in the bundle that a host program embeds.
#pragma once

#include "interlock/status.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace interlock::disassembly {

/// The code objects for AMD GPUs in `bytes`, which they point into, in the order in which they stand there; at least
/// one.
[[nodiscard]] Result<std::vector<std::string_view>> findCodeObjects(std::string_view bytes);

} // namespace interlock::disassembly
