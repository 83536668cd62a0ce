// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// cuda::atomic_ref: one thread hands data to a thread of another CTA, with every order and scope that people try.
#include <cuda/atomic>

using gpu_flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
using cta_flag = cuda::atomic_ref<int, cuda::thread_scope_block>;

/// CTA 0 writes, CTA 1 reads.
template <class Publish, class Await> __device__ void message(int *data, int *result, Publish publish, Await await) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    *data = 42;
    publish();
  } else if (blockIdx.x == 1) {
    await();
    *result = *data;
  }
}

extern "C" __global__ void right_release_acquire(int *data, int *flag, int *result) {
  message(
      data, result, [=] { gpu_flag(*flag).store(1, cuda::memory_order_release); },
      [=] {
        while (gpu_flag(*flag).load(cuda::memory_order_acquire) == 0) {
        }
      });
}

extern "C" __global__ void right_fences(int *data, int *flag, int *result) {
  message(
      data, result,
      [=] {
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        gpu_flag(*flag).store(1, cuda::memory_order_relaxed);
      },
      [=] {
        while (gpu_flag(*flag).load(cuda::memory_order_relaxed) == 0) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
      });
}

extern "C" __global__ void right_counter(int *data, int *flag, int *result) {
  message(
      data, result, [=] { gpu_flag(*flag).fetch_add(1, cuda::memory_order_release); },
      [=] {
        while (gpu_flag(*flag).load(cuda::memory_order_acquire) == 0) {
        }
      });
}

/// All threads of a CTA write, a CTA barrier, one thread releases: causality is transitive.
extern "C" __global__ void right_barrier_then_one_release(int *data, int *flag, int *result) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = int(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0)
      gpu_flag(*flag).store(1, cuda::memory_order_release);
  } else {
    if (threadIdx.x == 0)
      while (gpu_flag(*flag).load(cuda::memory_order_acquire) == 0) {
      }
    __syncthreads();
    result[threadIdx.x] = data[threadIdx.x];
  }
}

/// The release reaches the threads of its own CTA only.
extern "C" __global__ void wrong_release_scope(int *data, int *flag, int *result) {
  message(
      data, result, [=] { cta_flag(*flag).store(1, cuda::memory_order_release); },
      [=] {
        while (gpu_flag(*flag).load(cuda::memory_order_acquire) == 0) {
        }
      });
}

/// The acquire sees what threads of its own CTA released only.
extern "C" __global__ void wrong_acquire_scope(int *data, int *flag, int *result) {
  message(
      data, result, [=] { gpu_flag(*flag).store(1, cuda::memory_order_release); },
      [=] {
        while (cta_flag(*flag).load(cuda::memory_order_acquire) == 0) {
        }
      });
}

/// Nothing releases the data.
extern "C" __global__ void wrong_relaxed_publish(int *data, int *flag, int *result) {
  message(
      data, result, [=] { gpu_flag(*flag).fetch_add(1, cuda::memory_order_relaxed); },
      [=] {
        while (gpu_flag(*flag).load(cuda::memory_order_acquire) == 0) {
        }
      });
}

/// Nothing acquires the data.
extern "C" __global__ void wrong_relaxed_wait(int *data, int *flag, int *result) {
  message(
      data, result, [=] { gpu_flag(*flag).store(1, cuda::memory_order_release); },
      [=] {
        while (gpu_flag(*flag).load(cuda::memory_order_relaxed) == 0) {
        }
      });
}
