// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels that have nothing to do with ours, as anybody writes them in HIP: no header is included, so that clang alone
// and hiprtc compile them. Each takes (out, in, n); tests/emulator/CodeObjectTest.cpp has the same in C++ for the host.

typedef unsigned int u32;
typedef unsigned long long u64;

#if !defined(__HIPCC_RTC__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#endif
#define KERNEL extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(1, 256)))

static __device__ u32 thread() { return __builtin_amdgcn_workitem_id_x(); }
static __device__ u32 threads() { return __builtin_amdgcn_workgroup_size_x(); }
static __device__ u32 index() { return __builtin_amdgcn_workgroup_id_x() * threads() + thread(); }
static __device__ u32 size() { return __builtin_amdgcn_grid_size_x(); }
static __device__ void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// A loop over the grid, in fused multiply-adds.
KERNEL void axpy(float *out, const float *in, u32 n) {
  for (u32 i = index(); i < n; i += size())
    out[i] = __builtin_fmaf(1.5f, in[i], out[i]);
}

// A tree in LDS, then one atomic for a workgroup.
KERNEL void sum(u32 *out, const u32 *in, u32 n) {
  __shared__ u32 part[256];
  part[thread()] = index() < n ? in[index()] : 0;
  barrier();
  for (u32 half = threads() / 2; half; half /= 2) {
    if (thread() < half)
      part[thread()] += part[thread() + half];
    barrier();
  }
  if (thread() == 0)
    __atomic_fetch_add(out, part[0], __ATOMIC_RELAXED);
}

// Atomics in LDS and in memory.
KERNEL void histogram(u32 *out, const u32 *in, u32 n) {
  __shared__ u32 bins[64];
  if (thread() < 64)
    bins[thread()] = 0;
  barrier();
  for (u32 i = index(); i < n; i += size())
    __atomic_fetch_add(&bins[in[i] & 63], 1, __ATOMIC_RELAXED);
  barrier();
  if (thread() < 64 && bins[thread()])
    __atomic_fetch_add(&out[thread()], bins[thread()], __ATOMIC_RELAXED);
}

// Constants that code finds by its own address, a switch, and calls by name and through a table.
__constant__ const u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
static __device__ __attribute__((noinline)) u32 twist(u32 x, u32 by) {
  switch (by & 3) {
  case 0:
    return x * primes[by & 7];
  case 1:
    return x / primes[by & 7];
  case 2:
    return x % primes[by & 7] + by;
  default:
    return (x << (by & 15)) | (x >> (32 - (by & 15)));
  }
}
KERNEL void table(u32 *out, const u32 *in, u32 n) {
  for (u32 i = index(); i < n; i += size())
    out[i] = twist(in[i], i) ^ twist(i, in[i]);
}

// Numbers of 64 bits, doubles, and divisions and roots that are rounded as IEEE 754 says.
KERNEL void numbers(u64 *out, const u64 *in, u32 n) {
  for (u32 i = index(); i < n; i += size()) {
    u64 a = in[i], b = (in[(i + 1) % n] >> 40) | 1;
    double x = double(a >> 11), y = double(b);
    float f = float(u32(a >> 32)), g = float(u32(b)) + 0.5f;
    u64 bits;
    double quotient = x / y + __builtin_fma(x, 0.25, y);
    __builtin_memcpy(&bits, &quotient, 8);
    float ratio = f / g;
    u32 small;
    __builtin_memcpy(&small, &ratio, 4);
    out[i] = a / b ^ (a % b) * 7 ^ bits ^ u64(small) << 13 ^ u64(__builtin_popcountll(a)) ^ u64(__builtin_clzll(a | 1)) << 8;
  }
}

// Lanes read each other's registers; what each lane needs does not depend on the wave's width.
KERNEL void neighbours(u32 *out, const u32 *in, u32 n) {
  u32 i = index(), mine = i < n ? in[i] : 0;
  u32 lane = thread() & 15, base = thread() & ~15u;
  u32 total = mine;
  for (u32 step = 1; step < 16; step *= 2) {
    u32 other = u32(__builtin_amdgcn_ds_bpermute(int((base | (lane ^ step)) << 2), int(total)));
    total += other;
  }
  u32 swapped = u32(__builtin_amdgcn_mov_dpp(int(mine), 0xb1, 15, 15, true)); // quad_perm:[1,0,3,2]
  if (i < n)
    out[i] = total * 3 + swapped;
}

// An array in registers or scratch memory, by an index that only run time knows.
KERNEL void scratch(u32 *out, const u32 *in, u32 n) {
  for (u32 i = index(); i < n; i += size()) {
    u32 kept[24];
    for (u32 k = 0; k < 24; ++k)
      kept[k] = in[(i + k) % n] + k;
    for (u32 k = 0; k < 24; ++k)
      kept[kept[k] % 24] += kept[(k * 7 + i) % 24];
    u32 all = 0;
    for (u32 k = 0; k < 24; ++k)
      all = all * 31 + kept[k];
    out[i] = all;
  }
}

// Halves, bytes, and comparisons of floats that are no numbers.
KERNEL void narrow(u32 *out, const u32 *in, u32 n) {
  for (u32 i = index(); i < n; i += size()) {
    float f = __builtin_bit_cast(float, in[i]);
    _Float16 h = (_Float16)(float(int(in[i] & 2047) - 1024) * 0.25f);
    _Float16 k = h * h + (_Float16)1.5f;
    signed char low = (signed char)in[i];
    unsigned short wide = (unsigned short)(in[i] >> 8);
    u32 bits = f < 1.0f ? 1 : f > 1.0f ? 2 : f == 1.0f ? 4 : 8;
    out[i] = bits | (u32(__builtin_bit_cast(unsigned short, k)) << 8 ^ u32(int(low) * int(wide)));
  }
}
