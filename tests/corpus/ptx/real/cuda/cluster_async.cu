// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Asynchronous hand-offs between the CTAs of a cluster: st.async, multicast, remote arrives.
#include <cooperative_groups.h>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

enum : unsigned { rows = 128, bytes = rows * sizeof(int) };

template <class Scope> __device__ void await(uint64_t *bar, uint32_t parity, Scope scope) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, scope, bar, parity)) {
  }
}

__device__ void start(const cg::cluster_group &cluster, uint64_t *bar, unsigned count) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(bar, count);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  cluster.sync();
}

/// Every thread stores one word into the next CTA, whose barrier counts the bytes.
template <class Scope> __device__ void pass(int *out, Scope scope) {
  __shared__ alignas(16) int slot[rows];
  __shared__ uint64_t bar;
  cg::cluster_group cluster = cg::this_cluster();
  start(cluster, &bar, 1);
  if (threadIdx.x == 0)
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar, bytes);
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  ptx::st_async(cluster.map_shared_rank(slot, next) + threadIdx.x, int(threadIdx.x), cluster.map_shared_rank(&bar, next));
  await(&bar, 0, scope);
  out[blockIdx.x * rows + threadIdx.x] = slot[threadIdx.x];
  cluster.sync();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) right_st_async(int *out) { pass(out, ptx::scope_cluster); }
/// The data came from another CTA; a wait at CTA scope acquires only what its own CTA released.
extern "C" __global__ void __cluster_dims__(2, 1, 1) wrong_st_async_wait(int *out) { pass(out, ptx::scope_cta); }

/// Plain stores into the next CTA, then one arrive a thread on its barrier.
template <class Arrive, class Scope> __device__ void hand(int *out, Arrive arrive, Scope scope) {
  __shared__ int slot[rows];
  __shared__ uint64_t bar;
  cg::cluster_group cluster = cg::this_cluster();
  start(cluster, &bar, rows);
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  cluster.map_shared_rank(slot, next)[threadIdx.x] = int(threadIdx.x);
  arrive(uint32_t(__cvta_generic_to_shared(&bar)), next);
  await(&bar, 0, scope);
  out[blockIdx.x * rows + threadIdx.x] = slot[threadIdx.x];
  cluster.sync();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) right_remote_arrive(int *out) {
  hand(
      out,
      [](uint32_t bar, unsigned rank) {
        asm volatile("{\n .reg .b32 %%remote;\n mapa.shared::cluster.u32 %%remote, %0, %1;\n"
                     " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%%remote];\n}" ::"r"(bar), "r"(rank) : "memory");
      },
      ptx::scope_cluster);
}

/// The scope of an arrive is the CTA unless it says another, wherever the barrier lies.
extern "C" __global__ void __cluster_dims__(2, 1, 1) wrong_remote_arrive_scope(int *out) {
  hand(
      out,
      [](uint32_t bar, unsigned rank) {
        asm volatile("{\n .reg .b32 %%remote;\n mapa.shared::cluster.u32 %%remote, %0, %1;\n"
                     " mbarrier.arrive.shared::cluster.b64 _, [%%remote];\n}" ::"r"(bar), "r"(rank) : "memory");
      },
      ptx::scope_cluster);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) wrong_remote_wait_scope(int *out) {
  hand(
      out,
      [](uint32_t bar, unsigned rank) {
        asm volatile("{\n .reg .b32 %%remote;\n mapa.shared::cluster.u32 %%remote, %0, %1;\n"
                     " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%%remote];\n}" ::"r"(bar), "r"(rank) : "memory");
      },
      ptx::scope_cta);
}

/// Rank 0 copies a row into every CTA of the cluster; each waits on its own barrier.
extern "C" __global__ void __cluster_dims__(2, 1, 1) right_multicast(const int *in, int *out) {
  __shared__ alignas(128) int row[rows];
  __shared__ uint64_t bar;
  cg::cluster_group cluster = cg::this_cluster();
  start(cluster, &bar, 1);
  if (threadIdx.x == 0)
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar, bytes);
  cluster.sync(); // every barrier expects its bytes
  if (threadIdx.x == 0 && cluster.block_rank() == 0)
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, row, in, bytes, &bar, uint16_t(3));
  await(&bar, 0, ptx::scope_cluster);
  out[blockIdx.x * rows + threadIdx.x] = row[threadIdx.x];
  cluster.sync();
}

/// The barriers of the peers may not be there yet when rank 0 copies into them.
extern "C" __global__ void __cluster_dims__(2, 1, 1) wrong_init_not_published(const int *in, int *out) {
  __shared__ alignas(128) int row[rows];
  __shared__ uint64_t bar;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar, bytes);
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0 && cluster.block_rank() == 0)
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, row, in, bytes, &bar, uint16_t(3));
  await(&bar, 0, ptx::scope_cluster);
  out[blockIdx.x * rows + threadIdx.x] = row[threadIdx.x];
  cluster.sync();
}
