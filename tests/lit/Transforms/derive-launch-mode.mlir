// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s --ep-derive-launch-mode -split-input-file | FileCheck %s

// Nobody outside the CTA is waited for; taking a ticket is no wait.
// CHECK-LABEL: func.func @any
// CHECK-SAME: ep.launch_mode = "any", ep.launch_waits = []
func.func @any(%a: i64) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bar = sync.barrier_alloc count = 2 : !sync.barrier
  %b = sync.barrier_at %bar, %one : !sync.barrier
  %p = ep.global_ptr %a : !sync.ptr<global>
  %ticket = sync.atomic add acq_rel gpu %p, %one : !sync.ptr<global>, i32
  sync.cta_barrier
  sync.barrier_wait acquire cta %b, %zero
  return
}

// -----

// CHECK-LABEL: func.func @in_cluster
// CHECK-SAME: ep.launch_mode = "cluster"
// CHECK-SAME: operation = "sync.barrier_wait"
func.func @in_cluster() attributes {ep.kernel, ep.block_threads = 128 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %remote = sync.barrier_alloc : !sync.barrier
  %own = sync.barrier_alloc : !sync.barrier
  sync.barrier_arrive release cluster %remote rank %zero
  sync.barrier_wait acquire cta %own, %zero
  sync.barrier_wait acquire cluster %remote, %zero
  return
}

// -----

// A hand-off within one CTA is its own business, within a larger cluster the cluster's.
// CHECK-LABEL: func.func @handoff_alone
// CHECK-SAME: ep.launch_mode = "any"
func.func @handoff_alone(%i: i32) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %h = sync.handoff cluster = 1 stages = 1 : !sync.handoff<i32>
  %v = sync.consumer_wait %h[%i] : !sync.handoff<i32>
  return
}

// -----

// CHECK-LABEL: func.func @handoff_shared
// CHECK-SAME: ep.launch_mode = "cluster"
func.func @handoff_shared(%i: i32) attributes {ep.kernel, ep.block_threads = 128 : i32, ep.cluster = 4 : i32} {
  %h = sync.handoff cluster = 4 stages = 1 : !sync.handoff<i32>
  %v = sync.consumer_wait %h[%i] : !sync.handoff<i32>
  return
}

// -----

// Everybody waits for CTA 0, which waits for nobody.
// CHECK-LABEL: func.func @first_cta
// CHECK-SAME: ep.launch_mode = "forward"
// CHECK-SAME: because = "it waits for CTA 0, which is started before the others"
func.func @first_cta(%a: i64, %one: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %zero = arith.constant 0 : i32
  %p = ep.global_ptr %a : !sync.ptr<global>
  %cta = ep.cta_id : i32
  %first = arith.cmpi eq, %cta, %zero : i32
  scf.if %first {
    sync.signal_set release gpu %p, %one : i64
  }
  %ok = sync.signal_wait acquire gpu %p, %one, %timeout : i64
  return
}

// -----

// For CTA 1, on the other hand, also CTA 0 waits.
// CHECK-LABEL: func.func @second_cta
// CHECK-SAME: ep.launch_mode = "cooperative"
func.func @second_cta(%a: i64, %value: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %one = arith.constant 1 : i32
  %p = ep.global_ptr %a : !sync.ptr<global>
  %cta = ep.cta_id : i32
  %second = arith.cmpi eq, %cta, %one : i32
  scf.if %second {
    sync.signal_set release gpu %p, %value : i64
  }
  %ok = sync.signal_wait acquire gpu %p, %value, %timeout : i64
  return
}

// -----

// A look-back: each CTA waits for the one that took the ticket before its own.
// CHECK-LABEL: func.func @look_back
// CHECK-SAME: ep.launch_mode = "forward"
// CHECK-SAME: a lower ticket
func.func @look_back(%tickets: i64, %a: i64, %value: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %eight = arith.constant 8 : i64
  %t = ep.global_ptr %tickets : !sync.ptr<global>
  %taken = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %leader = arith.cmpi eq, %tid, %zero : i32
  scf.if %leader {
    %ticket = sync.atomic add relaxed gpu %t, %one : !sync.ptr<global>, i32
    ep.store %ticket, %taken : i32, !sync.ptr<shared>
  }
  sync.cta_barrier
  %mine = ep.load %taken : !sync.ptr<shared> -> i32
  %wide = arith.extui %mine : i32 to i64
  %off = arith.muli %wide, %eight : i64
  %own_a = arith.addi %a, %off : i64
  %before_a = arith.subi %own_a, %eight : i64
  %own = ep.global_ptr %own_a : !sync.ptr<global>
  %before = ep.global_ptr %before_a : !sync.ptr<global>
  %some = arith.cmpi ne, %mine, %zero : i32
  scf.if %some {
    %ok = sync.signal_wait acquire gpu %before, %value, %timeout : i64
  }
  sync.signal_set release gpu %own, %value : i64
  return
}

