// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The CUDA driver's C interface, as far as it is used, found with dlopen: nothing of CUDA is needed to build.
#pragma once

#include "interlock/device.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace interlock::cuda {

using CudaResult = int;
using CudaDevice = int;
using CudaContext = struct OpaqueContext *;
using CudaStream = struct OpaqueStream *;
using CudaModule = struct OpaqueModule *;
using CudaFunction = struct OpaqueFunction *;
using CudaGraph = struct OpaqueGraph *;
using CudaGraphExec = struct OpaqueGraphExec *;
using CudaEvent = struct OpaqueEvent *;
using CudaMemory = unsigned long long; ///< CUmemGenericAllocationHandle

/// CUlaunchAttribute: an id and a union of 64 bytes.
struct CudaLaunchAttribute {
  int id;
  int pad;
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    int flag; ///< of launchCooperative and launchProgrammatic
  } value;
};

/// CUlaunchConfig.
struct CudaLaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CudaStream stream;
  CudaLaunchAttribute *attributes;
  unsigned attributeCount;
};

/// CUmemLocation.
struct CudaMemoryLocation {
  int type, id;
};

/// CUmemAllocationProp.
struct CudaMemoryProperties {
  int type, handleTypes;
  CudaMemoryLocation location;
  void *win32;
  struct {
    unsigned char compression, directRdma;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};

/// CUmemAccessDesc.
struct CudaMemoryAccess {
  CudaMemoryLocation location;
  int flags;
};

// Enumerators of cuda.h that are used.
constexpr int attributeMultiprocessors = 16, attributeMajor = 75, attributeMinor = 76, attributeVirtualMemory = 102,
              attributeExportsDescriptors = 103;
constexpr int memoryPinned = 1, memoryOnDevice = 1, memoryReadWrite = 3;
constexpr int functionMaxDynamicShared = 8;
constexpr int launchCooperative = 2, launchClusterDimension = 4, launchProgrammatic = 6;
constexpr int jitErrorLog = 5, jitErrorLogBytes = 6;
constexpr int captureThreadLocal = 1;
constexpr unsigned streamNonBlocking = 1;
constexpr CudaResult success = 0, errorNoDevice = 100, errorInvalidPtx = 218, errorUnsupportedPtx = 222,
                     errorNotReady = 600, errorPeerAlreadyEnabled = 704;

/// The loaded driver. Each member is the entry point of the same purpose (CudaSymbols.def).
struct Api {
#define ILK_CUDA(member, symbol, ...) CudaResult (*member)(__VA_ARGS__) = nullptr;
#include "runtime/Driver/CudaSymbols.def"
#undef ILK_CUDA

  /// cuFuncGetParamInfo: offset and size of a kernel's parameter. Null before CUDA 12.4.
  CudaResult (*funcGetParamInfo)(CudaFunction, size_t, size_t *, size_t *) = nullptr;
  /// cuFuncLoad: loads a kernel that the driver would load lazily. Null before CUDA 12.4.
  CudaResult (*funcLoad)(CudaFunction) = nullptr;

  // What windows are made with (MappedWindows.h).
  using Device = CudaDevice;
  using Memory = CudaMemory;
  using MemoryProperties = CudaMemoryProperties;
  using MemoryAccess = CudaMemoryAccess;
  static constexpr int granularityMinimum = 0, handleDescriptor = 1;
  static constexpr bool accessByPiece = false;
  MemoryProperties windowProperties(Device device, WindowSharing sharing) const;
  static MemoryAccess windowAccess(Device device) { return {{memoryOnDevice, device}, memoryReadWrite}; }
  /// Whether the device can make windows, and hand them to other processes if that is asked for.
  Status requireWindows(Device device, WindowSharing sharing) const;

  /// Loads libcuda.so.1 and resolves every entry point; the library stays loaded.
  static Result<std::unique_ptr<const Api>> load();
  /// An error that says what was to be done, and the driver's own words.
  Error error(const char *what, CudaResult result) const;
  Status check(const char *what, CudaResult result) const {
    if (result == success)
      return {};
    return tl::unexpected(error(what, result));
  }
};

/// The PTX ISA (10*major+minor) that a driver of this CUDA version (1000*major+10*minor) assembles. Source: PTX ISA,
/// "Release Notes", table of PTX ISA versions and CUDA releases.
uint32_t ptxIsaOfDriver(int cudaVersion);

} // namespace interlock::cuda
