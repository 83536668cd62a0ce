// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a kernel of this folder asks of an NVIDIA GPU. templates/hip/machine.cuh is the same for AMD's, and the kernels
// are one text for both.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 lanes = 32;
typedef u32 Votes;    ///< a bit for each lane of a warp
typedef uint4 Packet; ///< 16 bytes

#if CLUSTER > 1
#define KERNEL extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(BLOCK_THREADS)
#else
#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
#endif

__device__ __forceinline__ u32 gridSize() { return gridDim.x; }

/// Nanoseconds.
__device__ __forceinline__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Lanes of a warp. Lanes that left a loop after different numbers of rounds come together at warpBarrier.
__device__ __forceinline__ Votes ballot(bool vote) { return __ballot_sync(~0u, vote); }
__device__ __forceinline__ u32 countOf(Votes votes) { return __popc(votes); }
template <typename T> __device__ __forceinline__ T ofLane(T value, u32 lane) { return __shfl_sync(~0u, value, lane); }
__device__ __forceinline__ void warpBarrier() { __syncwarp(); }

/// A barrier after which one thread publishes what all have written and read.
__device__ __forceinline__ void publishingBarrier() { __syncthreads(); }

// PTX ISA, "Release and Acquire Patterns": what was written before the store is seen after the load that reads it.
__device__ __forceinline__ void setSignal(u64 at, u64 value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

// On sm_90 and later the polls are relaxed, and one fence behind them acquires; earlier chips have no fence that only does that.
__device__ __forceinline__ u64 pollSignal(u64 at) {
  u64 now;
#if __CUDA_ARCH__ >= 900
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(now) : "l"(at) : "memory");
#else
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(now) : "l"(at) : "memory");
#endif
  return now;
}
__device__ __forceinline__ void acquireBehindPoll() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.acquire.sys;" ::: "memory");
#endif
}
/// By all lanes of a warp, behind all polls of its lanes.
__device__ __forceinline__ void acquireTogether() {}

/// A word that other CTAs of this launch may be changing.
__device__ __forceinline__ u64 loadShared(const u64 *at) {
  u64 value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}

/// Releases what this thread has seen and acquires what those before it had.
__device__ __forceinline__ u32 takeTicket(u32 *at) {
  u32 taken;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(taken) : "l"(at) : "memory");
  return taken;
}

/// Rows are read and written once.
__device__ __forceinline__ Packet loadPacket(u64 from) {
  Packet v;
  asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ __forceinline__ void storePacket(u64 to, Packet v) {
  asm volatile("st.global.L1::no_allocate.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}

// Rounded once each, and never fused.
__device__ __forceinline__ float addRounded(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float fusedMultiplyAdd(float a, float b, float c) { return __fmaf_rn(a, b, c); }

__device__ __forceinline__ u32 packBf16(float low, float high) {
  u32 word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
__device__ __forceinline__ u32 packF16(float low, float high) {
  unsigned short lowBits, highBits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(lowBits) : "f"(low));
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(highBits) : "f"(high));
  return u32(lowBits) | u32(highBits) << 16;
}
__device__ __forceinline__ float unpackF16(u32 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
  return value;
}

// CTAs of a cluster.
#if CLUSTER > 1
__device__ __forceinline__ u32 clusterRank() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// Writes into the variable of that name in a CTA of the cluster.
__device__ __forceinline__ void handTo(u32 *own, u32 rank, u32 value) {
  u32 at = u32(__cvta_generic_to_shared(own)), there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(value) : "memory");
}
// PTX ISA, "barrier.cluster": arrive releases and wait acquires at cluster scope unless they say otherwise.
__device__ __forceinline__ void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#else
__device__ __forceinline__ u32 clusterRank() { return 0; }
__device__ __forceinline__ void handTo(u32 *own, u32, u32 value) { *own = value; }
__device__ __forceinline__ void clusterBarrier() { __syncthreads(); }
#endif
