// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The Driver interface on the CUDA driver API.
#include "interlock/device.hpp"

#include "interlock/spec.hpp"
#include "runtime/Driver/BesideCaptures.h"
#include "runtime/Driver/CudaApi.h"
#include "runtime/Driver/HandleTable.h"
#include "runtime/Driver/MappedWindows.h"
#include "runtime/Driver/ModuleCache.h"
#include "runtime/Driver/PtxVersion.h"
#include "runtime/Driver/Residency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace interlock {
namespace {

using namespace cuda;

struct DeviceState {
  CudaDevice device = 0;
  CudaContext context = nullptr;
  DeviceInfo info;
};

struct StreamState {
  uint32_t device = 0;
  CudaStream stream = nullptr;
};

struct KernelState {
  uint32_t device = 0;
  CudaModule module = nullptr;
  CudaFunction function = nullptr;
  size_t paramBytes = 0; ///< of its parameter buffer; 0 if the driver cannot say
};

struct GraphState {
  uint32_t device = 0;
  CudaGraph graph = nullptr;
  CudaGraphExec exec = nullptr;
};

struct EventState {
  CudaEvent event = nullptr;
  uint32_t device = 0; ///< whose context made it: set by its first record
};

/// The chip that kernels are generated for on a GPU: its own where there is a target of that name, else sm_80, whose
/// PTX later GPUs assemble too (targets with an `a` run on their own chip only).
Result<std::string> targetFor(int major, int minor, const std::string &gpu) {
  for (const TargetInfo &target : targets())
    if (target.vendor == "nvptx" && target.computeCapability == uint32_t(major * 10 + minor))
      return std::string(target.name);
  if (major >= 8)
    return std::string("sm_80");
  return makeError(Code::unsupported,
                   fmt::format("{} has compute capability {}.{}: 8.0 or later would do", gpu, major, minor));
}

class CudaDriver final : public Driver {
public:
  explicit CudaDriver(std::unique_ptr<const Api> given) : api(std::move(given)), windows(*api) {}

  // Others may hold the primary contexts too, so releasing those would not free what is left in them.
  ~CudaDriver() override {
    for (const GraphState &graph : graphs.drain()) {
      Current current(*this, graph.device);
      api->graphExecDestroy(graph.exec);
      api->graphDestroy(graph.graph);
    }
    for (const EventState &event : events.drain())
      if (event.event) {
        Current current(*this, event.device);
        api->eventDestroy(event.event);
      }
    for (const StreamState &stream : streams.drain()) {
      Current current(*this, stream.device);
      api->streamDestroy(stream.stream);
    }
    for (const KernelState &kernel : kernels.drain()) {
      Current current(*this, kernel.device);
      api->moduleUnload(kernel.module);
    }
    for (auto [address, device] : owners) {
      Current current(*this, device);
      api->memFree(address);
    }
    waitForAll();
    windows.releaseAll();
    for (DeviceState &device : devices)
      api->primaryCtxRelease(device.device);
  }

  Status open() {
    int version = 0, count = 0;
    CudaResult started = api->init(0);
    // An installed driver without a GPU says so here already.
    if (started == errorNoDevice)
      return noGpu();
    ILK_RETURN_IF_ERROR(api->check("start", started));
    ILK_RETURN_IF_ERROR(api->check("state its version", api->driverGetVersion(&version)));
    ILK_RETURN_IF_ERROR(api->check("count GPUs", api->deviceGetCount(&count)));
    if (count == 0)
      return noGpu();
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      DeviceState device;
      ILK_RETURN_IF_ERROR(api->check("open a GPU", api->deviceGet(&device.device, ordinal)));
      // Devices share an address space, so a GPU that the first one cannot reach is left out.
      if (ordinal > 0 && !reachable(devices.front().device, device.device))
        continue;
      ILK_RETURN_IF_ERROR(describe(device, version));
      ILK_RETURN_IF_ERROR(api->check("make a context", api->primaryCtxRetain(&device.context, device.device)));
      devices.push_back(std::move(device));
    }
    return enablePeers();
  }

