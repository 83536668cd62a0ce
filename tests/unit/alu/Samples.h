// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Operands that are worth trying, always the same ones: the record of a GPU's results (h200.txt) rests on them.
#pragma once

#include <cstdint>
#include <vector>

namespace interlock::emu::alu {

/// splitmix64.
struct Random {
  uint64_t state;
  uint64_t operator()();
};

/// A value of 1, 16, 32 or 64 bits: limits of integers, special values of the floating-point formats of that size,
/// or any bits.
uint64_t sample(Random &random, unsigned bits);

/// Lanes of operands for the form with that number in the record: four a lane, of the given widths. Now and then an
/// operand repeats the one before, or is its negative.
inline constexpr int sampleLanes = 2048;
std::vector<uint64_t> samples(unsigned form, const std::vector<unsigned> &widths);

} // namespace interlock::emu::alu
