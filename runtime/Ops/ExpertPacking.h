// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Received rows, packed by local expert: what convert_dispatch_output makes (by dispatch_epilogue) and what
// convert_combine_input takes back (by combine_prologue, weighted). This is the plan of both, made of the received ids.
#pragma once

#include "interlock/device.hpp"
#include "runtime/Ops/LocalWork.h"

namespace interlock {

struct PackedExperts {
  std::vector<uint32_t> counts; ///< [local experts]: rows of each
  std::vector<uint32_t>
      offsets; ///< [local experts + 1]: where each begins, a multiple of the alignment; the last: all rows
  std::vector<int32_t> sources; ///< [rows]: the received row that lies there, or -1 for padding
  DedupGroups groups;           ///< a group a received row; `rows` is the slot map: packed row, or -1 for non-local
  uint32_t wanted = 0;          ///< rows() if the capacity were large enough
  uint32_t dropped = 0;         ///< (row, expert) pairs without room: -1 in the slot map
  uint32_t rows() const { return offsets.back(); }
};

/// Packs the received rows of `rank`: `ids` and `weights` are [received][topk] as they came with the rows. An expert's
/// rows are in the order in which they were received. Ids of other ranks, -1 and such as name no expert are non-local.
/// Rows from `capacity` on have no room: what would lie there is left out, and counts and offsets end there.
[[nodiscard]] Result<PackedExperts> packByExpert(const LayerSpec &layer, uint32_t rank, std::span<const int32_t> ids,
                                                 std::span<const float> weights, uint32_t alignment = 1,
                                                 uint32_t capacity = INT32_MAX);

/// Refuses a plan whose counts do not add up with its offsets, its sources and its slot map.
[[nodiscard]] Status validate(const PackedExperts &packed);

/// Fills the rows between an expert's last one and the next expert's first one with zeros, on the stream.
[[nodiscard]] Status zeroPadding(Driver &driver, StreamId stream, const PackedExperts &packed, DeviceAddress rows,
                                 uint64_t rowBytes);

} // namespace interlock
