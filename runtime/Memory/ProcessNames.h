// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// How messages name the processes of a group.
#pragma once

#include "interlock/status.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace interlock {

/// "process 1", "process 1 and process 3".
template <typename Numbers> std::string processNames(const Numbers &numbers) {
  return fmt::format("process {}", fmt::join(numbers, " and process "));
}

/// The error with the process in front that it is about.
inline Error about(uint32_t process, Error error) {
  return {error.code, fmt::format("process {}: {}", process, error.message)};
}

} // namespace interlock
