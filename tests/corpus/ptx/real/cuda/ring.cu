// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A ring of stages between one producer warp and consumer warps of a CTA: full and empty barriers, phases, and the proxy
// fence that a consumer owes before it gives a stage back.
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int stages = 4;
enum : unsigned { rows = 128, bytes = rows * sizeof(int) };

struct Ring {
  alignas(128) int stage[stages][rows];
  uint64_t full[stages], empty[stages];
};

__device__ void await(uint64_t *bar, uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
  }
}

__device__ void start(Ring &ring) {
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(&ring.full[s], 1);
      ptx::mbarrier_init(&ring.empty[s], rows);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
}

__device__ void produce(Ring &ring, const int *in, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int s = round % stages;
    uint32_t phase = (round / stages) & 1;
    await(&ring.empty[s], phase ^ 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &ring.full[s], bytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring.stage[s], in + round * rows, bytes, &ring.full[s]);
  }
}

template <class Release> __device__ void consume(Ring &ring, int *out, int rounds, Release release) {
  unsigned lane = threadIdx.x - 32;
  for (int round = 0; round < rounds; ++round) {
    int s = round % stages;
    await(&ring.full[s], (round / stages) & 1);
    out[round * rows + lane] = ring.stage[s][lane] * 2;
    release(&ring.empty[s]);
  }
}

extern "C" __global__ void __launch_bounds__(32 + rows) right_ring(const int *in, int *out, int rounds) {
  __shared__ Ring ring;
  start(ring);
  if (threadIdx.x == 0)
    produce(ring, in, rounds);
  else if (threadIdx.x >= 32)
    consume(ring, out, rounds, [](uint64_t *empty) {
      ptx::fence_proxy_async(ptx::space_shared);
      ptx::mbarrier_arrive(empty);
    });
}

/// What was read in the generic proxy is overwritten in the other one, and nothing orders the two.
extern "C" __global__ void __launch_bounds__(32 + rows) wrong_no_fence(const int *in, int *out, int rounds) {
  __shared__ Ring ring;
  start(ring);
  if (threadIdx.x == 0)
    produce(ring, in, rounds);
  else if (threadIdx.x >= 32)
    consume(ring, out, rounds, [](uint64_t *empty) { ptx::mbarrier_arrive(empty); });
}

/// The stage is given back first.
extern "C" __global__ void __launch_bounds__(32 + rows) wrong_fence_after_arrive(const int *in, int *out, int rounds) {
  __shared__ Ring ring;
  start(ring);
  if (threadIdx.x == 0)
    produce(ring, in, rounds);
  else if (threadIdx.x >= 32)
    consume(ring, out, rounds, [](uint64_t *empty) {
      ptx::mbarrier_arrive(empty);
      ptx::fence_proxy_async(ptx::space_shared);
    });
}
