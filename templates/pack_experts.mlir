// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Pack experts: where every received row goes, packed by local expert.
//
// Protocol. Received row g is the g-th row of all sources, source by source, each source's in the order of its slots; an
// entry is a received row and one of its top-k ids. An entry's packed row is where its expert's rows begin, and as many
// behind that as there are earlier entries of the expert: it follows from the ids alone. CTA c of n has the c-th of n
// shares of the received rows, and each of its warps a share of that. Every CTA counts all entries: those before its
// share, those of each of its warps, those behind. With that it knows where each expert begins and where each of its
// warps goes on, and so its warps give out places without anybody else. The price is that every CTA reads all ids, as in
// dispatch; the gain is that no CTA waits for another, so any grid is right.
//
// Memory order. What a dispatch left was published to this GPU by its last CTA, and comes before this kernel in the
// stream. Each word of the lists is written by one thread of one CTA. In shared memory counts are added up by relaxed
// atomics; a cta_barrier carries them to warp 0, which makes places of them, and another one these to the warps. A warp's
// places are its own; its lanes read them, meet, one lane of each expert moves them on, and they meet again.

// Entry `row`, `expert` of a table with a row of all local experts for each unit that counts.
func.func private @count_at(%table: !sync.ptr<shared>, %row: i32, %expert: i32) -> !sync.ptr<shared> {
  %four = arith.constant 4 : i64
  %experts = arith.constant #experts_per_rank
  %skip = arith.muli %row, %experts : i32
  %i = arith.addi %skip, %expert : i32
  %wide = arith.extui %i : i32 to i64
  %bytes = arith.muli %wide, %four : i64
  %p = ep.offset %table, %bytes : !sync.ptr<shared>
  return %p : !sync.ptr<shared>
}

func.func private @word_at(%base: i64, %index: i32) -> !sync.ptr<global> {
  %four = arith.constant 4 : i64
  %a = func.call @at(%base, %index, %four) : (i64, i32, i64) -> i64
  %p = ep.global_ptr %a : !sync.ptr<global>
  return %p : !sync.ptr<global>
}

// Where source `source`'s rows begin among all received ones; of the number of sources: all received rows.
func.func private @start_of(%starts: !sync.ptr<shared>, %source: i32) -> i32 {
  %four = arith.constant 4 : i64
  %wide = arith.extui %source : i32 to i64
  %bytes = arith.muli %wide, %four : i64
  %p = ep.offset %starts, %bytes : !sync.ptr<shared>
  %start = ep.load %p : !sync.ptr<shared> -> i32
  return %start : i32
}

// Where a received row lies in the landing buffer.
func.func private @landing_row(%source: i32, %slot: i32) -> i32 {
  %rows = arith.constant #rows_per_source
  %skip = arith.muli %source, %rows : i32
  %row = arith.addi %skip, %slot : i32
  return %row : i32
}

// The local expert that an id names at this rank, if it names one.
func.func private @local_expert(%id: i32, %rank: i32) -> (i1, i32) {
  %experts = arith.constant #experts
  %per_rank = arith.constant #experts_per_rank
  %valid = arith.cmpi ult, %id, %experts : i32
  %owner = arith.divui %id, %per_rank : i32
  %own = arith.cmpi eq, %owner, %rank : i32
  %here = arith.andi %valid, %own : i1
  %expert = arith.remui %id, %per_rank : i32
  return %here, %expert : i1, i32
}

// The sum of all lanes' values. Whole warps.
func.func private @sum_of_lanes(%value: i32) -> i32 {
  %last = arith.constant #last_lane
  %before = ep.scan %value : i32
  %through = arith.addi %before, %value : i32
  %sum = ep.shuffle %through, %last : i32
  return %sum : i32
}

