// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A small generator whose numbers are the same on every machine, for routing and test data.
#pragma once

#include <cstdint>

namespace interlock {

/// SplitMix64: one add and three xor-shift-multiplies a number; every seed, 0 too, gives a full-period stream.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  /// A stream for one (seed, a, b), unrelated to its neighbours.
  Random(uint64_t seed, uint64_t a, uint64_t b) : state(seed) {
    state = next() ^ (a * 0x9e3779b97f4a7c15u);
    state = next() ^ (b * 0xd1b54a32d192ed03u);
  }

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Below `bound`, which is at most 2^32.
  uint32_t below(uint32_t bound) { return uint32_t(((next() >> 32) * bound) >> 32); }
  /// In [0, 1), a multiple of 2^-53.
  double unit() { return double(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace interlock
