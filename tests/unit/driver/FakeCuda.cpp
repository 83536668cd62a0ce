// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A stand-in for libcuda.so.1 that runs nothing and remembers what it was asked. Its declarations are written from the
// CUDA driver API's documentation and not from the header under test, so that the two check each other.
#include "tests/unit/driver/FakeCuda.h"

#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

namespace {

FakeCudaState state;

struct Attribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned clusterDim[3];
  } value;
};
static_assert(sizeof(Attribute) == 72);

struct Config {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  Attribute *attributes;
  unsigned count;
};
static_assert(sizeof(Config) == 56);

/// What is captured with its stream, or touches no device: harmless whatever another thread captures.
const std::set<std::string_view> harmless = {"cuInit",
                                             "cuMemcpyHtoDAsync_v2",
                                             "cuMemcpyDtoHAsync_v2",
                                             "cuMemcpyAsync",
                                             "cuMemsetD8Async",
                                             "cuFuncGetParamInfo",
                                             "cuStreamBeginCapture_v2",
                                             "cuLaunchKernelEx",
                                             "cuGraphLaunch",
                                             "cuEventCreate",
                                             "cuEventRecord"};

int answer(const char *call) {
  bool relaxed = state.threadMode == 2 && std::strcmp(call, "cuCtxSynchronize") != 0; // CU_STREAM_CAPTURE_MODE_RELAXED
  if (state.capturing && !relaxed && !harmless.count(call)) {
    ++state.forbidden;
    return 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  }
  return std::strcmp(state.failing, call) == 0 ? state.failure : 0;
}

/// For calls that need a current context.
int inContext(const char *call) {
  state.uncovered += state.depth == 0;
  return answer(call);
}

int make(const char *call, void **handle) {
  int result = inContext(call);
  if (result == 0) {
    *handle = std::malloc(1);
    ++state.objects;
  }
  return result;
}

int destroy(const char *call, void *handle) {
  int result = inContext(call);
  std::free(handle);
  --state.objects;
  return result;
}

} // namespace

#define CUDA extern "C" __attribute__((visibility("default")))

CUDA FakeCudaState *fakeCudaState() { return &state; }

CUDA int cuInit(unsigned) { return answer("cuInit"); }
CUDA int cuDriverGetVersion(int *version) { return *version = state.version, 0; }
CUDA int cuGetErrorString(int result, const char **words) {
  return *words = result == 222 ? "unsupported toolchain" : result == 2 ? "out of memory" : "some failure", 0;
}
CUDA int cuDeviceGetCount(int *count) { return *count = state.devices, 0; }
CUDA int cuDeviceGet(int *device, int ordinal) { return *device = 100 + ordinal, 0; }
CUDA int cuDeviceGetName(char *name, int size, int device) {
  std::strncpy(name, device == 100 ? "Fake GPU A" : "Fake GPU B", size_t(size));
  return 0;
}
CUDA int cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 16    ? 132
           : attribute == 75  ? state.major
           : attribute == 76  ? state.minor
           : attribute == 102 ? state.virtualMemory
           : attribute == 103 ? state.exportsDescriptors
                              : -1;
  return 0;
}
CUDA int cuDeviceCanAccessPeer(int *can, int, int) { return *can = state.peers, 0; }
CUDA int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = reinterpret_cast<void *>(uintptr_t(device));
  ++state.contexts;
  return answer("cuDevicePrimaryCtxRetain");
}
CUDA int cuDevicePrimaryCtxRelease_v2(int) { return --state.contexts, answer("cuDevicePrimaryCtxRelease_v2"); }
CUDA int cuCtxPushCurrent_v2(void *) { return ++state.depth, 0; }
CUDA int cuCtxPopCurrent_v2(void **) { return --state.depth, 0; }
CUDA int cuCtxEnablePeerAccess(void *, unsigned) {
  ++state.peerLinks;
  return inContext("cuCtxEnablePeerAccess");
}
CUDA int cuMemAlloc_v2(uint64_t *address, size_t) {
  void *memory = nullptr;
  int result = make("cuMemAlloc_v2", &memory);
  *address = reinterpret_cast<uintptr_t>(memory);
  return result;
}
CUDA int cuMemFree_v2(uint64_t address) { return destroy("cuMemFree_v2", reinterpret_cast<void *>(address)); }