// One warp: where each source's rows begin. Of a source that is left out none came, of another one no more than its
// region holds.
func.func private @find_starts(%counts: i64, %absent: i64, %starts: !sync.ptr<shared>) {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %ranks = arith.constant #ranks
  %width = arith.constant #warp_width
  %most = arith.constant #rows_per_source
  %lane = ep.lane_id : i32
  %given = arith.cmpi ne, %absent, %none : i64
  %out = scf.if %given -> (i64) {
    %second_a = arith.addi %absent, %eight : i64
    %first_p = ep.global_ptr %absent : !sync.ptr<global>
    %second_p = ep.global_ptr %second_a : !sync.ptr<global>
    %first = ep.load %first_p : !sync.ptr<global> -> i64
    %second = ep.load %second_p : !sync.ptr<global> -> i64
    %either = arith.ori %first, %second : i64
    scf.yield %either : i64
  } else {
    scf.yield %none : i64
  }
  %total = scf.for %base = %zero to %ranks step %width iter_args(%sum = %zero) -> (i32) : i32 {
    %source = arith.addi %base, %lane : i32
    %exists = arith.cmpi ult, %source, %ranks : i32
    %count = scf.if %exists -> (i32) {
      %wide = arith.extui %source : i32 to i64
      %shifted = arith.shrui %out, %wide : i64
      %gone = arith.trunci %shifted : i64 to i1
      %p = func.call @word_at(%counts, %source) : (i64, i32) -> !sync.ptr<global>
      %sent = ep.load %p : !sync.ptr<global> -> i32
      %landed = arith.minui %sent, %most : i32
      %came = arith.select %gone, %zero, %landed : i32
      scf.yield %came : i32
    } else {
      scf.yield %zero : i32
    }
    %before = ep.scan %count : i32
    scf.if %exists {
      %start = arith.addi %sum, %before : i32
      %wide = arith.extui %source : i32 to i64
      %bytes = arith.muli %wide, %four : i64
      %p = ep.offset %starts, %bytes : !sync.ptr<shared>
      ep.store %start, %p : i32, !sync.ptr<shared>
    }
    %some = func.call @sum_of_lanes(%count) : (i32) -> i32
    %next = arith.addi %sum, %some : i32
    scf.yield %next : i32
  }
  %leader = arith.cmpi eq, %lane, %zero : i32
  scf.if %leader {
    %wide = arith.extui %ranks : i32 to i64
    %bytes = arith.muli %wide, %four : i64
    %p = ep.offset %starts, %bytes : !sync.ptr<shared>
    ep.store %total, %p : i32, !sync.ptr<shared>
  }
  return
}

