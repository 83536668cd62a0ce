// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// How a row is cut into the pieces that a warp moves, and the ring in shared memory that bulk copies go through.
#pragma once

#include "interlock/spec.hpp"

namespace interlock {

/// A piece is what a warp moves at a time. With packets it has four per lane; with bulk copies it is as large as the
/// ring allows, but combine reduces four packets per lane at a time there too.
struct CopyRing {
  uint32_t pieceBytes = 0; ///< of every piece but the last
  uint32_t lastBytes = 0;
  uint32_t pieces = 0;    ///< per row
  uint32_t stages = 0;    ///< pieces that a warp has room for; 0 with packets
  uint32_t ahead = 0;     ///< pieces that a dispatch reads ahead of the one that it writes
  uint64_t ringBytes = 0; ///< dynamic shared memory of a CTA: the stages of all its warps
};

/// For a spec that names a target that exists. A ring that does not fit has no stages: validate() refuses it.
CopyRing copyRing(const KernelSpec &spec, const TargetInfo &target);

/// Bytes of the tables of a tile in static shared memory: masks and slots per rank, or rows and weights per expert.
uint64_t tableBytes(const KernelSpec &spec, const TargetInfo &target);

} // namespace interlock
