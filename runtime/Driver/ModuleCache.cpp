// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A module is idle when each stream that it ran on has been seen idle since. That is asked only when one has to go, so
// that a launch pays for a lookup and nothing more.
#include "runtime/Driver/ModuleCache.h"

#include "runtime/Spec/Fork.h"

#include <fmt/format.h>

#include <functional>

namespace interlock {
namespace {

size_t hashOf(const KernelImage &image) {
  std::hash<std::string> hash;
  return hash(image.text) ^ hash(image.binary) * 31 ^ hash(image.entry) * 961;
}

} // namespace

ModuleCache::ModuleCache(std::unique_ptr<Driver> below, const ModuleLimits &limits)
    : ForwardingDriver(std::move(below)), limits(limits), forks(forkCount()) {}

/// A device context does not survive a fork, and the driver's locks may be held by threads that are not in the child.
Status ModuleCache::requireOwnProcess() const {
  if (forks == forkCount())
    return {};
  return makeError(Code::unsupported, fmt::format("expected a {} driver that this process opened, got one that it "
                                                  "inherited by fork: opening one after the fork would do",
                                                  kind()));
}

Result<DeviceAddress> ModuleCache::allocate(uint32_t device, size_t bytes) {
  ILK_RETURN_IF_ERROR(requireOwnProcess());
  return below->allocate(device, bytes);
}

Result<StreamId> ModuleCache::createStream(uint32_t device) {
  ILK_RETURN_IF_ERROR(requireOwnProcess());
  return below->createStream(device);
}

Result<StreamId> ModuleCache::createUrgentStream(uint32_t device) {
  ILK_RETURN_IF_ERROR(requireOwnProcess());
  return below->createUrgentStream(device);
}

Status ModuleCache::destroyStream(StreamId stream) {
  // Afterwards nobody could ask whether its kernels have ended.
  Status ran = below->synchronize(stream);
  Status destroyed = below->destroyStream(stream);
  std::lock_guard lock(mutex);
  for (Module &module : modules)
    module.ranOn.erase(stream);
  if (auto capture = captures.extract(stream))
    release(capture.mapped());
  trim();
  return destroyed ? ran : destroyed;
}

ModuleCache::Modules::iterator ModuleCache::find(uint32_t device, const KernelImage &image, size_t hash) {
  for (auto at = modules.begin(); at != modules.end(); ++at)
    if (at->hash == hash && at->device == device && at->image.text == image.text && at->image.binary == image.binary &&
        at->image.entry == image.entry)
      return at;
  return modules.end();
}

KernelId ModuleCache::hold(Modules::iterator module) {
  ++module->holders;
  modules.splice(modules.begin(), modules, module);
  kernels.emplace(++lastKernel, module);
  return KernelId(lastKernel);
}

Result<KernelId> ModuleCache::load(uint32_t device, const KernelImage &image) {
  ILK_RETURN_IF_ERROR(requireOwnProcess());
  size_t hash = hashOf(image);
  {
    std::lock_guard lock(mutex);
    if (auto there = find(device, image, hash); there != modules.end())
      return hold(there);
  }
  // Not under the lock: launches must not wait for an assembler.
  ILK_ASSIGN_OR_RETURN(KernelId kernel, below->load(device, image));
  std::lock_guard lock(mutex);
  if (auto there = find(device, image, hash); there != modules.end()) {
    ILK_RETURN_IF_ERROR(below->unload(kernel)); // another thread was quicker
    return hold(there);
  }
  modules.push_front({device, image, hash, kernel, 0, 0, {}});
  bytes += modules.front().bytes();
  KernelId held = hold(modules.begin());
  trim();
  return held;
}

Status ModuleCache::unload(KernelId kernel) {
  std::lock_guard lock(mutex);
  auto held = kernels.find(uint64_t(kernel));
  if (held == kernels.end())
    return makeError(
        Code::badInput,
        fmt::format("expected a kernel of this driver, got {}, which is not one or is unloaded", uint64_t(kernel)));
  --held->second->holders;
  modules.splice(modules.begin(), modules, held->second);
  kernels.erase(held);
  trim();
  return {};
}

Status ModuleCache::launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                           std::span<const std::byte> params) {
  ILK_RETURN_IF_ERROR(requireOwnProcess());
  ILK_ASSIGN_OR_RETURN(Modules::iterator module, moduleOf(kernel));
  // It is held by the caller, so it stays. Noted only afterwards: else the stream might be seen idle in between.
  ILK_RETURN_IF_ERROR(below->launch(stream, module->kernel, config, params));
  std::lock_guard lock(mutex);
  noteUse(stream, module);
  return {};
}

