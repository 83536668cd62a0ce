// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock doctor`: what this machine has of what Interlock can use, and what goes without.
#include "interlock/device.hpp"
#include "runtime/Cache/Compiler.h"
#include "runtime/SourceJit/Hiprtc.h"
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/Finding.h"
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

namespace interlock::tool {

namespace {
/// One line of the report. `detail` says what was found, or what goes without it.
struct Part {
  const char *key;
  const char *title;
  bool found;
  std::string detail;
  nlohmann::json more = nlohmann::json::object();
};

Part cudaDriver() {
  auto driver = openCuda();
  if (!driver)
    return {"cuda_driver", "CUDA driver", false, driver.error().message + "; kernels run in the emulator"};
  Part part{"cuda_driver", "CUDA driver", true, {}};
  nlohmann::json devices = nlohmann::json::array();
  std::string names;
  uint32_t version = 0, isa = 0;
  for (uint32_t device = 0; device < (*driver)->deviceCount(); ++device) {
    auto info = (*driver)->info(device);
    if (!info)
      continue;
    version = info->driverVersion;
    isa = info->maxPtxIsa;
    devices.push_back({{"name", info->name}, {"target", info->target}, {"multiprocessors", info->multiprocessors}});
    names += fmt::format("{}{} ({}, {} multiprocessors)", names.empty() ? "" : ", ", info->name, info->target,
                         info->multiprocessors);
  }
  part.detail = fmt::format("version {}, PTX ISA up to {}.{}: {}", version, isa / 10, isa % 10, names);
  part.more = {{"devices", devices}, {"version", version}, {"max_ptx_isa", fmt::format("{}.{}", isa / 10, isa % 10)}};
  return part;
}

Part hipRuntime() {
  auto driver = openHip();
  if (!driver)
    return {"hip_runtime", "HIP runtime", false, driver.error().message + "; kernels for AMD run in the emulator"};
  Part part{"hip_runtime", "HIP runtime", true, {}};
  nlohmann::json devices = nlohmann::json::array();
  std::string names;
  uint32_t version = 0;
  for (uint32_t device = 0; device < (*driver)->deviceCount(); ++device) {
    auto info = (*driver)->info(device);
    if (!info)
      continue;
    version = info->driverVersion;
    devices.push_back({{"name", info->name}, {"target", info->target}, {"multiprocessors", info->multiprocessors}});
    names += fmt::format("{}{} ({}, {} multiprocessors)", names.empty() ? "" : ", ", info->name, info->target,
                         info->multiprocessors);
  }
  part.detail = fmt::format("version {}: {}", version, names);
  part.more = {{"devices", devices}, {"version", version}};
  return part;
}

Part library(const char *key, const char *title, const std::vector<std::string> &names, const char *without) {
  auto path = findLibrary(names);
  return {key, title, path.has_value(), path ? *path : fmt::format("{} was not found; {}", names.back(), without)};
}

Part hiprtc(const Context &context) {
  auto found = Hiprtc::find({.hiprtcPath = context.hiprtcPath});
  return {"hiprtc", "hiprtc", found.has_value(),
          found ? fmt::format("{}: {}", (*found)->version(), (*found)->path())
                : found.error().message + "; kernels given as HIP C++ cannot be compiled"};
}

Part disassembler(const Context &context) {
  auto path = findProgram({"nvdisasm", "cuobjdump"}, context.searchPath);
  return {"disassembler", "disassembler", path.has_value(),
          path ? *path : "neither nvdisasm nor cuobjdump is on the PATH; --emit sass needs one"};
}

Part compiler(const Context &context) {
  auto identity = compilerIdentity(context);
  if (Status loaded = loadPlugin({context.compilerPath, {}}); identity && !loaded)
    identity = tl::unexpected(loaded.error());
  return {"compiler", "compiler", identity.has_value(),
          identity ? *identity : identity.error().message + "; only cached kernels can be loaded"};
}

Part cache(const Context &context) {
  CacheState state = cacheState(context);
  return {"cache",
          "kernel cache",
          state.usable,
          state.usable ? fmt::format("{}: {} entries, {} bytes", state.directory, state.entries, state.bytes)
                       : state.problem,
          {{"directory", state.directory}, {"entries", state.entries}, {"bytes", state.bytes}}};
}
} // namespace

void addDoctor(CLI::App &app, Context &context) {
  CLI::App *command = app.add_subcommand("doctor", "say what this machine has: driver, GPUs, tools, compiler, cache");
  command->callback([&context] {
    std::vector<Part> parts = {cudaDriver(),
                               hipRuntime(),
                               library("nvjitlink", "nvJitLink",
                                       {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"},
                                       "the driver assembles PTX when it loads a kernel"),
                               library("nvrtc", "NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
                                       "kernels given as CUDA C++ cannot be compiled"),
                               hiprtc(context),
                               disassembler(context),
                               compiler(context),
                               cache(context)};
    if (context.json) {
      nlohmann::json object = nlohmann::json::object();
      for (const Part &part : parts) {
        object[part.key] = {{"found", part.found}, {"detail", part.detail}};
        object[part.key].update(part.more);
      }
      return print(object);
    }
    for (const Part &part : parts)
      fmt::print("{:<13} {:<4} {}\n", part.title, part.found ? "yes" : "no", part.detail);
  });
}

} // namespace interlock::tool
