// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s | FileCheck %s
// RUN: interlock-opt %s | interlock-opt | FileCheck %s
// RUN: interlock-opt %s --mlir-print-op-generic | interlock-opt | FileCheck %s

// CHECK-LABEL: @places
func.func @places() {
  // CHECK: ep.thread_id : i32
  %a = ep.thread_id : i32
  // CHECK: ep.lane_id : i32
  %b = ep.lane_id : i32
  // CHECK: ep.warp_id : i32
  %c = ep.warp_id : i32
  // CHECK: ep.cta_id : i32
  %d = ep.cta_id : i32
  // CHECK: ep.cta_count : i32
  %e = ep.cta_count : i32
  // CHECK: ep.cluster_id : i32
  %f = ep.cluster_id : i32
  // CHECK: ep.cluster_count : i32
  %g = ep.cluster_count : i32
  // CHECK: ep.cluster_rank : i32
  %h = ep.cluster_rank : i32
  return
}

// CHECK-LABEL: @addresses
func.func @addresses(%window: i64, %stride: i64, %rank: i32, %offset: i64, %s: !sync.ptr<shared>) {
  // CHECK: ep.global_ptr %{{.*}} : !sync.ptr<global>
  %p = ep.global_ptr %window : !sync.ptr<global>
  // CHECK: ep.peer_ptr %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !sync.ptr<global>
  %q = ep.peer_ptr %window, %stride, %rank, %offset : !sync.ptr<global>
  // CHECK: ep.offset %{{.*}}, %{{.*}} : !sync.ptr<global>
  %r = ep.offset %p, %offset : !sync.ptr<global>
  // CHECK: ep.offset %{{.*}}, %{{.*}} : !sync.ptr<shared>
  %t = ep.offset %s, %offset : !sync.ptr<shared>
  return
}

// CHECK-LABEL: @accesses
func.func @accesses(%g: !sync.ptr<global>, %s: !sync.ptr<shared>) {
  // CHECK: ep.load %{{.*}} : !sync.ptr<global> -> i8
  %a = ep.load %g : !sync.ptr<global> -> i8
  // CHECK: ep.store %{{.*}}, %{{.*}} : i8, !sync.ptr<shared>
  ep.store %a, %s : i8, !sync.ptr<shared>
  // CHECK: ep.load %{{.*}} : !sync.ptr<shared> -> f32
  %b = ep.load %s : !sync.ptr<shared> -> f32
  // CHECK: ep.store %{{.*}}, %{{.*}} : f32, !sync.ptr<global>
  ep.store %b, %g : f32, !sync.ptr<global>
  // CHECK: ep.packet_load %{{.*}} : !sync.ptr<global> -> vector<4xi32>
  %c = ep.packet_load %g : !sync.ptr<global> -> vector<4xi32>
  // CHECK: ep.packet_load %{{.*}} streaming : !sync.ptr<global> -> vector<4xi32>
  %d = ep.packet_load %g streaming : !sync.ptr<global> -> vector<4xi32>
  // CHECK: ep.packet_store %{{.*}}, %{{.*}} : vector<4xi32>, !sync.ptr<shared>
  ep.packet_store %c, %s : vector<4xi32>, !sync.ptr<shared>
  // CHECK: ep.packet_store %{{.*}}, %{{.*}} streaming : vector<4xi32>, !sync.ptr<global>
  ep.packet_store %d, %g streaming : vector<4xi32>, !sync.ptr<global>
  return
}

!elem = f16
!acc = vector<8xf32>

// CHECK-LABEL: @elements
func.func @elements(%packet: vector<4xi32>, %w: f32, %acc: !acc, %narrow: vector<4xf32>) {
  // CHECK: ep.unpack %{{.*}} as bf16 : vector<8xf32>
  %a = ep.unpack %packet as bf16 : vector<8xf32>
  // CHECK: ep.unpack %{{.*}} as f32 : vector<4xf32>
  %b = ep.unpack %packet as f32 : vector<4xf32>
  // CHECK: ep.accumulate %{{.*}}, %{{.*}}, %{{.*}} as f16 : vector<8xf32>
  %c = ep.accumulate %acc, %packet, %w as !elem : !acc
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = ep.packet_words %{{.*}}
  %word0, %word1, %word2, %word3 = ep.packet_words %packet
  // CHECK: ep.pack %{{.*}} as f16 : vector<8xf32>
  %d = ep.pack %c as !elem : !acc
  // CHECK: ep.pack %{{.*}} as f32 : vector<4xf32>
  %e = ep.pack %narrow as f32 : vector<4xf32>
  // CHECK: %[[CODES:.*]] = ep.quantize %{{.*}} as f8E4M3FN : vector<8xf32> -> i64
  %q = ep.quantize %acc as f8E4M3FN : vector<8xf32> -> i64
  // CHECK: ep.dequantize %[[CODES]] as f8E4M3FN : i64 -> vector<8xf32>
  %r = ep.dequantize %q as f8E4M3FN : i64 -> vector<8xf32>
  // CHECK: ep.quantize %{{.*}} as f8E4M3FNUZ : vector<4xf32> -> i32
  %s = ep.quantize %narrow as f8E4M3FNUZ : vector<4xf32> -> i32
  // CHECK: %[[WIDE:.*]] = ep.dequantize %{{.*}} as f8E4M3FNUZ : vector<4xi32> -> vector<16xf32>
  %t = ep.dequantize %packet as f8E4M3FNUZ : vector<4xi32> -> vector<16xf32>
  // CHECK: ep.quantize %[[WIDE]] as f8E4M3FNUZ : vector<16xf32> -> vector<4xi32>
  %u = ep.quantize %t as f8E4M3FNUZ : vector<16xf32> -> vector<4xi32>
  return
}

