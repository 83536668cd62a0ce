// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s --convert-interlock-to-nvvm | FileCheck %s

module attributes {ep.target = "sm_90a"} {
  // CHECK-DAG: llvm.mlir.global internal @kernel_shared_0() {addr_space = 3 : i32, alignment = 8 : i64} : i64
  // CHECK-DAG: llvm.mlir.global internal @kernel_shared_1() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<48 x i8>
  // CHECK: llvm.func @kernel(%{{.*}}: i64, %{{.*}}: i32) attributes {nvvm.cluster_dim = array<i32: 4, 1, 1>, nvvm.kernel, nvvm.reqntid = array<i32: 96, 1, 1>}
  func.func @kernel(%window: i64, %n: i32)
      attributes {ep.kernel, ep.block_threads = 96 : i32, ep.cluster = 4 : i32} {
    // CHECK: llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
    %g = ep.global_ptr %window : !sync.ptr<global>
    %b = sync.barrier_alloc : !sync.barrier
    %s = sync.shared_alloc bytes = 48 align = 16 : !sync.ptr<shared>
    sync.barrier_init %b, count = 1
    // Pointers pass through loops and branches.
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %step = arith.constant 64 : i64
    // CHECK: llvm.br ^{{.*}}(%{{.*}}, %{{.*}} : i32, !llvm.ptr<1>)
    %end = scf.for %i = %zero to %n step %one iter_args(%p = %g) -> (!sync.ptr<global>) : i32 {
      // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
      ep.store %i, %p : i32, !sync.ptr<global>
      // CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %q = ep.offset %p, %step : !sync.ptr<global>
      scf.yield %q : !sync.ptr<global>
    }
    // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %v = ep.load %s : !sync.ptr<shared> -> i32
    ep.store %v, %end : i32, !sync.ptr<global>
    // CHECK: llvm.return
    return
  }

  // A cluster of one CTA is no cluster.
  // CHECK: llvm.func @lone() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>}
  func.func @lone() attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 1 : i32} {
    return
  }
}
