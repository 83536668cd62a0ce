// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the stand-in for the HIP runtime is told, and what it saw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct FakeHipState {
  // Told.
  int devices = 1, version = 70'100'000;
  const char *architecture = "gfx942:sramecc+:xnack-";
  int peers = 1;                 ///< whether devices reach each other
  std::string failing;           ///< name of the call that fails
  int failure = 0;               ///< with this hipError_t
  int failingMapping = 0;        ///< the hipMemMap that fails, counting those that are alive from 1
  int ctasPerMultiprocessor = 3; ///< that fit
  bool busy = false;             ///< whether streams are still running
  bool capturing = false;        ///< another thread captures a stream, in the default mode
  // Seen.
  std::vector<std::string> calls;            ///< every call, in order
  std::vector<std::string> violations;       ///< of what HIP's documentation asks of a caller
  int current = 0;                           ///< device of the thread
  int objects = 0;                           ///< streams, modules, graphs, events and allocations that are alive
  int windows = 0, ranges = 0, mappings = 0; ///< of virtual memory management: alive
  int allocationType = 0, handleTypes = -1, windowDevice = -1; ///< of the last window
  uint64_t accessBytes = 0;                                    ///< opened to every device
  int peerLinks = 0;
  unsigned grid = 0, block = 0, sharedBytes = 0, streamFlags = 0;
  int occupancyBlock = 0; ///< what the occupancy was last asked for
  uint64_t occupancyShared = 0;
  uint64_t paramBytes = 0, firstParam = 0;
  int copyKind = -1, captureMode = -1;
  int threadMode = 0; ///< hipStreamCaptureMode of the calling thread
};
