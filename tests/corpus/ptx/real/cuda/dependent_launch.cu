// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Programmatic dependent launch: what the earlier kernel wrote is there after griddepcontrol.wait, and not before.

extern "C" __global__ void right_primary(int *data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = int(threadIdx.x);
  cudaTriggerProgrammaticLaunchCompletion();
}

extern "C" __global__ void right_secondary(const int *data, const int *table, int *out) {
  int own = table[threadIdx.x]; // not the primary's
  cudaGridDependencySynchronize();
  out[threadIdx.x] = data[threadIdx.x] + own;
}