Result<uint32_t> ModuleCache::residentCtas(KernelId kernel, const LaunchConfig &config) {
  ILK_RETURN_IF_ERROR(requireOwnProcess());
  ILK_ASSIGN_OR_RETURN(Modules::iterator module, moduleOf(kernel));
  return below->residentCtas(module->kernel, config);
}

Result<ModuleCache::Modules::iterator> ModuleCache::moduleOf(KernelId kernel) {
  std::lock_guard lock(mutex);
  auto held = kernels.find(uint64_t(kernel));
  if (held != kernels.end())
    return held->second;
  return makeError(
      Code::badInput,
      fmt::format("expected a kernel of this driver, got {}, which is not one or is unloaded", uint64_t(kernel)));
}

void ModuleCache::noteUse(StreamId stream, Modules::iterator module) {
  if (auto capture = captures.find(stream); capture != captures.end()) {
    ++module->graphs;
    capture->second.push_back(module);
  } else {
    module->ranOn.insert(stream);
  }
}

Status ModuleCache::beginCapture(StreamId stream) {
  ILK_RETURN_IF_ERROR(below->beginCapture(stream));
  std::lock_guard lock(mutex);
  captures.emplace(stream, Used());
  return {};
}

Result<GraphId> ModuleCache::endCapture(StreamId stream) {
  Result<GraphId> graph = below->endCapture(stream);
  std::lock_guard lock(mutex);
  if (auto capture = captures.extract(stream)) {
    if (graph)
      graphs.emplace(*graph, std::move(capture.mapped()));
    else
      release(capture.mapped());
  }
  trim();
  return graph;
}

Status ModuleCache::launchGraph(StreamId stream, GraphId graph) {
  ILK_RETURN_IF_ERROR(requireOwnProcess());
  ILK_RETURN_IF_ERROR(below->launchGraph(stream, graph));
  std::lock_guard lock(mutex);
  if (auto used = graphs.find(graph); used != graphs.end())
    for (Modules::iterator module : used->second)
      noteUse(stream, module); // a graph may be captured into another one
  return {};
}

Status ModuleCache::destroyGraph(GraphId graph) {
  ILK_RETURN_IF_ERROR(below->destroyGraph(graph));
  std::lock_guard lock(mutex);
  if (auto used = graphs.extract(graph))
    release(used.mapped());
  trim();
  return {};
}

void ModuleCache::release(const Used &used) {
  for (Modules::iterator module : used)
    --module->graphs;
}

bool ModuleCache::inUse(Module &module) {
  if (module.holders || module.graphs)
    return true;
  std::erase_if(module.ranOn, [&](StreamId stream) {
    Result<bool> idle = below->isIdle(stream);
    return idle && *idle;
  });
  return !module.ranOn.empty();
}

/// Unloads what nobody uses, least recently used first, until the rest is within the bounds. What is in use may exceed
/// them; then the next call that comes here tries again.
void ModuleCache::trim() {
  // Neither unloading nor asking a stream is allowed beside a capture (CUDA driver API, "Stream capture").
  if (!captures.empty())
    return;
  for (auto at = modules.end(); at != modules.begin() && (modules.size() > limits.count || bytes > limits.bytes);) {
    --at;
    if (inUse(*at))
      continue;
    bytes -= at->bytes();
    // A failure has nobody to go to; the driver below frees everything when it goes.
    (void)below->unload(at->kernel);
    at = modules.erase(at);
  }
}

uint64_t ModuleCache::loaded() const {
  std::lock_guard lock(mutex);
  return modules.size();
}

} // namespace interlock
