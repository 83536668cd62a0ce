// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which reads are waits: what they return decides whether a loop goes on, or which way a branch goes.
#pragma once

#include "analysis/Lint/Decode.h"
#include "analysis/Lint/Values.h"

namespace interlock::lint {

/// What is known of one read.
struct WaitShape {
  scope::Poll poll = scope::Poll::no;
  uint32_t loop = Loop::none; ///< the one that it ends, of poll `loop`
};

class Waits {
public:
  Waits(const Flat &flat, const Graph &graph, const Values &values);

  /// `place` is the address that is read.
  WaitShape shapeOf(uint32_t node, const Decoded &decoded, const Value &place) const;
  /// How the parity of a wait comes about, seen from the loop round its own retries; and whether that loop uses the
  /// same barrier again each trip.
  scope::Parity parityOf(uint32_t node, const Decoded &decoded, const WaitShape &shape) const;
  /// What a polling load read is used outside its loop.
  bool carriesData(uint32_t node, const WaitShape &shape) const;
  bool reusesBarrier(uint32_t node, const Value &place, const WaitShape &shape) const;

private:
  bool decides(uint32_t node, uint32_t block) const;
  bool feeds(uint32_t node, uint32_t at, uint32_t reg) const;
  uint32_t outerLoop(uint32_t node, const WaitShape &shape) const;
  int flips(uint32_t reg, uint32_t loop) const;

  const Flat &flat;
  const Graph &graph;
  const Values &values;
  std::vector<std::vector<uint32_t>> branches; ///< by loop: its blocks that end in a condition, if it is small
  std::vector<bool> initialises;               ///< by loop: barriers are set up in it
};

} // namespace interlock::lint
