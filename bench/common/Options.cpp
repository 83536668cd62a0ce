// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "bench/common/Options.h"

#include <fmt/format.h>

namespace interlock::bench {

void addOptions(CLI::App &app, ReportOptions &options) {
  app.add_option("--commit", options.commit, "recorded in the report");
  app.add_option("-o,--output", options.output, "the report (default: standard output)");
}

void addOptions(CLI::App &app, DeviceOptions &options) {
  app.add_option("--device", options.device, "cuda or emulator (whose times mean nothing)")
      ->check(CLI::IsMember({"cuda", "emulator"}));
  app.add_option("--compiler", options.compiler, "the compiler plugin (default: as the library finds it)");
}

void addOptions(CLI::App &app, ChipOptions &options) {
  addOptions(app, static_cast<DeviceOptions &>(options));
  app.add_option("--target", options.target, "the emulated chip");
}

void addOptions(CLI::App &app, RepeatOptions &options) {
  app.add_option("--runs", options.runs, "runs that count");
  app.add_option("--warmups", options.warmups, "runs before the first that counts");
  app.add_option("--seed", options.seed, "of rows and routing");
  app.add_option("--cache-dir", options.cacheDir, "disk cache of kernels (default: none)");
}

Result<std::unique_ptr<Driver>> openDevice(const DeviceOptions &options, const EmulatorOptions &emulator) {
  return options.device == "cuda" ? openCuda(emulator.modules) : openEmulator(emulator);
}

std::shared_ptr<KernelCache> openCache(const DeviceOptions &device, const RepeatOptions &repeats) {
  KernelCacheConfig config;
  config.directory = repeats.cacheDir;
  config.compilerPath = device.compiler;
  return openKernelCache(config);
}

Result<nlohmann::json> describeDevice(Driver &driver) {
  ILK_ASSIGN_OR_RETURN(DeviceInfo info, driver.info(0));
  return nlohmann::json{{"kind", driver.kind()},
                        {"name", info.name},
                        {"target", info.target},
                        {"multiprocessors", info.multiprocessors},
                        {"driver_version", info.driverVersion}};
}

int finish(const char *program, const Result<int> &code) {
  if (code)
    return *code;
  fmt::print(stderr, "{}: {}\n", program, code.error().message);
  return code.error().code == Code::badInput ? 2 : 1;
}

int finish(const char *program, const Status &status) {
  return finish(program, status ? Result<int>(0) : tl::unexpected(status.error()));
}

} // namespace interlock::bench
