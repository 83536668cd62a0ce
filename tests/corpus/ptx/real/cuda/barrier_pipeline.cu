// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// cuda::barrier and cuda::pipeline: asynchronous copies into shared memory, several stages, roles by warp.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

using barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void right_barrier(const int *in, int *out) {
  __shared__ int stage[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init(&bar, blockDim.x);
  __syncthreads();
  stage[threadIdx.x] = in[threadIdx.x];
  bar.arrive_and_wait();
  out[threadIdx.x] = stage[255 - threadIdx.x];
}

extern "C" __global__ void right_bulk_by_barrier(const int *in, int *out) {
  __shared__ alignas(16) int stage[256];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(stage, in, cuda::aligned_size_t<16>(sizeof stage), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof stage);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  out[threadIdx.x] = stage[255 - threadIdx.x];
}

extern "C" __global__ void right_pipeline(const int *in, int *out, int rounds) {
  constexpr int stages = 2;
  __shared__ int stage[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  for (int ahead = 0, round = 0; round < rounds; ++round) {
    for (; ahead < rounds && ahead < round + stages; ++ahead) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stage[ahead % stages], in + ahead * 128, sizeof stage[0], pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[round * 128 + threadIdx.x] = stage[round % stages][127 - threadIdx.x];
    pipeline.consumer_release();
  }
}

/// The copy's destination is read before anything waits for the copy.
extern "C" __global__ void wrong_no_wait(const int *in, int *out) {
  __shared__ int stage[256];
  auto pipeline = cuda::make_pipeline();
  pipeline.producer_acquire();
  cuda::memcpy_async(stage + threadIdx.x, in + threadIdx.x, sizeof(int), pipeline);
  pipeline.producer_commit();
  __syncthreads();
  out[threadIdx.x] = stage[threadIdx.x];
  pipeline.consumer_wait();
  pipeline.consumer_release();
}
