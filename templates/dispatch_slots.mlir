// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which ranks a dispatch sends a token to, and the slot that its row gets at each of them: the number of earlier tokens that
// go there. A CTA counts those before its tile, and within the tile groups of as many tokens as a warp has lanes.

// The bit of the rank that owns an expert, none if the id names no expert.
func.func private @owner_bit(%id: i32) -> i64 {
  %none = arith.constant 0 : i64
  %valid, %rank = func.call @owner(%id) : (i32) -> (i1, i32)
  %bit = func.call @rank_bit(%rank) : (i32) -> i64
  %some = arith.select %valid, %bit, %none : i64
  return %some : i64
}

// The rank to which every token goes, whatever its experts: this one, if its own rows stay in place.
func.func private @always_to(%rank: i32) -> i64 {
  %none = arith.constant 0 : i64
  %in_place = arith.constant #own_in_place
  %bit = func.call @rank_bit(%rank) : (i32) -> i64
  %always = arith.select %in_place, %bit, %none : i64
  return %always : i64
}

// The ranks that own an expert of token `token`, and those of `always`, among the live ones. Ids come four at a time where
// a row of them is whole packets and the array begins with one: lanes look at different rows, and what that costs is the
// number of loads.
func.func private @destinations(%ids: i64, %token: i32, %live: i64, %always: i64) -> i64 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %packet_bytes = arith.constant 16 : i64
  %within = arith.constant 15 : i64
  %topk = arith.constant #topk
  %ids_stride = arith.constant #topk_bytes
  %id_packets = arith.constant #id_packets
  %row = func.call @at(%ids, %token, %ids_stride) : (i64, i32, i64) -> i64
  %whole = arith.cmpi ne, %id_packets, %zero : i32
  %beyond = arith.andi %ids, %within : i64
  %aligned = arith.cmpi eq, %beyond, %none : i64
  %packed = arith.andi %whole, %aligned : i1
  %all = scf.if %packed -> (i64) {
    %mask = scf.for %i = %zero to %id_packets step %one iter_args(%m0 = %none) -> (i64) : i32 {
      %a = func.call @at(%row, %i, %packet_bytes) : (i64, i32, i64) -> i64
      %p = ep.global_ptr %a : !sync.ptr<global>
      %four_ids = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
      %id0, %id1, %id2, %id3 = ep.packet_words %four_ids
      %b0 = func.call @owner_bit(%id0) : (i32) -> i64
      %b1 = func.call @owner_bit(%id1) : (i32) -> i64
      %b2 = func.call @owner_bit(%id2) : (i32) -> i64
      %b3 = func.call @owner_bit(%id3) : (i32) -> i64
      %m1 = arith.ori %m0, %b0 : i64
      %m2 = arith.ori %m1, %b1 : i64
      %m3 = arith.ori %m2, %b2 : i64
      %m4 = arith.ori %m3, %b3 : i64
      scf.yield %m4 : i64
    }
    scf.yield %mask : i64
  } else {
    %mask = scf.for %k = %zero to %topk step %one iter_args(%m0 = %none) -> (i64) : i32 {
      %a = func.call @at(%row, %k, %four) : (i64, i32, i64) -> i64
      %p = ep.global_ptr %a : !sync.ptr<global>
      %id = ep.load %p : !sync.ptr<global> -> i32
      %bit = func.call @owner_bit(%id) : (i32) -> i64
      %m1 = arith.ori %m0, %bit : i64
      scf.yield %m1 : i64
    }
    scf.yield %mask : i64
  }
  %asked = arith.ori %all, %always : i64
  %to = arith.andi %asked, %live : i64
  return %to : i64
}

// How many lanes' tokens go to each rank, by ballot: lane l gets the counts of ranks l and l + warp width. Whole warps.
func.func private @rank_counts(%mask: i64) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ranks = arith.constant #ranks
  %width = arith.constant #warp_width
  %lane = ep.lane_id : i32
  %high = arith.addi %lane, %width : i32
  %low_count, %high_count = scf.for %rank = %zero to %ranks step %one iter_args(%l1 = %zero, %h1 = %zero) -> (i32, i32) : i32 {
    %goes = func.call @has_rank(%mask, %rank) : (i64, i32) -> i1
    %votes = ep.ballot %goes : i64
    %count_wide = math.ctpop %votes : i64
    %count = arith.trunci %count_wide : i64 to i32
    %is_low = arith.cmpi eq, %rank, %lane : i32
    %is_high = arith.cmpi eq, %rank, %high : i32
    %l = arith.select %is_low, %count, %l1 : i32
    %h = arith.select %is_high, %count, %h1 : i32
    scf.yield %l, %h : i32, i32
  }
  return %low_count, %high_count : i32, i32
}