// CHECK-LABEL: @lanes
func.func @lanes(%flag: i1, %i: i32, %l: i64, %f: f32) {
  // CHECK: ep.ballot %{{.*}} : i64
  %a = ep.ballot %flag : i64
  // CHECK: ep.shuffle %{{.*}}, %{{.*}} : i32
  %b = ep.shuffle %i, %i : i32
  // CHECK: ep.shuffle %{{.*}}, %{{.*}} : i64
  %c = ep.shuffle %l, %i : i64
  // CHECK: ep.shuffle %{{.*}}, %{{.*}} : f32
  %d = ep.shuffle %f, %i : f32
  // CHECK: ep.scan %{{.*}} : i32
  %e = ep.scan %i : i32
  return
}

#schedule = #ep.schedule<claimed>

// CHECK-LABEL: @tiles
func.func @tiles(%count: i32, %claim: !sync.ptr<global>) {
  // CHECK: ep.for_each_tile %[[T:.*]] in %{{.*}} claim %{{.*}} {cluster = 4 : i32, schedule = #ep.schedule<claimed>} {
  ep.for_each_tile %tile in %count claim %claim {schedule = #schedule, cluster = 4 : i32} {
    // CHECK: arith.addi %[[T]], %[[T]]
    %double = arith.addi %tile, %tile : i32
    ep.store %double, %claim : i32, !sync.ptr<global>
  }
  // CHECK: ep.for_each_tile %{{.*}} in %{{.*}} claim %{{[a-z0-9]*}} through %{{[a-z0-9]*}} {cluster = 2 : i32, remote_shared = false, schedule = #ep.schedule<claimed>} {
  ep.for_each_tile %tile in %count claim %claim through %claim
      {schedule = #schedule, cluster = 2 : i32, remote_shared = false} {
  }
  // CHECK: %{{.*}} = ep.for_each_tile %{{.*}} in %{{.*}} {cluster = 2 : i32, schedule = #ep.schedule<clc>} {
  %ctas = ep.for_each_tile %tile in %count {schedule = #ep.schedule<clc>, cluster = 2 : i32} {
  }
  // CHECK: ep.for_each_tile %{{.*}} in %{{[a-z0-9]*}} {cluster = 1 : i32, schedule = #ep.schedule<grid_stride>} {
  ep.for_each_tile %tile in %count {schedule = #ep.schedule<grid_stride>, cluster = 1 : i32} {
  }
  return
}

// Lanes must execute these together: none moves, none is merged, none goes.
// RUN: interlock-opt %s -cse -canonicalize | FileCheck %s --check-prefix=KEEP
// KEEP-LABEL: @together
func.func @together(%flag: i1, %i: i32) {
  // KEEP-COUNT-2: ep.ballot
  %a = ep.ballot %flag : i64
  %b = ep.ballot %flag : i64
  // KEEP-COUNT-2: ep.shuffle
  %c = ep.shuffle %i, %i : i32
  %d = ep.shuffle %i, %i : i32
  // KEEP-COUNT-2: ep.scan
  %e = ep.scan %i : i32
  %f = ep.scan %i : i32
  return
}

// A barrier between two loads keeps both; without one the second is the first.
// KEEP-LABEL: @loads
func.func @loads(%s: !sync.ptr<shared>) -> (i32, i32, i32) {
  // KEEP: %[[A:.*]] = ep.load
  %a = ep.load %s : !sync.ptr<shared> -> i32
  %b = ep.load %s : !sync.ptr<shared> -> i32
  // KEEP-NEXT: sync.cta_barrier
  sync.cta_barrier
  // KEEP-NEXT: %[[C:.*]] = ep.load
  %c = ep.load %s : !sync.ptr<shared> -> i32
  // KEEP-NEXT: return %[[A]], %[[A]], %[[C]]
  return %a, %b, %c : i32, i32, i32
}

// A function of the dialects' operations can be inlined.
// RUN: interlock-opt %s -inline | FileCheck %s --check-prefix=INLINE
func.func private @publish(%g: !sync.ptr<global>, %v: i64) {
  sync.signal_set release sys %g, %v : i64
  return
}
// INLINE-LABEL: func.func @inlined
func.func @inlined(%a: i64) {
  %g = ep.global_ptr %a : !sync.ptr<global>
  // INLINE: sync.signal_set release sys
  // INLINE-NOT: call
  func.call @publish(%g, %a) : (!sync.ptr<global>, i64) -> ()
  // INLINE: return
  return
}
