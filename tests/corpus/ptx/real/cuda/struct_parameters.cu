// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// All parameters in one struct, and a control block whose words are signals side by side: a counter that hands out work,
// a ticket that says who is last, status bits. One store of 16 bytes resets them. The fences are those that every chip
// from sm_70 on has: fence.acq_rel, for either side.
typedef unsigned int u32;
typedef unsigned long long u64;

struct Control {
  u64 op;
  u32 ticket, claim, status, dropped;
  u64 lastUse[2];
};

struct Params {
  char *window;
  u64 stride;
  const int *in;
  int *out;
  u32 rank, count, buffer, reserved;

  __device__ Control *control() const { return reinterpret_cast<Control *>(window + rank * stride); }
  __device__ u64 started() const { return u64(window + rank * stride) + 4096; }
};

enum class Fence { both, behind, before };

__device__ void fenceGpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

template <bool acquires> __device__ void waitFor(u64 at, u64 value) {
  u64 now;
  do {
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(now) : "l"(at) : "memory");
  } while (now < value);
  if (acquires)
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

template <Fence fence> __device__ bool isLast(Control *control) {
  __shared__ u32 taken;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fence != Fence::behind)
      fenceGpu();
    taken = atomicAdd(&control->ticket, 1);
    if (fence != Fence::before)
      fenceGpu();
  }
  __syncthreads();
  return taken == gridDim.x - 1;
}

template <bool acquires, Fence fence> __device__ void work(const Params &p) {
  __shared__ u32 unit;
  Control *control = p.control();
  u64 use = control->lastUse[p.buffer], op = control->op + 1;
  if (threadIdx.x == 0)
    waitFor<acquires>(p.started(), use);
  __syncthreads();
  for (;;) {
    if (threadIdx.x == 0)
      unit = atomicAdd(&control->claim, 1);
    __syncthreads();
    u32 here = unit;
    __syncthreads();
    if (here >= p.count)
      break;
    int value = p.in[here * blockDim.x + threadIdx.x];
    if (value < 0)
      atomicOr(&control->status, 1u);
    p.out[here * blockDim.x + threadIdx.x] = value;
  }
  if (!isLast<fence>(control))
    return;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (u32 i = 0; i < p.count; ++i)
      sum += p.out[i * blockDim.x];
    p.out[p.count * blockDim.x] = sum;
    control->lastUse[p.buffer] = op;
    control->ticket = control->claim = control->status = control->dropped = 0;
    control->op = op;
  }
}

extern "C" __global__ void right_fences(const Params p) { work<true, Fence::both>(p); }
extern "C" __global__ void wrong_no_acquire(const Params p) { work<true, Fence::before>(p); }
extern "C" __global__ void wrong_no_release(const Params p) { work<true, Fence::behind>(p); }
extern "C" __global__ void wrong_wait(const Params p) { work<false, Fence::both>(p); }
