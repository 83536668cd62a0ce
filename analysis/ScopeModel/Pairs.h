// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Two threads, one place of memory, and what is between their accesses: a release by the first and a wait by the
// second. Each side is compared with the distance between the two threads, never with the other side's scope.
#pragma once

#include "analysis/ScopeModel/Judge.h"

namespace interlock::scope {

/// What is missing on the side that speaks.
enum class ReleaseFault : uint8_t {
  none,
  weak,         ///< the signal itself is not a strong operation, or a volatile one without fences
  narrow,       ///< its scope does not reach the other thread
  narrowFence,  ///< it is relaxed, and the fence before it does not reach that far
  relaxed,      ///< nothing releases
  restricted,   ///< the fence before it speaks of other memory
  somePath,     ///< a fence stands on some paths only
  behind,       ///< the fence stands behind the signal
  otherThreads, ///< the others' accesses are not joined by a barrier
  lateJoin,     ///< the others fenced before the barrier, this thread did not fence behind it
  unfinished,   ///< an asynchronous copy that has not been waited for
  transaction,  ///< a transaction tells of the copy only, not of what its issuer did before
  acrossCtas,   ///< a barrier of the CTA, between two CTAs
};

/// What is missing on the side that listens.
enum class AcquireFault : uint8_t {
  none,
  weak,
  narrow,
  narrowFence,
  relaxed,
  restricted,
  somePath,
  before,       ///< the fence stands before the read that it should follow
  behind,       ///< the fence stands behind the first access that needs it
  otherThreads, ///< one thread waited, others go on without a barrier
  lateJoin,     ///< one thread waited without acquiring; the others' fences do not make up for it
  arriveOnly,   ///< bar.arrive waits for nothing
};

enum class ProxyFault : uint8_t {
  none,
  missing,
  waiterSide, ///< only the thread that waited has a proxy fence
};

/// One way in which access `a` may be meant to come before access `b`.
struct Pair {
  Site a = 0, b = 0;
  uint32_t release = 0; ///< event
  Site wait = 0;
  uint32_t group = 0;
  Scope distance = Scope::cta;
  bool completion = false; ///< the release is the transaction of an asynchronous operation
  ReleaseFault releaseFault = ReleaseFault::none;
  AcquireFault acquireFault = AcquireFault::none;
  ProxyFault proxyFault = ProxyFault::none;
  bool direct = true; ///< the thread that releases made access `a`, and was not told of it
  bool orders() const {
    return releaseFault == ReleaseFault::none && acquireFault == AcquireFault::none && proxyFault == ProxyFault::none;
  }
  int faults() const {
    return (releaseFault != ReleaseFault::none) + (acquireFault != AcquireFault::none) +
           (proxyFault != ProxyFault::none);
  }
};

/// The facts that pairs are judged by.
struct PairFacts {
  std::vector<uint32_t> releases; ///< events
  std::vector<uint32_t> blockOf;  ///< of these
  std::vector<State> before;      ///< the state at each of these
  std::vector<State> atAccess;    ///< by site: what holds at some event of it
};

/// Fills in the three faults of a pair, given the state at the release and the one at `b`.
void judgePair(const Judge &judge, Pair &pair, uint32_t releaseBlock, const State &atRelease, const State &atB);
/// Reports the faults of a pair.
void reportPair(Judge &judge, const Pair &pair);

} // namespace interlock::scope