// -----

// The same towards the one behind: it may not have been started.
// CHECK-LABEL: func.func @look_ahead
// CHECK-SAME: ep.launch_mode = "cooperative"
func.func @look_ahead(%a: i64, %value: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %eight = arith.constant 8 : i64
  %mine = ep.cta_id : i32
  %wide = arith.extui %mine : i32 to i64
  %off = arith.muli %wide, %eight : i64
  %own_a = arith.addi %a, %off : i64
  %next_a = arith.addi %own_a, %eight : i64
  %own = ep.global_ptr %own_a : !sync.ptr<global>
  %next = ep.global_ptr %next_a : !sync.ptr<global>
  sync.signal_set release gpu %own, %value : i64
  %ok = sync.signal_wait acquire gpu %next, %value, %timeout : i64
  return
}

// -----

// All those before, one after the other.
// CHECK-LABEL: func.func @all_before
// CHECK-SAME: ep.launch_mode = "forward"
func.func @all_before(%a: i64, %value: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %eight = arith.constant 8 : i64
  %mine = ep.cta_id : i32
  %wide = arith.extui %mine : i32 to i64
  %off = arith.muli %wide, %eight : i64
  %own_a = arith.addi %a, %off : i64
  %own = ep.global_ptr %own_a : !sync.ptr<global>
  sync.signal_set release gpu %own, %value : i64
  scf.for %j = %zero to %mine step %one : i32 {
    %j_wide = arith.extui %j : i32 to i64
    %j_off = arith.muli %j_wide, %eight : i64
    %j_a = arith.addi %a, %j_off : i64
    %p = ep.global_ptr %j_a : !sync.ptr<global>
    %ok = sync.signal_wait acquire gpu %p, %value, %timeout : i64
  }
  return
}

// -----

// A CTA that does the work of others takes a ticket for each. Whose tickets end with the grid's is the last.
// CHECK-LABEL: func.func @last_of_many
// CHECK-SAME: ep.launch_mode = "any"
func.func @last_of_many(%tickets: i64, %claims: i64, %a: i64, %value: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = ep.global_ptr %tickets : !sync.ptr<global>
  %c = ep.global_ptr %claims : !sync.ptr<global>
  %own = ep.global_ptr %a : !sync.ptr<global>
  %ctas = ep.cta_count : i32
  %stood_for = scf.while (%n = %zero) : (i32) -> i32 {
    %next = arith.addi %n, %one : i32
    %claimed = sync.atomic add relaxed gpu %c, %one : !sync.ptr<global>, i32
    %more = arith.cmpi ult, %claimed, %ctas : i32
    scf.condition(%more) %next : i32
  } do {
  ^bb0(%n: i32):
    scf.yield %n : i32
  }
  %mine = sync.atomic add acq_rel gpu %t, %stood_for : !sync.ptr<global>, i32
  %final = arith.subi %ctas, %stood_for : i32
  %last = arith.cmpi eq, %mine, %final : i32
  scf.if %last {
    sync.signal_set release gpu %own, %value : i64
    %ok = sync.signal_wait acquire gpu %own, %value, %timeout : i64
  }
  return
}

// -----

