// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Cooperative groups within a CTA: tiles, coalesced groups, block reductions through shared memory. Nothing crosses CTAs.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void right_tile_reduce(const int *in, int *out) {
  __shared__ int sums[32];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int sum = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0)
    sums[tile.meta_group_rank()] = sum;
  block.sync();
  if (tile.meta_group_rank() == 0) {
    int mine = tile.thread_rank() < tile.meta_group_size() ? sums[tile.thread_rank()] : 0;
    int total = cg::reduce(tile, mine, cg::plus<int>());
    if (tile.thread_rank() == 0)
      out[blockIdx.x] = total;
  }
}

extern "C" __global__ void right_memcpy_async(const int *in, int *out) {
  __shared__ int stage[256];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, stage, in + blockIdx.x * 256, sizeof stage);
  cg::wait(block);
  out[blockIdx.x * 256 + threadIdx.x] = stage[255 - threadIdx.x];
}

extern "C" __global__ void right_coalesced(int *counters) {
  cg::coalesced_group active = cg::coalesced_threads();
  if (active.thread_rank() == 0)
    atomicAdd(counters, int(active.size()));
}
