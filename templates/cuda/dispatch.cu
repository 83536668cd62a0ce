// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Dispatch as a person would write it in CUDA C++: the protocol, arguments and window of templates/dispatch.mlir, whose
// comments say why it is right.
#include "common.cuh"

constexpr u32 packets = ROW_STRIDE / 16;
constexpr u32 segmentPackets = 4 * lanes; // four packets a lane in flight
constexpr u32 segments = (packets + segmentPackets - 1) / segmentPackets;

struct Params {
  u64 window, stride;
  const char *x;
  const u32 *scales;
  const int *ids;
  const u32 *weights;
  int *slots;
  u64 timeout;
  u32 rank;
  int tokens;
  u32 buffer, givenUp;

  __device__ Place place() const { return {window, stride, timeout, rank}; }
};

/// Of one tile, in shared memory.
struct Tile {
  u64 masks[TILE_TOKENS];         ///< ranks that a token goes to
  u32 slots[TILE_TOKENS * RANKS]; ///< row at each of them
};

/// The rank to which every token goes: this one, if its own rows stay in place.
__device__ __forceinline__ u64 alwaysTo(const Params &p) { return OWN_IN_PLACE ? 1ull << p.rank : 0; }

__device__ __forceinline__ u64 destinations(const Params &p, int token, u64 live) {
  u64 mask = 0;
  for (u32 k = 0; k < TOPK; ++k) {
    u32 rank;
    if (ownerOf(p.ids[u64(token) * TOPK + k], rank))
      mask |= 1ull << rank;
  }
  return (mask | alwaysTo(p)) & live;
}

/// Adds the rows of tokens [from, to) to the counts; a __syncthreads must follow.
__device__ void countRows(const Params &p, u64 live, u32 *counts, int from, int to) {
  u32 lane = threadIdx.x % lanes, low = 0, high = 0;
  for (int group = from + int(threadIdx.x / lanes * lanes); group < to; group += BLOCK_THREADS) {
    int token = group + int(lane);
    u64 mask = token < to ? destinations(p, token, live) : 0;
    for (u32 rank = 0; rank < RANKS; ++rank) {
      u32 count = countOf(ballot((mask >> rank) & 1));
      low += rank == lane ? count : 0;
      high += rank == lane + lanes ? count : 0;
    }
  }
  if (lane < RANKS)
    atomicAdd(&counts[lane], low);
  if (lane + lanes < RANKS)
    atomicAdd(&counts[lane + lanes], high);
}

/// The first warp, a token a lane, as many tokens at a time as it has lanes.
__device__ void assignSlots(const Params &p, Control *control, u64 live, int first, u32 *counts, Tile &tile) {
  u32 lane = threadIdx.x, drops = 0;
  for (u32 round = 0; round < TILE_TOKENS; round += lanes) {
    u32 local = round + lane;
    bool mine = local < TILE_TOKENS && first + int(local) < p.tokens;
    u64 mask = mine ? destinations(p, first + int(local), live) : 0;
    if (local < TILE_TOKENS)
      tile.masks[local] = mask;
    for (u32 rank = 0; rank < RANKS; ++rank) {
      bool goes = (mask >> rank) & 1;
      Votes votes = ballot(goes);
      u32 slot = counts[rank] + countOf(votes & ((Votes(1) << lane) - 1));
      warpBarrier();
      if (lane == 0)
        counts[rank] += countOf(votes);
      if (goes) {
        tile.slots[local * RANKS + rank] = slot;
        drops += slot >= ROWS_PER_SOURCE;
      }
    }
    warpBarrier(); // lane 0's counts, before the next tokens'
  }
  if (drops) {
    atomicAdd(&control->dropped, drops);
    atomicOr(&control->status, u32(overflowBit));
  }
}

__device__ void writeSlots(const Params &p, Control *control, int first, const Tile &tile) {
  for (u32 round = 0; round < TILE_TOKENS * TOPK; round += BLOCK_THREADS) {
    u32 i = round + threadIdx.x, local = i / TOPK, k = i % TOPK, rank;
    int token = first + int(local);
    if (local >= TILE_TOKENS || token >= p.tokens)
      continue;
    int id = p.ids[u64(token) * TOPK + k], result = -1;
    bool valid = ownerOf(id, rank);
    if (valid && ((tile.masks[local] >> rank) & 1) && tile.slots[local * RANKS + rank] < ROWS_PER_SOURCE)
      result = int(tile.slots[local * RANKS + rank]);
    p.slots[u64(token) * TOPK + k] = result;
    if (!valid && id != -1)
      atomicOr(&control->status, u32(badIdBit));
  }
  warpBarrier();
}

/// One warp: a segment of a row is read once and written to every destination.
__device__ void sendSegment(const Params &p, int token, u32 segment, u64 mask, const u32 *slots) {
  u32 lane = threadIdx.x % lanes;
  Packet v[4];
  u32 at[4];
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
    at[i] = segment * segmentPackets + i * lanes + lane;
    v[i] = loadPacket(u64(p.x) + u64(token) * ROW_STRIDE + u64(at[i] < packets ? at[i] : packets - 1) * 16);
  }
  for (; mask; mask &= mask - 1) {
    u32 to = __ffsll(mask) - 1, slot = slots[to];
    if (slot >= ROWS_PER_SOURCE)
      continue;
    u64 row = peer(p.place(), to, OFF_LANDING + regionRow(p.place(), p.buffer, slot) * ROW_STRIDE);
#pragma unroll
    for (u32 i = 0; i < 4; ++i)
      if (packets % segmentPackets == 0 || at[i] < packets)
        storePacket(row + u64(at[i]) * 16, v[i]);
  }
}

