// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the kernels of foreign/kernels.hip compute, for the host.
#pragma once

#include <cstdint>
#include <vector>

namespace interlock::test {

/// One of those kernels: what goes in and what must come out, in words of 32 bits.
struct ForeignCase {
  const char *kernel;
  std::vector<uint32_t> in, before, after;
  uint32_t n = 0;
};

/// All of them, over `n` elements each.
std::vector<ForeignCase> foreignCases(uint32_t n);

} // namespace interlock::test
