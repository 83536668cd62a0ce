// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Waves of 64 and of 32 lanes from the same operations.
// REQUIRES: compiler
// DEFINE: %{chip} =
// DEFINE: %{check} =
// DEFINE: %{lowered} = interlock-opt %s --convert-interlock-to-rocdl=chip=%{chip} | FileCheck %s --check-prefixes=CHECK,%{check}
// REDEFINE: %{check} = W64
// REDEFINE: %{chip} = gfx90a
// RUN: %{lowered}
// REDEFINE: %{chip} = gfx942
// RUN: %{lowered}
// REDEFINE: %{chip} = gfx950
// RUN: %{lowered}
// REDEFINE: %{check} = W32
// REDEFINE: %{chip} = gfx1100
// RUN: %{lowered}
// REDEFINE: %{chip} = gfx1201
// RUN: %{lowered}
// REDEFINE: %{chip} = gfx1250
// RUN: %{lowered}

// CHECK-LABEL: llvm.func @ids
// CHECK-SAME: passthrough = {{.*}}["denormal-fp-math-f32", "ieee,ieee"]{{.*}}"amdgpu-no-implicitarg-ptr"
// CHECK-SAME: rocdl.flat_work_group_size = "128,128", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 128, 1, 1>
func.func @ids(%a: i64) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  // W64-DAG: llvm.mlir.constant(63 : i32)
  // W32-DAG: llvm.mlir.constant(31 : i32)
  // CHECK: %[[T:.*]] = rocdl.workitem.id.x : i32
  // CHECK: llvm.and %[[T]]
  %lane = ep.lane_id : i32
  // CHECK: %[[W:.*]] = llvm.udiv
  // CHECK: rocdl.readfirstlane %[[W]] : i32
  %warp = ep.warp_id : i32
  // CHECK: rocdl.workgroup.id.x : i32
  %cta = ep.cta_id : i32
  // The grid's size in threads, from the dispatch packet, over the threads of a CTA.
  // CHECK: %[[D:.*]] = llvm.call_intrinsic "llvm.amdgcn.dispatch.ptr"() : () -> !llvm.ptr<4>
  // CHECK: %[[AT:.*]] = llvm.getelementptr %[[D]][12] : (!llvm.ptr<4>) -> !llvm.ptr<4>, i8
  // CHECK: %[[G:.*]] = llvm.load %[[AT]] invariant {alignment = 4 : i64} : !llvm.ptr<4> -> i32
  // CHECK: llvm.udiv %[[G]]
  %ctas = ep.cta_count : i32
  %x0 = arith.addi %lane, %warp : i32
  %x1 = arith.addi %x0, %cta : i32
  %x2 = arith.addi %x1, %ctas : i32
  ep.store %x2, %p : i32, !sync.ptr<global>
  return
}

// CHECK-LABEL: llvm.func @lanes
func.func @lanes(%a: i64, %v: i32, %w: i64, %f: f32, %l: i32, %b: i1) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  // W64: rocdl.ballot %{{.*}} : i64
  // W32: %[[V:.*]] = rocdl.ballot %{{.*}} : i32
  // W32: llvm.zext %[[V]] : i32 to i64
  %votes = ep.ballot %b : i64
  ep.store %votes, %p : i64, !sync.ptr<global>
  // CHECK: %[[BYTES:.*]] = llvm.shl
  // CHECK: rocdl.ds_bpermute %[[BYTES]], %{{.*}} : (i32, i32) -> i32
  %s = ep.shuffle %v, %l : i32
  ep.store %s, %p : i32, !sync.ptr<global>
  // CHECK-COUNT-2: rocdl.ds_bpermute
  %t = ep.shuffle %w, %l : i64
  ep.store %t, %p : i64, !sync.ptr<global>
  // CHECK: llvm.bitcast %{{.*}} : f32 to i32
  // CHECK: %[[O:.*]] = rocdl.ds_bpermute
  // CHECK: llvm.bitcast %[[O]] : i32 to f32
  %g = ep.shuffle %f, %l : f32
  ep.store %g, %p : f32, !sync.ptr<global>
  // One step for each doubling of the distance.
  // W64-COUNT-6: rocdl.ds_bpermute
  // W32-COUNT-5: rocdl.ds_bpermute
  // CHECK-NOT: rocdl.ds_bpermute
  %sum = ep.scan %v : i32
  ep.store %sum, %p : i32, !sync.ptr<global>
  return
}
