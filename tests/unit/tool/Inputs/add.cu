// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The example of docs/guide/command.md.
extern "C" __global__ void add(int *x, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    x[i] += N;
}
