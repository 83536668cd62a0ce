// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the stage templates share. Private functions: each is inlined where it is called.
//
// Where the lanes of a warp leave a loop or a branch at different times, a warp_barrier follows before the warp goes on as
// one. For loops that lanes leave after different numbers of rounds it does not suffice: docs/design-notes.md, "Lanes leave a
// loop together".
//
// Memory order, in one place. Three facts carry the whole protocol:
//  1. A signal is set with release.sys and awaited with acquire.sys by one thread; cta_barrier then carries the order to
//     the CTA's other threads (causality is transitive; PTX ISA, "Causality order").
//  2. The ticket is an acq_rel atomic at gpu scope, taken by one thread behind a cta_barrier: whatever any CTA of the
//     grid did before its ticket happens before what the last CTA does after it, so the last CTA's release.sys
//     publishes the writes of the whole grid.
//  3. Kernels of one rank run in stream order, so what an operation reads was written by the operations before it.

// 1 << rank
func.func private @rank_bit(%rank: i32) -> i64 {
  %one = arith.constant 1 : i64
  %wide = arith.extui %rank : i32 to i64
  %bit = arith.shli %one, %wide : i64
  return %bit : i64
}

func.func private @has_rank(%mask: i64, %rank: i32) -> i1 {
  %wide = arith.extui %rank : i32 to i64
  %shifted = arith.shrui %mask, %wide : i64
  %bit = arith.trunci %shifted : i64 to i1
  return %bit : i1
}

// base + index * stride, in 64 bits
func.func private @at(%base: i64, %index: i32, %stride: i64) -> i64 {
  %wide = arith.extui %index : i32 to i64
  %scaled = arith.muli %wide, %stride : i64
  %sum = arith.addi %base, %scaled : i64
  return %sum : i64
}

// element `index` of an array in shared memory whose elements have `stride` bytes
func.func private @shared_at(%base: !sync.ptr<shared>, %index: i32, %stride: i64) -> !sync.ptr<shared> {
  %wide = arith.extui %index : i32 to i64
  %bytes = arith.muli %wide, %stride : i64
  %p = ep.offset %base, %bytes : !sync.ptr<shared>
  return %p : !sync.ptr<shared>
}

// row of (buffer, source, slot) in a region of [buffers][ranks][rowsPerSource] rows
func.func private @region_row(%buffer: i32, %source: i32, %slot: i32) -> i64 {
  %ranks = arith.constant #ranks
  %rows = arith.constant #rows_per_source_wide
  %r0 = arith.muli %buffer, %ranks : i32
  %r1 = arith.addi %r0, %source : i32
  %r2 = arith.extui %r1 : i32 to i64
  %r3 = arith.muli %r2, %rows : i64
  %s = arith.extui %slot : i32 to i64
  %row = arith.addi %r3, %s : i64
  return %row : i64
}

// The rank that owns an expert, and whether the id names an expert at all (-1 and foreign ids do not).
func.func private @owner(%id: i32) -> (i1, i32) {
  %experts = arith.constant #experts
  %per_rank = arith.constant #experts_per_rank
  %zero = arith.constant 0 : i32
  %valid = arith.cmpi ult, %id, %experts : i32
  %rank = arith.divui %id, %per_rank : i32
  %safe = arith.select %valid, %rank, %zero : i32
  return %valid, %safe : i1, i32
}

// Tokens of a tile. With a fixed stride every CTA gets one tile, of as many tokens as that takes, if the tables of a tile
// hold them; where tiles are claimed there must be more of them than CTAs, and a tile has as many tokens as the tables.
func.func private @tile_size(%tokens: i32) -> i32 {
  %most = arith.constant #tile_tokens
  %even = arith.constant #even_tiles
  %size = scf.if %even -> (i32) {
    %one = arith.constant 1 : i32
    %ctas = ep.cta_count : i32
    %less = arith.subi %ctas, %one : i32
    %padded = arith.addi %tokens, %less : i32
    %share = arith.divui %padded, %ctas : i32
    %some = arith.maxui %share, %one : i32
    %fits = arith.minui %some, %most : i32
    scf.yield %fits : i32
  } else {
    scf.yield %most : i32
  }
  return %size : i32
}

// Tiles of `size` tokens that `tokens` make, the last one perhaps with fewer.
func.func private @tile_count(%tokens: i32, %size: i32) -> i32 {
  %one = arith.constant 1 : i32
  %less = arith.subi %size, %one : i32
  %padded = arith.addi %tokens, %less : i32
  %tiles = arith.divui %padded, %size : i32
  return %tiles : i32
}