// Adds the rows of tokens [from, to) to the per-rank counts in shared memory. All threads of the CTA; a cta_barrier must
// follow. A warp looks at one group of tokens at a time, a token a lane.
func.func private @count_rows(%ids: i64, %live: i64, %always: i64, %counts: !sync.ptr<shared>, %from: i32, %to: i32) {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %ranks = arith.constant #ranks
  %width = arith.constant #warp_width
  %threads = arith.constant #block_threads
  %lane = ep.lane_id : i32
  %warp = ep.warp_id : i32
  %skip = arith.muli %warp, %width : i32
  %begin = arith.addi %from, %skip : i32
  %high = arith.addi %lane, %width : i32
  %low_sum, %high_sum = scf.for %group = %begin to %to step %threads iter_args(%l0 = %zero, %h0 = %zero) -> (i32, i32) : i32 {
    %token = arith.addi %group, %lane : i32
    %inside = arith.cmpi slt, %token, %to : i32
    %mask = scf.if %inside -> (i64) {
      %m = func.call @destinations(%ids, %token, %live, %always) : (i64, i32, i64, i64) -> i64
      scf.yield %m : i64
    } else {
      scf.yield %none : i64
    }
    %add_low, %add_high = func.call @rank_counts(%mask) : (i64) -> (i32, i32)
    %l = arith.addi %l0, %add_low : i32
    %h = arith.addi %h0, %add_high : i32
    scf.yield %l, %h : i32, i32
  }
  %has_low = arith.cmpi ult, %lane, %ranks : i32
  scf.if %has_low {
    %p = func.call @shared_at(%counts, %lane, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    %old = sync.atomic add relaxed cta %p, %low_sum {sync.step = "add"} : !sync.ptr<shared>, i32
  }
  %has_high = arith.cmpi ult, %high, %ranks : i32
  scf.if %has_high {
    %p = func.call @shared_at(%counts, %high, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    %old = sync.atomic add relaxed cta %p, %high_sum {sync.step = "add"} : !sync.ptr<shared>, i32
  }
  return
}

// All threads of the CTA; a cta_barrier must follow.
func.func private @zero_counts(%counts: !sync.ptr<shared>) {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i64
  %ranks = arith.constant #ranks
  %threads = arith.constant #block_threads
  %tid = ep.thread_id : i32
  scf.for %r = %tid to %ranks step %threads : i32 {
    %p = func.call @shared_at(%counts, %r, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    ep.store %zero, %p : i32, !sync.ptr<shared>
  }
  sync.warp_barrier {sync.step = "begin"}
  return
}

// The token from which the counts, which hold those before token `counted`, must be taken on to reach token `to`. With
// cluster launch control a tile may lie before the last one: then the counts begin again.
func.func private @count_from(%counts: !sync.ptr<shared>, %counted: i32, %to: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %unordered = arith.constant #unordered_tiles
  %from = scf.if %unordered -> (i32) {
    %back = arith.cmpi slt, %to, %counted : i32
    scf.if %back {
      func.call @zero_counts(%counts) : (!sync.ptr<shared>) -> ()
    }
    sync.cta_barrier {sync.step = "again"}
    %again = arith.select %back, %zero, %counted : i32
    scf.yield %again : i32
  } else {
    scf.yield %counted : i32
  }
  return %from : i32
}

// Fills the masks (ranks that a token goes to) and slots (row at each of them) of the tile's tokens, and moves the counts
// past the tile. All threads of the CTA. The tile is cut into groups of as many tokens as a warp has lanes: each group
// counts its rows, these counts are summed up, and a token finds its slots behind the groups and lanes before it.
func.func private @assign_slots(%ids: i64, %live: i64, %always: i64, %first: i32, %count: i32, %counts: !sync.ptr<shared>,
                                %group_counts: !sync.ptr<shared>, %group_slots: !sync.ptr<shared>,
                                %masks: !sync.ptr<shared>, %slots: !sync.ptr<shared>, %control: !sync.ptr<global>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i64
  %one_wide = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %ranks = arith.constant #ranks
  %width = arith.constant #warp_width
  %rows = arith.constant #rows_per_source
  %warps = arith.constant #warps
  %threads = arith.constant #block_threads
  %tid = ep.thread_id : i32
  %lane = ep.lane_id : i32
  %warp = ep.warp_id : i32
  %high = arith.addi %lane, %width : i32
  %has_low = arith.cmpi ult, %lane, %ranks : i32
  %has_high = arith.cmpi ult, %high, %ranks : i32
  %groups = func.call @tile_count(%count, %width) : (i32, i32) -> i32
  scf.for %group = %warp to %groups step %warps : i32 {
    %skip = arith.muli %group, %width : i32
    %local = arith.addi %skip, %lane : i32
    %exists = arith.cmpi ult, %local, %count : i32
    %mask = scf.if %exists -> (i64) {
      %token = arith.addi %first, %local : i32
      %m = func.call @destinations(%ids, %token, %live, %always) : (i64, i32, i64, i64) -> i64
      %p = func.call @shared_at(%masks, %local, %eight) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      ep.store %m, %p : i64, !sync.ptr<shared>
      scf.yield %m : i64
    } else {
      scf.yield %none : i64
    }
    %low_count, %high_count = func.call @rank_counts(%mask) : (i64) -> (i32, i32)
    %row = arith.muli %group, %ranks : i32
    scf.if %has_low {
      %i = arith.addi %row, %lane : i32
      %p = func.call @shared_at(%group_counts, %i, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      ep.store %low_count, %p : i32, !sync.ptr<shared>
    }
    scf.if %has_high {
      %i = arith.addi %row, %high : i32
      %p = func.call @shared_at(%group_counts, %i, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      ep.store %high_count, %p : i32, !sync.ptr<shared>
    }
  }
  sync.cta_barrier {sync.step = "counted"}
  scf.for %rank = %tid to %ranks step %threads : i32 {
    %total_p = func.call @shared_at(%counts, %rank, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    %before = ep.load %total_p : !sync.ptr<shared> -> i32
    %behind = scf.for %group = %zero to %groups step %one iter_args(%sum = %before) -> (i32) : i32 {
      %row = arith.muli %group, %ranks : i32
      %i = arith.addi %row, %rank : i32
      %n_p = func.call @shared_at(%group_counts, %i, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      %n = ep.load %n_p : !sync.ptr<shared> -> i32
      %p = func.call @shared_at(%group_slots, %i, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      ep.store %sum, %p : i32, !sync.ptr<shared>
      %next = arith.addi %sum, %n : i32
      scf.yield %next : i32
    }
    ep.store %behind, %total_p : i32, !sync.ptr<shared>
  }
  sync.warp_barrier {sync.step = "summed"}
  sync.cta_barrier {sync.step = "summed"}
  %lane_bit = func.call @rank_bit(%lane) : (i32) -> i64
  %lanes_below = arith.subi %lane_bit, %one_wide : i64
  %drops = scf.for %group = %warp to %groups step %warps iter_args(%d0 = %zero) -> (i32) : i32 {
    %skip = arith.muli %group, %width : i32
    %local = arith.addi %skip, %lane : i32
    %exists = arith.cmpi ult, %local, %count : i32
    %mask = scf.if %exists -> (i64) {
      %p = func.call @shared_at(%masks, %local, %eight) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      %m = ep.load %p : !sync.ptr<shared> -> i64
      scf.yield %m : i64
    } else {
      scf.yield %none : i64
    }
    %group_row = arith.muli %group, %ranks : i32
    %row = arith.muli %local, %ranks : i32
    %d3 = scf.for %rank = %zero to %ranks step %one iter_args(%d1 = %d0) -> (i32) : i32 {
      %goes = func.call @has_rank(%mask, %rank) : (i64, i32) -> i1
      %votes = ep.ballot %goes : i64
      %base_i = arith.addi %group_row, %rank : i32
      %base_p = func.call @shared_at(%group_slots, %base_i, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      %base = ep.load %base_p : !sync.ptr<shared> -> i32
      %below = arith.andi %votes, %lanes_below : i64
      %before_wide = math.ctpop %below : i64
      %before = arith.trunci %before_wide : i64 to i32
      %slot = arith.addi %base, %before : i32
      scf.if %goes {
        %i = arith.addi %row, %rank : i32
        %p = func.call @shared_at(%slots, %i, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
        ep.store %slot, %p : i32, !sync.ptr<shared>
      }
      %full = arith.cmpi uge, %slot, %rows : i32
      %drop = arith.andi %goes, %full : i1
      %add = arith.extui %drop : i1 to i32
      %d2 = arith.addi %d1, %add : i32
      scf.yield %d2 : i32
    }
    scf.yield %d3 : i32
  }
  %any = arith.cmpi ne, %drops, %zero : i32
  scf.if %any {
    %overflow = arith.constant #status_overflow
    %dropped_at = arith.constant #control_dropped
    %status_at = arith.constant #control_status
    %dropped_p = ep.offset %control, %dropped_at : !sync.ptr<global>
    %status_p = ep.offset %control, %status_at : !sync.ptr<global>
    %o0 = sync.atomic add relaxed gpu %dropped_p, %drops {sync.step = "drop"} : !sync.ptr<global>, i32
    %o1 = sync.atomic or relaxed gpu %status_p, %overflow {sync.step = "drop"} : !sync.ptr<global>, i32
  }
  return
}
