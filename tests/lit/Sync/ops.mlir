// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s | FileCheck %s
// RUN: interlock-opt %s | interlock-opt | FileCheck %s
// RUN: interlock-opt %s --mlir-print-op-generic | interlock-opt | FileCheck %s

// CHECK-LABEL: @handoffs
func.func @handoffs(%it: i32, %wide: i64) {
  // CHECK: %[[H:.*]] = sync.handoff cluster = 4 stages = 2 : !sync.handoff<i64>
  %h = sync.handoff cluster = 4 stages = 2 : !sync.handoff<i64>
  // CHECK: sync.producer_acquire %[[H]][%{{.*}}] : !sync.handoff<i64>
  sync.producer_acquire %h[%it] : !sync.handoff<i64>
  // CHECK: sync.publish %[[H]][%{{.*}}], %{{.*}} scope(cluster) : !sync.handoff<i64>
  sync.publish %h[%it], %wide scope(cluster) : !sync.handoff<i64>
  // CHECK: sync.consumer_wait %[[H]][%{{.*}}] scope(cluster) : !sync.handoff<i64>
  %v = sync.consumer_wait %h[%it] scope(cluster) : !sync.handoff<i64>
  // CHECK: sync.consumer_release %[[H]][%{{.*}}] scope(gpu) : !sync.handoff<i64>
  sync.consumer_release %h[%it] scope(gpu) : !sync.handoff<i64>
  // CHECK: sync.producer_tail %[[H]][%{{.*}}] scope(cluster) {note} : !sync.handoff<i64>
  sync.producer_tail %h[%it] scope(cluster) {note} : !sync.handoff<i64>
  return
}

// CHECK-LABEL: @barriers
func.func @barriers(%parity: i32, %rank: i32) {
  // CHECK: %[[B:.*]] = sync.barrier_alloc : !sync.barrier
  %b = sync.barrier_alloc : !sync.barrier
  // CHECK: %[[RING:.*]] = sync.barrier_alloc count = 4 : !sync.barrier
  %ring = sync.barrier_alloc count = 4 : !sync.barrier
  // CHECK: sync.shared_alloc bytes = 128 align = 16 : !sync.ptr<shared>
  %p = sync.shared_alloc bytes = 128 align = 16 : !sync.ptr<shared>
  // CHECK: sync.barrier_init %[[B]], count = 4
  sync.barrier_init %b, count = 4
  // CHECK: sync.barrier_arrive release cluster %[[B]] rank %{{.*}} {sync.shared_only}
  sync.barrier_arrive release cluster %b rank %rank {sync.shared_only}
  // CHECK: sync.barrier_arrive relaxed cta %[[B]]{{$}}
  sync.barrier_arrive relaxed cta %b
  // CHECK: sync.barrier_expect_tx relaxed cta %[[B]], bytes = 4
  sync.barrier_expect_tx relaxed cta %b, bytes = 4
  // CHECK: sync.barrier_wait acquire cluster %[[B]], %{{.*}} {sync.shared_only}
  sync.barrier_wait acquire cluster %b, %parity {sync.shared_only}
  // CHECK: sync.barrier_try_wait relaxed cluster %[[B]], %{{.*}} : i1
  %ok = sync.barrier_try_wait relaxed cluster %b, %parity : i1
  // CHECK: sync.store_async %{{.*}}, %{{.*}}, %[[B]] rank %{{.*}} : i32
  sync.store_async %parity, %p, %b rank %rank : i32
  return
}

// CHECK-LABEL: @copies
func.func @copies(%g: !sync.ptr<global>, %s: !sync.ptr<shared>, %b: !sync.barrier, %n: i32) {
  // CHECK: sync.bulk_copy %{{.*}}, %{{.*}}, %{{.*}} on %{{.*}} : !sync.ptr<shared>, !sync.ptr<global>
  sync.bulk_copy %s, %g, %n on %b : !sync.ptr<shared>, !sync.ptr<global>
  // CHECK: sync.bulk_copy %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} : !sync.ptr<global>, !sync.ptr<shared>
  sync.bulk_copy %g, %s, %n : !sync.ptr<global>, !sync.ptr<shared>
  // CHECK: sync.bulk_commit
  sync.bulk_commit
  // CHECK: sync.bulk_wait 1 read
  sync.bulk_wait 1 read
  // CHECK: sync.bulk_wait 0{{$}}
  sync.bulk_wait 0
  return
}

