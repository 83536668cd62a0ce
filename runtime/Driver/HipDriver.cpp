// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The Driver interface on the HIP runtime's module API.
#include "interlock/device.hpp"

#include "interlock/spec.hpp"
#include "runtime/Driver/BesideCaptures.h"
#include "runtime/Driver/CodeObject.h"
#include "runtime/Driver/HandleTable.h"
#include "runtime/Driver/HipApi.h"
#include "runtime/Driver/MappedWindows.h"
#include "runtime/Driver/ModuleCache.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <vector>

namespace interlock {
namespace {

using namespace hip;

struct DeviceState {
  int ordinal = 0; ///< HIP's
  DeviceInfo info;
};

struct StreamState {
  uint32_t device = 0;
  HipStream stream = nullptr;
};

struct KernelState {
  uint32_t device = 0;
  HipModule module = nullptr;
  HipFunction function = nullptr;
  size_t paramBytes = 0; ///< of its kernarg segment; 0 if the text does not say
};

struct GraphState {
  uint32_t device = 0;
  HipGraph graph = nullptr;
  HipGraphExec exec = nullptr;
};

struct EventState {
  HipEvent event = nullptr;
  uint32_t device = 0; ///< where it was made: set by its first record
};

/// The chip without its settings: gfx942 of gfx942:sramecc+:xnack-. Our code objects load whatever those are.
std::string chipOf(std::string_view architecture) {
  return std::string(architecture.substr(0, architecture.find(':')));
}

Result<std::string> targetFor(const std::string &chip, const std::string &gpu) {
  std::string known;
  for (const TargetInfo &target : targets()) {
    if (!target.isAMD())
      continue;
    if (target.name == chip)
      return chip;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", target.name);
  }
  return makeError(Code::unsupported, fmt::format("{} is a {}: {} would do", gpu, chip, known));
}

/// The size of the kernel's parameters, from the metadata of its code object or in its assembly; 0 if there is none.
size_t parameterBytesOf(const KernelImage &image) {
  if (auto kernel = kernelOfObject(image.binary, image.entry))
    return kernel->parameterBytes;
  const std::string_view text = image.text;
  constexpr std::string_view key = ".kernarg_segment_size:";
  size_t at = text.find(key), bytes = 0;
  if (at == std::string_view::npos)
    return 0;
  at = text.find_first_not_of(' ', at + key.size());
  if (at != std::string_view::npos)
    std::from_chars(text.data() + at, text.data() + text.size(), bytes);
  return bytes;
}

class HipDriver final : public Driver {
public:
  explicit HipDriver(std::unique_ptr<const Api> given) : api(std::move(given)), windows(*api) {}

  ~HipDriver() override {
    waitForAll();
    for (const GraphState &graph : graphs.drain()) {
      api->graphExecDestroy(graph.exec);
      api->graphDestroy(graph.graph);
    }
    for (const EventState &event : events.drain())
      if (event.event)
        api->eventDestroy(event.event);
    for (const StreamState &stream : streams.drain())
      api->streamDestroy(stream.stream);
    for (const KernelState &kernel : kernels.drain())
      api->moduleUnload(kernel.module);
    for (auto [address, device] : owners)
      api->memFree(address);
    windows.releaseAll();
  }

  Status open() {
    int version = 0, count = 0;
    HipResult started = api->init(0);
    if (started == errorNoDevice)
      return noGpu();
    ILK_RETURN_IF_ERROR(api->check("start", started));
    ILK_RETURN_IF_ERROR(api->check("state its version", api->runtimeGetVersion(&version)));
    HipResult counted = api->getDeviceCount(&count);
    if (counted == errorNoDevice || (counted == success && count == 0))
      return noGpu();
    ILK_RETURN_IF_ERROR(api->check("count GPUs", counted));
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      // Devices share an address space, so a GPU that the first one cannot reach is left out.
      if (!devices.empty() && !reachable(devices.front().ordinal, ordinal))
        continue;
      ILK_ASSIGN_OR_RETURN(DeviceInfo info, describe(ordinal, version));
      devices.push_back({ordinal, std::move(info)});
    }
    return enablePeers();
  }

