// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Bulk copies in and out of shared memory (cuda::ptx): the two proxies, and what completion means.
#include <cuda/ptx>

namespace ptx = cuda::ptx;

enum : unsigned { rows = 256, bytes = rows * sizeof(int) };

__device__ void await(uint64_t *bar, uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
  }
}

__device__ void start(uint64_t *bar) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
}

__device__ void load(int *stage, const int *in, uint64_t *bar) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage, in, bytes, bar);
}

__device__ void store(int *out, const int *stage) {
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, stage, bytes);
  ptx::cp_async_bulk_commit_group();
}

/// In, changed by every thread, out again.
extern "C" __global__ void right_in_and_out(const int *in, int *out) {
  __shared__ alignas(16) int stage[rows];
  __shared__ uint64_t bar;
  start(&bar);
  if (threadIdx.x == 0)
    load(stage, in, &bar);
  await(&bar, 0);
  stage[threadIdx.x] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    store(out, stage);
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

/// A row at a time through one stage: the store has read it before the next copy overwrites it.
extern "C" __global__ void right_copy_loop(const int *in, int *out, int rounds) {
  __shared__ alignas(16) int stage[rows];
  __shared__ uint64_t bar;
  start(&bar);
  if (threadIdx.x == 0)
    for (int round = 0; round < rounds; ++round) {
      load(stage, in + round * rows, &bar);
      await(&bar, round & 1);
      store(out + round * rows, stage);
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

/// The store has completed, not only read its source, before the flag is released.
extern "C" __global__ void right_store_then_flag(const int *in, int *out, unsigned *flag) {
  __shared__ alignas(16) int stage[rows];
  stage[threadIdx.x] = in[threadIdx.x];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    store(out, stage);
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    ptx::fence_proxy_async(ptx::space_global);
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(flag) : "memory");
  }
}

/// The writers' stores are in the generic proxy; the copy reads in the other one.
extern "C" __global__ void wrong_no_proxy_fence(const int *in, int *out) {
  __shared__ alignas(16) int stage[rows];
  stage[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    store(out, stage);
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

/// The fence is issued by the thread that copies, and not by those that wrote.
extern "C" __global__ void wrong_fence_by_the_copier(const int *in, int *out) {
  __shared__ alignas(16) int stage[rows];
  stage[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::fence_proxy_async(ptx::space_shared);
    store(out, stage);
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

/// A CTA barrier is no completion of a bulk copy.
extern "C" __global__ void wrong_barrier_for_completion(const int *in, int *out) {
  __shared__ alignas(16) int stage[rows];
  __shared__ uint64_t bar;
  start(&bar);
  if (threadIdx.x == 0)
    load(stage, in, &bar);
  __syncthreads();
  out[threadIdx.x] = stage[threadIdx.x];
  await(&bar, 0);
}

/// .read says that the source may be overwritten, not that the destination was written.
extern "C" __global__ void wrong_read_completion(const int *in, int *out, int *copy) {
  __shared__ alignas(16) int stage[rows];
  stage[threadIdx.x] = in[threadIdx.x];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    store(out, stage);
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    *copy = *out;
  }
}
