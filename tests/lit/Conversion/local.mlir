// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s --convert-interlock-to-nvvm=chip=sm_90a | mlir-translate --mlir-to-llvmir | llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90a -mattr=+ptx86 | FileCheck %s
// RUN: not interlock-opt %s --convert-interlock-to-nvvm=chip=sm_80 2>&1 | FileCheck %s --check-prefix=OLD

// OLD: expected a chip with programmatic dependent launch for sync.dependency_wait, got sm_80, which has none
// OLD: expected a chip with programmatic dependent launch for sync.launch_dependents, got sm_80, which has none

// CHECK-LABEL: .entry local
func.func @local(%i: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  // CHECK: .shared .align 8 .b8 local_shared_0[32];
  %ring = sync.barrier_alloc count = 4 : !sync.barrier
  %b = sync.barrier_at %ring, %i : !sync.barrier
  // CHECK: griddepcontrol.wait;
  sync.dependency_wait
  // CHECK: griddepcontrol.launch_dependents;
  sync.launch_dependents
  // CHECK: mbarrier.init.shared.b64 [%r
  sync.barrier_init %b, count = 3
  return
}
