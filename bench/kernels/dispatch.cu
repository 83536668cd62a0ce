// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a person would write in CUDA C++ for the dispatch of templates/dispatch.mlir: the same protocol, the same
// geometry, grid-stride tiles, no cluster. It is here to be compiled (bench_compile.cpp), with the numbers that the
// generator folds in given as macros by compile/DispatchSource.cpp; `--check` runs it against the reference. Nothing is
// included.

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 warps = BLOCK_THREADS / 32;
constexpr u32 packets = ROW_STRIDE / 16;
constexpr u32 segmentPackets = 4 * 32; // four packets a lane in flight
constexpr u32 segments = (packets + segmentPackets - 1) / segmentPackets;
constexpr u64 allRanks = RANKS == 64 ? ~0ull : (1ull << RANKS) - 1;
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
  u32 buffer, reserved;
};

/// Of one tile, in shared memory.
struct Tile {
  u64 masks[TILE_TOKENS];         ///< ranks that a token goes to
  u32 slots[TILE_TOKENS * RANKS]; ///< row at each of them
};

__device__ __forceinline__ u64 globalTimer() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// PTX ISA, "Release and Acquire Patterns": what was written before the store is seen after the load that reads it.
__device__ __forceinline__ void setSignal(u64 at, u64 value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

__device__ __forceinline__ bool waitSignal(u64 at, u64 value, u64 timeout) {
  u64 begin = globalTimer();
  for (;;) {
    u64 now;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(now) : "l"(at) : "memory");
    if (now >= value)
      return true;
    if (globalTimer() - begin >= timeout)
      return false;
  }
}

__device__ __forceinline__ u64 peer(const Params &p, u32 rank, u64 offset) {
  return p.window + rank * p.stride + offset;
}

__device__ __forceinline__ u64 regionRow(const Params &p, u32 slot) {
  return u64(p.buffer * RANKS + p.rank) * ROWS_PER_SOURCE + slot;
}

__device__ __forceinline__ bool ownerOf(int id, u32 &rank) {
  bool valid = u32(id) < EXPERTS;
  rank = valid ? u32(id) / EXPERTS_PER_RANK : 0;
  return valid;
}

__device__ __forceinline__ u64 destinations(const Params &p, int token, u64 live) {
  u64 mask = 0;
  for (u32 k = 0; k < TOPK; ++k) {
    u32 rank;
    if (ownerOf(p.ids[u64(token) * TOPK + k], rank))
      mask |= 1ull << rank;
  }
  return mask & live;
}

__device__ void announce(const Params &p, u64 live, u64 op) {
  if (blockIdx.x != 0)
    return;
  for (u32 to = threadIdx.x; to < RANKS; to += BLOCK_THREADS)
    if ((live >> to) & 1)
      setSignal(peer(p, to, OFF_STARTED + u64(p.rank) * SIGNAL_STRIDE), op);
}

/// All threads; returns the live ranks whose signal came in time.
__device__ u64 await(const Params &p, Control *control, u64 signals, u64 live, u64 value) {
  __shared__ u64 lost;
  if (threadIdx.x == 0)
    lost = 0;
  __syncthreads();
  for (u32 from = threadIdx.x; from < RANKS; from += BLOCK_THREADS)
    if (((live >> from) & 1) && !waitSignal(peer(p, p.rank, signals + u64(from) * SIGNAL_STRIDE), value, p.timeout)) {
      atomicOr(&lost, 1ull << from);
      atomicOr(&control->lost, 1ull << from);
      atomicOr(&control->status, u32(peerLostBit));
    }
  __syncthreads();
  return live & ~lost;
}

/// Adds the rows of tokens [from, to) to the counts; a __syncthreads must follow.
__device__ void countRows(const Params &p, u64 live, u32 *counts, int from, int to) {
  u32 lane = threadIdx.x % 32, low = 0, high = 0;
  for (int group = from + int(threadIdx.x / 32 * 32); group < to; group += BLOCK_THREADS) {
    int token = group + int(lane);
    u64 mask = token < to ? destinations(p, token, live) : 0;
    for (u32 rank = 0; rank < RANKS; ++rank) {
      u32 count = __popc(__ballot_sync(~0u, (mask >> rank) & 1));
      low += rank == lane ? count : 0;
      high += rank == lane + 32 ? count : 0;
    }
  }
  if (lane < RANKS)
    atomicAdd(&counts[lane], low);
  if (lane + 32 < RANKS)
    atomicAdd(&counts[lane + 32], high);
}

