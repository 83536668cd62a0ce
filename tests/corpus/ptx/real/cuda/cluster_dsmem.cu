// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Distributed shared memory: each CTA of a cluster reads what the next one wrote into its own shared memory.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned nextRank(const cg::cluster_group &cluster) {
  return (cluster.block_rank() + 1) % cluster.num_blocks();
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) right_cluster_sync(int *out) {
  __shared__ int mine[64];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = int(cluster.block_rank() * 100 + threadIdx.x);
  cluster.sync();
  const int *next = cluster.map_shared_rank(mine, nextRank(cluster));
  out[blockIdx.x * 64 + threadIdx.x] = next[threadIdx.x];
  cluster.sync(); // nobody leaves while it is read
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) right_arrive_then_wait(int *out, const int *in) {
  __shared__ int mine[64];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = in[threadIdx.x];
  cluster.barrier_arrive();
  int own = in[threadIdx.x + 64]; // nothing of the cluster's
  cluster.barrier_wait();
  const int *next = cluster.map_shared_rank(mine, nextRank(cluster));
  out[blockIdx.x * 64 + threadIdx.x] = next[threadIdx.x] + own;
  cluster.sync();
}

/// Atomics on a histogram that lies in the shared memory of all CTAs of the cluster.
extern "C" __global__ void __cluster_dims__(2, 1, 1) right_histogram(const unsigned *in, unsigned *out) {
  __shared__ unsigned bins[128];
  cg::cluster_group cluster = cg::this_cluster();
  bins[threadIdx.x] = 0;
  cluster.sync();
  unsigned bin = in[blockIdx.x * blockDim.x + threadIdx.x] & 255;
  atomicAdd(cluster.map_shared_rank(bins, bin >> 7) + (bin & 127), 1u);
  cluster.sync();
  out[cluster.block_rank() * 128 + threadIdx.x] = bins[threadIdx.x];
}

/// A relaxed arrive publishes nothing.
extern "C" __global__ void __cluster_dims__(4, 1, 1) wrong_relaxed_arrive(int *out) {
  __shared__ int mine[64];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = int(cluster.block_rank() * 100 + threadIdx.x);
  __syncthreads();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  const int *next = cluster.map_shared_rank(mine, nextRank(cluster));
  out[blockIdx.x * 64 + threadIdx.x] = next[threadIdx.x];
  cluster.sync();
}

/// A CTA may leave while its shared memory is read.
extern "C" __global__ void __cluster_dims__(4, 1, 1) wrong_early_exit(int *out) {
  __shared__ int mine[64];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = int(cluster.block_rank() * 100 + threadIdx.x);
  cluster.sync();
  const int *next = cluster.map_shared_rank(mine, nextRank(cluster));
  out[blockIdx.x * 64 + threadIdx.x] = next[threadIdx.x];
}

/// A CTA barrier orders the threads of one CTA, not those of its peers.
extern "C" __global__ void __cluster_dims__(4, 1, 1) wrong_cta_barrier(int *out) {
  __shared__ int mine[64];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  int *next = cluster.map_shared_rank(mine, nextRank(cluster));
  next[threadIdx.x] = int(cluster.block_rank() * 100 + threadIdx.x);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = mine[threadIdx.x];
  cluster.sync();
}
