// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Combine as a person would write it in CUDA C++: the protocol, arguments, window and order of the sum of
// templates/combine.mlir, whose comments say why it is right.
#include "common.cuh"

constexpr u32 packets = COMBINE_ROW_STRIDE / 16;
constexpr u32 segmentPackets = 4 * lanes; // four packets a lane in flight
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
  u32 lane = threadIdx.x % lanes, owner = 0;
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
    int otherFrom = ofLane(from, k);
    float otherWeight = ofLane(weight, k);
    repeated |= otherFrom == from && k < lane;
    if (otherFrom == from && k > lane && params.weights)
      sum = addRounded(sum, otherWeight);
  }
  bool stands = from >= 0 && !repeated, listed = EXPERT_ROWS ? from >= 0 : stands;
  Votes votes = ballot(listed);
  u64 row = regionRow(p, params.buffer, from >= 0 ? u32(slot) : 0);
  if (listed) {
    u32 position = countOf(votes & ((Votes(1) << lane) - 1));
    u64 at = row * OUT_ROWS + (EXPERT_ROWS ? lane : 0);
    rows.address[position] = peer(p, u32(from), OFF_EXPERT_OUT + at * COMBINE_ROW_STRIDE);
    rows.weight[position] = EXPERT_ROWS ? weight : sum;
  }
  if (params.outWeights && first) {
    // What came back of the weights that travelled with the token: one row per contributing rank, in rank order.
    u64 metaAt = OFF_META + row * META_STRIDE + META_WEIGHTS;
    Votes contributors = ballot(stands);
    float total = 0.0f;
    for (u32 k = 0; k < TOPK; ++k) {
      int there = ofLane(from, k);
      u64 at = ofLane(metaAt, k);
      if (((contributors >> k) & 1) && lane < TOPK)
        total = addRounded(total, *reinterpret_cast<const float *>(peer(p, u32(there), at + lane * 4)));
    }
    if (lane < TOPK)
      params.outWeights[entry] = total;
  }
  return countOf(votes);
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
__device__ __forceinline__ u32 packWord(const float *from) { return packBf16(from[0], from[1]); }
#else
constexpr u32 perPacket = 8;
__device__ __forceinline__ void unpackWord(u32 word, float *to) {
  to[0] = unpackF16(word & 0xffffu);
  to[1] = unpackF16(word >> 16);
}
__device__ __forceinline__ u32 packWord(const float *from) { return packF16(from[0], from[1]); }
#endif
constexpr u32 perWord = perPacket / 4;

__device__ __forceinline__ void accumulate(float *sums, Packet packet, float weight) {
  const u32 words[4] = {packet.x, packet.y, packet.z, packet.w};
#pragma unroll
  for (u32 word = 0; word < 4; ++word) {
    float values[perWord];
    unpackWord(words[word], values);
#pragma unroll
    for (u32 i = 0; i < perWord; ++i)
      sums[word * perWord + i] = fusedMultiplyAdd(weight, values[i], sums[word * perWord + i]);
  }
}

/// One warp reduces a segment of a token: four packets a lane, read together from each contribution in turn.
__device__ void reduceSegment(const Params &p, int token, u32 segment, u32 number, const Rows &rows) {
  u32 lane = threadIdx.x % lanes, at[4];
  float sums[4][perPacket] = {};
#pragma unroll
  for (u32 i = 0; i < 4; ++i)
    at[i] = segment * segmentPackets + i * lanes + lane;
  for (u32 n = 0; n < number; ++n) {
    Packet v[4];
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
      storePacket(u64(p.out) + u64(token) * COMBINE_ROW_STRIDE + u64(at[i]) * 16,
                  Packet{packWord(s), packWord(s + perWord), packWord(s + 2 * perWord), packWord(s + 3 * perWord)});
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

  u32 warp = threadIdx.x / lanes;
  Rows &rows = tables[warp];
  Tiles tiles{control, (u32(params.tokens) + TILE_TOKENS - 1) / TILE_TOKENS};
  tiles.begin();
  for (u32 index; tiles.next(index);)
    for (u32 item = warp; item < TILE_TOKENS * sharing; item += warps) {
      u32 local = item / sharing, share = item % sharing;
      int token = int(index) * TILE_TOKENS + int(local);
      if (token >= params.tokens)
        continue;
      warpBarrier(); // the tables of the share before are not read any more
      u32 number = listRows(params, live, token, share == 0, rows);
      warpBarrier();
      for (u32 segment = share; segment < segments; segment += sharing)
        reduceSegment(params, token, segment, number, rows);
    }

  if (isLastCta(control) && threadIdx.x == 0)
    conclude(p, op, 0, 0);
}
