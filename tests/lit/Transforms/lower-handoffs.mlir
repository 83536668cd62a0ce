// RUN: interlock-opt %s --sync-lower-handoffs -split-input-file | FileCheck %s

// Within a cluster: barriers published by the init fence and a cluster barrier, the value by store_async into each CTA,
// the slot freed by a remote arrive on the leader's barrier.
// CHECK-LABEL: func.func @cluster
// CHECK-DAG: %[[FULL:.*]] = sync.barrier_alloc
// CHECK-DAG: %[[EMPTY:.*]] = sync.barrier_alloc
// CHECK: sync.barrier_init %{{.*}}, count = 1
// CHECK: sync.barrier_init %{{.*}}, count = 2
// CHECK: sync.init_fence
// CHECK: sync.cluster_arrive relaxed
// CHECK: sync.cluster_wait acquire
// CHECK: sync.barrier_wait acquire cluster %{{.*}}, %{{.*}} {sync.shared_only}
// CHECK-COUNT-2: sync.store_async
// CHECK: sync.barrier_expect_tx relaxed cta %{{.*}}, bytes = 4
// CHECK: sync.barrier_wait acquire cluster %{{.*}}, %{{.*}} {sync.shared_only}
// CHECK: ep.load
// CHECK: sync.barrier_arrive release cluster %{{.*}} rank %{{.*}} {sync.shared_only}
// CHECK: sync.barrier_wait acquire cluster
// CHECK-NOT: sync.handoff
func.func @cluster(%i: i32, %v: i32) -> i32 {
  %h = sync.handoff cluster = 2 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.consumer_release %h[%i] scope(cluster) : !sync.handoff<i32>
  sync.producer_tail %h[%i] scope(cluster) : !sync.handoff<i32>
  return %r : i32
}

// -----

// A cluster of one CTA: plain store and arrive, everything at CTA scope, no cluster barrier.
// CHECK-LABEL: func.func @single
// CHECK-NOT: cluster
// CHECK: sync.cta_barrier
// CHECK: ep.store
// CHECK: sync.barrier_arrive release cta
// CHECK: sync.barrier_wait acquire cta
// CHECK-NOT: expect_tx
// CHECK: return
func.func @single(%i: i32, %v: i32) -> i32 {
  %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] scope(cta) : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cta) : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] scope(cta) : !sync.handoff<i32>
  sync.consumer_release %h[%i] scope(cta) : !sync.handoff<i32>
  sync.producer_tail %h[%i] scope(cta) : !sync.handoff<i32>
  return %r : i32
}

// -----

// Two stages: a barrier pair and a slot each; an iteration picks its own, and the tail drains both.
// CHECK-LABEL: func.func @stages
// CHECK: sync.barrier_alloc
// CHECK: sync.barrier_alloc
// CHECK: sync.shared_alloc
// CHECK: sync.barrier_alloc
// CHECK: sync.barrier_alloc
// CHECK: sync.shared_alloc
// CHECK: arith.select
// CHECK: sync.barrier_arrive release cta
// CHECK: sync.barrier_wait acquire cta
// CHECK: sync.barrier_wait acquire cta
// CHECK-NOT: sync.barrier_wait
func.func @stages(%i: i32, %v: i32) {
  %h = sync.handoff cluster = 1 stages = 2 : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cta) : !sync.handoff<i32>
  sync.producer_tail %h[%i] scope(cta) : !sync.handoff<i32>
  return
}

// -----

// Cluster launch control in a cluster of one CTA: the hardware fills the slot through the async proxy and completes on
// the own barrier, so CTA scope does; whoever has read the slot fences the proxies, and so does who asks again.
// CHECK-LABEL: func.func @cancel_single
// CHECK: sync.barrier_init
// CHECK: sync.init_fence
// CHECK: sync.cta_barrier
// CHECK: sync.barrier_wait acquire cta
// CHECK: sync.proxy_fence generic async shared
// CHECK-NEXT: sync.try_cancel %{{[^,]*}}, %{{[^ ]*$}}
// CHECK: sync.barrier_expect_tx relaxed cta %{{.*}}, bytes = 16
// CHECK: sync.barrier_wait acquire cta
// CHECK: %[[ANSWER:.*]] = ep.packet_load
// CHECK-NEXT: sync.proxy_fence generic async shared
// CHECK: sync.barrier_arrive release cta
// CHECK: return %[[ANSWER]]
func.func @cancel_single(%i: i32) -> vector<4xi32> {
  %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<vector<4xi32>>
  sync.producer_acquire %h[%i] scope(cta) : !sync.handoff<vector<4xi32>>
  sync.publish_cancel %h[%i] scope(cta) : !sync.handoff<vector<4xi32>>
  %r = sync.consumer_wait %h[%i] scope(cta) : !sync.handoff<vector<4xi32>>
  sync.consumer_release %h[%i] scope(cta) : !sync.handoff<vector<4xi32>>
  sync.producer_tail %h[%i] scope(cta) : !sync.handoff<vector<4xi32>>
  return %r : vector<4xi32>
}

// -----

// In a larger cluster one request fills every CTA's slot.
// CHECK-LABEL: func.func @cancel_cluster
// CHECK: sync.init_fence
// CHECK: sync.cluster_wait acquire
// CHECK: sync.try_cancel %{{.*}}, %{{.*}} multicast
// CHECK: sync.barrier_wait acquire cluster
// CHECK: sync.barrier_arrive release cluster %{{.*}} rank
func.func @cancel_cluster(%i: i32) -> vector<4xi32> {
  %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<vector<4xi32>>
  sync.producer_acquire %h[%i] scope(cluster) : !sync.handoff<vector<4xi32>>
  sync.publish_cancel %h[%i] scope(cluster) : !sync.handoff<vector<4xi32>>
  %r = sync.consumer_wait %h[%i] scope(cluster) : !sync.handoff<vector<4xi32>>
  sync.consumer_release %h[%i] scope(cluster) : !sync.handoff<vector<4xi32>>
  sync.producer_tail %h[%i] scope(cluster) : !sync.handoff<vector<4xi32>>
  return %r : vector<4xi32>
}
