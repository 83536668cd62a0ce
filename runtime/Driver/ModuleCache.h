// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loaded modules under `load` and `unload`: the same image is loaded once, one that nobody holds stays until the bound
// is reached, and none goes while a launch or a graph may still use it.
#pragma once

#include "runtime/Driver/ForwardingDriver.h"

#include <list>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace interlock {

/// Kernels of it are handles of their own, though their modules may be shared.
class ModuleCache final : public ForwardingDriver {
public:
  ModuleCache(std::unique_ptr<Driver> below, const ModuleLimits &limits);

  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override;
  Result<StreamId> createStream(uint32_t device) override;
  Result<StreamId> createUrgentStream(uint32_t device) override;
  Status destroyStream(StreamId stream) override;
  Result<KernelId> load(uint32_t device, const KernelImage &image) override;
  Status unload(KernelId kernel) override;
  Status launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                std::span<const std::byte> params) override;
  Result<uint32_t> residentCtas(KernelId kernel, const LaunchConfig &config) override;
  Status beginCapture(StreamId stream) override;
  Result<GraphId> endCapture(StreamId stream) override;
  Status launchGraph(StreamId stream, GraphId graph) override;
  Status destroyGraph(GraphId graph) override;

  /// Modules that are loaded now, held or not.
  uint64_t loaded() const;

private:
  struct Module {
    uint32_t device = 0;
    KernelImage image;
    size_t hash = 0;
    KernelId kernel{};        ///< of the driver below
    uint64_t holders = 0;     ///< kernels that were given out
    uint64_t graphs = 0;      ///< launches in captures and graphs
    std::set<StreamId> ranOn; ///< streams that were not seen idle since
    uint64_t bytes() const { return image.text.size() + image.binary.size(); }
  };
  /// Most recently used first.
  using Modules = std::list<Module>;
  using Used = std::vector<Modules::iterator>;

  Status requireOwnProcess() const;
  Modules::iterator find(uint32_t device, const KernelImage &image, size_t hash);
  KernelId hold(Modules::iterator module);
  /// It was launched on the stream, or captured there.
  Result<Modules::iterator> moduleOf(KernelId kernel);
  void noteUse(StreamId stream, Modules::iterator module);
  void release(const Used &used);
  bool inUse(Module &module);
  void trim();

  const ModuleLimits limits;
  const uint64_t forks;
  mutable std::mutex mutex; ///< of what follows
  Modules modules;
  uint64_t bytes = 0;
  uint64_t lastKernel = 0;
  std::unordered_map<uint64_t, Modules::iterator> kernels;
  std::map<StreamId, Used> captures;
  std::map<GraphId, Used> graphs;
};

} // namespace interlock
