// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the end-to-end tests share: one kernel cache with the real compiler behind it, and a case as a value.
#pragma once

#include "interlock/device.hpp"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Ops/RoundTrip.h"

#include <gtest/gtest.h>

#include <string>

namespace interlock::test {

/// A layer, how its kernels are made and launched, and the machine that they run on.
struct EndToEndCase {
  std::string label;
  RoundTripOptions trip;
  EmulatorOptions machine; ///< with `devices` 0: a device per rank
  RoutingOptions routing;
  uint32_t steps = 2;

  EndToEndCase();
};

/// A cache in memory with the compiler plugin of this build, so that equal kernels are compiled once in this program.
KernelCache &sharedCache();

/// A driver and a round trip on it, in the order of their lifetimes.
struct Machine {
  std::unique_ptr<Driver> driver;
  std::unique_ptr<RoundTrip> trip;
};
/// Opens both; records a failure of the test and leaves `trip` empty if it cannot.
Machine open(const EndToEndCase &each);

/// Runs the case's steps and expects every bit as in the reference.
void expectRight(const EndToEndCase &each);

/// The value; the test fails here if there is none.
template <typename T> T take(Result<T> result) {
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}
inline void expectDone(const Status &status) { ASSERT_TRUE(status) << status.error().message; }

/// Expects a step without mismatches.
void expectClean(const Result<StepReport> &report);

} // namespace interlock::test
