// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What dispatch.cu and combine.cu share: the window, signals, tickets, and where tiles come from. It is the protocol of
// docs/protocol.md as templates/common.mlir has it, with the same arguments and the same window, so that either form of a
// kernel can stand in the other's place. runtime/SourceJit/SourceTemplates.cpp gives the macros.
//
// Memory order: the three facts at the head of templates/common.mlir. A warpBarrier stands where lanes leave a branch or
// a wait at different times. All lanes go through a loop equally often (docs/design-notes.md, "Lanes leave a loop
// together"). HIP C++ reads the same text with the machine of templates/hip.
#pragma once

#include "machine.cuh"

constexpr u32 warps = BLOCK_THREADS / lanes;
constexpr u64 allRanks = RANKS == 64 ? ~0ull : (1ull << (RANKS % 64)) - 1;
enum { overflowBit = 1, peerLostBit = 2, badIdBit = 4 };

struct Control {
  u64 op;
  u32 ticket, claim, status, dropped;
  u64 lost, dead, lastUse[2], reserved;
};
struct Result {
  u64 op;
  u32 status, dropped;
  u64 lost;
  u32 received, wanted;
};
/// What every kernel needs of its parameters.
struct Place {
  u64 window, stride, timeout;
  u32 rank;
};

/// acquireTogether must follow.
__device__ __forceinline__ bool waitSignal(u64 at, u64 value, u64 timeout) {
  u64 begin = nanoseconds();
  bool came;
  do
    came = pollSignal(at) >= value;
  while (!came && nanoseconds() - begin < timeout);
  acquireBehindPoll();
  return came;
}

__device__ __forceinline__ u64 peer(const Place &p, u32 rank, u64 offset) {
  return p.window + rank * p.stride + offset;
}

__device__ __forceinline__ Control *controlOf(const Place &p) {
  return reinterpret_cast<Control *>(peer(p, p.rank, OFF_CONTROL));
}

__device__ __forceinline__ u64 regionRow(const Place &p, u32 buffer, u32 slot) {
  return u64(buffer * RANKS + p.rank) * ROWS_PER_SOURCE + slot;
}

__device__ __forceinline__ bool ownerOf(int id, u32 &rank) {
  bool valid = u32(id) < EXPERTS;
  rank = valid ? u32(id) / EXPERTS_PER_RANK : 0;
  return valid;
}

/// All but the dead and those given up on earlier. Another CTA of this launch may be adding to the lost.
__device__ __forceinline__ u64 liveRanks(const Control *control) {
  return allRanks & ~(loadShared(&control->lost) | control->dead);
}

/// CTA 0 tells every live rank that operation `op` has begun here.
__device__ void announce(const Place &p, u64 live, u64 op) {
  if (blockIdx.x != 0)
    return;
  publishingBarrier(); // what the threads read of the window they have read before anybody hears of it
  for (u32 round = 0; round < RANKS; round += BLOCK_THREADS)
    if (u32 to = round + threadIdx.x; to < RANKS && ((live >> to) & 1))
      setSignal(peer(p, to, OFF_STARTED + u64(p.rank) * SIGNAL_STRIDE), op);
  warpBarrier();
}

/// All threads; returns the live ranks whose signal came in time.
__device__ u64 await(const Place &p, u64 signals, u64 live, u64 value) {
  __shared__ u64 lost;
  Control *control = controlOf(p);
  if (threadIdx.x == 0)
    lost = 0;
  __syncthreads();
  for (u32 round = 0; round < RANKS; round += BLOCK_THREADS)
    if (u32 from = round + threadIdx.x; from < RANKS && ((live >> from) & 1) &&
        !waitSignal(peer(p, p.rank, signals + u64(from) * SIGNAL_STRIDE), value, p.timeout)) {
      atomicOr(&lost, 1ull << from);
      atomicOr(&control->lost, 1ull << from);
      atomicOr(&control->status, u32(peerLostBit));
    }
  warpBarrier();
  acquireTogether();
  __syncthreads();
  u64 here = live & ~lost;
  __syncthreads(); // the next call writes it again
  return here;
}

/// All threads; true in the CTA that is the last of the grid to come here.
__device__ bool isLastCta(Control *control) {
  __shared__ u32 ticket;
  publishingBarrier();
  if (threadIdx.x == 0)
    ticket = takeTicket(&control->ticket);
  __syncthreads();
  return ticket == gridSize() - 1;
}

/// One thread of the last CTA writes the operation's result and leaves the control block ready for the next launch.
__device__ void conclude(const Place &p, u64 op, u32 received, u32 wanted) {
  Control *control = controlOf(p);
  u64 lost = control->lost;
  u32 status = control->status | (lost ? u32(peerLostBit) : 0);
  *reinterpret_cast<Result *>(peer(p, p.rank, OFF_RESULT)) = {op, status, control->dropped, lost, received, wanted};
  control->ticket = control->claim = control->status = control->dropped = 0;
  control->op = op;
}

/// Where tiles come from. `first` and `next` give a tile to all threads of a CTA; one that is not below the number of
/// tiles ends the loop. A cluster takes as many tiles as it has CTAs, and its CTA r the r-th of them.
#if CLAIMED
struct Tiles {
  Control *control;
  u32 count;

  /// All threads. A CTA writes into its peers' shared memory only when they are there.
  __device__ void begin() { clusterBarrier(); }
  __device__ u32 claim() {
    __shared__ u32 unit;
    if (threadIdx.x == 0 && clusterRank() == 0) {
      u32 taken = atomicAdd(&control->claim, 1);
      for (u32 rank = 0; rank < CLUSTER; ++rank)
        handTo(&unit, rank, taken);
    }
    clusterBarrier();
    u32 taken = unit;
    clusterBarrier(); // everybody has read it before it is written again
    return taken;
  }
  /// Units are claimed by all CTAs of a cluster alike, so that they leave together; a tile beyond the last is empty.
  __device__ bool next(u32 &tile) {
    u32 unit = claim();
    tile = unit * CLUSTER + clusterRank();
    return unit < (count + CLUSTER - 1) / CLUSTER;
  }
};
#else
struct Tiles {
  Control *control;
  u32 count;
  u32 upcoming = blockIdx.x;

  __device__ void begin() {}
  __device__ bool next(u32 &tile) {
    tile = upcoming;
    upcoming += gridSize();
    return tile < count;
  }
};
#endif
