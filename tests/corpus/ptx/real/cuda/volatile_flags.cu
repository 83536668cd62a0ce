// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Flags of the old school: volatile words, __ldcg, __threadfence, and a read-only load of what another CTA writes.

__device__ bool first() { return blockIdx.x == 0 && threadIdx.x == 0; }
__device__ bool second() { return blockIdx.x == 1 && threadIdx.x == 0; }

extern "C" __global__ void right_volatile_and_fences(int *data, volatile int *flag, int *result) {
  if (first()) {
    *data = 42;
    __threadfence();
    *flag = 1;
  } else if (second()) {
    while (*flag == 0) {
    }
    __threadfence();
    *result = *data;
  }
}

/// Only that it came matters: nothing is read after it.
extern "C" __global__ void right_arrival_only(volatile int *flag) {
  if (first()) {
    *flag = 1;
  } else if (second()) {
    while (*flag == 0) {
    }
  }
}

/// Flag and datum are one word.
extern "C" __global__ void right_own_sentinel(volatile unsigned long long *word, int *result) {
  if (first()) {
    *word = (1ull << 32) | 42;
  } else if (second()) {
    unsigned long long seen;
    while ((seen = *word) >> 32 == 0) {
    }
    *result = int(seen);
  }
}

extern "C" __global__ void wrong_volatile_flag(int *data, volatile int *flag, int *result) {
  if (first()) {
    *data = 42;
    *flag = 1;
  } else if (second()) {
    while (*flag == 0) {
    }
    *result = *data;
  }
}

/// A cache operator is a hint about performance; it orders nothing.
extern "C" __global__ void wrong_ldcg_flag(int *data, int *flag, int *result) {
  if (first()) {
    *data = 42;
    __threadfence();
    __stcg(flag, 1);
  } else if (second()) {
    while (__ldcg(flag) == 0) {
    }
    *result = *data;
  }
}

/// The fence stands behind the store that publishes.
extern "C" __global__ void wrong_fence_after_flag(int *data, volatile int *flag, int *result) {
  if (first()) {
    *data = 42;
    *flag = 1;
    __threadfence();
  } else if (second()) {
    while (*flag == 0) {
    }
    __threadfence();
    *result = *data;
  }
}

/// A non-coherent load may return what the cache held before the flag was seen.
extern "C" __global__ void wrong_read_only_load(int *data, volatile int *flag, int *result) {
  if (first()) {
    *data = 42;
    __threadfence();
    *flag = 1;
  } else if (second()) {
    while (*flag == 0) {
    }
    __threadfence();
    *result = __ldg(data);
  }
}
