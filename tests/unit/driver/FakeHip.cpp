// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A stand-in for libamdhip64.so that runs nothing, remembers every call, and says which of them HIP's documentation
// forbids. Its declarations are written from that documentation and not from the header under test, so that the two
// check each other.
#include "tests/unit/driver/FakeHip.h"

#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace {

FakeHipState state;

/// What is alive, and on which device it was made.
struct Object {
  std::string kind;
  int device;
  void *inside; ///< the graph of an executable
};
std::map<void *, Object> alive;
uintptr_t lastHandle = 0x1000;
std::map<uint64_t, size_t> ranges, mappings;
void *captured; ///< the stream that captures

/// What is captured with its stream, or touches no device: harmless whatever another thread captures.
const std::set<std::string_view> harmless = {
    "hipInit",        "hipRuntimeGetVersion",    "hipGetDeviceCount",     "hipGetDevicePropertiesR0600",
    "hipSetDevice",   "hipDeviceCanAccessPeer",  "hipMemcpyHtoDAsync",    "hipMemcpyDtoHAsync",
    "hipMemcpyAsync", "hipMemsetD8Async",        "hipStreamBeginCapture", "hipModuleLaunchKernel",
    "hipGraphLaunch", "hipEventCreateWithFlags", "hipEventRecord"};

int called(const char *call) {
  state.calls.push_back(call);
  bool relaxed = state.threadMode == 2 && std::strcmp(call, "hipDeviceSynchronize") != 0; // hipStreamCaptureModeRelaxed
  if (state.capturing && !relaxed && !harmless.count(call))
    state.violations.push_back(std::string(call) + " beside a capture");
  return state.failing == call ? state.failure : 0;
}
void violation(const std::string &text) { state.violations.push_back(text); }

int make(const char *call, const char *kind, void **handle, void *inside = nullptr) {
  int result = called(call);
  if (result == 0) {
    *handle = reinterpret_cast<void *>(lastHandle += 16);
    alive[*handle] = {kind, state.current, inside};
    ++state.objects;
  }
  return result;
}

/// The object must be alive, of that kind, and used on its own device.
bool require(const char *call, const char *kind, void *handle) {
  auto found = alive.find(handle);
  if (found == alive.end() || found->second.kind != kind) {
    violation(std::string(call) + " of no " + kind);
    return false;
  }
  if (found->second.device != state.current)
    violation(std::string(call) + " on another device than its " + kind + "'s");
  return true;
}

int use(const char *call, const char *kind, void *handle) {
  require(call, kind, handle);
  return called(call);
}

int destroy(const char *call, const char *kind, void *handle) {
  auto found = alive.find(handle);
  if (found == alive.end() || found->second.kind != kind) {
    violation(std::string(call) + " of no " + kind);
  } else {
    for (const auto &[other, object] : alive)
      if (object.inside == handle)
        violation(std::string(call) + " before what was made of it");
    alive.erase(found);
    --state.objects;
  }
  return called(call);
}

} // namespace

#define HIP extern "C" __attribute__((visibility("default")))

HIP FakeHipState *fakeHipState() { return &state; }
HIP void fakeHipReset() {
  state = FakeHipState{};
  alive.clear();
  ranges.clear();
  mappings.clear();
  captured = nullptr;
}

HIP int hipInit(unsigned) { return called("hipInit"); }
HIP int hipRuntimeGetVersion(int *version) { return *version = state.version, called("hipRuntimeGetVersion"); }
HIP const char *hipGetErrorString(int result) { return result == 2 ? "out of memory" : "some failure"; }
HIP int hipGetDeviceCount(int *count) { return *count = state.devices, called("hipGetDeviceCount"); }
HIP int hipGetDevicePropertiesR0600(char *properties, int device) {
  std::memset(properties, 0, 1472);
  std::strcpy(properties, device == 0 ? "Fake Instinct A" : "Fake Instinct B");
  const int multiprocessors = device == 0 ? 304 : 228;
  std::memcpy(properties + 388, &multiprocessors, sizeof multiprocessors);
  std::strcpy(properties + 1160, state.architecture);
  return called("hipGetDevicePropertiesR0600");
}
HIP int hipGetDevice(int *device) { return *device = state.current, 0; }
HIP int hipSetDevice(int device) { return state.current = device, called("hipSetDevice"); }
HIP int hipDeviceSynchronize() { return state.busy = false, called("hipDeviceSynchronize"); }
HIP int hipDeviceCanAccessPeer(int *can, int, int) { return *can = state.peers, called("hipDeviceCanAccessPeer"); }
HIP int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (peer == state.current || flags != 0)
    violation("hipDeviceEnablePeerAccess to itself or with flags");
  ++state.peerLinks;
  return called("hipDeviceEnablePeerAccess");
}
HIP int hipMalloc(void **address, size_t) { return make("hipMalloc", "allocation", address); }
HIP int hipFree(void *address) { return destroy("hipFree", "allocation", address); }

