// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Combine as a person would write it in CUDA C++: the protocol, arguments, window and order of the sum of
// templates/combine.mlir, whose comments say why it is right.
#include "common.cuh"

constexpr u32 packets = COMBINE_ROW_STRIDE / 16;
constexpr u32 segmentPackets = 4 * 32; // four packets a lane in flight
constexpr u32 segments = (packets + segmentPackets - 1) / segmentPackets;
constexpr u32 perTile = warps / TILE_TOKENS;
/// So many warps share a token.
constexpr u32 sharing = perTile < 1 ? 1 : perTile > segments ? segments : perTile;

struct Params {
  u64 window, stride;
  char *out;
  float *outWeights;
  const int *ids;
  const float *weights;
  const int *slots;
  u64 timeout;
  u32 rank;
  int tokens;
  u32 buffer, reserved;

  __device__ Place place() const { return {window, stride, timeout, rank}; }
};

/// A token's contributions, in the order of the sum, for one warp.
struct Rows {
  u64 address[TOPK];
  float weight[TOPK];
};

/// One warp lists the contributions of a token and returns their number; lane k looks at expert k. Ranks come in the
/// order of their first expert, each with the sum of its weights in top-k order; or, with a row per expert, experts.
__device__ u32 listRows(const Params &params, u64 live, int token, bool first, Rows &rows) {
  Place p = params.place();
  u32 lane = threadIdx.x % 32, owner = 0;
  u64 entry = u64(token) * TOPK + lane;
  int from = -1, slot = -1;
  float weight = 0.0f;
  if (lane < TOPK) {
    slot = params.slots[entry];
    if (ownerOf(params.ids[entry], owner) && ((live >> owner) & 1) && slot >= 0)
      from = int(owner);
    weight = params.weights ? params.weights[entry] : 1.0f;
  }
  bool repeated = false;
  float sum = weight;
  for (u32 k = 0; k < TOPK; ++k) {
    int otherFrom = __shfl_sync(~0u, from, k);
    float otherWeight = __shfl_sync(~0u, weight, k);
    repeated |= otherFrom == from && k < lane;
    if (otherFrom == from && k > lane && params.weights)
      sum = __fadd_rn(sum, otherWeight);
  }
  bool stands = from >= 0 && !repeated, listed = EXPERT_ROWS ? from >= 0 : stands;
  u32 votes = __ballot_sync(~0u, listed);
  u64 row = regionRow(p, params.buffer, from >= 0 ? u32(slot) : 0);
  if (listed) {
    u32 position = __popc(votes & ((1u << lane) - 1));
    u64 at = row * OUT_ROWS + (EXPERT_ROWS ? lane : 0);
    rows.address[position] = peer(p, u32(from), OFF_EXPERT_OUT + at * COMBINE_ROW_STRIDE);
    rows.weight[position] = EXPERT_ROWS ? weight : sum;
  }
  if (params.outWeights && first) {
    // What came back of the weights that travelled with the token: one row per contributing rank, in rank order.
    u64 metaAt = OFF_META + row * META_STRIDE + META_WEIGHTS;
    u32 contributors = __ballot_sync(~0u, stands);
    float total = 0.0f;
    for (u32 k = 0; k < TOPK; ++k) {
      int there = __shfl_sync(~0u, from, k);
      u64 at = __shfl_sync(~0u, metaAt, k);
      if (((contributors >> k) & 1) && lane < TOPK)
        total = __fadd_rn(total, *reinterpret_cast<const float *>(peer(p, u32(there), at + lane * 4)));
    }
    if (lane < TOPK)
      params.outWeights[entry] = total;
  }
  return __popc(votes);
}

__device__ __forceinline__ uint4 loadPacket(u64 from) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}

