// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rows packed by expert: what stands between an operation's dispatch and grouped matrix products, and between those and
// its combine. Everything is made on the device, with no read of the host in between.
#pragma once

#include "interlock/device.hpp"

namespace interlock INTERLOCK_API {

/// How an operation packs.
struct PackingOptions {
  uint32_t alignment = 1;   ///< each expert's rows begin at a multiple of it; at most 65,536
  uint32_t capacity = 0;    ///< packed rows that there is room for, a multiple of the alignment; 0: as many as a
                            ///< dispatch can need, which is much more than one usually does
  bool zeroPadding = false; ///< rows between an expert's last one and the next one's first become zeros
  uint32_t grid = 0;        ///< CTAs that make the lists; 0: by the number of rows. Any grid gives the same results
};

/// Device pointers of one call of convertDispatchOutput.
struct PackArguments {
  DeviceAddress rows = 0;   ///< [capacity][hidden] of dtype
  DeviceAddress scales = 0; ///< [capacity][scaleBytes], or 0
};

/// Device pointers of one call of convertCombineInput.
struct UnpackArguments {
  DeviceAddress rows = 0; ///< [capacity][hidden] of combineDType: what the experts made of the packed rows
  bool weighted = true;   ///< times the weights that came with the tokens; combine then takes a plain sum
};

/// Where everything is, as device pointers; written by convertDispatchOutput. Received row g is the g-th of all rows,
/// source by source, each source's in its token order. An expert's rows are in the order of received rows.
struct PackedRows {
  uint32_t capacity = 0;
  DeviceAddress counts = 0;  ///< u32 [expertsPerRank]: rows of each local expert
  DeviceAddress offsets = 0; ///< u32 [expertsPerRank + 1]: where each one's rows begin; the last: all rows
  DeviceAddress sources = 0; ///< i32 [offsets' last]: the received row that lies there, -1 for padding
  DeviceAddress slotMap = 0; ///< i32 [received][topk]: the packed row, -1 for experts of other ranks and without room
  DeviceAddress weights = 0; ///< f32 [received][topk]
  DeviceAddress landed = 0;  ///< i32 [received]: the landing row, source * rowsPerSource + slot
};

/// What convertDispatchOutput tells the host when it has run.
struct PackingResult {
  bool overflow = false; ///< not all rows had room
  uint32_t received = 0; ///< rows that came from all sources
  uint32_t rows = 0;     ///< packed rows, padding among them
  uint32_t wanted = 0;   ///< the same, had the capacity been large enough
  uint32_t dropped = 0;  ///< (row, expert) pairs without room
};

} // namespace interlock INTERLOCK_API
