// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The options that benchmarks share, each declared once, and what follows from them.
#pragma once

#include "interlock/cache.hpp"
#include "interlock/device.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace interlock::bench {

struct ReportOptions {
  std::string commit, output;
};
void addOptions(CLI::App &app, ReportOptions &options);

/// What runs the kernels, and what makes them.
struct DeviceOptions {
  std::string device = "cuda", compiler;
};
void addOptions(CLI::App &app, DeviceOptions &options);

/// Of benchmarks that choose the emulator's chip.
struct ChipOptions : DeviceOptions {
  std::string target = "sm_90a";
};
void addOptions(CLI::App &app, ChipOptions &options);

/// The same kernels on the same rows, again and again.
struct RepeatOptions {
  uint32_t runs = 20, warmups = 5;
  uint64_t seed = 0;
  std::string cacheDir;
};
void addOptions(CLI::App &app, RepeatOptions &options);

/// The driver, or the emulator if that is what the device is; of those options a GPU takes the bound on modules.
[[nodiscard]] Result<std::unique_ptr<Driver>> openDevice(const DeviceOptions &options, const EmulatorOptions &emulator);
[[nodiscard]] std::shared_ptr<KernelCache> openCache(const DeviceOptions &device, const RepeatOptions &repeats);
/// What a report says of the driver's first device.
[[nodiscard]] Result<nlohmann::json> describeDevice(Driver &driver);

/// The exit code of a program: that of the benchmark, or of its error, which is told on standard error.
int finish(const char *program, const Result<int> &code);
int finish(const char *program, const Status &status);

} // namespace interlock::bench
