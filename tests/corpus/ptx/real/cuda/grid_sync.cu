// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Barriers of a whole grid: the one of cooperative groups, one written by hand, and one that forgets the order.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void right_grid_sync(int *partial, int *total) {
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0)
    partial[blockIdx.x] = int(blockIdx.x) * 3;
  grid.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += partial[i];
    *total = sum;
  }
}

/// Each CTA arrives after a fence; the last one adds up. No CTA waits.
extern "C" __global__ void right_last_block(int *partial, unsigned *ticket, int *total) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = int(blockIdx.x) * 3;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += partial[i];
    *total = sum;
  }
}

/// The last CTA fences, but no CTA does so before it takes its ticket.
extern "C" __global__ void wrong_last_block(int *partial, unsigned *ticket, int *total) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = int(blockIdx.x) * 3;
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += partial[i];
    *total = sum;
  }
}

/// A grid barrier that counts without releasing and polls a volatile word without acquiring.
extern "C" __global__ void wrong_grid_barrier(int *partial, unsigned *count, int *total) {
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = int(blockIdx.x) * 3;
    atomicAdd(count, 1u);
    while (*(volatile unsigned *)count < gridDim.x) {
    }
    total[blockIdx.x] = partial[(blockIdx.x + 1) % gridDim.x];
  }
}