// Ranks given up on so far; another CTA of this launch may be adding to them.
func.func private @lost_ranks(%control: !sync.ptr<global>) -> i64 {
  %lost_at = arith.constant #control_lost
  %lost_p = ep.offset %control, %lost_at : !sync.ptr<global>
  %lost = sync.signal_load relaxed gpu %lost_p {sync.step = "read"} : i64
  return %lost : i64
}

// Ranks that take part: all but the dead and those given up on earlier.
func.func private @live_ranks(%control: !sync.ptr<global>) -> i64 {
  %all = arith.constant #all_ranks
  %ones = arith.constant -1 : i64
  %dead_at = arith.constant #control_dead
  %dead_p = ep.offset %control, %dead_at : !sync.ptr<global>
  %lost = func.call @lost_ranks(%control) : (!sync.ptr<global>) -> i64
  %dead = ep.load %dead_p : !sync.ptr<global> -> i64
  %out = arith.ori %lost, %dead : i64
  %in = arith.xori %out, %ones : i64
  %live = arith.andi %in, %all : i64
  return %live : i64
}

// CTA 0 tells every live rank that operation `op` has begun here: whatever this rank read or wrote in earlier
// operations, and its experts' output, is done (fact 3), and release.sys publishes that. The last threads do it: the first
// ones have signals to wait for.
func.func private @announce(%window: i64, %stride: i64, %rank: i32, %live: i64, %op: i64) {
  %zero = arith.constant 0 : i32
  %ranks = arith.constant #ranks
  %threads = arith.constant #block_threads
  %started = arith.constant #off_started
  %signal_stride = arith.constant #signal_stride
  %one = arith.constant 1 : i32
  %cta = ep.cta_id : i32
  %tid = ep.thread_id : i32
  %behind = arith.addi %tid, %one : i32
  %from_end = arith.subi %threads, %behind : i32
  %first = arith.cmpi eq, %cta, %zero : i32
  scf.if %first {
    %own = func.call @at(%started, %rank, %signal_stride) : (i64, i32, i64) -> i64
    scf.for %peer = %from_end to %ranks step %threads : i32 {
      %to = func.call @has_rank(%live, %peer) : (i64, i32) -> i1
      scf.if %to {
        %p = ep.peer_ptr %window, %stride, %peer, %own : !sync.ptr<global>
        sync.signal_set release sys %p, %op {sync.step = "tell"} : i64
      }
    }
    sync.warp_barrier {sync.step = "join"}
  }
  return
}

// All threads of the CTA wait until the signals of all live ranks, at `signals` in the own window, have reached `value`.
// Returns the ranks that came in time; the others are recorded as lost. The timeout bounds the wait.
func.func private @await(%window: i64, %stride: i64, %rank: i32, %signals: i64, %live: i64, %value: i64,
                         %timeout: i64) -> i64 {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i64
  %ones = arith.constant -1 : i64
  %true = arith.constant true
  %ranks = arith.constant #ranks
  %threads = arith.constant #block_threads
  %signal_stride = arith.constant #signal_stride
  %peer_lost = arith.constant #status_peer_lost
  %control_at = arith.constant #off_control
  %lost_at = arith.constant #control_lost
  %status_at = arith.constant #control_status
  %lost = sync.shared_alloc bytes = 8 align = 8 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %leader = arith.cmpi eq, %tid, %zero : i32
  scf.if %leader {
    ep.store %none, %lost : i64, !sync.ptr<shared>
  }
  sync.cta_barrier {sync.step = "begin"}
  scf.for %peer = %tid to %ranks step %threads : i32 {
    %from = func.call @has_rank(%live, %peer) : (i64, i32) -> i1
    scf.if %from {
      %at = func.call @at(%signals, %peer, %signal_stride) : (i64, i32, i64) -> i64
      %p = ep.peer_ptr %window, %stride, %rank, %at : !sync.ptr<global>
      %ok = sync.signal_wait acquire sys %p, %value, %timeout {sync.step = "await"} : i64
      %late = arith.xori %ok, %true : i1
      scf.if %late {
        %bit = func.call @rank_bit(%peer) : (i32) -> i64
        %o0 = sync.atomic or relaxed cta %lost, %bit {sync.step = "lose"} : !sync.ptr<shared>, i64
        %control = ep.peer_ptr %window, %stride, %rank, %control_at : !sync.ptr<global>
        %lost_p = ep.offset %control, %lost_at : !sync.ptr<global>
        %o1 = sync.atomic or relaxed gpu %lost_p, %bit {sync.step = "lose"} : !sync.ptr<global>, i64
        %status_p = ep.offset %control, %status_at : !sync.ptr<global>
        %o2 = sync.atomic or relaxed gpu %status_p, %peer_lost {sync.step = "lose"} : !sync.ptr<global>, i32
      }
    }
  }
  sync.warp_barrier {sync.step = "join"}
  sync.cta_barrier {sync.step = "join"}
  %gone = ep.load %lost : !sync.ptr<shared> -> i64
  %kept = arith.xori %gone, %ones : i64
  %result = arith.andi %live, %kept : i64
  return %result : i64
}

