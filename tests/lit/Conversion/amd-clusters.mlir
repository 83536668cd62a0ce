// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Clusters of gfx1250: their ids, their barrier, and what makes them (the code object's cluster dimensions).
// REQUIRES: compiler
// RUN: interlock-opt %s --convert-interlock-to-rocdl=chip=gfx1250 | mlir-translate --mlir-to-llvmir | llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx1250 | FileCheck %s

// CHECK-LABEL: {{^}}clusters:
func.func @clusters(%a: i64) attributes {ep.kernel, ep.block_threads = 128 : i32, ep.cluster = 4 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %id = ep.cluster_id : i32
  %rank = ep.cluster_rank : i32
  %count = ep.cluster_count : i32
  %x0 = arith.addi %id, %rank : i32
  %x1 = arith.addi %x0, %count : i32
  // CHECK: global_store_b32
  ep.store %x1, %p : i32, !sync.ptr<global>
  // A CTA's waves meet; the one that came first signals the cluster, for all that its CTA has stored.
  // CHECK: s_wait_storecnt 0x0
  // CHECK: s_barrier_signal_isfirst -1
  // CHECK: s_barrier_wait -1
  // CHECK: s_barrier_signal -3
  sync.cluster_arrive release
  // CHECK: s_barrier_wait -3
  // CHECK: global_inv scope:SCOPE_SE
  sync.cluster_wait acquire
  // CHECK: global_load_b32
  %y = ep.load %p : !sync.ptr<global> -> i32
  %q = ep.offset %p, %a : !sync.ptr<global>
  ep.store %y, %q : i32, !sync.ptr<global>
  return
}
// CHECK: .cluster_dims:
// CHECK-NEXT: - 4
// CHECK-NEXT: - 1
// CHECK-NEXT: - 1
