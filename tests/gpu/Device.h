// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the GPU tests share: the device, one kernel cache with the real compiler behind it, and a case as a value.
#pragma once

#include "interlock/device.hpp"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Ops/RoundTrip.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace interlock::test {

/// How the program was called.
struct DeviceOptions {
  std::string device = "cuda"; ///< or "emulator", to try the tests themselves
  std::string compiler;        ///< path of the plugin; empty: as the library finds it
  unsigned testSeconds = 300;  ///< a test that takes longer ends the program
  unsigned draws = 0;          ///< cases of GpuMatrix.SeededDraw; 0: as many as its device is quick enough for
};

/// Opens the device. To be called once, before the tests; a device that is not there makes every test skip.
void openDevice(const DeviceOptions &options);
/// Closes it, before the program's static objects go.
void closeDevice();

/// The open driver, or null.
Driver *device();
/// Why there is none.
const std::string &deviceMissing();
/// Whether it is a real GPU: the emulator gets shorter runs.
bool onGpu();
/// DeviceOptions::draws.
unsigned drawsAskedFor();
/// A cache in memory: equal kernels are compiled once in this program.
KernelCache &sharedCache();

/// Compiles a module's text by the program's plugin; nothing is cached.
Result<std::map<std::string, std::string>> compileText(const ModuleText &module, const std::vector<std::string> &parts);

/// Says what is about to be done, for whoever finds that it does not end.
void announce(std::string_view what);
/// What was said last, for a signal handler.
const char *announced();

/// Skips where there is no device.
class GpuTest : public testing::Test {
protected:
  void SetUp() override {
    if (!device())
      GTEST_SKIP() << deviceMissing();
  }
};

/// A layer, how its kernels are made and launched, and how tokens go.
struct GpuCase {
  std::string label;
  RoundTripOptions trip;
  RoutingOptions routing;
  uint32_t steps = 2;

  GpuCase();
};

/// Runs the case's steps and expects every bit as in the reference.
void expectRight(const GpuCase &each);
/// The same; the last step's report, or none if something failed.
std::optional<StepReport> runCase(const GpuCase &each);
/// Expects a step without mismatches.
void expectClean(const Result<StepReport> &report);

} // namespace interlock::test
