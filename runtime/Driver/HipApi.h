// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The HIP runtime's C interface, as far as it is used, found with dlopen: nothing of ROCm is needed to build.
#pragma once

#include "interlock/device.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace interlock::hip {

using HipResult = int;
using HipStream = struct OpaqueStream *;
using HipModule = struct OpaqueModule *;
using HipFunction = struct OpaqueFunction *;
using HipGraph = struct OpaqueGraph *;
using HipGraphExec = struct OpaqueGraphExec *;
using HipEvent = struct OpaqueEvent *;
using HipMemory = uint64_t; ///< hipMemGenericAllocationHandle_t

/// hipDeviceProp_tR0600, of which three fields are used.
struct HipProperties {
  char name[256];
  char unused1[132];
  int multiProcessorCount;
  char unused2[768];
  char gcnArchName[256]; ///< gfx942:sramecc+:xnack-
  char unused3[56];
};
static_assert(offsetof(HipProperties, multiProcessorCount) == 388 && offsetof(HipProperties, gcnArchName) == 1160 &&
              sizeof(HipProperties) == 1472);

/// hipMemLocation.
struct HipMemoryLocation {
  int type, id;
};

/// hipMemAllocationProp.
struct HipMemoryProperties {
  int type, handleTypes;
  HipMemoryLocation location;
  void *win32;
  struct {
    unsigned char compression, directRdma;
    unsigned short usage;
  } flags;
};
static_assert(sizeof(HipMemoryProperties) == 32);

/// hipMemAccessDesc.
struct HipMemoryAccess {
  HipMemoryLocation location;
  int flags;
};

// Enumerators of hip_runtime_api.h that are used.
constexpr int memoryPinned = 1, memoryUncached = 0x40000000, memoryOnDevice = 1, memoryReadWrite = 3;
constexpr int copyByAddress = 4; ///< hipMemcpyDefault
constexpr int captureThreadLocal = 1;
constexpr unsigned streamNonBlocking = 1;
constexpr HipResult success = 0, errorInvalidValue = 1, errorNoDevice = 100, errorNotReady = 600,
                    errorPeerAlreadyEnabled = 704;

/// The loaded runtime. Each member is the entry point of the same purpose (HipSymbols.def).
struct Api {
#define ILK_HIP(member, symbol, ...) HipResult (*member)(__VA_ARGS__) = nullptr;
#include "runtime/Driver/HipSymbols.def"
#undef ILK_HIP
  const char *(*getErrorString)(HipResult) = nullptr; ///< hipGetErrorString

  // What windows are made with (MappedWindows.h).
  using Device = int;
  using Memory = HipMemory;
  using MemoryProperties = HipMemoryProperties;
  using MemoryAccess = HipMemoryAccess;
  static constexpr int granularityMinimum = 0, handleDescriptor = 1;
  /// hipMemSetAccess takes what one hipMemMap mapped.
  static constexpr bool accessByPiece = true;
  bool cachedWindows = false;
  MemoryProperties windowProperties(Device device, WindowSharing sharing) const;
  static MemoryAccess windowAccess(Device device) { return {{memoryOnDevice, device}, memoryReadWrite}; }
  /// hipMemGetAllocationGranularity and hipMemCreate say for themselves what a device cannot do.
  Status requireWindows(Device, WindowSharing) const { return {}; }

  /// Loads libamdhip64.so, of ROCm 7 or 6, and resolves every entry point; the library stays loaded.
  static Result<std::unique_ptr<Api>> load();
  /// An error that says what was to be done, and the runtime's own words.
  Error error(const char *what, HipResult result) const;
  Status check(const char *what, HipResult result) const {
    if (result == success)
      return {};
    return tl::unexpected(error(what, result));
  }
};

} // namespace interlock::hip
