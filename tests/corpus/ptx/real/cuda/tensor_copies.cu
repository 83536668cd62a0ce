// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Tensor copies by a descriptor that the host wrote (a __grid_constant__ parameter) or the kernel changed itself.
#include <cuda/ptx>

#include <cuda.h>

namespace ptx = cuda::ptx;

enum : unsigned { side = 16, bytes = side * side * sizeof(int) };

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

__device__ void load(int *tile, const void *map, uint64_t *bar) {
  int32_t at[2] = {int32_t(blockIdx.x * side), int32_t(blockIdx.y * side)};
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, at, bar);
}

extern "C" __global__ void right_tensor_load(const __grid_constant__ CUtensorMap map, int *out) {
  __shared__ alignas(128) int tile[side * side];
  __shared__ uint64_t bar;
  start(&bar);
  if (threadIdx.x == 0)
    load(tile, &map, &bar);
  await(&bar, 0);
  out[(blockIdx.y * gridDim.x + blockIdx.x) * side * side + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void right_tensor_scale(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int tile[side * side];
  __shared__ uint64_t bar;
  start(&bar);
  if (threadIdx.x == 0)
    load(tile, &map, &bar);
  await(&bar, 0);
  tile[threadIdx.x] *= 3;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    int32_t at[2] = {int32_t(blockIdx.x * side), int32_t(blockIdx.y * side)};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

/// The stores of the tile are not fenced before the tensor store reads it.
extern "C" __global__ void wrong_tensor_scale(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int tile[side * side];
  __shared__ uint64_t bar;
  start(&bar);
  if (threadIdx.x == 0)
    load(tile, &map, &bar);
  await(&bar, 0);
  tile[threadIdx.x] *= 3;
  __syncthreads();
  if (threadIdx.x == 0) {
    int32_t at[2] = {int32_t(blockIdx.x * side), int32_t(blockIdx.y * side)};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

/// A descriptor in global memory whose address field the kernel replaces: released and acquired in the tensormap proxy.
template <bool fenced> __device__ void retarget(CUtensorMap *map, const int *in, int *out) {
  __shared__ alignas(128) int tile[side * side];
  __shared__ uint64_t bar;
  start(&bar);
  if (threadIdx.x == 0) {
    ptx::tensormap_replace_global_address(ptx::space_global, map, in);
    if (fenced) {
      ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_gpu);
      ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, ptx::n32_t<128>());
    }
    load(tile, map, &bar);
  }
  await(&bar, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void right_retarget(CUtensorMap *map, const int *in, int *out) { retarget<true>(map, in, out); }
/// Nothing orders the new field with the copy that reads it.
extern "C" __global__ void wrong_retarget(CUtensorMap *map, const int *in, int *out) { retarget<false>(map, in, out); }