  std::string_view kind() const override { return "cuda"; }
  uint32_t deviceCount() const override { return uint32_t(devices.size()); }
  Result<DeviceInfo> info(uint32_t device) const override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    return devices[device].info;
  }

  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    Current current(*this, device);
    DeviceAddress address = 0;
    if (CudaResult result = api->memAlloc(&address, std::max<size_t>(bytes, 1)); result != success)
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

  Result<size_t> windowGranularity() const override { return windows.granularity(cudaDevices()); }
  Result<WindowId> createWindow(uint32_t device, size_t bytes, WindowSharing sharing) override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    return windows.create(devices[device].device, bytes, sharing);
  }
  Result<int> exportWindow(WindowId window) override { return windows.exportDescriptor(window); }
  Result<WindowId> importWindow(int descriptor, size_t bytes) override { return windows.import(descriptor, bytes); }
  Status destroyWindow(WindowId window) override { return windows.destroy(window); }
  Result<DeviceAddress> mapWindows(std::span<const WindowId> ids) override { return windows.map(ids, cudaDevices()); }
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
  Result<StreamId> createUrgentStream(uint32_t device) override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    Current current(*this, device);
    StreamState state{device, nullptr};
    int least = 0, greatest = 0;
    ILK_RETURN_IF_ERROR(api->check("ask for priorities of streams", api->streamPriorities(&least, &greatest)));
    ILK_RETURN_IF_ERROR(
        api->check("make a stream", api->streamCreateWithPriority(&state.stream, streamNonBlocking, greatest)));
    return streams.add(state);
  }
  Status destroyStream(StreamId stream) override {
    ILK_ASSIGN_OR_RETURN(StreamState state, streams.take(stream));
    Current current(*this, state.device);
    return api->check("destroy a stream", api->streamDestroy(state.stream));
  }
  Status synchronize(StreamId stream) override {
    return onStream(stream, "wait for a stream", [&](CudaStream s) { return api->streamSynchronize(s); });
  }
  Result<bool> isIdle(StreamId stream) override {
    ILK_ASSIGN_OR_RETURN(StreamState state, streams.get(stream));
    Current current(*this, state.device);
    CudaResult result = api->streamQuery(state.stream);
    if (result == errorNotReady)
      return false;
    ILK_RETURN_IF_ERROR(api->check("ask whether a stream has ended", result));
    return true;
  }

  Status copyIn(StreamId stream, DeviceAddress to, const void *from, size_t bytes) override {
    if (bytes == 0)
      return {};
    return onStream(stream, "copy to the device", [&](CudaStream s) { return api->memcpyIn(to, from, bytes, s); });
  }
  Status copyOut(StreamId stream, void *to, DeviceAddress from, size_t bytes) override {
    if (bytes == 0)
      return {};
    return onStream(stream, "copy from the device", [&](CudaStream s) { return api->memcpyOut(to, from, bytes, s); });
  }
  Status copy(StreamId stream, DeviceAddress to, DeviceAddress from, size_t bytes) override {
    if (bytes == 0)
      return {};
    return onStream(stream, "copy on the device", [&](CudaStream s) { return api->memcpyAsync(to, from, bytes, s); });
  }
  Status fill(StreamId stream, DeviceAddress to, uint8_t value, size_t bytes) override {
    if (bytes == 0)
      return {};
    return onStream(stream, "fill memory", [&](CudaStream s) { return api->memset8(to, value, bytes, s); });
  }

  Result<KernelId> load(uint32_t device, const KernelImage &image) override {
    ILK_RETURN_IF_ERROR(requireDevice(device));
    Current current(*this, device);
    KernelState state{device, nullptr, nullptr};
    bool binary = !image.binary.empty();
    std::array<char, 8192> log{};
    int options[] = {jitErrorLog, jitErrorLogBytes};
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
    const std::string &code = binary ? image.binary : image.text;
    CudaResult result = api->moduleLoad(&state.module, code.c_str(), 2, options, values);
    if (result != success)
      return tl::unexpected(loadError(devices[device].info, image, binary, result, log.data()));
    if (result = api->moduleGetFunction(&state.function, state.module, image.entry.c_str()); result != success) {
      api->moduleUnload(state.module);
      return tl::unexpected(api->error(fmt::format("find the kernel {}", image.entry).c_str(), result));
    }
    // Left to its first launch, loading waits for the kernels that run (CUDA C++ Programming Guide, "Lazy Loading"),
    // and one of those may be waiting for this one.
    if (result = api->funcLoad ? api->funcLoad(state.function) : success; result != success) {
      api->moduleUnload(state.module);
      return tl::unexpected(api->error(fmt::format("load the kernel {}", image.entry).c_str(), result));
    }
    state.paramBytes = paramBytesOf(state.function, image);
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
    Current current(*this, on.device);
    if (config.dynamicSharedBytes)
      ILK_RETURN_IF_ERROR(
          api->check("reserve shared memory",
                     api->funcSetAttribute(what.function, functionMaxDynamicShared, int(config.dynamicSharedBytes))));
    if (config.cooperative && config.checkResidency) {
      ILK_ASSIGN_OR_RETURN(uint32_t bound, resident(what, config));
      ILK_RETURN_IF_ERROR(requireResident(config.grid, bound));
    }
    Attributes attributes(config);
    CudaLaunchConfig launch = attributes.launch(config, on.stream);
    // The driver takes a longer buffer, such as a struct with padding at its end, for too many arguments.
    size_t size = what.paramBytes ? std::min(what.paramBytes, params.size()) : params.size();
    // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
    void *extra[] = {reinterpret_cast<void *>(1), const_cast<std::byte *>(params.data()), reinterpret_cast<void *>(2),
                     &size, nullptr};
    return api->check("launch a kernel", api->launchKernel(&launch, what.function, nullptr, extra));
  }

  Result<uint32_t> residentCtas(KernelId kernel, const LaunchConfig &config) override {
    ILK_ASSIGN_OR_RETURN(KernelState what, kernels.get(kernel));
    Current current(*this, what.device);
    return resident(what, config);
  }

  Status beginCapture(StreamId stream) override {
    return onStream(stream, "begin a capture",
                    [&](CudaStream s) { return api->streamBeginCapture(s, captureThreadLocal); });
  }
  Result<GraphId> endCapture(StreamId stream) override {
    ILK_ASSIGN_OR_RETURN(StreamState on, streams.get(stream));
    Current current(*this, on.device);
    GraphState state{on.device, nullptr, nullptr};
    ILK_RETURN_IF_ERROR(api->check("end a capture", api->streamEndCapture(on.stream, &state.graph)));
    if (CudaResult result = api->graphInstantiate(&state.exec, state.graph, 0); result != success) {
      api->graphDestroy(state.graph);
      return tl::unexpected(api->error("make a graph of a capture", result));
    }
    return graphs.add(state);
  }
  Status launchGraph(StreamId stream, GraphId graph) override {
    ILK_ASSIGN_OR_RETURN(GraphState state, graphs.get(graph));
    return onStream(stream, "launch a graph", [&](CudaStream s) { return api->graphLaunch(state.exec, s); });
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
    // An event belongs to the context it was made in, so it is made when the device is known.
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
    for (CudaEvent event : {first.event, second.event})
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
  /// Makes a device's context current for a scope and leaves the caller's as it was.
  class Current {
  public:
    Current(const CudaDriver &driver, uint32_t device) : api(*driver.api) {
      pushed = api.ctxPush(driver.devices[device].context) == success;
    }
    ~Current() {
      CudaContext context = nullptr;
      if (pushed)
        api.ctxPop(&context);
    }
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

  private:
    const Api &api;
    bool pushed;
  };

  /// What a launch asks for beside its shape.
  struct Attributes {
    explicit Attributes(const LaunchConfig &config) {
      if (config.cluster > 1)
        add(launchClusterDimension).clusterDim = {config.cluster, 1, 1};
      if (config.cooperative)
        add(launchCooperative).flag = 1;
      if (config.programmatic)
        add(launchProgrammatic).flag = 1;
    }
    CudaLaunchConfig launch(const LaunchConfig &config, CudaStream stream) {
      return {config.grid, 1, 1, config.block, 1, 1, config.dynamicSharedBytes, stream, list.data(), count};
    }

  private:
    decltype(CudaLaunchAttribute::value) &add(int id) {
      list[count].id = id;
      return list[count++].value;
    }
    std::array<CudaLaunchAttribute, 3> list{};
    unsigned count = 0;
  };

  Result<uint32_t> resident(const KernelState &what, const LaunchConfig &config) {
    int number = 0;
    if (config.cluster > 1) {
      Attributes attributes(config);
      CudaLaunchConfig launch = attributes.launch(config, nullptr);
      ILK_RETURN_IF_ERROR(
          api->check("count resident clusters", api->occupancyClusters(&number, what.function, &launch)));
      return uint32_t(number) * config.cluster;
    }
    ILK_RETURN_IF_ERROR(api->check(
        "count resident CTAs", api->occupancy(&number, what.function, int(config.block), config.dynamicSharedBytes)));
    return uint32_t(number) * devices[what.device].info.multiprocessors;
  }

  /// Asks for as many parameters as the text declares: one more would be an error that checking tools report.
  size_t paramBytesOf(CudaFunction function, const KernelImage &image) const {
    size_t end = 0, offset = 0, size = 0, count = ptxParamCount(image.text, image.entry);
    for (size_t i = 0; i < count && api->funcGetParamInfo; ++i)
      if (api->funcGetParamInfo(function, i, &offset, &size) == success)
        end = offset + size;
    return end;
  }

  static Status noGpu() {
    return makeError(Code::notFound, "the CUDA driver sees no GPU: the emulator runs the kernels without one");
  }

  Status requireDevice(uint32_t device) const {
    if (device < devices.size())
      return {};
    return makeError(Code::badInput, fmt::format("expected a device below {}, got {}", devices.size(), device));
  }

  /// Unlike cuMemFree, cuMemUnmap does not wait for the kernels that use the memory. What they ended with is for those
  /// to hear who wait for their streams.
  void waitForAll() const {
    for (uint32_t device = 0; device < devices.size(); ++device) {
      Current current(*this, device);
      (void)api->ctxSynchronize();
    }
  }

  std::vector<CudaDevice> cudaDevices() const {
    std::vector<CudaDevice> list;
    for (const DeviceState &device : devices)
      list.push_back(device.device);
    return list;
  }

  bool reachable(CudaDevice from, CudaDevice to) const {
    int can = 0;
    return api->deviceCanAccessPeer(&can, from, to) == success && can;
  }

  Status describe(DeviceState &state, int version) const {
    std::array<char, 256> name{};
    int major = 0, minor = 0, multiprocessors = 0;
    ILK_RETURN_IF_ERROR(api->check("name a GPU", api->deviceGetName(name.data(), int(name.size()) - 1, state.device)));
    ILK_RETURN_IF_ERROR(api->check("describe a GPU", api->deviceGetAttribute(&major, attributeMajor, state.device)));
    ILK_RETURN_IF_ERROR(api->check("describe a GPU", api->deviceGetAttribute(&minor, attributeMinor, state.device)));
    ILK_RETURN_IF_ERROR(api->check("describe a GPU",
                                   api->deviceGetAttribute(&multiprocessors, attributeMultiprocessors, state.device)));
    ILK_ASSIGN_OR_RETURN(std::string target, targetFor(major, minor, name.data()));
    state.info = {name.data(), target, uint32_t(multiprocessors), ptxIsaOfDriver(version), uint32_t(version)};
    return {};
  }

  Status enablePeers() {
    for (uint32_t from = 0; from < devices.size(); ++from)
      for (uint32_t to = 0; to < devices.size(); ++to) {
        if (from == to)
          continue;
        Current current(*this, from);
        CudaResult result = api->ctxEnablePeerAccess(devices[to].context, 0);
        if (result != success && result != errorPeerAlreadyEnabled)
          return tl::unexpected(api->error(fmt::format("let GPU {} reach GPU {}", from, to).c_str(), result));
      }
    return {};
  }

  Error loadError(const DeviceInfo &info, const KernelImage &image, bool binary, CudaResult result,
                  const char *log) const {
    uint32_t isa = ptxVersionOf(image.text);
    if (!binary && (result == errorUnsupportedPtx || result == errorInvalidPtx) && isa > info.maxPtxIsa)
      return {
          Code::unsupported,
          fmt::format(
              "the kernel is PTX ISA {}.{} and the driver, of CUDA {}.{}, assembles up to {}.{}: a newer driver, or "
              "a cubin made by nvJitLink, would do",
              isa / 10, isa % 10, info.driverVersion / 1000, info.driverVersion % 1000 / 10, info.maxPtxIsa / 10,
              info.maxPtxIsa % 10)};
    Error error = api->error(
        fmt::format("load the {} of {} on {}", binary ? "cubin" : "PTX", image.entry, info.name).c_str(), result);
    std::string_view said = log;
    said = said.substr(0, said.find_last_not_of(" \n\r") + 1);
    if (!said.empty())
      error.message += fmt::format("; it said: {}", said);
    return error;
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

Result<std::unique_ptr<Driver>> openCuda(const ModuleLimits &modules) {
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<const Api> api, Api::load());
  ExchangeCaptureMode exchange = api->exchangeCaptureMode;
  RelaxedCaptures relaxed(exchange);
  auto driver = std::make_unique<CudaDriver>(std::move(api));
  ILK_RETURN_IF_ERROR(driver->open());
  auto beside = std::make_unique<BesideCaptures>(std::move(driver), exchange);
  return std::unique_ptr<Driver>(std::make_unique<ModuleCache>(std::move(beside), modules));
}

} // namespace interlock
