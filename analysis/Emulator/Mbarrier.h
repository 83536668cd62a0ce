// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The 64-bit word that an mbarrier object is in shared memory (PTX ISA "mbarrier": contents, phases, tx-count). Its
// layout is opaque to programs; the emulator's has a mark by which a word that nobody initialised is found.
#pragma once

#include <cstdint>
#include <string>

namespace interlock::emu {

struct Mbarrier {
  static constexpr uint32_t maxCount = (1u << 20) - 1;

  uint32_t pending = 0;  ///< arrivals missing in the current phase
  uint32_t expected = 0; ///< arrivals of the next phases
  int32_t tx = 0;        ///< bytes expected and not yet seen
  bool phase = false;    ///< parity of the current, incomplete phase
  bool valid = false;

  static Mbarrier unpack(uint64_t word) {
    Mbarrier b;
    b.pending = word & maxCount;
    b.expected = word >> 20 & maxCount;
    b.tx = int32_t(int64_t(word << 2) >> 42);
    b.phase = word >> 62 & 1;
    b.valid = word >> 63;
    return b;
  }
  uint64_t pack() const {
    return uint64_t(pending) | uint64_t(expected) << 20 | (uint64_t(uint32_t(tx)) & 0x3fffff) << 40 |
           uint64_t(phase) << 62 | uint64_t(valid) << 63;
  }

  /// Completes the phase if nothing is missing; true if it did.
  bool settle() {
    if (pending || tx)
      return false;
    phase = !phase;
    pending = expected;
    return true;
  }
  /// expect-tx (positive) and complete-tx (negative). A sentence on misuse, else empty.
  std::string transact(int64_t bytes);
  /// arrive-on, `drop` for arrive_drop. A sentence on misuse, else empty.
  std::string arrive(uint32_t count, bool drop);
};

} // namespace interlock::emu