// All threads call it when their CTA has done its share, which stands for `stood_for` CTAs of the grid (ep.for_each_tile
// says how many); true in the CTA that is the last of the grid (fact 2).
func.func private @is_last_cta(%control: !sync.ptr<global>, %stood_for: i32) -> i1 {
  %zero = arith.constant 0 : i32
  %ticket_at = arith.constant #control_ticket
  %taken = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %leader = arith.cmpi eq, %tid, %zero : i32
  sync.cta_barrier {sync.step = "join"}
  scf.if %leader {
    %p = ep.offset %control, %ticket_at : !sync.ptr<global>
    %ticket = sync.atomic add acq_rel gpu %p, %stood_for {sync.step = "take"} : !sync.ptr<global>, i32
    ep.store %ticket, %taken : i32, !sync.ptr<shared>
  }
  sync.cta_barrier {sync.step = "share"}
  %mine = ep.load %taken : !sync.ptr<shared> -> i32
  %ctas = ep.cta_count : i32
  %final = arith.subi %ctas, %stood_for : i32
  %last = arith.cmpi eq, %mine, %final : i32
  return %last : i1
}

// One thread of the last CTA writes the operation's result and leaves the control block ready for the next launch.
func.func private @conclude(%control: !sync.ptr<global>, %result: !sync.ptr<global>, %op: i64, %received: i32,
                            %wanted: i32) {
  %zero = arith.constant 0 : i32
  %ticket_at = arith.constant #control_ticket
  %claim_at = arith.constant #control_claim
  %status_at = arith.constant #control_status
  %dropped_at = arith.constant #control_dropped
  %lost_at = arith.constant #control_lost
  %r_status = arith.constant 8 : i64
  %r_dropped = arith.constant 12 : i64
  %r_lost = arith.constant 16 : i64
  %r_received = arith.constant 24 : i64
  %r_wanted = arith.constant 28 : i64
  %status_p = ep.offset %control, %status_at : !sync.ptr<global>
  %dropped_p = ep.offset %control, %dropped_at : !sync.ptr<global>
  %lost_p = ep.offset %control, %lost_at : !sync.ptr<global>
  %ticket_p = ep.offset %control, %ticket_at : !sync.ptr<global>
  %claim_p = ep.offset %control, %claim_at : !sync.ptr<global>
  %gathered = ep.load %status_p : !sync.ptr<global> -> i32
  %dropped = ep.load %dropped_p : !sync.ptr<global> -> i32
  %lost = ep.load %lost_p : !sync.ptr<global> -> i64
  // also where the wait ran out in an earlier operation: this one left the rank out
  %none = arith.constant 0 : i64
  %fine = arith.constant 0 : i32
  %peer_lost = arith.constant #status_peer_lost
  %misses = arith.cmpi ne, %lost, %none : i64
  %missing = arith.select %misses, %peer_lost, %fine : i32
  %status = arith.ori %gathered, %missing : i32
  %p1 = ep.offset %result, %r_status : !sync.ptr<global>
  %p2 = ep.offset %result, %r_dropped : !sync.ptr<global>
  %p3 = ep.offset %result, %r_lost : !sync.ptr<global>
  %p4 = ep.offset %result, %r_received : !sync.ptr<global>
  %p5 = ep.offset %result, %r_wanted : !sync.ptr<global>
  ep.store %op, %result : i64, !sync.ptr<global>
  ep.store %status, %p1 : i32, !sync.ptr<global>
  ep.store %dropped, %p2 : i32, !sync.ptr<global>
  ep.store %lost, %p3 : i64, !sync.ptr<global>
  ep.store %received, %p4 : i32, !sync.ptr<global>
  ep.store %wanted, %p5 : i32, !sync.ptr<global>
  ep.store %zero, %ticket_p : i32, !sync.ptr<global>
  ep.store %zero, %claim_p : i32, !sync.ptr<global>
  ep.store %zero, %status_p : i32, !sync.ptr<global>
  ep.store %zero, %dropped_p : i32, !sync.ptr<global>
  ep.store %op, %control : i64, !sync.ptr<global>
  return
}
