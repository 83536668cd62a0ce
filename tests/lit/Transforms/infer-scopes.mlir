// RUN: interlock-opt %s --sync-infer-scopes -split-input-file 2>/dev/null | FileCheck %s
// RUN: interlock-opt %s --sync-infer-scopes -split-input-file -verify-diagnostics -o /dev/null

// CHECK-LABEL: func.func @cluster
// CHECK: sync.producer_acquire %{{.*}} scope(cluster)
// CHECK: sync.publish %{{.*}} scope(cluster)
// CHECK: sync.consumer_wait %{{.*}} scope(cluster)
// CHECK: sync.consumer_release %{{.*}} scope(cluster)
// CHECK: sync.producer_tail %{{.*}} scope(cluster)
func.func @cluster(%i: i32, %v: i32) {
  // expected-remark @below {{hand-off within a cluster of 4: scope cluster inferred}}
  %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
  sync.producer_acquire %h[%i] : !sync.handoff<i32>
  sync.publish %h[%i], %v : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] : !sync.handoff<i32>
  sync.consumer_release %h[%i] : !sync.handoff<i32>
  sync.producer_tail %h[%i] : !sync.handoff<i32>
  return
}

// -----

// A cluster of one CTA keeps the CTA's scope; a scope that was written stays.
// CHECK-LABEL: func.func @single
// CHECK: sync.publish %{{.*}} scope(cluster)
// CHECK: sync.consumer_wait %{{.*}} scope(cta)
func.func @single(%i: i32, %v: i32) {
  // expected-remark @below {{hand-off within a cluster of 1: scope cta inferred}}
  %h = sync.handoff cluster = 1 stages = 2 : !sync.handoff<i32>
  sync.publish %h[%i], %v scope(cluster) : !sync.handoff<i32>
  %r = sync.consumer_wait %h[%i] : !sync.handoff<i32>
  return
}
