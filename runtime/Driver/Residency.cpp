// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Driver/Residency.h"

#include "interlock/device.hpp"

#include <fmt/format.h>

namespace interlock {

Status requireResident(uint32_t grid, uint32_t bound) {
  if (grid <= bound)
    return {};
  return makeError(Code::badInput, fmt::format("expected a grid of at most {} CTAs, which the device can hold at once, "
                                               "since CTAs of this kernel wait for each other, got {}",
                                               bound, grid));
}

Result<uint32_t> Driver::residentCtas(KernelId, const LaunchConfig &) {
  return makeError(Code::unsupported, fmt::format("the driver {} cannot say how many CTAs a device holds", kind()));
}

} // namespace interlock