/// One warp: ids, weights, token index and scales.
__device__ void sendMeta(const Params &p, int token, u64 mask, const u32 *slots) {
  u32 lane = threadIdx.x % lanes;
  for (; mask; mask &= mask - 1) {
    u32 to = __ffsll(mask) - 1, slot = slots[to];
    if (slot >= ROWS_PER_SOURCE)
      continue;
    char *row = reinterpret_cast<char *>(peer(p.place(), to, OFF_META + regionRow(p.place(), p.buffer, slot) * META_STRIDE));
    if (lane < TOPK) {
      reinterpret_cast<int *>(row)[lane] = p.ids[u64(token) * TOPK + lane];
      reinterpret_cast<u32 *>(row + META_WEIGHTS)[lane] = p.weights[u64(token) * TOPK + lane];
    }
    if (lane == 0)
      *reinterpret_cast<int *>(row + META_TOKEN) = token;
    for (int round = 0; round < SCALE_WORDS; round += lanes)
      if (int word = round + int(lane); word < SCALE_WORDS)
        reinterpret_cast<u32 *>(row + META_SCALES)[word] = p.scales[u64(token) * SCALE_WORDS + word];
    warpBarrier();
  }
}

/// The last CTA: counts and signals go out, everybody's come in, and the control block is left ready.
__device__ void finish(const Params &params, u64 live, u64 op, const u32 *counts) {
  __shared__ u32 received, wanted;
  Place p = params.place();
  if (threadIdx.x == 0)
    received = wanted = 0;
  __syncthreads();
  for (u32 round = 0; round < RANKS; round += BLOCK_THREADS)
    if (u32 to = round + threadIdx.x; to < RANKS && ((live >> to) & 1)) {
      *reinterpret_cast<u32 *>(peer(p, to, OFF_COUNTS + (params.buffer * RANKS + p.rank) * 4)) = counts[to];
      setSignal(peer(p, to, OFF_ARRIVED + u64(p.rank) * SIGNAL_STRIDE), op);
    }
  warpBarrier();
  u64 here = await(p, OFF_ARRIVED, live, op);
  for (u32 round = 0; round < RANKS; round += BLOCK_THREADS)
    if (u32 from = round + threadIdx.x; from < RANKS && ((here >> from) & 1)) {
      u32 count = *reinterpret_cast<const u32 *>(peer(p, p.rank, OFF_COUNTS + (params.buffer * RANKS + from) * 4));
      atomicAdd(&received, count < ROWS_PER_SOURCE ? count : u32(ROWS_PER_SOURCE));
      atomicAdd(&wanted, count);
    }
  warpBarrier();
  __syncthreads();
  if (threadIdx.x == 0) {
    controlOf(p)->lastUse[params.buffer] = op;
    conclude(p, op, received, wanted);
  }
}

KERNEL ep_dispatch(u64 window, u64 stride, const char *x, const u32 *scales, const int *ids, const u32 *weights,
                   int *slots, u64 timeout, u32 rank, int tokens, u32 buffer, u32 givenUp) {
  const Params params{window, stride, x, scales, ids, weights, slots, timeout, rank, tokens, buffer, givenUp};
  __shared__ u32 counts[RANKS];
  __shared__ Tile tile;
  Place p = params.place();
  Control *control = controlOf(p);
  u64 op = control->op + 1, live = liveRanks(control);
  announce(p, live, op);
  for (u32 round = 0; round < RANKS; round += BLOCK_THREADS)
    if (round + threadIdx.x < RANKS)
      counts[round + threadIdx.x] = 0;
  __syncthreads();
  // The buffer's last readers are done once their rank has started a later operation: the next one, or, if no combine came
  // behind them, this one. Every signal has reached 0.
  u64 use = control->lastUse[params.buffer];
  live = await(p, OFF_STARTED, live, !use ? 0 : params.givenUp ? op : use + 1);

  int counted = 0;
  Tiles tiles{control, (u32(params.tokens) + TILE_TOKENS - 1) / TILE_TOKENS};
  tiles.begin();
  for (u32 index; tiles.next(index);) {
    // beyond the last tile of a cluster's unit there is none for this CTA
    if (index >= tiles.count)
      continue;
    int first = int(index) * TILE_TOKENS;
    countRows(params, live, counts, counted, first);
    counted = first + TILE_TOKENS;
    __syncthreads();
    if (threadIdx.x < lanes)
      assignSlots(params, control, live, first, counts, tile);
    __syncthreads();
    writeSlots(params, control, first, tile);
    for (u32 item = threadIdx.x / lanes; item < TILE_TOKENS * (segments + 1); item += warps) {
      u32 local = item / (segments + 1), segment = item % (segments + 1);
      u64 mask = tile.masks[local];
      u64 away = mask & ~alwaysTo(params);
      if (segment == segments)
        sendMeta(params, first + int(local), mask, tile.slots + local * RANKS);
      else if (away)
        sendSegment(params, first + int(local), segment, away, tile.slots + local * RANKS);
    }
    __syncthreads(); // the tile's tables are not read any more
  }
  if (isLastCta(control)) {
    // A rank that some CTA has given up on, and this one perhaps found in time, did not get all its rows, and must not hear
    // that it did.
    live &= ~loadShared(&control->lost);
    countRows(params, live, counts, counted, params.tokens);
    __syncthreads();
    finish(params, live, op, counts);
  }
}
