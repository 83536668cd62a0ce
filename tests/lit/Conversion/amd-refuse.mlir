// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What an AMD chip lacks is refused, or widened and said so.
// RUN: interlock-opt %s --convert-interlock-to-rocdl -verify-diagnostics -split-input-file

// expected-error @+1 {{expected a chip of amdgcn, got sm_90a}}
module attributes {ep.target = "sm_90a"} {
}

// -----

module attributes {ep.target = "gfx942"} {
  func.func @clusters(%b: !sync.barrier, %s: !sync.ptr<shared>, %r: i32) {
    // expected-error @+1 {{expected a chip with thread-block clusters for sync.cluster_arrive, got gfx942, which has none}}
    sync.cluster_arrive relaxed
    // expected-error @+1 {{expected a chip with thread-block clusters for sync.barrier_arrive, got gfx942, which has none}}
    sync.barrier_arrive release cluster %b rank %r
    // expected-error @+1 {{expected a chip with thread-block clusters for sync.store_async, got gfx942, which has none}}
    sync.store_async %r, %s, %b rank %r : i32
    return
  }
}

// -----

module attributes {ep.target = "gfx1250"} {
  func.func @remote(%b: !sync.barrier, %s: !sync.ptr<shared>, %r: i32) {
    // expected-error @+1 {{expected a chip with access to the shared memory of a cluster's other CTAs for sync.barrier_arrive, got gfx1250, which has none}}
    sync.barrier_arrive release cluster %b rank %r
    // expected-error @+1 {{expected a chip with access to the shared memory of a cluster's other CTAs for sync.store_async, got gfx1250, which has none}}
    sync.store_async %r, %s, %b rank %r : i32
    return
  }
}

// -----

module attributes {ep.target = "gfx950"} {
  // expected-error @+1 {{expected a chip with thread-block clusters for a kernel with clusters of 2, got gfx950, which has none: a cluster of 1 would do}}
  func.func @kernel() attributes {ep.kernel, ep.block_threads = 64 : i32, ep.cluster = 2 : i32} {
    return
  }
}

// -----

module attributes {ep.target = "gfx942"} {
  func.func @levels(%n: i32, %b: !sync.barrier) {
    // expected-error @+1 {{expected sync.handoff to have been lowered by sync-lower-handoffs, got one}}
    %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<i32>
    // expected-error @+1 {{expected sync.barrier_wait to have been lowered by sync-lower-waits, got one}}
    sync.barrier_wait acquire cta %b, %n
    return
  }
}

// -----

module attributes {ep.target = "gfx90a"} {
  func.func @widened(%g: !sync.ptr<global>, %v: i64) {
    // expected-remark @+1 {{gfx90a has no clusters: scope cluster widened to gpu}}
    sync.fence acq_rel cluster
    // expected-remark @+1 {{gfx90a has no clusters: scope cluster widened to gpu}}
    sync.signal_set release cluster %g, %v : i64
    // expected-remark @+1 {{gfx90a has no clusters: scope cluster widened to gpu}}
    sync.signal_add release cluster %g, %v : i64
    // expected-remark @+1 {{gfx90a has no clusters: scope cluster widened to gpu}}
    %x = sync.signal_load acquire cluster %g : i64
    // expected-remark @+1 {{gfx90a has no clusters: scope cluster widened to gpu}}
    %y = sync.atomic add acq_rel cluster %g, %v : !sync.ptr<global>, i64
    return
  }
}
