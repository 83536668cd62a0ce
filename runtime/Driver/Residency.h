// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What is refused before a launch: a grid that must be resident as a whole and cannot be.
#pragma once

#include "interlock/status.hpp"

#include <cstdint>

namespace interlock {

[[nodiscard]] Status requireResident(uint32_t grid, uint32_t bound);

} // namespace interlock