// CHECK-LABEL: @fences
func.func @fences() {
  // CHECK: sync.fence acquire cta{{$}}
  sync.fence acquire cta
  // CHECK: sync.fence release cluster restrict
  sync.fence release cluster restrict
  // CHECK: sync.fence acq_rel gpu
  sync.fence acq_rel gpu
  // CHECK: sync.fence sc sys
  sync.fence sc sys
  // CHECK: sync.proxy_fence generic async{{$}}
  sync.proxy_fence generic async
  // CHECK: sync.proxy_fence async generic shared
  sync.proxy_fence async generic shared
  // CHECK: sync.proxy_fence generic async global
  sync.proxy_fence generic async global
  // CHECK: sync.proxy_fence generic tensormap
  sync.proxy_fence generic tensormap
  // CHECK: sync.init_fence
  sync.init_fence
  // CHECK: sync.cta_barrier
  sync.cta_barrier
  // CHECK: sync.warp_barrier
  sync.warp_barrier
  // CHECK: sync.cluster_arrive relaxed
  sync.cluster_arrive relaxed
  // CHECK: sync.cluster_arrive release
  sync.cluster_arrive release
  // CHECK: sync.cluster_wait acquire
  sync.cluster_wait acquire
  return
}

// CHECK-LABEL: @signals
func.func @signals(%g: !sync.ptr<global>, %s: !sync.ptr<shared>, %word: i32, %value: i64, %timeout: i64) {
  // CHECK: sync.signal_set release sys %{{.*}}, %{{.*}} : i64
  sync.signal_set release sys %g, %value : i64
  // CHECK: sync.signal_add relaxed gpu %{{.*}}, %{{.*}} : i32
  sync.signal_add relaxed gpu %g, %word : i32
  // CHECK: sync.signal_load acquire sys %{{.*}} : i64
  %a = sync.signal_load acquire sys %g : i64
  // CHECK: sync.signal_wait acquire sys %{{.*}}, %{{.*}}, %{{.*}} : i32
  %ok = sync.signal_wait acquire sys %g, %word, %timeout : i32
  // CHECK: sync.atomic or acq_rel gpu %{{.*}}, %{{.*}} : !sync.ptr<global>, i64
  %b = sync.atomic or acq_rel gpu %g, %value : !sync.ptr<global>, i64
  // CHECK: sync.atomic max relaxed cta %{{.*}}, %{{.*}} : !sync.ptr<shared>, i32
  %c = sync.atomic max relaxed cta %s, %word : !sync.ptr<shared>, i32
  // CHECK: sync.dependency_wait
  sync.dependency_wait
  // CHECK: sync.launch_dependents
  sync.launch_dependents
  // CHECK: sync.clock : i64
  %now = sync.clock : i64
  return
}

#far = #sync.scope<sys>
#when = #sync.sem<release>

// A template gives scope and order as aliases of its preamble.
// CHECK-LABEL: @aliases
func.func @aliases(%g: !sync.ptr<global>, %value: i64) {
  // CHECK: sync.signal_set release sys %{{.*}}, %{{.*}} : i64
  sync.signal_set #when #far %g, %value : i64
  return
}

// Storage is one piece for each operation: two of them are never made one, and one without uses goes.
// RUN: interlock-opt %s -cse -canonicalize | FileCheck %s --check-prefix=CSE
// CSE-LABEL: @storage
func.func @storage() -> (!sync.ptr<shared>, !sync.ptr<shared>) {
  // CSE-COUNT-2: sync.shared_alloc
  // CSE-NOT: sync.shared_alloc
  %a = sync.shared_alloc bytes = 8 align = 8 : !sync.ptr<shared>
  %b = sync.shared_alloc bytes = 8 align = 8 : !sync.ptr<shared>
  %unused = sync.shared_alloc bytes = 8 align = 8 : !sync.ptr<shared>
  // CSE: return
  return %a, %b : !sync.ptr<shared>, !sync.ptr<shared>
}
