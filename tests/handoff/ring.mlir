// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A ring of slots that every cluster of the grid drives on its own: iteration i's value goes from the leader to every CTA,
// each thread of which compares it with what it must be. Delays, drawn from a hash of (iteration, CTA), put every order
// of arrivals to the test; a mask of 0 leaves them out, for timing.
//
// Parameters are the aliases of a preamble: #target, #cluster, #block_threads, #stages, #wait, #release, !payload, and the
// functions @make and @same of one payload_*.mlir behind this file.
//
// Per CTA 16 bytes are written to %out: values that were not as they must be, over all threads (u32); right ones that thread
// 0 saw (u32); the sum of their hashes (u32); and a word that keeps the delays from being optimised away.

func.func private @mix(%a: i32, %b: i32) -> i32 {
  %m0 = arith.constant -1640531535 : i32
  %m1 = arith.constant -2048144789 : i32
  %m2 = arith.constant -1028477387 : i32
  %s15 = arith.constant 15 : i32
  %s13 = arith.constant 13 : i32
  %h0 = arith.muli %a, %m0 : i32
  %h1 = arith.muli %b, %m1 : i32
  %h2 = arith.xori %h0, %h1 : i32
  %h3 = arith.shrui %h2, %s15 : i32
  %h4 = arith.xori %h2, %h3 : i32
  %h5 = arith.muli %h4, %m2 : i32
  %h6 = arith.shrui %h5, %s13 : i32
  %h7 = arith.xori %h5, %h6 : i32
  return %h7 : i32
}

// Looks at the clock as often as the hash, masked, says.
func.func private @delay(%hash: i32, %mask: i32) -> i64 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i64
  %times = arith.andi %hash, %mask : i32
  %noise = scf.for %i = %zero to %times step %one iter_args(%n = %none) -> (i64) : i32 {
    %now = sync.clock : i64
    %next = arith.addi %n, %now : i64
    scf.yield %next : i64
  }
  return %noise : i64
}

func.func @handoff_ring(%out: i64, %iterations: i32, %delay_mask: i32)
    attributes {ep.kernel, ep.block_threads = #block_threads, ep.cluster = #cluster, ep.wait = #wait, ep.release = #release} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i64
  %record_bytes = arith.constant 16 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %twelve = arith.constant 12 : i64
  %salt = arith.constant 77 : i32
  %errors_shared = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %cta = ep.cta_id : i32
  %rank = ep.cluster_rank : i32
  %cluster = arith.subi %cta, %rank : i32
  %first_thread = arith.cmpi eq, %tid, %zero : i32
  %leader = arith.cmpi eq, %rank, %zero : i32
  %producer = arith.andi %first_thread, %leader : i1
  scf.if %first_thread {
    ep.store %zero, %errors_shared : i32, !sync.ptr<shared>
  }
  %h = sync.handoff cluster = #cluster stages = #stages : !sync.handoff<!payload>

  %seen, %errors, %sum, %noise = scf.for %it = %zero to %iterations step %one
      iter_args(%seen0 = %zero, %e0 = %zero, %s0 = %zero, %n0 = %none) -> (i32, i32, i32, i64) : i32 {
    %hash = func.call @mix(%it, %cluster) : (i32, i32) -> i32
    %dice0 = func.call @mix(%hash, %cta) : (i32, i32) -> i32
    %dice = arith.xori %dice0, %salt : i32
    %n1 = scf.if %producer -> (i64) {
      sync.producer_acquire %h[%it] : !sync.handoff<!payload>
      %d = func.call @delay(%dice0, %delay_mask) : (i32, i32) -> i64
      %value = func.call @make(%hash) : (i32) -> !payload
      sync.publish %h[%it], %value : !sync.handoff<!payload>
      scf.yield %d : i64
    } else {
      scf.yield %none : i64
    }
    %got = sync.consumer_wait %h[%it] : !sync.handoff<!payload>
    %good = func.call @same(%got, %hash) : (!payload, i32) -> i1
    %right = arith.extui %good : i1 to i32
    %wrong = arith.xori %right, %one : i32
    %seen1 = arith.addi %seen0, %right : i32
    %e1 = arith.addi %e0, %wrong : i32
    %counted = arith.select %good, %hash, %zero : i32
    %s1 = arith.addi %s0, %counted : i32
    %n2 = scf.if %first_thread -> (i64) {
      %d = func.call @delay(%dice, %delay_mask) : (i32, i32) -> i64
      scf.yield %d : i64
    } else {
      scf.yield %none : i64
    }
    sync.cta_barrier
    scf.if %first_thread {
      sync.consumer_release %h[%it] : !sync.handoff<!payload>
    }
    %n3 = arith.addi %n0, %n1 : i64
    %n4 = arith.addi %n3, %n2 : i64
    scf.yield %seen1, %e1, %s1, %n4 : i32, i32, i32, i64
  }
  scf.if %producer {
    sync.producer_tail %h[%iterations] : !sync.handoff<!payload>
  }

  %old = sync.atomic add relaxed cta %errors_shared, %errors : !sync.ptr<shared>, i32
  sync.cta_barrier
  scf.if %first_thread {
    %total = ep.load %errors_shared : !sync.ptr<shared> -> i32
    %wide = arith.extui %cta : i32 to i64
    %offset = arith.muli %wide, %record_bytes : i64
    %at = arith.addi %out, %offset : i64
    %p = ep.global_ptr %at : !sync.ptr<global>
    %p1 = ep.offset %p, %four : !sync.ptr<global>
    %p2 = ep.offset %p, %eight : !sync.ptr<global>
    %p3 = ep.offset %p, %twelve : !sync.ptr<global>
    %noise32 = arith.trunci %noise : i64 to i32
    ep.store %total, %p : i32, !sync.ptr<global>
    ep.store %seen, %p1 : i32, !sync.ptr<global>
    ep.store %sum, %p2 : i32, !sync.ptr<global>
    ep.store %noise32, %p3 : i32, !sync.ptr<global>
  }
  return
}