/// The first warp, a token a lane.
__device__ void assignSlots(const Params &p, Control *control, u64 live, int first, u32 *counts, Tile &tile) {
  u32 lane = threadIdx.x, drops = 0;
  bool mine = lane < TILE_TOKENS && first + int(lane) < p.tokens;
  u64 mask = mine ? destinations(p, first + int(lane), live) : 0;
  if (lane < TILE_TOKENS)
    tile.masks[lane] = mask;
  for (u32 rank = 0; rank < RANKS; ++rank) {
    bool goes = (mask >> rank) & 1;
    u32 votes = __ballot_sync(~0u, goes);
    u32 slot = counts[rank] + __popc(votes & ((1u << lane) - 1));
    __syncwarp();
    if (lane == 0)
      counts[rank] += __popc(votes);
    if (goes) {
      tile.slots[lane * RANKS + rank] = slot;
      drops += slot >= ROWS_PER_SOURCE;
    }
  }
  if (drops) {
    atomicAdd(&control->dropped, drops);
    atomicOr(&control->status, u32(overflowBit));
  }
}

__device__ void writeSlots(const Params &p, Control *control, int first, const Tile &tile) {
  for (u32 i = threadIdx.x; i < TILE_TOKENS * TOPK; i += BLOCK_THREADS) {
    u32 local = i / TOPK, k = i % TOPK, rank;
    int token = first + int(local);
    if (token >= p.tokens)
      continue;
    int id = p.ids[u64(token) * TOPK + k], result = -1;
    bool valid = ownerOf(id, rank);
    if (valid && ((tile.masks[local] >> rank) & 1) && tile.slots[local * RANKS + rank] < ROWS_PER_SOURCE)
      result = int(tile.slots[local * RANKS + rank]);
    p.slots[u64(token) * TOPK + k] = result;
    if (!valid && id != -1)
      atomicOr(&control->status, u32(badIdBit));
  }
}

__device__ __forceinline__ uint4 loadPacket(const char *from) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

__device__ __forceinline__ void storePacket(u64 to, uint4 v) {
  asm volatile("st.global.L1::no_allocate.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}

/// One warp: a segment of a row is read once and written to every destination.
__device__ void sendSegment(const Params &p, int token, u32 segment, u64 mask, const u32 *slots) {
  u32 lane = threadIdx.x % 32;
  uint4 v[4];
  u32 at[4];
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
    at[i] = segment * segmentPackets + i * 32 + lane;
    v[i] = loadPacket(p.x + u64(token) * ROW_STRIDE + u64(at[i] < packets ? at[i] : packets - 1) * 16);
  }
  for (; mask; mask &= mask - 1) {
    u32 to = __ffsll(mask) - 1, slot = slots[to];
    if (slot >= ROWS_PER_SOURCE)
      continue;
    u64 row = peer(p, to, OFF_LANDING + regionRow(p, slot) * ROW_STRIDE);
#pragma unroll
    for (u32 i = 0; i < 4; ++i)
      if (packets % segmentPackets == 0 || at[i] < packets)
        storePacket(row + u64(at[i]) * 16, v[i]);
  }
}

/// One warp: ids, weights, token index and scales.
__device__ void sendMeta(const Params &p, int token, u64 mask, const u32 *slots) {
  u32 lane = threadIdx.x % 32;
  for (; mask; mask &= mask - 1) {
    u32 to = __ffsll(mask) - 1, slot = slots[to];
    if (slot >= ROWS_PER_SOURCE)
      continue;
    char *row = reinterpret_cast<char *>(peer(p, to, OFF_META + regionRow(p, slot) * META_STRIDE));
    if (lane < TOPK) {
      reinterpret_cast<int *>(row)[lane] = p.ids[u64(token) * TOPK + lane];
      reinterpret_cast<u32 *>(row + META_WEIGHTS)[lane] = p.weights[u64(token) * TOPK + lane];
    }
    if (lane == 0)
      *reinterpret_cast<int *>(row + META_TOKEN) = token;
    for (int word = int(lane); word < SCALE_WORDS; word += 32)
      reinterpret_cast<u32 *>(row + META_SCALES)[word] = p.scales[u64(token) * SCALE_WORDS + word];
  }
}

/// All threads; true in the CTA that is the last of the grid to come here.
__device__ bool isLastCta(Control *control) {
  __shared__ u32 ticket;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 taken;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(taken) : "l"(&control->ticket) : "memory");
    ticket = taken;
  }
  __syncthreads();
  return ticket == gridDim.x - 1;
}