// All threads: counts every entry of a local expert, in the row of the warp that has the received row, or in one for all
// before the CTA's first row, or in one for all from its last row on. A cta_barrier must follow.
func.func private @count_entries(%meta: i64, %rank: i32, %starts: !sync.ptr<shared>, %table: !sync.ptr<shared>,
                                 %first: i32, %last: i32, %share: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ranks = arith.constant #ranks
  %topk = arith.constant #topk
  %threads = arith.constant #block_threads
  %warps = arith.constant #warps
  %meta_stride = arith.constant #meta_stride
  %tid = ep.thread_id : i32
  %behind_all = arith.addi %warps, %one : i32
  scf.for %source = %zero to %ranks step %one : i32 {
    %start = func.call @start_of(%starts, %source) : (!sync.ptr<shared>, i32) -> i32
    %after = arith.addi %source, %one : i32
    %end = func.call @start_of(%starts, %after) : (!sync.ptr<shared>, i32) -> i32
    %rows = arith.subi %end, %start : i32
    %entries = arith.muli %rows, %topk : i32
    scf.for %entry = %tid to %entries step %threads : i32 {
      %slot = arith.divui %entry, %topk : i32
      %k = arith.remui %entry, %topk : i32
      %from = func.call @landing_row(%source, %slot) : (i32, i32) -> i32
      %meta_row = func.call @at(%meta, %from, %meta_stride) : (i64, i32, i64) -> i64
      %id_p = func.call @word_at(%meta_row, %k) : (i64, i32) -> !sync.ptr<global>
      %id = ep.load %id_p : !sync.ptr<global> -> i32
      %here, %expert = func.call @local_expert(%id, %rank) : (i32, i32) -> (i1, i32)
      scf.if %here {
        %row = arith.addi %start, %slot : i32
        %early = arith.cmpi ult, %row, %first : i32
        %late = arith.cmpi uge, %row, %last : i32
        %inside = arith.subi %row, %first : i32
        %warp = arith.divui %inside, %share : i32
        %unit0 = arith.select %early, %warps, %warp : i32
        %unit = arith.select %late, %behind_all, %unit0 : i32
        %p = func.call @count_at(%table, %unit, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
        %old = sync.atomic add relaxed cta %p, %one : !sync.ptr<shared>, i32
      }
    }
    sync.warp_barrier
  }
  return
}

// One warp, an expert a lane: makes of the counts where each warp's next row of the expert is, how many rows the expert
// has in all and where they begin. With `tells` it writes the counts, the offsets and the result, cut off at the capacity.
func.func private @give_places(%table: !sync.ptr<shared>, %places: !sync.ptr<shared>, %totals: !sync.ptr<shared>,
                               %bases: !sync.ptr<shared>, %alignment: i32, %capacity: i32, %tells: i1, %received: i32,
                               %expert_counts: i64, %offsets: i64, %result: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %experts = arith.constant #experts_per_rank
  %width = arith.constant #warp_width
  %warps = arith.constant #warps
  %overflow = arith.constant #overflow
  %lane = ep.lane_id : i32
  %less = arith.subi %alignment, %one : i32
  %behind_all = arith.addi %warps, %one : i32
  %wanted, %dropped = scf.for %base = %zero to %experts step %width iter_args(%sum = %zero, %lost = %zero) -> (i32, i32) : i32 {
    %expert = arith.addi %base, %lane : i32
    %exists = arith.cmpi ult, %expert, %experts : i32
    %before, %count = scf.if %exists -> (i32, i32) {
      %before_p = func.call @count_at(%table, %warps, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
      %b = ep.load %before_p : !sync.ptr<shared> -> i32
      %late_p = func.call @count_at(%table, %behind_all, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
      %late = ep.load %late_p : !sync.ptr<shared> -> i32
      %outside = arith.addi %b, %late : i32
      %all = scf.for %warp = %zero to %warps step %one iter_args(%n = %outside) -> (i32) : i32 {
        %p = func.call @count_at(%table, %warp, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
        %c = ep.load %p : !sync.ptr<shared> -> i32
        %next = arith.addi %n, %c : i32
        scf.yield %next : i32
      }
      scf.yield %b, %all : i32, i32
    } else {
      scf.yield %zero, %zero : i32, i32
    }
    %padded = arith.addi %count, %less : i32
    %over = arith.remui %padded, %alignment : i32
    %room = arith.subi %padded, %over : i32
    %lower = ep.scan %room : i32
    %begin = arith.addi %sum, %lower : i32
    scf.if %exists {
      %base_p = func.call @count_at(%bases, %zero, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
      ep.store %begin, %base_p : i32, !sync.ptr<shared>
      %total_p = func.call @count_at(%totals, %zero, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
      ep.store %count, %total_p : i32, !sync.ptr<shared>
      %first = arith.addi %begin, %before : i32
      %done = scf.for %warp = %zero to %warps step %one iter_args(%place = %first) -> (i32) : i32 {
        %p = func.call @count_at(%table, %warp, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
        %c = ep.load %p : !sync.ptr<shared> -> i32
        %place_p = func.call @count_at(%places, %warp, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
        ep.store %place, %place_p : i32, !sync.ptr<shared>
        %next = arith.addi %place, %c : i32
        scf.yield %next : i32
      }
    }
    %end = arith.addi %begin, %count : i32
    %begin_kept = arith.minui %begin, %capacity : i32
    %end_kept = arith.minui %end, %capacity : i32
    %kept = arith.subi %end_kept, %begin_kept : i32
    %writes = arith.andi %exists, %tells : i1
    scf.if %writes {
      %count_p = func.call @word_at(%expert_counts, %expert) : (i64, i32) -> !sync.ptr<global>
      ep.store %kept, %count_p : i32, !sync.ptr<global>
      %offset_p = func.call @word_at(%offsets, %expert) : (i64, i32) -> !sync.ptr<global>
      ep.store %begin_kept, %offset_p : i32, !sync.ptr<global>
    }
    %without = arith.subi %count, %kept : i32
    %rooms = func.call @sum_of_lanes(%room) : (i32) -> i32
    %losses = func.call @sum_of_lanes(%without) : (i32) -> i32
    %sum_next = arith.addi %sum, %rooms : i32
    %lost_next = arith.addi %lost, %losses : i32
    scf.yield %sum_next, %lost_next : i32, i32
  }
  %leader = arith.cmpi eq, %lane, %zero : i32
  %concludes = arith.andi %leader, %tells : i1
  scf.if %concludes {
    %received_at = arith.constant #result_received
    %rows_at = arith.constant #result_rows
    %wanted_at = arith.constant #result_wanted
    %dropped_at = arith.constant #result_dropped
    %rows = arith.minui %wanted, %capacity : i32
    %end_p = func.call @word_at(%offsets, %experts) : (i64, i32) -> !sync.ptr<global>
    ep.store %rows, %end_p : i32, !sync.ptr<global>
    %full = arith.cmpi ne, %dropped, %zero : i32
    %status = arith.select %full, %overflow, %zero : i32
    %p0 = ep.global_ptr %result : !sync.ptr<global>
    %p1 = ep.offset %p0, %received_at : !sync.ptr<global>
    %p2 = ep.offset %p0, %rows_at : !sync.ptr<global>
    %p3 = ep.offset %p0, %wanted_at : !sync.ptr<global>
    %p4 = ep.offset %p0, %dropped_at : !sync.ptr<global>
    ep.store %status, %p0 : i32, !sync.ptr<global>
    ep.store %received, %p1 : i32, !sync.ptr<global>
    ep.store %rows, %p2 : i32, !sync.ptr<global>
    ep.store %wanted, %p3 : i32, !sync.ptr<global>
    ep.store %dropped, %p4 : i32, !sync.ptr<global>
  }
  return
}

// One warp copies the scales of the entries in `packed` (a bit a lane) beside their packed rows.
func.func private @copy_scales(%packed: i64, %place: i32, %scales_row: i64, %scales: i64) {
  %none = arith.constant 0 : i64
  %one_wide = arith.constant 1 : i64
  %words = arith.constant #scale_words
  %bytes = arith.constant #scale_bytes
  %width = arith.constant #warp_width
  %lane = ep.lane_id : i32
  %done = scf.while (%left = %packed) : (i64) -> i64 {
    %more = arith.cmpi ne, %left, %none : i64
    scf.condition(%more) %left : i64
  } do {
  ^bb0(%left: i64):
    %whose_wide = math.cttz %left : i64
    %whose = arith.trunci %whose_wide : i64 to i32
    %to_row = ep.shuffle %place, %whose : i32
    %from = ep.shuffle %scales_row, %whose : i64
    %to = func.call @at(%scales, %to_row, %bytes) : (i64, i32, i64) -> i64
    scf.for %word = %lane to %words step %width : i32 {
      %from_p = func.call @word_at(%from, %word) : (i64, i32) -> !sync.ptr<global>
      %scale = ep.load %from_p : !sync.ptr<global> -> i32
      %to_p = func.call @word_at(%to, %word) : (i64, i32) -> !sync.ptr<global>
      ep.store %scale, %to_p : i32, !sync.ptr<global>
    }
    sync.warp_barrier
    %minus = arith.subi %left, %one_wide : i64
    %next = arith.andi %left, %minus : i64
    scf.yield %next : i64
  }
  return
}

// The lanes whose expert is this lane's, itself among them; none where `here` is false. Whole warps.
func.func private @lanes_alike(%here: i1, %expert: i32) -> i64 {
  %none = arith.constant 0 : i64
  %ones = arith.constant -1 : i64
  %votes = ep.ballot %here : i64
  %left, %alike = scf.while (%l0 = %votes, %a0 = %none) : (i64, i64) -> (i64, i64) {
    %more = arith.cmpi ne, %l0, %none : i64
    scf.condition(%more) %l0, %a0 : i64, i64
  } do {
  ^bb0(%l: i64, %a: i64):
    %whose_wide = math.cttz %l : i64
    %whose = arith.trunci %whose_wide : i64 to i32
    %other = ep.shuffle %expert, %whose : i32
    %equal = arith.cmpi eq, %other, %expert : i32
    %same = arith.andi %equal, %here : i1
    %group = ep.ballot %same : i64
    %mine = arith.select %same, %group, %a : i64
    %others = arith.xori %group, %ones : i64
    %next = arith.andi %l, %others : i64
    scf.yield %next, %mine : i64, i64
  }
  return %alike : i64
}

// One warp: the lists of received rows [from, to). An entry a lane, in order.
func.func private @list_rows(%meta: i64, %rank: i32, %starts: !sync.ptr<shared>, %places: !sync.ptr<shared>, %from: i32,
                             %to: i32, %capacity: i32, %tokens: i64, %rows: i64, %weights: i64, %sources: i64,
                             %scales: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %none = arith.constant 0 : i64
  %one_wide = arith.constant 1 : i64
  %false = arith.constant false
  %ranks = arith.constant #ranks
  %topk = arith.constant #topk
  %width = arith.constant #warp_width
  %meta_stride = arith.constant #meta_stride
  %weights_at = arith.constant #meta_weights
  %scales_at = arith.constant #meta_scales
  %lane = ep.lane_id : i32
  %warp = ep.warp_id : i32
  %lane_wide = arith.extui %lane : i32 to i64
  %lane_bit = arith.shli %one_wide, %lane_wide : i64
  %lanes_below = arith.subi %lane_bit, %one_wide : i64
  %scaled = arith.cmpi ne, %scales, %none : i64
  scf.for %source = %zero to %ranks step %one : i32 {
    %start = func.call @start_of(%starts, %source) : (!sync.ptr<shared>, i32) -> i32
    %after = arith.addi %source, %one : i32
    %end = func.call @start_of(%starts, %after) : (!sync.ptr<shared>, i32) -> i32
    %low = arith.maxui %start, %from : i32
    %high = arith.minui %end, %to : i32
    %some = arith.cmpi ult, %low, %high : i32
    scf.if %some {
      %skipped = arith.subi %low, %start : i32
      %number = arith.subi %high, %low : i32
      %entries = arith.muli %number, %topk : i32
      %first_entry = arith.muli %low, %topk : i32
      scf.for %begin = %zero to %entries step %width : i32 {
        %entry = arith.addi %begin, %lane : i32
        %exists = arith.cmpi ult, %entry, %entries : i32
        %nth = arith.divui %entry, %topk : i32
        %k = arith.remui %entry, %topk : i32
        %slot = arith.addi %skipped, %nth : i32
        %at = func.call @landing_row(%source, %slot) : (i32, i32) -> i32
        %meta_row = func.call @at(%meta, %at, %meta_stride) : (i64, i32, i64) -> i64
        %here, %expert = scf.if %exists -> (i1, i32) {
          %id_p = func.call @word_at(%meta_row, %k) : (i64, i32) -> !sync.ptr<global>
          %id = ep.load %id_p : !sync.ptr<global> -> i32
          %h, %e = func.call @local_expert(%id, %rank) : (i32, i32) -> (i1, i32)
          scf.yield %h, %e : i1, i32
        } else {
          scf.yield %false, %minus : i1, i32
        }
        %alike = func.call @lanes_alike(%here, %expert) : (i1, i32) -> i64
        %below = arith.andi %alike, %lanes_below : i64
        %earlier_wide = math.ctpop %below : i64
        %earlier = arith.trunci %earlier_wide : i64 to i32
        %safe = arith.select %here, %expert, %zero : i32
        %place_p = func.call @count_at(%places, %warp, %safe) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
        %next = ep.load %place_p : !sync.ptr<shared> -> i32
        sync.warp_barrier
        %first = arith.cmpi eq, %earlier, %zero : i32
        %moves = arith.andi %here, %first : i1
        scf.if %moves {
          %all_wide = math.ctpop %alike : i64
          %all = arith.trunci %all_wide : i64 to i32
          %behind = arith.addi %next, %all : i32
          ep.store %behind, %place_p : i32, !sync.ptr<shared>
        }
        %place = arith.addi %next, %earlier : i32
        %fits = arith.cmpi ult, %place, %capacity : i32
        %kept = arith.andi %here, %fits : i1
        scf.if %exists {
          %group = arith.addi %low, %nth : i32
          %i = arith.addi %first_entry, %entry : i32
          %row = arith.select %kept, %place, %minus : i32
          %row_p = func.call @word_at(%rows, %i) : (i64, i32) -> !sync.ptr<global>
          ep.store %row, %row_p : i32, !sync.ptr<global>
          %from_weights = arith.addi %meta_row, %weights_at : i64
          %weight_p = func.call @word_at(%from_weights, %k) : (i64, i32) -> !sync.ptr<global>
          %weight = ep.load %weight_p : !sync.ptr<global> -> i32
          %to_weight = func.call @word_at(%weights, %i) : (i64, i32) -> !sync.ptr<global>
          ep.store %weight, %to_weight : i32, !sync.ptr<global>
          %heads = arith.cmpi eq, %k, %zero : i32
          scf.if %heads {
            %token_p = func.call @word_at(%tokens, %group) : (i64, i32) -> !sync.ptr<global>
            ep.store %at, %token_p : i32, !sync.ptr<global>
          }
          scf.if %kept {
            %source_p = func.call @word_at(%sources, %place) : (i64, i32) -> !sync.ptr<global>
            ep.store %group, %source_p : i32, !sync.ptr<global>
          }
        }
        // before the next entries' places are read
        sync.warp_barrier
        scf.if %scaled {
          %packed = ep.ballot %kept : i64
          %scales_row = arith.addi %meta_row, %scales_at : i64
          func.call @copy_scales(%packed, %place, %scales_row, %scales) : (i64, i32, i64, i64) -> ()
        }
      }
    }
  }
  return
}

// All threads: what lies between an expert's last row and the next one's first. CTA c of n has the experts c, c + n, …
func.func private @pad(%totals: !sync.ptr<shared>, %bases: !sync.ptr<shared>, %alignment: i32, %capacity: i32,
                       %sources: i64, %expert_rows: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %none = arith.constant 0 : i64
  %packet_bytes = arith.constant 16 : i64
  %nothing = arith.constant dense<0> : vector<4xi32>
  %experts = arith.constant #experts_per_rank
  %threads = arith.constant #block_threads
  %packets = arith.constant #packets
  %row_stride = arith.constant #row_stride
  %tid = ep.thread_id : i32
  %cta = ep.cta_id : i32
  %ctas = ep.cta_count : i32
  %less = arith.subi %alignment, %one : i32
  %zeroes = arith.cmpi ne, %expert_rows, %none : i64
  scf.for %expert = %cta to %experts step %ctas : i32 {
    %count_p = func.call @count_at(%totals, %zero, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
    %count = ep.load %count_p : !sync.ptr<shared> -> i32
    %base_p = func.call @count_at(%bases, %zero, %expert) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
    %begin = ep.load %base_p : !sync.ptr<shared> -> i32
    %padded = arith.addi %count, %less : i32
    %over = arith.remui %padded, %alignment : i32
    %room = arith.subi %padded, %over : i32
    %last = arith.addi %begin, %count : i32
    %next = arith.addi %begin, %room : i32
    %from = arith.minui %last, %capacity : i32
    %to = arith.minui %next, %capacity : i32
    %rows = arith.subi %to, %from : i32
    scf.for %i = %tid to %rows step %threads : i32 {
      %row = arith.addi %from, %i : i32
      %p = func.call @word_at(%sources, %row) : (i64, i32) -> !sync.ptr<global>
      ep.store %minus, %p : i32, !sync.ptr<global>
    }
    scf.if %zeroes {
      scf.for %i = %zero to %rows step %one : i32 {
        %row = arith.addi %from, %i : i32
        %row_a = func.call @at(%expert_rows, %row, %row_stride) : (i64, i32, i64) -> i64
        scf.for %packet = %tid to %packets step %threads : i32 {
          %a = func.call @at(%row_a, %packet, %packet_bytes) : (i64, i32, i64) -> i64
          %p = ep.global_ptr %a : !sync.ptr<global>
          ep.packet_store %nothing, %p : vector<4xi32>, !sync.ptr<global>
        }
      }
    }
  }
  return
}

func.func @ep_pack_experts(%counts: i64, %meta: i64, %absent: i64, %tokens: i64, %rows: i64, %weights: i64,
                           %expert_counts: i64, %offsets: i64, %sources: i64, %expert_rows: i64, %scales: i64,
                           %result: i64, %rank: i32, %asked: i32, %capacity: i32, %reserved: i32)
    attributes {ep.kernel, ep.block_threads = #block_threads} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ranks = arith.constant #ranks
  %experts = arith.constant #experts_per_rank
  %threads = arith.constant #block_threads
  %warps = arith.constant #warps
  %starts = sync.shared_alloc bytes = #starts_bytes align = 4 : !sync.ptr<shared>
  %table = sync.shared_alloc bytes = #unit_counts_bytes align = 4 : !sync.ptr<shared>
  %places = sync.shared_alloc bytes = #places_bytes align = 4 : !sync.ptr<shared>
  %totals = sync.shared_alloc bytes = #bases_bytes align = 4 : !sync.ptr<shared>
  %bases = sync.shared_alloc bytes = #bases_bytes align = 4 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %warp = ep.warp_id : i32
  %cta = ep.cta_id : i32
  %ctas = ep.cta_count : i32
  %first_cta = arith.cmpi eq, %cta, %zero : i32
  %first_warp = arith.cmpi eq, %warp, %zero : i32
  %alignment = arith.maxui %asked, %one : i32

  %unit_rows = arith.constant #unit_rows
  %words = arith.muli %unit_rows, %experts : i32
  scf.for %i = %tid to %words step %threads : i32 {
    %p = func.call @count_at(%table, %zero, %i) : (!sync.ptr<shared>, i32, i32) -> !sync.ptr<shared>
    ep.store %zero, %p : i32, !sync.ptr<shared>
  }
  sync.warp_barrier
  scf.if %first_warp {
    func.call @find_starts(%counts, %absent, %starts) : (i64, i64, !sync.ptr<shared>) -> ()
  }
  sync.cta_barrier

  %received = func.call @start_of(%starts, %ranks) : (!sync.ptr<shared>, i32) -> i32
  // the CTA's share, and each warp's; at least 1, so that a row can be divided by it
  %less = arith.subi %ctas, %one : i32
  %padded = arith.addi %received, %less : i32
  %cta_share = arith.divui %padded, %ctas : i32
  %warps_less = arith.subi %warps, %one : i32
  %cta_padded = arith.addi %cta_share, %warps_less : i32
  %share0 = arith.divui %cta_padded, %warps : i32
  %share = arith.maxui %share0, %one : i32
  %first0 = arith.muli %cta, %cta_share : i32
  %first = arith.minui %first0, %received : i32
  %last0 = arith.addi %first, %cta_share : i32
  %last = arith.minui %last0, %received : i32
  func.call @count_entries(%meta, %rank, %starts, %table, %first, %last, %share)
      : (i64, i32, !sync.ptr<shared>, !sync.ptr<shared>, i32, i32, i32) -> ()
  sync.cta_barrier
  scf.if %first_warp {
    func.call @give_places(%table, %places, %totals, %bases, %alignment, %capacity, %first_cta, %received, %expert_counts,
                           %offsets, %result)
        : (!sync.ptr<shared>, !sync.ptr<shared>, !sync.ptr<shared>, !sync.ptr<shared>, i32, i32, i1, i32, i64, i64, i64) -> ()
  }
  sync.cta_barrier

  %skip = arith.muli %warp, %share : i32
  %from0 = arith.addi %first, %skip : i32
  %from = arith.minui %from0, %last : i32
  %to0 = arith.addi %from, %share : i32
  %to = arith.minui %to0, %last : i32
  func.call @list_rows(%meta, %rank, %starts, %places, %from, %to, %capacity, %tokens, %rows, %weights, %sources, %scales)
      : (i64, i32, !sync.ptr<shared>, !sync.ptr<shared>, i32, i32, i32, i64, i64, i64, i64, i64) -> ()
  func.call @pad(%totals, %bases, %alignment, %capacity, %sources, %expert_rows)
      : (!sync.ptr<shared>, !sync.ptr<shared>, i32, i32, i64, i64) -> ()
  return
}