  std::string_view kind() const override { return "hip"; }
  uint32_t deviceCount() const override { return uint32_t(devices.size()); }
  Result<DeviceInfo> info(uint32_t device) const override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    return devices[device].info;
  }

  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    Current current(*this, device);
    DeviceAddress address = 0;
    if (HipResult result = api->memAlloc(&address, std::max<size_t>(bytes, 1)); result != success)
      return tl::unexpected(api->error(fmt::format("allocate {} bytes", bytes).c_str(), result));
    std::lock_guard lock(mutex);
    owners[address] = device;
    return address;
  }

  Status release(DeviceAddress address) override {
    uint32_t device = 0;
    {
      std::lock_guard lock(mutex);
      auto owner = owners.find(address);
      if (owner == owners.end())
        return makeError(Code::badInput, fmt::format("expected an address from allocate, got {:#x}", address));
      device = owner->second;
      owners.erase(owner);
    }
    Current current(*this, device);
    return api->check("free memory", api->memFree(address));
  }

  Result<size_t> windowGranularity() const override { return windows.granularity(ordinals()); }
  Result<WindowId> createWindow(uint32_t device, size_t bytes, WindowSharing sharing) override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    return windows.create(devices[device].ordinal, bytes, sharing);
  }
  Result<int> exportWindow(WindowId window) override { return windows.exportDescriptor(window); }
  Result<WindowId> importWindow(int descriptor, size_t bytes) override { return windows.import(descriptor, bytes); }
  Status destroyWindow(WindowId window) override { return windows.destroy(window); }
  Result<DeviceAddress> mapWindows(std::span<const WindowId> ids) override { return windows.map(ids, ordinals()); }
  Status unmapWindows(DeviceAddress address) override {
    waitForAll();
    return windows.unmap(address);
  }

  Result<StreamId> createStream(uint32_t device) override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    Current current(*this, device);
    StreamState state{device, nullptr};
    ILK_RETURN_IF_ERROR(api->check("make a stream", api->streamCreate(&state.stream, streamNonBlocking)));
    return streams.add(state);
  }
  Status destroyStream(StreamId stream) override {
    ILK_ASSIGN_OR_RETURN(StreamState state, streams.take(stream));
    Current current(*this, state.device);
    // hipStreamDestroy leaves it open whether what is enqueued still runs.
    Status ran = api->check("wait for a stream", api->streamSynchronize(state.stream));
    Status destroyed = api->check("destroy a stream", api->streamDestroy(state.stream));
    return ran ? destroyed : ran;
  }
  Status synchronize(StreamId stream) override {
    return onStream(stream, "wait for a stream", [&](HipStream s) { return api->streamSynchronize(s); });
  }
  Result<bool> isIdle(StreamId stream) override {
    ILK_ASSIGN_OR_RETURN(StreamState state, streams.get(stream));
    Current current(*this, state.device);
    HipResult result = api->streamQuery(state.stream);
    if (result == errorNotReady)
      return false;
    ILK_RETURN_IF_ERROR(api->check("ask whether a stream has ended", result));
    return true;
  }

  Status copyIn(StreamId stream, DeviceAddress to, const void *from, size_t bytes) override {
    if (bytes == 0)
      return {};
    return onStream(stream, "copy to the device", [&](HipStream s) { return api->memcpyIn(to, from, bytes, s); });
  }
  Status copyOut(StreamId stream, void *to, DeviceAddress from, size_t bytes) override {
    if (bytes == 0)
      return {};
    return onStream(stream, "copy from the device", [&](HipStream s) { return api->memcpyOut(to, from, bytes, s); });
  }
  Status copy(StreamId stream, DeviceAddress to, DeviceAddress from, size_t bytes) override {
    if (bytes == 0)
      return {};
    return onStream(stream, "copy on the device",
                    [&](HipStream s) { return api->memcpyAsync(to, from, bytes, copyByAddress, s); });
  }
  Status fill(StreamId stream, DeviceAddress to, uint8_t value, size_t bytes) override {
    if (bytes == 0)
      return {};
    return onStream(stream, "fill memory", [&](HipStream s) { return api->memset8(to, value, bytes, s); });
  }

  Result<KernelId> load(uint32_t device, const KernelImage &image) override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    if (image.binary.empty())
      return makeError(
          Code::badInput,
          fmt::format("expected a code object of {}, got its text alone: HIP assembles none", image.entry));
    Current current(*this, device);
    KernelState state{device, nullptr, nullptr, parameterBytesOf(image)};
    if (HipResult result = api->moduleLoad(&state.module, image.binary.data()); result != success)
      return tl::unexpected(api->error(
          fmt::format("load the code object of {} on {}", image.entry, devices[device].info.name).c_str(), result));
    if (HipResult result = api->moduleGetFunction(&state.function, state.module, image.entry.c_str());
        result != success) {
      api->moduleUnload(state.module);
      return tl::unexpected(api->error(fmt::format("find the kernel {}", image.entry).c_str(), result));
    }
    return kernels.add(state);
  }
  Status unload(KernelId kernel) override {
    ILK_ASSIGN_OR_RETURN(KernelState state, kernels.take(kernel));
    Current current(*this, state.device);
    return api->check("unload a module", api->moduleUnload(state.module));
  }

  Status launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                std::span<const std::byte> params) override {
    ILK_ASSIGN_OR_RETURN(StreamState on, streams.get(stream));
    ILK_ASSIGN_OR_RETURN(KernelState what, kernels.get(kernel));
    if (on.device != what.device)
      return makeError(Code::badInput,
                       fmt::format("expected a stream of device {}, where the kernel was loaded, got one of {}",
                                   what.device, on.device));
    if (params.size() < what.paramBytes)
      return makeError(Code::badInput,
                       fmt::format("expected {} bytes of kernel parameters, got {}", what.paramBytes, params.size()));
    ILK_RETURN_IF_ERROR(requireGrantable(config));
    Current current(*this, on.device);
    size_t size = what.paramBytes ? what.paramBytes : params.size();
    // HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END
    void *extra[] = {reinterpret_cast<void *>(1), const_cast<std::byte *>(params.data()), reinterpret_cast<void *>(2),
                     &size, reinterpret_cast<void *>(3)};
    return api->check("launch a kernel", api->launchKernel(what.function, config.grid, 1, 1, config.block, 1, 1,
                                                           config.dynamicSharedBytes, on.stream, nullptr, extra));
  }

  Result<uint32_t> residentCtas(KernelId kernel, const LaunchConfig &config) override {
    ILK_ASSIGN_OR_RETURN(KernelState what, kernels.get(kernel));
    ILK_RETURN_IF_ERROR(requireNoClusters(config));
    Current current(*this, what.device);
    int number = 0;
    ILK_RETURN_IF_ERROR(api->check(
        "count resident CTAs", api->occupancy(&number, what.function, int(config.block), config.dynamicSharedBytes)));
    return uint32_t(number) * devices[what.device].info.multiprocessors;
  }

  Status beginCapture(StreamId stream) override {
    return onStream(stream, "begin a capture",
                    [&](HipStream s) { return api->streamBeginCapture(s, captureThreadLocal); });
  }
  Result<GraphId> endCapture(StreamId stream) override {
    ILK_ASSIGN_OR_RETURN(StreamState on, streams.get(stream));
    Current current(*this, on.device);
    GraphState state{on.device, nullptr, nullptr};
    ILK_RETURN_IF_ERROR(api->check("end a capture", api->streamEndCapture(on.stream, &state.graph)));
    if (HipResult result = api->graphInstantiate(&state.exec, state.graph, 0); result != success) {
      api->graphDestroy(state.graph);
      return tl::unexpected(api->error("make a graph of a capture", result));
    }
    return graphs.add(state);
  }
  Status launchGraph(StreamId stream, GraphId graph) override {
    ILK_ASSIGN_OR_RETURN(GraphState state, graphs.get(graph));
    return onStream(stream, "launch a graph", [&](HipStream s) { return api->graphLaunch(state.exec, s); });
  }
  Status destroyGraph(GraphId graph) override {
    ILK_ASSIGN_OR_RETURN(GraphState state, graphs.take(graph));
    Current current(*this, state.device);
    ILK_RETURN_IF_ERROR(api->check("destroy a graph", api->graphExecDestroy(state.exec)));
    return api->check("destroy a graph", api->graphDestroy(state.graph));
  }

  Result<EventId> createEvent() override { return events.add(EventState{}); }
  Status recordEvent(StreamId stream, EventId event) override {
    ILK_ASSIGN_OR_RETURN(StreamState on, streams.get(stream));
    ILK_ASSIGN_OR_RETURN(EventState state, events.get(event));
    Current current(*this, on.device);
    // An event belongs to the device it was made on, so it is made when that is known.
    if (!state.event) {
      ILK_RETURN_IF_ERROR(api->check("make an event", api->eventCreate(&state.event, 0)));
      state.device = on.device;
      events.set(event, state);
    }
    return api->check("record an event", api->eventRecord(state.event, on.stream));
  }
  Result<double> elapsedNs(EventId from, EventId to) override {
    ILK_ASSIGN_OR_RETURN(EventState first, events.get(from));
    ILK_ASSIGN_OR_RETURN(EventState second, events.get(to));
    if (!first.event || !second.event)
      return makeError(Code::badInput, "expected two events that were recorded, got one that was not");
    Current current(*this, first.device);
    float milliseconds = 0;
    // Either may be the later one.
    for (HipEvent event : {first.event, second.event})
      ILK_RETURN_IF_ERROR(api->check("wait for an event", api->eventSynchronize(event)));
    ILK_RETURN_IF_ERROR(api->check("compare events", api->eventElapsed(&milliseconds, first.event, second.event)));
    return double(milliseconds) * 1e6;
  }
  Status destroyEvent(EventId event) override {
    ILK_ASSIGN_OR_RETURN(EventState state, events.take(event));
    if (!state.event)
      return {};
    Current current(*this, state.device);
    return api->check("destroy an event", api->eventDestroy(state.event));
  }

