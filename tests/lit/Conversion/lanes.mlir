// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// DEFINE: %{chip} = sm_90a
// DEFINE: %{isa} = 80
// DEFINE: %{ptx} = interlock-opt %s --convert-interlock-to-nvvm=chip=%{chip} | mlir-translate --mlir-to-llvmir | llc -mtriple=nvptx64-nvidia-cuda -mcpu=%{chip} -mattr=+ptx%{isa} | FileCheck %s
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_80
// REDEFINE: %{isa} = 70
// RUN: %{ptx}

// CHECK-LABEL: .entry lanes
func.func @lanes(%a: i64, %i: i32, %l: i64, %f: f32) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %zero = arith.constant 0 : i32
  %flag = arith.cmpi eq, %i, %zero : i32
  // CHECK: vote.sync.ballot.b32 %[[V:r[0-9]+]], %p{{[0-9]+}}, -1;
  // CHECK: cvt.u64.u32 %{{.*}}, %[[V]];
  %votes = ep.ballot %flag : i64
  sync.signal_set relaxed gpu %p, %votes : i64
  // CHECK: shfl.sync.idx.b32 %{{.*}}, %{{.*}}, %{{.*}}, 31, -1;
  %x = ep.shuffle %i, %i : i32
  sync.signal_set relaxed gpu %p, %x : i32
  // CHECK: shfl.sync.idx.b32 %{{.*}}, %{{.*}}, %{{.*}}, 31, -1;
  %y = ep.shuffle %f, %i : f32
  %bits = arith.bitcast %y : f32 to i32
  sync.signal_set relaxed gpu %p, %bits : i32
  // CHECK-COUNT-2: shfl.sync.idx.b32 %{{.*}}, %{{.*}}, %{{.*}}, 31, -1;
  %z = ep.shuffle %l, %i : i64
  sync.signal_set relaxed gpu %p, %z : i64
  // CHECK: shfl.sync.up.b32 %{{.*}}, %{{.*}}, 1, 0, -1;
  // CHECK: shfl.sync.up.b32 %{{.*}}, %{{.*}}, 2, 0, -1;
  // CHECK: shfl.sync.up.b32 %{{.*}}, %{{.*}}, 4, 0, -1;
  // CHECK: shfl.sync.up.b32 %{{.*}}, %{{.*}}, 8, 0, -1;
  // CHECK: shfl.sync.up.b32 %{{.*}}, %{{.*}}, 16, 0, -1;
  %s = ep.scan %i : i32
  sync.signal_set relaxed gpu %p, %s : i32
  // CHECK: ret;
  return
}

// CHECK-LABEL: .entry places
func.func @places(%a: i64, %window: i64, %stride: i64, %rank: i32) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  // CHECK: mov.u32 %{{.*}}, %tid.x;
  %t = ep.thread_id : i32
  sync.signal_set relaxed gpu %p, %t : i32
  // CHECK: mov.u32 %{{.*}}, %laneid;
  %l = ep.lane_id : i32
  sync.signal_set relaxed gpu %p, %l : i32
  // CHECK: shr.u32 %{{.*}}, %{{.*}}, 5;
  %w = ep.warp_id : i32
  sync.signal_set relaxed gpu %p, %w : i32
  // CHECK: mov.u32 %{{.*}}, %ctaid.x;
  %c = ep.cta_id : i32
  sync.signal_set relaxed gpu %p, %c : i32
  // CHECK: mov.u32 %{{.*}}, %nctaid.x;
  %n = ep.cta_count : i32
  sync.signal_set relaxed gpu %p, %n : i32
  // CHECK: {{mul.wide.u32|cvt.u64.u32|mad.lo.s64}}
  %q = ep.peer_ptr %window, %stride, %rank, %a : !sync.ptr<global>
  ep.store %n, %q : i32, !sync.ptr<global>
  // CHECK: ret;
  return
}