// Virtual memory management: handles are their size, addresses are never touched.
struct AllocationProperties {
  int type, requestedHandleType, locationType, locationId;
  void *win32;
  unsigned char compressionType, gpuDirectRdma;
  unsigned short usage;
};
static_assert(sizeof(AllocationProperties) == 32);
struct AccessDescriptor {
  int locationType, locationId, flags;
};
HIP int hipMemGetAllocationGranularity(size_t *size, const AllocationProperties *, int option) {
  if (option != 0)
    violation("hipMemGetAllocationGranularity of something else than the minimum");
  *size = size_t(1) << 12;
  return called("hipMemGetAllocationGranularity");
}
HIP int hipMemCreate(void **handle, size_t size, const AllocationProperties *properties, unsigned long long flags) {
  if (properties->locationType != 1 || properties->win32 || flags != 0 || size % 4096)
    violation("hipMemCreate with unusual properties");
  state.allocationType = properties->type;
  state.handleTypes = properties->requestedHandleType;
  state.windowDevice = properties->locationId;
  *handle = reinterpret_cast<void *>(size);
  int result = called("hipMemCreate");
  state.windows += result == 0;
  return result;
}
HIP int hipMemRelease(void *) { return --state.windows, called("hipMemRelease"); }
HIP int hipMemExportToShareableHandle(void *descriptor, void *handle, int type, unsigned long long) {
  *static_cast<int *>(descriptor) = int(reinterpret_cast<uintptr_t>(handle) >> 12);
  return type == 1 ? called("hipMemExportToShareableHandle") : 1; // hipMemHandleTypePosixFileDescriptor
}
HIP int hipMemImportFromShareableHandle(void **handle, void *descriptor, int type) {
  *handle = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(descriptor) << 12);
  int result = type == 1 ? called("hipMemImportFromShareableHandle") : 1;
  state.windows += result == 0;
  return result;
}
HIP int hipMemAddressReserve(void **address, size_t size, size_t, void *, unsigned long long) {
  *address = reinterpret_cast<void *>((uint64_t(1) << 40) + (uint64_t(state.calls.size()) << 32));
  int result = called("hipMemAddressReserve");
  if (result == 0) {
    ranges[reinterpret_cast<uint64_t>(*address)] = size;
    ++state.ranges;
  }
  return result;
}
HIP int hipMemAddressFree(void *address, size_t size) {
  uint64_t at = reinterpret_cast<uint64_t>(address);
  if (ranges.count(at) == 0 || ranges[at] != size)
    violation("hipMemAddressFree of no range");
  for (auto [mapped, bytes] : mappings)
    if (mapped >= at && mapped < at + size)
      violation("hipMemAddressFree of a range with something mapped");
  state.ranges -= int(ranges.erase(at));
  return called("hipMemAddressFree");
}
HIP int hipMemMap(void *address, size_t size, size_t offset, void *handle, unsigned long long) {
  if (size != reinterpret_cast<uintptr_t>(handle) || offset != 0)
    violation("hipMemMap of a part of a window");
  int result = called("hipMemMap");
  if (result == 0 && state.mappings + 1 == state.failingMapping)
    return 2;
  if (result == 0) {
    mappings[reinterpret_cast<uint64_t>(address)] = size;
    ++state.mappings;
  }
  return result;
}
HIP int hipMemUnmap(void *address, size_t size) {
  auto found = mappings.find(reinterpret_cast<uint64_t>(address));
  if (found == mappings.end() || found->second != size)
    violation("hipMemUnmap of what is not mapped");
  else
    mappings.erase(found), --state.mappings;
  if (state.busy)
    violation("hipMemUnmap while kernels run");
  return called("hipMemUnmap");
}
HIP int hipMemSetAccess(void *address, size_t size, const AccessDescriptor *access, size_t count) {
  auto found = mappings.find(reinterpret_cast<uint64_t>(address));
  if (found == mappings.end() || found->second != size)
    violation("hipMemSetAccess to something else than a mapping");
  for (size_t i = 0; i < count; ++i) // hipMemLocationTypeDevice, hipMemAccessFlagsProtReadWrite
    if (access[i].locationType != 1 || access[i].flags != 3)
      violation("hipMemSetAccess with unusual flags");
  if (count == size_t(state.devices))
    state.accessBytes += size;
  return called("hipMemSetAccess");
}
HIP int hipMemcpyHtoDAsync(void *, void *, size_t, void *stream) { return use("hipMemcpyHtoDAsync", "stream", stream); }
HIP int hipMemcpyDtoHAsync(void *, void *, size_t, void *stream) { return use("hipMemcpyDtoHAsync", "stream", stream); }
HIP int hipMemcpyAsync(void *, const void *, size_t, int kind, void *stream) {
  state.copyKind = kind;
  return use("hipMemcpyAsync", "stream", stream);
}
HIP int hipMemsetD8Async(void *, unsigned char, size_t, void *stream) {
  return use("hipMemsetD8Async", "stream", stream);
}
HIP int hipStreamCreateWithFlags(void **stream, unsigned flags) {
  state.streamFlags = flags;
  return make("hipStreamCreateWithFlags", "stream", stream);
}
HIP int hipStreamDestroy(void *stream) {
  if (state.busy)
    violation("hipStreamDestroy while it runs");
  return destroy("hipStreamDestroy", "stream", stream);
}
HIP int hipStreamSynchronize(void *stream) {
  state.busy = false;
  return use("hipStreamSynchronize", "stream", stream);
}
HIP int hipStreamQuery(void *stream) {
  int result = use("hipStreamQuery", "stream", stream);
  return result ? result : state.busy ? 600 : 0; // hipErrorNotReady
}
HIP int hipStreamBeginCapture(void *stream, int mode) {
  state.captureMode = mode;
  captured = stream;
  return use("hipStreamBeginCapture", "stream", stream);
}
HIP int hipThreadExchangeStreamCaptureMode(int *mode) { return std::swap(*mode, state.threadMode), 0; }
HIP int hipStreamEndCapture(void *stream, void **graph) {
  require("hipStreamEndCapture", "stream", stream);
  captured = nullptr;
  return make("hipStreamEndCapture", "graph", graph);
}
HIP int hipModuleLoadData(void **module, const void *image) {
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    violation("hipModuleLoadData of something else than a code object");
  return make("hipModuleLoadData", "module", module);
}
HIP int hipModuleUnload(void *module) {
  if (state.busy)
    violation("hipModuleUnload while a kernel runs");
  return destroy("hipModuleUnload", "module", module);
}
HIP int hipModuleGetFunction(void **function, void *module, const char *) {
  *function = module;
  return use("hipModuleGetFunction", "module", module);
}
HIP int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *number, void *function, int blockSize,
                                                           size_t dynamicSharedBytes) {
  *number = state.ctasPerMultiprocessor;
  state.occupancyBlock = blockSize;
  state.occupancyShared = dynamicSharedBytes;
  return use("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", "module", function);
}
HIP int hipModuleLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                              unsigned blockY, unsigned blockZ, unsigned sharedBytes, void *stream, void **params,
                              void **extra) {
  require("hipModuleLaunchKernel", "module", function);
  state.grid = gridX * gridY * gridZ;
  state.block = blockX * blockY * blockZ;
  state.sharedBytes = sharedBytes;
  // HIP_LAUNCH_PARAM_BUFFER_POINTER = 1, HIP_LAUNCH_PARAM_BUFFER_SIZE = 2, HIP_LAUNCH_PARAM_END = 3
  if (params || extra[0] != reinterpret_cast<void *>(1) || extra[2] != reinterpret_cast<void *>(2) ||
      extra[4] != reinterpret_cast<void *>(3))
    return 1;
  state.paramBytes = *static_cast<size_t *>(extra[3]);
  std::memcpy(&state.firstParam, extra[1], sizeof(state.firstParam));
  if (stream != captured)
    state.busy = true;
  return use("hipModuleLaunchKernel", "stream", stream);
}
HIP int hipGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long) {
  require("hipGraphInstantiateWithFlags", "graph", graph);
  return make("hipGraphInstantiateWithFlags", "executable", exec, graph);
}
HIP int hipGraphLaunch(void *exec, void *stream) {
  require("hipGraphLaunch", "executable", exec);
  return use("hipGraphLaunch", "stream", stream);
}
HIP int hipGraphDestroy(void *graph) { return destroy("hipGraphDestroy", "graph", graph); }
HIP int hipGraphExecDestroy(void *exec) { return destroy("hipGraphExecDestroy", "executable", exec); }
HIP int hipEventCreateWithFlags(void **event, unsigned) { return make("hipEventCreateWithFlags", "event", event); }
HIP int hipEventRecord(void *event, void *stream) {
  require("hipEventRecord", "event", event);
  return use("hipEventRecord", "stream", stream);
}
HIP int hipEventSynchronize(void *event) { return use("hipEventSynchronize", "event", event); }
HIP int hipEventElapsedTime(float *milliseconds, void *from, void *to) {
  require("hipEventElapsedTime", "event", from);
  *milliseconds = 1.5f;
  return use("hipEventElapsedTime", "event", to);
}
HIP int hipEventDestroy(void *event) { return destroy("hipEventDestroy", "event", event); }