private:
  /// Makes a device the thread's current one for a scope and leaves the caller's as it was.
  class Current {
  public:
    Current(const HipDriver &driver, uint32_t device) : api(*driver.api) {
      int wanted = driver.devices[device].ordinal;
      changed = api.getDevice(&before) == success && before != wanted && api.setDevice(wanted) == success;
    }
    ~Current() {
      if (changed)
        (void)api.setDevice(before);
    }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

  private:
    const Api &api;
    int before = 0;
    bool changed = false;
  };

  static Status noGpu() {
    return makeError(Code::notFound, "the HIP runtime sees no GPU: the emulator runs the kernels without one");
  }

  Status requireDevice(uint32_t device) const {
    if (device < devices.size())
      return {};
    return makeError(Code::badInput, fmt::format("expected a device below {}, got {}", devices.size(), device));
  }

  static Status requireNoClusters(const LaunchConfig &config) {
    if (config.cluster <= 1)
      return {};
    return makeError(Code::unsupported,
                     fmt::format("expected a launch without clusters, which hipModuleLaunchKernel has none of, got "
                                 "clusters of {}: a cluster of 1 would do",
                                 config.cluster));
  }

  /// hipModuleLaunchCooperativeKernel has no `extra`: it takes a pointer to each parameter. Of a kernel's parameters
  /// only the size of all is known here, and not where each one begins.
  static Status requireGrantable(const LaunchConfig &config) {
    ILK_RETURN_IF_ERROR(requireNoClusters(config));
    if (config.cooperative)
      return makeError(Code::unsupported,
                       "expected a launch that is not cooperative, since HIP takes the parameters of those one by one "
                       "and not as a buffer, got a cooperative one: a kernel that does not need its whole grid "
                       "resident would do");
    if (config.programmatic)
      return makeError(Code::unsupported,
                       "expected a launch that starts behind its predecessor's end, since HIP has no other, got a "
                       "programmatic one: the kernel without that would do");
    return {};
  }

  /// Unmapping does not wait for the kernels that use the memory. What they ended with is for those to hear who wait
  /// for their streams.
  void waitForAll() const {
    for (uint32_t device = 0; device < devices.size(); ++device) {
      Current current(*this, device);
      (void)api->deviceSynchronize();
    }
  }

  std::vector<int> ordinals() const {
    std::vector<int> list;
    for (const DeviceState &device : devices)
      list.push_back(device.ordinal);
    return list;
  }

  bool reachable(int from, int to) const {
    int can = 0;
    return api->deviceCanAccessPeer(&can, from, to) == success && can;
  }

  Result<DeviceInfo> describe(int ordinal, int version) const {
    HipProperties properties{};
    ILK_RETURN_IF_ERROR(api->check("describe a GPU", api->getDeviceProperties(&properties, ordinal)));
    properties.name[sizeof(properties.name) - 1] = properties.gcnArchName[sizeof(properties.gcnArchName) - 1] = '\0';
    std::string name = properties.name;
    ILK_ASSIGN_OR_RETURN(std::string target, targetFor(chipOf(properties.gcnArchName), name));
    return DeviceInfo{name, target, uint32_t(properties.multiProcessorCount), 0, uint32_t(version)};
  }

  Status enablePeers() {
    for (uint32_t from = 0; from < devices.size(); ++from)
      for (const DeviceState &to : devices) {
        if (devices[from].ordinal == to.ordinal)
          continue;
        Current current(*this, from);
        HipResult result = api->deviceEnablePeerAccess(to.ordinal, 0);
        if (result != success && result != errorPeerAlreadyEnabled)
          return tl::unexpected(
              api->error(fmt::format("let GPU {} reach GPU {}", devices[from].ordinal, to.ordinal).c_str(), result));
      }
    return {};
  }

  template <typename Call> Status onStream(StreamId stream, const char *what, Call call) {
    ILK_ASSIGN_OR_RETURN(StreamState on, streams.get(stream));
    Current current(*this, on.device);
    return api->check(what, call(on.stream));
  }

  std::unique_ptr<const Api> api;
  MappedWindows<Api> windows;
  std::vector<DeviceState> devices;
  std::mutex mutex; ///< of `owners`
  std::map<DeviceAddress, uint32_t> owners;
  HandleTable<StreamId, StreamState> streams{"stream"};
  HandleTable<KernelId, KernelState> kernels{"kernel"};
  HandleTable<GraphId, GraphState> graphs{"graph"};
  HandleTable<EventId, EventState> events{"event"};
};

} // namespace

Result<std::unique_ptr<Driver>> openHip(const HipOptions &options) {
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Api> api, Api::load());
  api->cachedWindows = options.cachedWindows;
  ExchangeCaptureMode exchange = api->exchangeCaptureMode;
  RelaxedCaptures relaxed(exchange);
  auto driver = std::make_unique<HipDriver>(std::move(api));
  ILK_RETURN_IF_ERROR(driver->open());
  auto beside = std::make_unique<BesideCaptures>(std::move(driver), exchange);
  return std::unique_ptr<Driver>(std::make_unique<ModuleCache>(std::move(beside), options.modules));
}

} // namespace interlock