// The same if it may have taken none: two CTAs could both end with the grid.
// CHECK-LABEL: func.func @last_of_none
// CHECK-SAME: ep.launch_mode = "cooperative"
func.func @last_of_none(%tickets: i64, %claims: i64, %a: i64, %value: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %t = ep.global_ptr %tickets : !sync.ptr<global>
  %c = ep.global_ptr %claims : !sync.ptr<global>
  %own = ep.global_ptr %a : !sync.ptr<global>
  %ctas = ep.cta_count : i32
  %stood_for = scf.while (%n = %zero) : (i32) -> i32 {
    %claimed = sync.atomic add relaxed gpu %c, %one : !sync.ptr<global>, i32
    %more = arith.cmpi ult, %claimed, %ctas : i32
    scf.condition(%more) %n : i32
  } do {
  ^bb0(%n: i32):
    %next = arith.addi %n, %one : i32
    scf.yield %next : i32
  }
  %mine = sync.atomic add acq_rel gpu %t, %stood_for : !sync.ptr<global>, i32
  %final = arith.subi %ctas, %stood_for : i32
  %last = arith.cmpi eq, %mine, %final : i32
  scf.if %last {
    sync.signal_set release gpu %own, %value : i64
    %ok = sync.signal_wait acquire gpu %own, %value, %timeout : i64
  }
  return
}

// -----

// CTAs take turns: the counter must have reached one's ticket.
// CHECK-LABEL: func.func @turns
// CHECK-SAME: ep.launch_mode = "forward"
func.func @turns(%tickets: i64, %a: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %one = arith.constant 1 : i32
  %t = ep.global_ptr %tickets : !sync.ptr<global>
  %p = ep.global_ptr %a : !sync.ptr<global>
  %ticket = sync.atomic add relaxed gpu %t, %one : !sync.ptr<global>, i32
  %ok = sync.signal_wait acquire gpu %p, %ticket, %timeout : i32
  sync.signal_add release gpu %p, %one : i32
  return
}

// -----

// Which rank's kernel sets the signal, this kernel cannot see.
// CHECK-LABEL: func.func @other_kernel
// CHECK-SAME: ep.launch_mode = "peers"
// CHECK-SAME: nothing in this kernel sets
func.func @other_kernel(%a: i64, %value: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %ok = sync.signal_wait acquire sys %p, %value, %timeout : i64
  return
}

// -----

// The last CTA tells all ranks, its own among them, and waits for all of them: nobody else of its grid.
// CHECK-LABEL: func.func @last_cta
// CHECK-SAME: ep.launch_mode = "peers"
func.func @last_cta(%window: i64, %stride: i64, %rank: i32, %to: i32, %value: i64, %timeout: i64)
    attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %one = arith.constant 1 : i32
  %at = arith.constant 128 : i64
  %tickets_at = arith.constant 0 : i64
  %t = ep.peer_ptr %window, %stride, %rank, %tickets_at : !sync.ptr<global>
  %ticket = sync.atomic add acq_rel gpu %t, %one : !sync.ptr<global>, i32
  %ctas = ep.cta_count : i32
  %final = arith.subi %ctas, %one : i32
  %last = arith.cmpi eq, %ticket, %final : i32
  scf.if %last {
    %other = arith.addi %to, %one : i32
    %p = ep.peer_ptr %window, %stride, %other, %at : !sync.ptr<global>
    sync.signal_set release sys %p, %value : i64
    %own = ep.peer_ptr %window, %stride, %rank, %at : !sync.ptr<global>
    %ok = sync.signal_wait acquire sys %own, %value, %timeout : i64
  }
  return
}

// -----

// A barrier of the whole grid, made of a counter.
// CHECK-LABEL: func.func @grid_barrier
// CHECK-SAME: ep.launch_mode = "cooperative"
// CHECK-SAME: it waits for CTAs of its own grid that may not have been started
func.func @grid_barrier(%a: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %one = arith.constant 1 : i32
  %p = ep.global_ptr %a : !sync.ptr<global>
  %ctas = ep.cta_count : i32
  sync.signal_add release gpu %p, %one : i32
  %ok = sync.signal_wait acquire gpu %p, %ctas, %timeout : i32
  return
}

// -----

