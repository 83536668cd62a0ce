// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A ring of one slot in a cluster of four; every value is added up. CHIP, WAIT and RELEASE are filled in by the test.
module attributes {ep.target = "CHIP"} {
  func.func @ring(%out: i64, %iterations: i32) attributes {
      ep.kernel, ep.block_threads = 128 : i32, ep.cluster = 4 : i32, ep.wait = "WAIT", ep.release = "RELEASE"} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %tid = ep.thread_id : i32
    %rank = ep.cluster_rank : i32
    %first = arith.cmpi eq, %tid, %zero : i32
    %leader = arith.cmpi eq, %rank, %zero : i32
    %producer = arith.andi %first, %leader : i1
    %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
    %sum = scf.for %it = %zero to %iterations step %one iter_args(%s = %zero) -> (i32) : i32 {
      scf.if %producer {
        sync.producer_acquire %h[%it] : !sync.handoff<i32>
        sync.publish %h[%it], %it : !sync.handoff<i32>
      }
      %got = sync.consumer_wait %h[%it] : !sync.handoff<i32>
      %next = arith.addi %s, %got : i32
      sync.cta_barrier
      scf.if %first {
        sync.consumer_release %h[%it] : !sync.handoff<i32>
      }
      scf.yield %next : i32
    }
    scf.if %producer {
      sync.producer_tail %h[%iterations] : !sync.handoff<i32>
    }
    %p = ep.global_ptr %out : !sync.ptr<global>
    ep.store %sum, %p : i32, !sync.ptr<global>
    return
  }
}
