// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A barrier is a word of LDS: its storage, its first state, how it is changed, looked at and waited for; copies that
// complete on it; and barriers of threads.
// REQUIRES: compiler
// RUN: interlock-opt %s --convert-interlock-to-rocdl=chip=gfx942 -canonicalize | FileCheck %s

// CHECK: llvm.mlir.global internal @barriers_shared_0() {addr_space = 3 : i32, alignment = 8 : i64} : i64
// CHECK-LABEL: llvm.func @barriers
func.func @barriers(%a: i64, %parity: i32) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  // CHECK-DAG: %[[FIRST:.*]] = llvm.mlir.constant(4194308 : i64) : i64
  // CHECK-DAG: %[[BYTES:.*]] = llvm.mlir.constant(96 : i64) : i64
  %p = ep.global_ptr %a : !sync.ptr<global>
  %b = sync.barrier_alloc : !sync.barrier
  // Four arrivals a phase, and four that the first one waits for.
  // CHECK: llvm.store %[[FIRST]], %[[B:.*]] {alignment = 8 : i64} : i64, !llvm.ptr<3>
  sync.barrier_init %b, count = 4
  // CHECK: llvm.fence syncscope("workgroup") release
  // CHECK-NEXT: rocdl.s.waitcnt 3952
  // CHECK-NOT: llvm.fence
  // CHECK: llvm.load %[[B]] atomic syncscope("workgroup") monotonic {alignment = 8 : i64}
  // CHECK: llvm.cmpxchg %[[B]], %{{.*}}, %{{.*}} syncscope("workgroup") monotonic monotonic :
  sync.barrier_arrive release cta %b
  // Stores to global memory are not waited for where none matters.
  // CHECK: llvm.fence syncscope("workgroup") release
  // CHECK-NOT: rocdl.s.waitcnt
  // CHECK: llvm.cmpxchg %[[B]]
  sync.barrier_arrive release cta %b {sync.shared_only}
  // CHECK-NOT: llvm.fence
  // CHECK: llvm.cmpxchg %[[B]]
  sync.barrier_arrive relaxed cta %b
  // CHECK-NOT: llvm.fence
  // CHECK: llvm.add %{{.*}}, %[[BYTES]] : i64
  // CHECK: llvm.cmpxchg %[[B]]
  sync.barrier_expect_tx relaxed cta %b, bytes = 96
  // A look is monotonic; one that failed sleeps, one that succeeded acquires once.
  // CHECK: llvm.load %[[B]] atomic syncscope("workgroup") monotonic
  // CHECK: %[[DONE:.*]] = llvm.icmp "ne"
  // CHECK: llvm.cond_br
  // CHECK: rocdl.s.sleep 1
  // CHECK: llvm.cond_br %[[DONE]]
  // CHECK: llvm.fence syncscope("workgroup") acquire
  %d = sync.barrier_try_wait acquire cta %b, %parity : i1
  %e = arith.extui %d : i1 to i32
  ep.store %e, %p : i32, !sync.ptr<global>
  return
}

// CHECK-LABEL: llvm.func @copies
func.func @copies(%a: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 4096 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  // One proxy: nothing to order.
  // CHECK-NOT: llvm.fence
  sync.proxy_fence generic async
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK: llvm.fence syncscope("workgroup") release
  // CHECK: llvm.cmpxchg
  sync.bulk_copy %s, %p, %n on %b : !sync.ptr<shared>, !sync.ptr<global>
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  // CHECK-NOT: llvm.cmpxchg
  sync.bulk_copy %p, %s, %n : !sync.ptr<global>, !sync.ptr<shared>
  sync.bulk_commit
  sync.bulk_wait 0
  return
}

// CHECK-LABEL: llvm.func @threads
func.func @threads() attributes {ep.kernel, ep.block_threads = 128 : i32} {
  // CHECK: llvm.fence syncscope("workgroup") release
  // CHECK-NEXT: rocdl.s.waitcnt 3952
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.fence syncscope("workgroup") acquire
  sync.cta_barrier
  // CHECK: llvm.fence syncscope("wavefront") release
  // CHECK-NEXT: llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
  // CHECK-NEXT: llvm.fence syncscope("wavefront") acquire
  sync.warp_barrier
  return
}
