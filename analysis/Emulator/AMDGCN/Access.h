// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the tables of memory instructions say of each (Entry::sub), and the read-modify-writes.
#pragma once

#include <cstdint>

namespace interlock::emu::gcn {

enum class Atomic : uint8_t {
  none,
  swap,
  cmpswap,
  add,
  sub,
  rsub,
  umin,
  umax,
  smin,
  smax,
  land,
  lor,
  lxor,
  inc,
  dec,
  subClamp,
  condSub,
  addF32,
  minF32,
  maxF32,
  addF64,
  minF64,
  maxF64,
  pkAddF16,
  pkAddBf16,
  mskor,
};

/// Entry::sub of a memory instruction.
struct AccessKind {
  enum What : uint8_t { load, store, atomic };
  uint8_t bytes; ///< of one piece, a lane
  What what;
  Atomic op = Atomic::none;
  bool isSigned = false;
  bool d16 = false; ///< into a half of the destination, from a half of the source
  bool d16High = false;
  bool two = false;      ///< two pieces, at two offsets in units of their size
  bool stride64 = false; ///< those in units of 64 times their size
  bool returns = false;  ///< ds_*_rtn

  constexpr uint32_t encoded() const {
    return uint32_t(bytes) | uint32_t(what) << 8 | uint32_t(op) << 10 | uint32_t(isSigned) << 18 | uint32_t(d16) << 19 |
           uint32_t(d16High) << 20 | uint32_t(two) << 21 | uint32_t(stride64) << 22 | uint32_t(returns) << 23;
  }
  static constexpr AccessKind of(uint32_t sub) {
    return {uint8_t(sub),        What(sub >> 8 & 3),  Atomic(sub >> 10 & 0xff),
            bool(sub >> 18 & 1), bool(sub >> 19 & 1), bool(sub >> 20 & 1),
            bool(sub >> 21 & 1), bool(sub >> 22 & 1), bool(sub >> 23 & 1)};
  }
};

/// Op::flags of a memory instruction.
enum MemoryFlag : uint32_t {
  returnsValue = 1,   ///< an atomic that gives what was there before
  offsetEnable = 2,   ///< buffer: vaddr is an offset
  indexEnable = 4,    ///< buffer: vaddr is an index
  scaleOffset = 8,    ///< gfx1250: vaddr is in units of the access
  comparesFirst = 16, ///< ds_cmpst, ds_mskor: what is compared, or masked, stands before the value
};

/// What a read-modify-write makes of 32 or 64 bits.
uint64_t combine(Atomic op, unsigned bytes, uint64_t old, uint64_t value, uint64_t compare);

} // namespace interlock::emu::gcn
