// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// RUN: interlock-opt %s --convert-interlock-to-nvvm=chip=sm_100a | mlir-translate --mlir-to-llvmir | llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_100a -mattr=+ptx86 | FileCheck %s
// RUN: not interlock-opt %s --convert-interlock-to-nvvm=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=OLD

// CHECK: .entry single
// CHECK: clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128
// CHECK: clusterlaunchcontrol.query_cancel.is_canceled.pred.b128
// CHECK: clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128
// OLD: expected a chip with cluster launch control for sync.try_cancel, got sm_90a, which has none
func.func @single(%to: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %s = sync.shared_alloc bytes = 16 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %g = ep.global_ptr %to : !sync.ptr<global>
  sync.try_cancel %s, %b
  %answer = ep.packet_load %s : !sync.ptr<shared> -> vector<4xi32>
  %yes = sync.is_canceled %answer : vector<4xi32> -> i1
  scf.if %yes {
    %cta = sync.canceled_cta %answer : vector<4xi32> -> i32
    ep.store %cta, %g : i32, !sync.ptr<global>
  }
  return
}

// CHECK: .entry cluster
// CHECK: clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128
func.func @cluster() attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %s = sync.shared_alloc bytes = 16 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  sync.try_cancel %s, %b multicast
  return
}
