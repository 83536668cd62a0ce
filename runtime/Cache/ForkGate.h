// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Keeps fork() and the compiler apart. A child has a copy of every lock and half-made static object of the compiler,
// but not of the threads that would finish them; so a fork waits until no compilation runs (they take milliseconds),
// and compilations wait while a fork is being made.
#pragma once

namespace interlock {

/// Stands for one call into the compiler, or for a miss of the cache.
class ForkGate {
public:
  /// Must have been called before the first pass. Has an effect once.
  static void watch();

  ForkGate();
  ~ForkGate();
  ForkGate(const ForkGate &) = delete;
  ForkGate &operator=(const ForkGate &) = delete;
};

} // namespace interlock