// The same with a loop of one's own.
// CHECK-LABEL: func.func @grid_barrier_by_hand
// CHECK-SAME: ep.launch_mode = "cooperative"
// CHECK-SAME: operation = "sync.signal_load"
func.func @grid_barrier_by_hand(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %one = arith.constant 1 : i32
  %p = ep.global_ptr %a : !sync.ptr<global>
  %ctas = ep.cta_count : i32
  %old = sync.atomic add acq_rel gpu %p, %one : !sync.ptr<global>, i32
  scf.while : () -> () {
    %seen = sync.signal_load acquire gpu %p : i32
    %more = arith.cmpi ult, %seen, %ctas : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}

// -----

// The value goes round the loop before it is looked at.
// CHECK-LABEL: func.func @grid_barrier_around
// CHECK-SAME: ep.launch_mode = "cooperative"
func.func @grid_barrier_around(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %p = ep.global_ptr %a : !sync.ptr<global>
  %ctas = ep.cta_count : i32
  %old = sync.atomic add acq_rel gpu %p, %one : !sync.ptr<global>, i32
  %end = scf.while (%seen = %zero) : (i32) -> i32 {
    %more = arith.cmpi ult, %seen, %ctas : i32
    scf.condition(%more) %seen : i32
  } do {
  ^bb0(%last: i32):
    %next = ep.load %p : !sync.ptr<global> -> i32
    scf.yield %next : i32
  }
  return
}

// -----

// Claiming work until there is none left needs nobody else.
// CHECK-LABEL: func.func @claims
// CHECK-SAME: ep.launch_mode = "any"
func.func @claims(%a: i64, %tiles: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %one = arith.constant 1 : i32
  %p = ep.global_ptr %a : !sync.ptr<global>
  scf.while : () -> () {
    %tile = sync.atomic add relaxed gpu %p, %one : !sync.ptr<global>, i32
    %more = arith.cmpi ult, %tile, %tiles : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}

// -----

// A lock: whoever holds it runs, but that is not understood, so the doubt decides.
// CHECK-LABEL: func.func @lock
// CHECK-SAME: ep.launch_mode = "cooperative"
func.func @lock(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %p = ep.global_ptr %a : !sync.ptr<global>
  scf.while : () -> () {
    %held = sync.atomic exch acquire gpu %p, %one : !sync.ptr<global>, i32
    %more = arith.cmpi ne, %held, %zero : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  sync.signal_set release gpu %p, %zero : i32
  return
}

// -----

// A word of the own cluster is written by CTAs that run.
// CHECK-LABEL: func.func @word_of_cluster
// CHECK-SAME: ep.launch_mode = "cluster"
// CHECK-SAME: because = "it waits for CTAs of its cluster, which always run together"
// CHECK-SAME: operation = "ep.load"
func.func @word_of_cluster(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i64
  %p = ep.global_ptr %a : !sync.ptr<global>
  %id = ep.cluster_id : i32
  %wide = arith.extui %id : i32 to i64
  %bytes = arith.muli %wide, %four : i64
  %word = ep.offset %p, %bytes : !sync.ptr<global>
  ep.store %one, %word : i32, !sync.ptr<global>
  scf.while : () -> () {
    %seen = ep.load %word : !sync.ptr<global> -> i32
    %more = arith.cmpi ne, %seen, %one : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}

// -----

// The next cluster's word is not the own one.
// CHECK-LABEL: func.func @word_of_next_cluster
// CHECK-SAME: ep.launch_mode = "cooperative"
func.func @word_of_next_cluster(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i64
  %p = ep.global_ptr %a : !sync.ptr<global>
  %id = ep.cluster_id : i32
  %wide = arith.extui %id : i32 to i64
  %bytes = arith.muli %wide, %four : i64
  %word = ep.offset %p, %bytes : !sync.ptr<global>
  %next = ep.offset %word, %four : !sync.ptr<global>
  ep.store %one, %word : i32, !sync.ptr<global>
  scf.while : () -> () {
    %seen = ep.load %next : !sync.ptr<global> -> i32
    %more = arith.cmpi ne, %seen, %one : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}

// -----

// Without clusters a CTA's cluster is the CTA.
// CHECK-LABEL: func.func @word_of_cta
// CHECK-SAME: ep.launch_mode = "any"
func.func @word_of_cta(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i64
  %p = ep.global_ptr %a : !sync.ptr<global>
  %id = ep.cluster_id : i32
  %wide = arith.extui %id : i32 to i64
  %bytes = arith.muli %wide, %four : i64
  %word = ep.offset %p, %bytes : !sync.ptr<global>
  ep.store %one, %word : i32, !sync.ptr<global>
  scf.while : () -> () {
    %seen = ep.load %word : !sync.ptr<global> -> i32
    %more = arith.cmpi ne, %seen, %one : i32
    scf.condition(%more)
  } do {
    scf.yield
  }
  return
}
