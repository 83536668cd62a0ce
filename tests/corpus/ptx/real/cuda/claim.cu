// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Cluster launch control (sm_100): a CTA claims the tile of one that was not launched yet, through the async proxy.
#include <cuda/ptx>

namespace ptx = cuda::ptx;

template <bool fenced> __device__ void claim(int *out) {
  __shared__ alignas(16) uint4 answer;
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  unsigned tile = blockIdx.x;
  for (uint32_t phase = 0;; phase ^= 1) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, sizeof answer);
      ptx::clusterlaunchcontrol_try_cancel(&answer, &bar);
    }
    atomicAdd(out + tile, 1);
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, phase)) {
    }
    uint4 got = answer;
    if (fenced)
      ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(got))
      return;
    tile = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<unsigned>(got);
  }
}

extern "C" __global__ void right_claim(int *out) { claim<true>(out); }
/// The answer was read in the generic proxy; the next one overwrites it in the other.
extern "C" __global__ void wrong_claim_again(int *out) { claim<false>(out); }
