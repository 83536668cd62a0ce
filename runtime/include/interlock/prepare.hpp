// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels before they are needed: which ones a deployment can ask for, making them without a GPU, and moving a cache
// from the machine that made it to those that only read it.
#pragma once

#include "interlock/cache.hpp"
#include "interlock/operation.hpp"
#include "interlock/source.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace interlock INTERLOCK_API {

/// Devices that kernels are prepared for; they need not be here.
struct DeviceShape {
  std::string target = "sm_90a"; ///< a chip of targets()
  uint32_t multiprocessors = 132;
  uint32_t ranksPerDevice = 1;
};

/// Everything that a deployment can ask for: each layer on each device with each choice of options.
struct Deployment {
  std::vector<LayerSpec> layers;
  std::vector<DeviceShape> devices = {{}};
  std::vector<OperationOptions> options = {{}};
};

/// The kernels that Operation::create asks a cache for in this deployment, each once. What cannot be is refused. A spec
/// does not say where its kernel comes from: for operations from source prewarmFromSource makes the same list.
[[nodiscard]] Result<std::vector<KernelSpec>> enumerateKernels(const Deployment &deployment);

struct PrewarmProgress {
  uint64_t done = 0, of = 0;
  uint64_t compiled = 0, failed = 0; ///< of those that are done
};

struct PrewarmOptions {
  uint32_t threads = 0;                                  ///< 0: one per core
  std::function<void(const PrewarmProgress &)> progress; ///< after each kernel; calls do not overlap
};

struct PrewarmFailure {
  KernelSpec spec;
  Error error;
};

struct PrewarmReport {
  uint64_t compiled = 0, cached = 0; ///< cached: they were there
  std::vector<PrewarmFailure> failures;
};

/// Gets every kernel into the cache; nothing is loaded and no device is needed. Doing it again finds all of them. One
/// that fails does not stop the others.
PrewarmReport prewarm(KernelCache &cache, std::span<const KernelSpec> kernels, const PrewarmOptions &options = {});

/// The same for operations whose kernels are to be made of source (KernelOrigin::source): of the kernels that there is
/// CUDA or HIP C++ for, that one, of the others the generated one.
PrewarmReport prewarmFromSource(KernelCache &cache, std::span<const KernelSpec> kernels,
                                const PrewarmOptions &options = {}, const SourceOptions &compilers = {});

struct ArchiveReport {
  uint64_t entries = 0, bytes = 0;   ///< bytes of the entries, not compressed
  std::vector<std::string> problems; ///< what was left out, and why
};

/// Writes the whole entries of the disk cache into one compressed file, with a manifest of their digests.
[[nodiscard]] Result<ArchiveReport> exportCache(const KernelCache &cache, const std::string &file);
/// Publishes the entries of such a file. The whole archive is checked first: one that is damaged anywhere, or
/// that another version of this library wrote, changes nothing.
[[nodiscard]] Result<ArchiveReport> importCache(KernelCache &cache, const std::string &file);

} // namespace interlock INTERLOCK_API