__device__ __forceinline__ void storePacket(char *to, uint4 v) {
  asm volatile("st.global.L1::no_allocate.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}

// Elements of a packet, and back; only these know the type of a row.
#if ELEMENT_F32
constexpr u32 perPacket = 4;
__device__ __forceinline__ void unpackWord(u32 word, float *to) { to[0] = __uint_as_float(word); }
__device__ __forceinline__ u32 packWord(const float *from) { return __float_as_uint(from[0]); }
#elif ELEMENT_BF16
constexpr u32 perPacket = 8;
__device__ __forceinline__ void unpackWord(u32 word, float *to) {
  to[0] = __uint_as_float(word << 16);
  to[1] = __uint_as_float(word & 0xffff0000u);
}
__device__ __forceinline__ u32 packWord(const float *from) {
  u32 word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(from[1]), "f"(from[0]));
  return word;
}
#else
constexpr u32 perPacket = 8;
__device__ __forceinline__ void unpackWord(u32 word, float *to) {
  asm("cvt.f32.f16 %0, %1;" : "=f"(to[0]) : "h"((unsigned short)(word & 0xffffu)));
  asm("cvt.f32.f16 %0, %1;" : "=f"(to[1]) : "h"((unsigned short)(word >> 16)));
}
__device__ __forceinline__ u32 packWord(const float *from) {
  unsigned short low, high;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(low) : "f"(from[0]));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(high) : "f"(from[1]));
  return u32(low) | u32(high) << 16;
}
#endif
constexpr u32 perWord = perPacket / 4;

__device__ __forceinline__ void accumulate(float *sums, uint4 packet, float weight) {
  const u32 words[4] = {packet.x, packet.y, packet.z, packet.w};
#pragma unroll
  for (u32 word = 0; word < 4; ++word) {
    float values[perWord];
    unpackWord(words[word], values);
#pragma unroll
    for (u32 i = 0; i < perWord; ++i)
      sums[word * perWord + i] = __fmaf_rn(weight, values[i], sums[word * perWord + i]);
  }
}

/// One warp reduces a segment of a token: four packets a lane, read together from each contribution in turn.
__device__ void reduceSegment(const Params &p, int token, u32 segment, u32 number, const Rows &rows) {
  u32 lane = threadIdx.x % 32, at[4];
  float sums[4][perPacket] = {};
#pragma unroll
  for (u32 i = 0; i < 4; ++i)
    at[i] = segment * segmentPackets + i * 32 + lane;
  for (u32 n = 0; n < number; ++n) {
    uint4 v[4];
#pragma unroll
    for (u32 i = 0; i < 4; ++i) // beyond the row's end a lane reads the last packet again
      v[i] = loadPacket(rows.address[n] + u64(at[i] < packets ? at[i] : packets - 1) * 16);
#pragma unroll
    for (u32 i = 0; i < 4; ++i)
      accumulate(sums[i], v[i], rows.weight[n]);
  }
#pragma unroll
  for (u32 i = 0; i < 4; ++i)
    if (packets % segmentPackets == 0 || at[i] < packets) {
      const float *s = sums[i];
      storePacket(p.out + u64(token) * COMBINE_ROW_STRIDE + u64(at[i]) * 16,
                  make_uint4(packWord(s), packWord(s + perWord), packWord(s + 2 * perWord), packWord(s + 3 * perWord)));
    }
}

KERNEL ep_combine(u64 window, u64 stride, char *out, float *outWeights, const int *ids, const float *weights,
                  const int *slots, u64 timeout, u32 rank, int tokens, u32 buffer, u32 reserved) {
  const Params params{window, stride, out, outWeights, ids, weights, slots, timeout, rank, tokens, buffer, reserved};
  __shared__ Rows tables[warps];
  Place p = params.place();
  Control *control = controlOf(p);
  u64 op = control->op + 1, live = liveRanks(control);
  announce(p, live, op);
  live = await(p, OFF_STARTED, live, op);

  u32 warp = threadIdx.x / 32;
  Rows &rows = tables[warp];
  Tiles tiles{control, (u32(params.tokens) + TILE_TOKENS - 1) / TILE_TOKENS};
  tiles.begin();
  for (u32 index; tiles.next(index);)
    for (u32 item = warp; item < TILE_TOKENS * sharing; item += warps) {
      u32 local = item / sharing, share = item % sharing;
      int token = int(index) * TILE_TOKENS + int(local);
      if (token >= params.tokens)
        continue;
      __syncwarp(); // the tables of the share before are not read any more
      u32 number = listRows(params, live, token, share == 0, rows);
      __syncwarp();
      for (u32 segment = share; segment < segments; segment += sharing)
        reduceSegment(params, token, segment, number, rows);
    }

  if (isLastCta(control) && threadIdx.x == 0)
    conclude(p, op, 0, 0);
}
