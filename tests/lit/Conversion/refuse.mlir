// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// LLVM ends the process on what it cannot select: everything is refused, or widened and said so, before it sees anything.
// RUN: interlock-opt %s --convert-interlock-to-nvvm -verify-diagnostics -split-input-file

// expected-error @+1 {{expected a chip by the option `chip` or the module's `ep.target`, got none}}
module {
}

// -----

// expected-error @+1 {{expected a target of sm_80, sm_90a, sm_100a, sm_103a, sm_120a, gfx90a, gfx942, gfx950, gfx1250, gfx1100, gfx1201, got 'sm_42'}}
module attributes {ep.target = "sm_42"} {
}

// -----

// expected-error @+1 {{expected a chip of nvptx, got gfx942}}
module attributes {ep.target = "gfx942"} {
}

// -----

module attributes {ep.target = "sm_80"} {
  func.func @clusters(%b: !sync.barrier, %s: !sync.ptr<shared>, %r: i32) {
    // expected-error @+1 {{expected a chip with thread-block clusters for sync.cluster_arrive, got sm_80, which has none}}
    sync.cluster_arrive relaxed
    // expected-error @+1 {{expected a chip with thread-block clusters for sync.cluster_wait, got sm_80, which has none}}
    sync.cluster_wait acquire
    // expected-error @+1 {{expected a chip with thread-block clusters for sync.init_fence, got sm_80, which has none}}
    sync.init_fence
    // expected-error @+1 {{expected a chip with thread-block clusters for sync.barrier_arrive, got sm_80, which has none}}
    sync.barrier_arrive release cluster %b rank %r
    // expected-error @+1 {{expected a chip with thread-block clusters for sync.store_async, got sm_80, which has none}}
    sync.store_async %r, %s, %b rank %r : i32
    return
  }
}

// -----

module attributes {ep.target = "sm_80"} {
  func.func @copies(%b: !sync.barrier, %s: !sync.ptr<shared>, %g: !sync.ptr<global>, %n: i32) {
    // expected-error @+1 {{expected a chip with asynchronous copies that complete on barriers for sync.barrier_expect_tx, got sm_80, which has none}}
    sync.barrier_expect_tx relaxed cta %b, bytes = 16
    // expected-error @+1 {{expected a chip with asynchronous copies that complete on barriers for sync.bulk_copy, got sm_80, which has none}}
    sync.bulk_copy %s, %g, %n on %b : !sync.ptr<shared>, !sync.ptr<global>
    // expected-error @+1 {{expected a chip with asynchronous copies that complete on barriers for sync.bulk_commit, got sm_80, which has none}}
    sync.bulk_commit
    // expected-error @+1 {{expected a chip with asynchronous copies that complete on barriers for sync.bulk_wait, got sm_80, which has none}}
    sync.bulk_wait 0
    // expected-error @+1 {{expected a chip with asynchronous copies that complete on barriers for sync.proxy_fence, got sm_80, which has none}}
    sync.proxy_fence generic async
    return
  }
}

// -----

module attributes {ep.target = "sm_90a"} {
  func.func @proxies() {
    // expected-error @+1 {{expected proxies generic and async, the only pair that PTX orders without an address, got generic and tensormap}}
    sync.proxy_fence generic tensormap
    return
  }
}

// -----

module attributes {ep.target = "sm_80"} {
  // expected-error @+1 {{expected a chip with thread-block clusters for a kernel with clusters of 2, got sm_80, which has none: a cluster of 1 would do}}
  func.func @kernel() attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
    return
  }
}

// -----

module attributes {ep.target = "sm_90a"} {
  // expected-error @+1 {{expected a kernel to say how many threads its CTAs have by `ep.block_threads`, got none}}
  func.func @kernel() attributes {ep.kernel} {
    return
  }
}

// -----

module attributes {ep.target = "sm_90a"} {
  // expected-error @+1 {{expected a kernel without results, got 1}}
  func.func @kernel(%v: i32) -> i32 attributes {ep.kernel, ep.block_threads = 32 : i32} {
    return %v : i32
  }
}

// -----

module attributes {ep.target = "sm_90a"} {
  // expected-error @+1 {{expected ep.dispatch to have been lowered by ep-expand-stages, got one}}
  ep.dispatch @dispatch
    layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
          max_tokens = 4096, capacity = 0, expert_rows = false)
    kernel(schedule = grid_stride, cluster = 1, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")
}

// -----

module attributes {ep.target = "sm_90a"} {
  func.func @levels(%n: i32, %b: !sync.barrier) {
    // expected-error @+1 {{expected ep.for_each_tile to have been lowered by ep-lower-tiles, got one}}
    ep.for_each_tile %tile in %n {schedule = #ep.schedule<grid_stride>, cluster = 1 : i32} {
    }
    // expected-error @+1 {{expected sync.handoff to have been lowered by sync-lower-handoffs, got one}}
    %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<i32>
    // expected-error @+1 {{expected sync.publish to have been lowered by sync-lower-handoffs, got one}}
    sync.publish %h[%n], %n : !sync.handoff<i32>
    // expected-error @+1 {{expected sync.barrier_wait to have been lowered by sync-lower-waits, got one}}
    sync.barrier_wait acquire cta %b, %n
    return
  }
}

// -----

module attributes {ep.target = "sm_80"} {
  func.func @widened(%g: !sync.ptr<global>, %v: i64) {
    // expected-remark @+1 {{sm_80 has no clusters: scope cluster widened to gpu}}
    sync.fence acq_rel cluster
    // expected-remark @+1 {{sm_80 has no clusters: scope cluster widened to gpu}}
    sync.signal_set release cluster %g, %v : i64
    // expected-remark @+1 {{sm_80 has no clusters: scope cluster widened to gpu}}
    sync.signal_add release cluster %g, %v : i64
    // expected-remark @+1 {{sm_80 has no clusters: scope cluster widened to gpu}}
    %x = sync.signal_load acquire cluster %g : i64
    // expected-remark @+1 {{sm_80 has no clusters: scope cluster widened to gpu}}
    %y = sync.atomic add acq_rel cluster %g, %v : !sync.ptr<global>, i64
    return
  }
}