/// The last CTA: counts and signals go out, everybody's come in, and the control block is left ready.
__device__ void conclude(const Params &p, Control *control, u64 live, u64 op, const u32 *counts) {
  __shared__ u32 received, wanted;
  if (threadIdx.x == 0)
    received = wanted = 0;
  __syncthreads();
  for (u32 to = threadIdx.x; to < RANKS; to += BLOCK_THREADS)
    if ((live >> to) & 1) {
      *reinterpret_cast<u32 *>(peer(p, to, OFF_COUNTS + (p.buffer * RANKS + p.rank) * 4)) = counts[to];
      setSignal(peer(p, to, OFF_ARRIVED + u64(p.rank) * SIGNAL_STRIDE), op);
    }
  u64 here = await(p, control, OFF_ARRIVED, live, op);
  for (u32 from = threadIdx.x; from < RANKS; from += BLOCK_THREADS)
    if ((here >> from) & 1) {
      u32 count = *reinterpret_cast<volatile u32 *>(peer(p, p.rank, OFF_COUNTS + (p.buffer * RANKS + from) * 4));
      atomicAdd(&received, count < ROWS_PER_SOURCE ? count : u32(ROWS_PER_SOURCE));
      atomicAdd(&wanted, count);
    }
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  volatile Control *state = control;
  u64 lost = state->lost;
  u32 status = state->status | (lost ? u32(peerLostBit) : 0);
  *reinterpret_cast<Result *>(peer(p, p.rank, OFF_RESULT)) = {op, status, state->dropped, lost, received, wanted};
  state->lastUse[p.buffer] = op;
  state->ticket = state->claim = state->status = state->dropped = 0;
  state->op = op;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) dispatch(const Params p) {
  __shared__ u32 counts[RANKS];
  __shared__ Tile tile;
  Control *control = reinterpret_cast<Control *>(peer(p, p.rank, OFF_CONTROL));
  u64 op = control->op + 1, live = allRanks & ~(control->lost | control->dead);
  announce(p, live, op);
  for (u32 rank = threadIdx.x; rank < RANKS; rank += BLOCK_THREADS)
    counts[rank] = 0;
  __syncthreads();
  // The buffer's last readers are done once their rank has started a later operation.
  if (u64 use = control->lastUse[p.buffer])
    live = await(p, control, OFF_STARTED, live, use + 1);

  int counted = 0;
  for (int first = int(blockIdx.x) * TILE_TOKENS; first < p.tokens; first += int(gridDim.x) * TILE_TOKENS) {
    countRows(p, live, counts, counted, first);
    counted = first + TILE_TOKENS;
    __syncthreads();
    if (threadIdx.x < 32)
      assignSlots(p, control, live, first, counts, tile);
    __syncthreads();
    writeSlots(p, control, first, tile);
    for (u32 item = threadIdx.x / 32; item < TILE_TOKENS * (segments + 1); item += warps) {
      u32 local = item / (segments + 1), segment = item % (segments + 1);
      u64 mask = tile.masks[local];
      if (!mask)
        continue;
      if (segment == segments)
        sendMeta(p, first + int(local), mask, tile.slots + local * RANKS);
      else
        sendSegment(p, first + int(local), segment, mask, tile.slots + local * RANKS);
    }
    __syncthreads(); // the tile's tables are not read any more
  }
  if (isLastCta(control)) {
    countRows(p, live, counts, counted, p.tokens);
    __syncthreads();
    conclude(p, control, live, op, counts);
  }
}
