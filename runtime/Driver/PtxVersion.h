// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace interlock {

/// 10*major+minor of a PTX text's .version directive; 0 if it has none.
uint32_t ptxVersionOf(std::string_view ptx);

/// The number of parameters that a PTX text declares for a kernel; 0 if it has no kernel of that name.
size_t ptxParamCount(std::string_view ptx, std::string_view entry);

} // namespace interlock
