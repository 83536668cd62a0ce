// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the stand-in for the CUDA driver is told, and what it saw.
#pragma once

#include <cstdint>

struct FakeCudaState {
  // Told.
  int devices = 1, major = 9, minor = 0, version = 12040;
  int peers = 1;            ///< whether devices reach each other
  const char *failing = ""; ///< name of the call that fails
  int failingMapping = 0;   ///< the cuMemMap that fails, counting those that are alive from 1
  int failure = 0;          ///< with this CUresult
  int ctasPerMultiprocessor = 4, clustersAtOnce = 40;
  const char *jitLog = "";                       ///< what the assembler says when loading fails
  int virtualMemory = 1, exportsDescriptors = 1; ///< what every device says of itself
  bool capturing = false;                        ///< another thread captures a stream, in the default mode
  // Seen.
  int contexts = 0;  ///< retained and not yet released
  int depth = 0;     ///< contexts pushed and not yet popped
  int uncovered = 0; ///< calls that need a context and had none
  int objects = 0;   ///< streams, modules, graphs, events and allocations that are alive
  int peerLinks = 0;
  int sharedAttribute = 0; ///< last dynamic shared memory asked for
  unsigned grid = 0, block = 0, sharedBytes = 0, clusterX = 0, attributes = 0;
  int clusterAttribute = 0;
  int launchIds[4] = {}; ///< of the last launch's attributes, in order
  uint64_t paramBytes = 0, firstParam = 0;
  unsigned streamFlags = 0;
  int streamPriority = 0; ///< of the last stream that was given one
  int captureMode = -1;
  int threadMode = 0;                        ///< CUstreamCaptureMode of the calling thread
  int forbidden = 0;                         ///< calls that ended the other thread's capture
  int windows = 0, ranges = 0, mappings = 0; ///< of virtual memory management: alive
  int windowDevice = -1, handleTypes = -1;   ///< of the last window
  int devicesWithAccess = 0;                 ///< to the last range that got any
  uint64_t accessBytes = 0;
  int waitedFor = 0;        ///< contexts that were synchronised
  int mappedWhenWaited = 0; ///< mappings that were alive then
};