// Virtual memory management: handles are their size, addresses are never touched.
struct MemoryProperties {
  int type, handleTypes, locationType, locationId;
  void *win32;
  unsigned char flags[8];
};
static_assert(sizeof(MemoryProperties) == 32);
struct MemoryAccess {
  int locationType, locationId, flags;
};

/// CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE; everything else must be zero.
static bool usual(const MemoryProperties *p) {
  unsigned char zeros[8] = {};
  return p->type == 1 && p->locationType == 1 && !p->win32 && std::memcmp(p->flags, zeros, sizeof zeros) == 0;
}
CUDA int cuMemGetAllocationGranularity(size_t *size, const MemoryProperties *properties, int option) {
  *size = properties->locationId == 100 ? 1 << 16 : 1 << 21; // the second GPU's is coarser
  return usual(properties) && option == 0 ? answer("cuMemGetAllocationGranularity") : 1;
}
CUDA int cuMemCreate(unsigned long long *handle, size_t size, const MemoryProperties *properties,
                     unsigned long long flags) {
  state.windowDevice = properties->locationId;
  state.handleTypes = properties->handleTypes;
  *handle = size;
  int result = usual(properties) && flags == 0 ? answer("cuMemCreate") : 1;
  state.windows += result == 0;
  return result;
}
CUDA int cuMemRelease(unsigned long long) { return --state.windows, answer("cuMemRelease"); }
CUDA int cuMemExportToShareableHandle(void *descriptor, unsigned long long handle, int type, unsigned long long) {
  *static_cast<int *>(descriptor) = int(handle >> 16);
  return type == 1 ? answer("cuMemExportToShareableHandle") : 1; // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
}
CUDA int cuMemImportFromShareableHandle(unsigned long long *handle, void *descriptor, int type) {
  *handle = reinterpret_cast<uintptr_t>(descriptor) << 16;
  int result = type == 1 ? answer("cuMemImportFromShareableHandle") : 1;
  state.windows += result == 0;
  return result;
}
CUDA int cuMemAddressReserve(uint64_t *address, size_t, size_t, uint64_t, unsigned long long) {
  *address = uint64_t(1) << 40;
  int result = answer("cuMemAddressReserve");
  state.ranges += result == 0;
  return result;
}
CUDA int cuMemAddressFree(uint64_t, size_t) { return --state.ranges, answer("cuMemAddressFree"); }
CUDA int cuMemMap(uint64_t, size_t size, size_t offset, unsigned long long handle, unsigned long long) {
  int result = size == handle && offset == 0 ? answer("cuMemMap") : 1;
  if (result == 0 && ++state.mappings == state.failingMapping)
    return --state.mappings, 2;
  return result;
}
CUDA int cuMemUnmap(uint64_t, size_t) { return --state.mappings, answer("cuMemUnmap"); }
CUDA int cuMemSetAccess(uint64_t, size_t size, const MemoryAccess *access, size_t count) {
  state.devicesWithAccess = 0;
  state.accessBytes = size;
  for (size_t i = 0; i < count; ++i) // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    state.devicesWithAccess += access[i].locationType == 1 && access[i].flags == 3;
  return answer("cuMemSetAccess");
}
CUDA int cuCtxSynchronize() {
  ++state.waitedFor;
  state.mappedWhenWaited = state.mappings;
  return inContext("cuCtxSynchronize");
}
CUDA int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *) { return inContext("cuMemcpyHtoDAsync_v2"); }
CUDA int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *) { return inContext("cuMemcpyDtoHAsync_v2"); }
CUDA int cuMemcpyAsync(uint64_t, uint64_t, size_t, void *) { return inContext("cuMemcpyAsync"); }
CUDA int cuMemsetD8Async(uint64_t, unsigned char, size_t, void *) { return inContext("cuMemsetD8Async"); }
CUDA int cuStreamCreate(void **stream, unsigned flags) {
  state.streamFlags = flags;
  return make("cuStreamCreate", stream);
}
CUDA int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  return inContext("cuCtxGetStreamPriorityRange");
}
CUDA int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  state.streamFlags = flags;
  state.streamPriority = priority;
  return make("cuStreamCreateWithPriority", stream);
}
CUDA int cuStreamDestroy_v2(void *stream) { return destroy("cuStreamDestroy_v2", stream); }
CUDA int cuStreamSynchronize(void *) { return inContext("cuStreamSynchronize"); }
CUDA int cuStreamQuery(void *) { return inContext("cuStreamQuery"); }
CUDA int cuStreamBeginCapture_v2(void *, int mode) {
  state.captureMode = mode;
  return inContext("cuStreamBeginCapture_v2");
}
CUDA int cuStreamEndCapture(void *, void **graph) { return make("cuStreamEndCapture", graph); }
CUDA int cuThreadExchangeStreamCaptureMode(int *mode) { return std::swap(*mode, state.threadMode), 0; }
CUDA int cuModuleLoadDataEx(void **module, const void *, unsigned count, int *options, void **values) {
  int result = make("cuModuleLoadDataEx", module);
  // CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
  if (result && count == 2 && options[0] == 5 && options[1] == 6)
    std::strncpy(static_cast<char *>(values[0]), state.jitLog, reinterpret_cast<uintptr_t>(values[1]) - 1);
  return result;
}
CUDA int cuModuleUnload(void *module) { return destroy("cuModuleUnload", module); }
CUDA int cuModuleGetFunction(void **function, void *module, const char *) {
  *function = module;
  return inContext("cuModuleGetFunction");
}
CUDA int cuFuncSetAttribute(void *, int attribute, int value) {
  if (attribute == 8) // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    state.sharedAttribute = value;
  return inContext("cuFuncSetAttribute");
}
// Every kernel has two parameters of 8 bytes.
CUDA int cuFuncGetParamInfo(void *, size_t index, size_t *offset, size_t *size) {
  *offset = 8 * index;
  *size = 8;
  return index < 2 ? inContext("cuFuncGetParamInfo") : 1;
}
CUDA int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *number, void *, int, size_t) {
  *number = state.ctasPerMultiprocessor;
  return inContext("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}
CUDA int cuOccupancyMaxActiveClusters(int *number, void *, const Config *) {
  *number = state.clustersAtOnce;
  return inContext("cuOccupancyMaxActiveClusters");
}
CUDA int cuLaunchKernelEx(const Config *config, void *, void **params, void **extra) {
  state.grid = config->grid[0] * config->grid[1] * config->grid[2];
  state.block = config->block[0] * config->block[1] * config->block[2];
  state.sharedBytes = config->sharedBytes;
  state.attributes = config->count;
  state.clusterX = config->count ? config->attributes[0].value.clusterDim[0] : 0;
  state.clusterAttribute = config->count ? config->attributes[0].id : 0;
  for (unsigned i = 0; i < 4; ++i)
    state.launchIds[i] = i < config->count ? config->attributes[i].id : 0;
  // CU_LAUNCH_PARAM_BUFFER_POINTER = 1, CU_LAUNCH_PARAM_BUFFER_SIZE = 2, CU_LAUNCH_PARAM_END = 0
  if (params || extra[0] != reinterpret_cast<void *>(1) || extra[2] != reinterpret_cast<void *>(2) || extra[4])
    return 1;
  state.paramBytes = *static_cast<size_t *>(extra[3]);
  std::memcpy(&state.firstParam, extra[1], sizeof(state.firstParam));
  return inContext("cuLaunchKernelEx");
}
CUDA int cuGraphInstantiateWithFlags(void **exec, void *, unsigned long long) {
  return make("cuGraphInstantiateWithFlags", exec);
}
CUDA int cuGraphLaunch(void *, void *) { return inContext("cuGraphLaunch"); }
CUDA int cuGraphDestroy(void *graph) { return destroy("cuGraphDestroy", graph); }
CUDA int cuGraphExecDestroy(void *exec) { return destroy("cuGraphExecDestroy", exec); }
CUDA int cuEventCreate(void **event, unsigned) { return make("cuEventCreate", event); }
CUDA int cuEventRecord(void *, void *) { return inContext("cuEventRecord"); }
CUDA int cuEventSynchronize(void *) { return inContext("cuEventSynchronize"); }
CUDA int cuEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = 1.5f;
  return inContext("cuEventElapsedTime");
}
CUDA int cuEventDestroy_v2(void *event) { return destroy("cuEventDestroy_v2", event); }
