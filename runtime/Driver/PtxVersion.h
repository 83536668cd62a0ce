// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace interlock {

/// 10*major+minor of a PTX text's .version directive; 0 if it has none.
uint32_t ptxVersionOf(std::string_view ptx);

} // namespace interlock
