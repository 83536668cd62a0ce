// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the kernels of templates/cuda ask of an AMD GPU: HIP C++ reads their text with this machine.cuh in the place of
// theirs. Order as compiler/Conversion/OrderROCDL.cpp has it: monotonic accesses between fences (LLVM, "User Guide for
// AMDGPU Backend", "Memory Model"). Tried with gfx90a, the one chip of ours that the hiprtc at hand compiles for.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 lanes = __AMDGCN_WAVEFRONT_SIZE;
typedef u64 Votes;                                            ///< a bit for each lane of a wave
typedef u32 Packet __attribute__((ext_vector_type(4)));       ///< 16 bytes
typedef __attribute__((address_space(1))) Packet GlobalPacket;
typedef __attribute__((address_space(1))) u64 GlobalWord;

#if CLUSTER > 1
#error "HIP has no clusters"
#endif
#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)

/// From the dispatch packet: gridDim would be an implicit argument, which only HIP's own runtime gives.
__device__ __forceinline__ u32 gridSize() { return __builtin_amdgcn_grid_size_x() / BLOCK_THREADS; }

/// Nanoseconds, of a constant 100 MHz clock.
__device__ __forceinline__ u64 nanoseconds() {
#ifdef __GFX9__
  return __builtin_amdgcn_s_memrealtime() * 10;
#else
  return __builtin_amdgcn_s_sendmsg_rtnl(0x83) * 10; // MSG_RTN_GET_REALTIME
#endif
}

// Lanes of a wave, which go together.
__device__ __forceinline__ Votes ballot(bool vote) { return __builtin_amdgcn_uicmp(u32(vote), 0u, 33 /* not equal */); }
__device__ __forceinline__ u32 countOf(Votes votes) { return u32(__builtin_popcountll(votes)); }
__device__ __forceinline__ int ofLane(int value, u32 lane) { return __builtin_amdgcn_ds_bpermute(int(lane * 4), value); }
__device__ __forceinline__ float ofLane(float value, u32 lane) {
  return __builtin_bit_cast(float, ofLane(__builtin_bit_cast(int, value), lane));
}
__device__ __forceinline__ u64 ofLane(u64 value, u32 lane) {
  return u64(u32(ofLane(int(value), lane))) | u64(u32(ofLane(int(value >> 32), lane))) << 32;
}
__device__ __forceinline__ void warpBarrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

/// Behind a release. Two things that LLVM leaves open on gfx9 are mended by it: the wait behind buffer_wbl2, which it drops
/// where nothing else is outstanding, and stores that it leaves outstanding at a barrier (OrderROCDL.cpp).
__device__ __forceinline__ void waitForStores() {
#ifdef __GFX9__
  __builtin_amdgcn_s_waitcnt(0x0f70); // vmcnt(0)
#endif
}

/// A barrier after which one thread publishes what all have written and read.
__device__ __forceinline__ void publishingBarrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  waitForStores();
  __syncthreads();
}

__device__ __forceinline__ void setSignal(u64 at, u64 value) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
  waitForStores();
  __hip_atomic_store((GlobalWord *)at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ __forceinline__ u64 pollSignal(u64 at) {
  return __hip_atomic_load((GlobalWord *)at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ __forceinline__ void acquireBehindPoll() {}
/// By all lanes of a wave, behind all polls of its lanes: caches are invalidated for all of them, and no path leads around
/// it, as would where some lanes give up.
__device__ __forceinline__ void acquireTogether() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, ""); }

/// A word that other CTAs of this launch may be changing.
__device__ __forceinline__ u64 loadShared(const u64 *at) {
  return __hip_atomic_load((GlobalWord *)at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/// Releases what this thread has seen and acquires what those before it had.
__device__ __forceinline__ u32 takeTicket(u32 *at) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  waitForStores();
  u32 taken = __hip_atomic_fetch_add((__attribute__((address_space(1))) u32 *)at, 1u, __ATOMIC_RELAXED,
                                     __HIP_MEMORY_SCOPE_AGENT);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  return taken;
}

/// Rows are read and written once.
__device__ __forceinline__ Packet loadPacket(u64 from) { return __builtin_nontemporal_load((const GlobalPacket *)from); }
__device__ __forceinline__ void storePacket(u64 to, Packet v) { __builtin_nontemporal_store(v, (GlobalPacket *)to); }

// Rounded once each, and never fused.
__device__ __forceinline__ float addRounded(float a, float b) {
#pragma clang fp contract(off)
  return a + b;
}
__device__ __forceinline__ float fusedMultiplyAdd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// To the nearest, ties to even; a NaN is 0x7fff, as on other chips.
__device__ __forceinline__ u32 bf16Of(float value) {
  u32 bits = __float_as_uint(value);
  return value != value ? 0x7fffu : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
__device__ __forceinline__ u32 packBf16(float low, float high) { return bf16Of(low) | bf16Of(high) << 16; }
__device__ __forceinline__ u32 f16Of(float value) {
  return value != value ? 0x7fffu : u32(__builtin_bit_cast(unsigned short, _Float16(value)));
}
__device__ __forceinline__ u32 packF16(float low, float high) { return f16Of(low) | f16Of(high) << 16; }
__device__ __forceinline__ float unpackF16(u32 bits) {
  return float(__builtin_bit_cast(_Float16, (unsigned short)bits));
}

// A cluster is one CTA.
__device__ __forceinline__ u32 clusterRank() { return 0; }
__device__ __forceinline__ void handTo(u32 *own, u32, u32 value) { *own = value; }
__device__ __forceinline__ void clusterBarrier() { __syncthreads(); }
