// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Combine, gather mode: every rank reads the expert outputs of its own tokens from the ranks that made them and reduces
// them in f32.
//
// Protocol. CTA 0 tells every rank that this rank's expert outputs are ready; every CTA waits for all ranks, then works
// on its own tokens only: it writes nothing that another CTA or rank reads, so the grid needs no barrier and any grid is
// right. Nor do a CTA's warps wait for each other: each has as many segments of the tile's rows as any other, lists the
// contributions of their tokens for itself, #tokens_listed tokens at a time, and reduces them. A token's contributions are
// listed in a fixed order (ranks by their first expert in the token's top-k, or experts in top-k order when the outputs
// have a row per expert), so the sum does not depend on timing.
//
// Memory order. `started` carries release.sys / acquire.sys from the writers of the outputs to the readers (facts 1 and 3
// of common.mlir). The outputs may be written again after any later dispatch has arrived, since every rank has then
// started an operation after this one.

// Which token of those that a warp lists at a time a lane is concerned with, and which of its experts.
func.func private @lane_place() -> (i32, i32) {
  %lanes = arith.constant #lanes_per_token
  %lane = ep.lane_id : i32
  %which = arith.divui %lane, %lanes : i32
  %k = arith.remui %lane, %lanes : i32
  return %which, %k : i32, i32
}

// What the lists say of the lane's expert of `token`, not looked at yet: its id, the slot of the row there, and its weight.
// Of a token beyond the last one it is the last one's, so that a warp can ask before it knows whether there is that token.
func.func private @load_lists(%ids: i64, %weights: i64, %slots: i64, %token: i32, %tokens: i32) -> (i32, i32, f32) {
  %none = arith.constant 0 : i64
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %four = arith.constant 4 : i64
  %unit = arith.constant 1.0 : f32
  %nought = arith.constant 0.0 : f32
  %topk = arith.constant #topk
  %ids_stride = arith.constant #topk_bytes
  %which, %k = func.call @lane_place() : () -> (i32, i32)
  %has_expert = arith.cmpi ult, %k, %topk : i32
  %some = arith.cmpi ne, %tokens, %zero : i32
  %holds = arith.andi %has_expert, %some : i1
  %weighted = arith.cmpi ne, %weights, %none : i64
  %last = arith.subi %tokens, %one : i32
  %at_token = arith.minui %token, %last : i32
  %id, %slot, %weight = scf.if %holds -> (i32, i32, f32) {
    %row_off = func.call @at(%none, %at_token, %ids_stride) : (i64, i32, i64) -> i64
    %off = func.call @at(%row_off, %k, %four) : (i64, i32, i64) -> i64
    %ids_a = arith.addi %ids, %off : i64
    %ids_p = ep.global_ptr %ids_a : !sync.ptr<global>
    %i = ep.load %ids_p : !sync.ptr<global> -> i32
    %slots_a = arith.addi %slots, %off : i64
    %slots_p = ep.global_ptr %slots_a : !sync.ptr<global>
    %s = ep.load %slots_p : !sync.ptr<global> -> i32
    %w = scf.if %weighted -> (f32) {
      %weights_a = arith.addi %weights, %off : i64
      %weights_p = ep.global_ptr %weights_a : !sync.ptr<global>
      %value = ep.load %weights_p : !sync.ptr<global> -> f32
      scf.yield %value : f32
    } else {
      scf.yield %unit : f32
    }
    scf.yield %i, %s, %w : i32, i32, f32
  } else {
    scf.yield %minus, %minus, %nought : i32, i32, f32
  }
  return %id, %slot, %weight : i32, i32, f32
}

// One warp lists the contributions of #tokens_listed tokens: the address of each row and its weight, in order, into the
// token's part of the tables; returns the number of the lane's token. Each token has lanes of its own, the k-th of which
// looks at expert k, of which it has `id`, `listed_slot` and `weight`; `exists` says whether there is that token. Listing
// is a chain of shuffles and votes, and takes no longer for several tokens than for one. Where the warp has the token from
// its first segment on it also reduces the forwarded weights, if they are wanted.
func.func private @list_rows(%window: i64, %stride: i64, %rank: i32, %buffer: i32, %live: i64, %exists: i1, %id: i32,
                             %listed_slot: i32, %weight: f32, %weights: i64, %out_weights: i64, %token: i32,
                             %from_segment: i32, %rows_table: !sync.ptr<shared>, %weights_table: !sync.ptr<shared>) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %none = arith.constant 0 : i64
  %one_wide = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %nought = arith.constant 0.0 : f32
  %false = arith.constant false
  %true = arith.constant true
  %topk = arith.constant #topk
  %ids_stride = arith.constant #topk_bytes
  %expert_rows = arith.constant #expert_rows
  %out_rows = arith.constant #out_rows
  %row_stride = arith.constant #combine_row_stride
  %expert_out = arith.constant #off_expert_out
  %meta = arith.constant #off_meta
  %meta_stride = arith.constant #meta_stride
  %weights_at = arith.constant #meta_weights
  %token_lanes = arith.constant #token_lanes
  %lane = ep.lane_id : i32
  %which, %own = func.call @lane_place() : () -> (i32, i32)
  %base = arith.subi %lane, %own : i32
  %base_wide = arith.extui %base : i32 to i64
  %holds = arith.cmpi ult, %own, %topk : i32
  %weighted = arith.cmpi ne, %weights, %none : i64
  %lane_bytes = func.call @at(%none, %own, %four) : (i64, i32, i64) -> i64

  // the rank of expert k (-1 where it contributes nothing) and its slot there
  %valid, %owner = func.call @owner(%id) : (i32) -> (i1, i32)
  %here = func.call @has_rank(%live, %owner) : (i64, i32) -> i1
  %landed = arith.cmpi sge, %listed_slot, %zero : i32
  %ok0 = arith.andi %valid, %here : i1
  %ok1 = arith.andi %ok0, %landed : i1
  %ok = arith.andi %ok1, %exists : i1
  %from = arith.select %ok, %owner, %minus : i32
  %slot = arith.select %ok, %listed_slot, %minus : i32
  %contributes = arith.cmpi sge, %from, %zero : i32

  // a rank's first expert stands for the rank; it gathers the weights of the later ones in top-k order
  %repeated, %rank_weight = scf.for %k = %zero to %topk step %one iter_args(%seen = %false, %sum = %weight) -> (i1, f32) : i32 {
    %other = arith.addi %base, %k : i32
    %other_from = ep.shuffle %from, %other : i32
    %other_weight = ep.shuffle %weight, %other : f32
    %same = arith.cmpi eq, %other_from, %from : i32
    %earlier = arith.cmpi ult, %k, %own : i32
    %later = arith.cmpi ugt, %k, %own : i32
    %before = arith.andi %same, %earlier : i1
    %after0 = arith.andi %same, %later : i1
    %after = arith.andi %after0, %weighted : i1
    %seen_next = arith.ori %seen, %before : i1
    %added = arith.addf %sum, %other_weight : f32
    %sum_next = arith.select %after, %added, %sum : f32
    scf.yield %seen_next, %sum_next : i1, f32
  }
  %fresh = arith.xori %repeated, %true : i1
  %stands = arith.andi %contributes, %fresh : i1
  %listed = arith.select %expert_rows, %contributes, %stands : i1
  %factor = arith.select %expert_rows, %weight, %rank_weight : f32

  %all_votes = ep.ballot %listed : i64
  %shifted_votes = arith.shrui %all_votes, %base_wide : i64
  %votes = arith.andi %shifted_votes, %token_lanes : i64
  %lane_bit = func.call @rank_bit(%own) : (i32) -> i64
  %lanes_below = arith.subi %lane_bit, %one_wide : i64
  %below = arith.andi %votes, %lanes_below : i64
  %position_wide = math.ctpop %below : i64
  %position_there = arith.trunci %position_wide : i64 to i32
  %first_entry = arith.muli %which, %topk : i32
  %position = arith.addi %first_entry, %position_there : i32
  %safe_slot = arith.select %contributes, %slot, %zero : i32
  %safe_from = arith.select %contributes, %from, %zero : i32
  %index = func.call @region_row(%buffer, %rank, %safe_slot) : (i32, i32, i32) -> i64
  scf.if %listed {
    %sub_row = arith.select %expert_rows, %own, %zero : i32
    %sub_wide = arith.extui %sub_row : i32 to i64
    %r0 = arith.muli %index, %out_rows : i64
    %r1 = arith.addi %r0, %sub_wide : i64
    %r2 = arith.muli %r1, %row_stride : i64
    %offset = arith.addi %expert_out, %r2 : i64
    %window_off = func.call @at(%window, %safe_from, %stride) : (i64, i32, i64) -> i64
    %address = arith.addi %window_off, %offset : i64
    %row_p = func.call @shared_at(%rows_table, %position, %eight) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    ep.store %address, %row_p : i64, !sync.ptr<shared>
    %weight_p = func.call @shared_at(%weights_table, %position, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    ep.store %factor, %weight_p : f32, !sync.ptr<shared>
  }

  // what came back of the weights that travelled with the token: one row per contributing rank, in rank order
  %has_place = arith.cmpi ne, %out_weights, %none : i64
  %begins = arith.cmpi eq, %from_segment, %zero : i32
  %takes0 = arith.andi %begins, %exists : i1
  %takes = arith.andi %takes0, %holds : i1
  scf.if %has_place {
    %m0 = arith.muli %index, %meta_stride : i64
    %m1 = arith.addi %meta, %m0 : i64
    %m2 = arith.addi %m1, %weights_at : i64
    %all_contributors = ep.ballot %stands : i64
    %contributors = arith.shrui %all_contributors, %base_wide : i64
    %total = scf.for %k = %zero to %topk step %one iter_args(%sum = %nought) -> (f32) : i32 {
      %other = arith.addi %base, %k : i32
      %there = ep.shuffle %from, %other : i32
      %at_row = ep.shuffle %m2, %other : i64
      %in = func.call @has_rank(%contributors, %k) : (i64, i32) -> i1
      %reads = arith.andi %in, %takes : i1
      %next = scf.if %reads -> (f32) {
        %off = arith.addi %at_row, %lane_bytes : i64
        %p = ep.peer_ptr %window, %stride, %there, %off : !sync.ptr<global>
        %value = ep.load %p : !sync.ptr<global> -> f32
        %added = arith.addf %sum, %value : f32
        scf.yield %added : f32
      } else {
        scf.yield %sum : f32
      }
      scf.yield %next : f32
    }
    scf.if %takes {
      %out_row = func.call @at(%out_weights, %token, %ids_stride) : (i64, i32, i64) -> i64
      %out_a = arith.addi %out_row, %lane_bytes : i64
      %out_p = ep.global_ptr %out_a : !sync.ptr<global>
      ep.store %total, %out_p : f32, !sync.ptr<global>
    }
  }
  %number_wide = math.ctpop %votes : i64
  %number = arith.trunci %number_wide : i64 to i32
  return %number : i32
}

// The packet of a row that a lane has in place `place` of segment `segment`: a segment is #lane_packets packets a lane. The
// places of a packet are one for each contribution of a batch.
func.func private @place_packet(%segment: i32, %place: i32) -> i32 {
  %width = arith.constant #warp_width
  %segment_packets = arith.constant #segment_packets
  %batch = arith.constant #batch
  %lane = ep.lane_id : i32
  %packet = arith.divui %place, %batch : i32
  %skip = arith.muli %segment, %segment_packets : i32
  %first = arith.addi %skip, %lane : i32
  %step = arith.muli %packet, %width : i32
  %i = arith.addi %first, %step : i32
  return %i : i32
}

// Reads what belongs into a place: the packet and its weight, or nothing at no weight where the token has no such
// contribution. Beyond the row's end it reads the last packet again, so that only a missing row needs a branch.
func.func private @read_place(%place: i32, %segment: i32, %begin: i32, %number: i32, %rows_table: !sync.ptr<shared>,
                              %weights_table: !sync.ptr<shared>) -> (vector<4xi32>, f32) {
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %packet_bytes = arith.constant 16 : i64
  %nought = arith.constant 0.0 : f32
  %nothing = arith.constant dense<0> : vector<4xi32>
  %batch = arith.constant #batch
  %last = arith.constant #last_packet
  %last_row = arith.constant #last_listed
  %which = arith.remui %place, %batch : i32
  %n = arith.addi %begin, %which : i32
  %exists = arith.cmpi ult, %n, %number : i32
  %entry = arith.minui %n, %last_row : i32
  %row_p = func.call @shared_at(%rows_table, %entry, %eight) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
  %row = ep.load %row_p : !sync.ptr<shared> -> i64
  %weight_p = func.call @shared_at(%weights_table, %entry, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
  %listed = ep.load %weight_p : !sync.ptr<shared> -> f32
  %weight = arith.select %exists, %listed, %nought : f32
  %i = func.call @place_packet(%segment, %place) : (i32, i32) -> i32
  %j = arith.minui %i, %last : i32
  %packet = scf.if %exists -> (vector<4xi32>) {
    %from_a = func.call @at(%row, %j, %packet_bytes) : (i64, i32, i64) -> i64
    %from = ep.global_ptr %from_a : !sync.ptr<global>
    %v = ep.packet_load %from : !sync.ptr<global> -> vector<4xi32>
    scf.yield %v : vector<4xi32>
  } else {
    scf.yield %nothing : vector<4xi32>
  }
  return %packet, %weight : vector<4xi32>, f32
}

// Adds a place to the sum of its packet, which begins with the packet's first place. After the last one of the last batch
// the sum is rounded, once, and written if the row has that packet. Nothing at no weight changes no sum, not even the
// sign of a zero: sums start at +0.
func.func private @add_place(%place: i32, %segment: i32, %ends: i1, %sum: !acc, %packet: vector<4xi32>, %weight: f32,
                             %to_row: i64) -> !acc {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %nought = arith.constant dense<0.0> : !acc
  %packet_bytes = arith.constant 16 : i64
  %batch = arith.constant #batch
  %packets = arith.constant #packets
  %whole = arith.constant #whole_segments
  %which = arith.remui %place, %batch : i32
  %begins0 = arith.cmpi eq, %which, %zero : i32
  %later = arith.cmpi ne, %place, %zero : i32
  %begins = arith.andi %begins0, %later : i1
  %before = arith.select %begins, %nought, %sum : !acc
  %after = ep.accumulate %before, %packet, %weight as !elem : !acc
  %following = arith.addi %which, %one : i32
  %completes = arith.cmpi eq, %following, %batch : i32
  scf.if %completes {
    %i = func.call @place_packet(%segment, %place) : (i32, i32) -> i32
    %in = arith.cmpi ult, %i, %packets : i32
    %inside = arith.ori %in, %whole : i1
    %writes = arith.andi %inside, %ends : i1
    scf.if %writes {
      %v = ep.pack %after as !elem : !acc
      %to_a = func.call @at(%to_row, %i, %packet_bytes) : (i64, i32, i64) -> i64
      %to = ep.global_ptr %to_a : !sync.ptr<global>
      ep.packet_store %v, %to : vector<4xi32>, !sync.ptr<global>
    }
  }
  return %after : !acc
}

// One warp reduces segment `segment` of a token. A batch is #batch contributions to #lane_packets packets a lane: eight
// loads that are all under way before the first is added up. A row of a peer takes microseconds to come, and few CTAs fill
// a link only if they ask for much at a time. #one_batch: no token has more contributions than a batch.
func.func private @reduce_segment(%out: i64, %token: i32, %segment: i32, %number: i32, %rows_table: !sync.ptr<shared>,
                                  %weights_table: !sync.ptr<shared>) {
  %p0 = arith.constant 0 : i32
  %p1 = arith.constant 1 : i32
  %p2 = arith.constant 2 : i32
  %p3 = arith.constant 3 : i32
  %p4 = arith.constant 4 : i32
  %p5 = arith.constant 5 : i32
  %p6 = arith.constant 6 : i32
  %p7 = arith.constant 7 : i32
  %nought = arith.constant dense<0.0> : !acc
  %batch = arith.constant #batch
  %one_batch = arith.constant #one_batch
  %row_stride = arith.constant #combine_row_stride
  %to_row = func.call @at(%out, %token, %row_stride) : (i64, i32, i64) -> i64
  // a token without contributions is a row of zeros
  %least = arith.maxui %number, %p1 : i32
  %upper = arith.select %one_batch, %p1, %least : i32
  %sum = scf.for %begin = %p0 to %upper step %batch iter_args(%carried = %nought) -> (!acc) : i32 {
    %next = arith.addi %begin, %batch : i32
    %ends = arith.cmpi uge, %next, %upper : i32
    %v0, %w0 = func.call @read_place(%p0, %segment, %begin, %number, %rows_table, %weights_table)
        : (i32, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> (vector<4xi32>, f32)
    %v1, %w1 = func.call @read_place(%p1, %segment, %begin, %number, %rows_table, %weights_table)
        : (i32, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> (vector<4xi32>, f32)
    %v2, %w2 = func.call @read_place(%p2, %segment, %begin, %number, %rows_table, %weights_table)
        : (i32, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> (vector<4xi32>, f32)
    %v3, %w3 = func.call @read_place(%p3, %segment, %begin, %number, %rows_table, %weights_table)
        : (i32, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> (vector<4xi32>, f32)
    %v4, %w4 = func.call @read_place(%p4, %segment, %begin, %number, %rows_table, %weights_table)
        : (i32, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> (vector<4xi32>, f32)
    %v5, %w5 = func.call @read_place(%p5, %segment, %begin, %number, %rows_table, %weights_table)
        : (i32, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> (vector<4xi32>, f32)
    %v6, %w6 = func.call @read_place(%p6, %segment, %begin, %number, %rows_table, %weights_table)
        : (i32, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> (vector<4xi32>, f32)
    %v7, %w7 = func.call @read_place(%p7, %segment, %begin, %number, %rows_table, %weights_table)
        : (i32, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> (vector<4xi32>, f32)
    %s0 = func.call @add_place(%p0, %segment, %ends, %carried, %v0, %w0, %to_row)
        : (i32, i32, i1, !acc, vector<4xi32>, f32, i64) -> !acc
    %s1 = func.call @add_place(%p1, %segment, %ends, %s0, %v1, %w1, %to_row)
        : (i32, i32, i1, !acc, vector<4xi32>, f32, i64) -> !acc
    %s2 = func.call @add_place(%p2, %segment, %ends, %s1, %v2, %w2, %to_row)
        : (i32, i32, i1, !acc, vector<4xi32>, f32, i64) -> !acc
    %s3 = func.call @add_place(%p3, %segment, %ends, %s2, %v3, %w3, %to_row)
        : (i32, i32, i1, !acc, vector<4xi32>, f32, i64) -> !acc
    %s4 = func.call @add_place(%p4, %segment, %ends, %s3, %v4, %w4, %to_row)
        : (i32, i32, i1, !acc, vector<4xi32>, f32, i64) -> !acc
    %s5 = func.call @add_place(%p5, %segment, %ends, %s4, %v5, %w5, %to_row)
        : (i32, i32, i1, !acc, vector<4xi32>, f32, i64) -> !acc
    %s6 = func.call @add_place(%p6, %segment, %ends, %s5, %v6, %w6, %to_row)
        : (i32, i32, i1, !acc, vector<4xi32>, f32, i64) -> !acc
    %s7 = func.call @add_place(%p7, %segment, %ends, %s6, %v7, %w7, %to_row)
        : (i32, i32, i1, !acc, vector<4xi32>, f32, i64) -> !acc
    scf.yield %s7 : !acc
  }
  return
}

// The segments of a tile, those of each token behind each other, are dealt out evenly to its warps: this one's are
// [begin, end). A tile from token `first` on has at most `size` tokens, and perhaps none.
func.func private @warp_segments(%first: i32, %size: i32, %tokens: i32) -> (i32, i32) {
  %one = arith.constant 1 : i32
  %warps = arith.constant #warps
  %segments = arith.constant #segments
  %warp = ep.warp_id : i32
  %until = arith.minui %first, %tokens : i32
  %left = arith.subi %tokens, %until : i32
  %count = arith.minui %left, %size : i32
  %all = arith.muli %count, %segments : i32
  %next = arith.addi %warp, %one : i32
  %low = arith.muli %warp, %all : i32
  %high = arith.muli %next, %all : i32
  %begin = arith.divui %low, %warps : i32
  %end = arith.divui %high, %warps : i32
  return %begin, %end : i32, i32
}

// What the lists say of the first tokens that the warp has of a tile.
func.func private @load_first_lists(%ids: i64, %weights: i64, %slots: i64, %tile: i32, %size: i32, %tokens: i32) -> (i32, i32, f32) {
  %segments = arith.constant #segments
  %which, %own = func.call @lane_place() : () -> (i32, i32)
  %first = arith.muli %tile, %size : i32
  %begin, %end = func.call @warp_segments(%first, %size, %tokens) : (i32, i32, i32) -> (i32, i32)
  %skip = arith.divui %begin, %segments : i32
  %from = arith.addi %first, %skip : i32
  %token = arith.addi %from, %which : i32
  %id, %slot, %weight = func.call @load_lists(%ids, %weights, %slots, %token, %tokens)
      : (i64, i64, i64, i32, i32) -> (i32, i32, f32)
  return %id, %slot, %weight : i32, i32, f32
}

func.func @ep_combine(%window: i64, %stride: i64, %out: i64, %out_weights: i64, %ids: i64, %weights: i64, %slots: i64,
                      %timeout: i64, %rank: i32, %tokens: i32, %buffer: i32, %reserved: i32)
    attributes {ep.kernel, ep.block_threads = #block_threads, ep.cluster = #cluster} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %one_wide = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %topk = arith.constant #topk
  %segments = arith.constant #segments
  %lanes = arith.constant #lanes_per_token
  %listed = arith.constant #tokens_listed
  %control_at = arith.constant #off_control
  %result_at = arith.constant #off_result
  %started = arith.constant #off_started
  %claim_at = arith.constant #control_claim
  %mailboxes_at = arith.constant #off_mailboxes

  %rows_tables = sync.shared_alloc bytes = #warps_rows_bytes align = 8 : !sync.ptr<shared>
  %weights_tables = sync.shared_alloc bytes = #warps_weights_bytes align = 4 : !sync.ptr<shared>

  %tid = ep.thread_id : i32
  %warp = ep.warp_id : i32
  %leader = arith.cmpi eq, %tid, %zero : i32
  %control = ep.peer_ptr %window, %stride, %rank, %control_at : !sync.ptr<global>
  %done_ops = ep.load %control : !sync.ptr<global> -> i64
  %op = arith.addi %done_ops, %one_wide : i64
  %live0 = func.call @live_ranks(%control) {sync.step = "live"} : (!sync.ptr<global>) -> i64
  %table_rows = arith.constant #table_rows
  %first_entry = arith.muli %warp, %table_rows : i32
  %rows_tables_own = func.call @shared_at(%rows_tables, %first_entry, %eight)
      : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
  %weights_tables_own = func.call @shared_at(%weights_tables, %first_entry, %four)
      : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
  %which, %own = func.call @lane_place() : () -> (i32, i32)
  func.call @announce(%window, %stride, %rank, %live0, %op) {sync.step = "started"} : (i64, i64, i32, i64, i64) -> ()
  // what nobody has to say ready: the lists of the CTA's own tile, the first unless tiles are claimed
  %size = func.call @tile_size(%tokens) : (i32) -> i32
  %tiles = func.call @tile_count(%tokens, %size) : (i32, i32) -> i32
  %cta = ep.cta_id : i32
  %own_id, %own_slot, %own_weight = func.call @load_first_lists(%ids, %weights, %slots, %cta, %size, %tokens)
      : (i64, i64, i64, i32, i32, i32) -> (i32, i32, f32)
  %live = func.call @await(%window, %stride, %rank, %started, %live0, %op, %timeout) {sync.step = "started"}
      : (i64, i64, i32, i64, i64, i64, i64) -> i64

  %claim = ep.offset %control, %claim_at : !sync.ptr<global>
  %mailboxes = ep.peer_ptr %window, %stride, %rank, %mailboxes_at : !sync.ptr<global>
  %ctas = ep.for_each_tile %tile in %tiles claim %claim through %mailboxes
      {schedule = #schedule, cluster = #cluster, remote_shared = #remote_shared} {
    %first = arith.muli %tile, %size : i32
    %begin, %end = func.call @warp_segments(%first, %size, %tokens) : (i32, i32, i32) -> (i32, i32)
    %skipped = arith.divui %begin, %segments : i32
    %into = arith.remui %begin, %segments : i32
    // tokens of which the warp has segments, the first from segment `into` on and the last up to `until`
    %from_token = arith.addi %first, %skipped : i32
    %ahead = arith.muli %skipped, %segments : i32
    %length = arith.subi %end, %ahead : i32
    %some = arith.cmpi ult, %begin, %end : i32
    %padded = arith.addi %length, %segments : i32
    %less = arith.subi %padded, %one : i32
    %touched = arith.divui %less, %segments : i32
    %number_of_tokens = arith.select %some, %touched, %zero : i32
    %last_token = arith.subi %number_of_tokens, %one : i32
    %before_last = arith.muli %last_token, %segments : i32
    %until = arith.subi %length, %before_last : i32
    // of the lane's token of those that its warp lists together it knows one expert
    %own_tile = arith.cmpi eq, %tile, %cta : i32
    %id0, %slot0, %weight0 = scf.if %own_tile -> (i32, i32, f32) {
      scf.yield %own_id, %own_slot, %own_weight : i32, i32, f32
    } else {
      %i, %s, %w = func.call @load_first_lists(%ids, %weights, %slots, %tile, %size, %tokens)
          : (i64, i64, i64, i32, i32, i32) -> (i32, i32, f32)
      scf.yield %i, %s, %w : i32, i32, f32
    }
    %done:3 = scf.for %group = %zero to %number_of_tokens step %listed
        iter_args(%id = %id0, %slot = %slot0, %weight = %weight0) -> (i32, i32, f32) : i32 {
      %lane_n = arith.addi %group, %which : i32
      %lane_token = arith.addi %from_token, %lane_n : i32
      // the lists of the next tokens are on their way while the rows of these are
      %next_token = arith.addi %lane_token, %listed : i32
      %next_id, %next_slot, %next_weight = func.call @load_lists(%ids, %weights, %slots, %next_token, %tokens)
          : (i64, i64, i64, i32, i32) -> (i32, i32, f32)
      %lane_exists = arith.cmpi ult, %lane_n, %number_of_tokens : i32
      %lane_first = arith.cmpi eq, %lane_n, %zero : i32
      %lane_segment = arith.select %lane_first, %into, %zero : i32
      // the tables of the tokens before are not read any more
      sync.warp_barrier {sync.step = "list.begin"}
      %lane_number = func.call @list_rows(%window, %stride, %rank, %buffer, %live, %lane_exists, %id, %slot, %weight,
                                          %weights, %out_weights, %lane_token, %lane_segment, %rows_tables_own,
                                          %weights_tables_own)
          : (i64, i64, i32, i32, i64, i1, i32, i32, f32, i64, i64, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> i32
      sync.warp_barrier {sync.step = "list.share"}
      scf.for %n = %zero to %listed step %one : i32 {
        %its_lane = arith.muli %n, %lanes : i32
        %number = ep.shuffle %lane_number, %its_lane : i32
        %its_n = arith.addi %group, %n : i32
        %token = arith.addi %from_token, %its_n : i32
        %entry = arith.muli %n, %topk : i32
        %rows_table = func.call @shared_at(%rows_tables_own, %entry, %eight)
            : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
        %weights_table = func.call @shared_at(%weights_tables_own, %entry, %four)
            : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
        %is_first = arith.cmpi eq, %its_n, %zero : i32
        %is_last = arith.cmpi eq, %its_n, %last_token : i32
        %exists = arith.cmpi ult, %its_n, %number_of_tokens : i32
        %from_segment = arith.select %is_first, %into, %zero : i32
        %to_segment0 = arith.select %is_last, %until, %segments : i32
        %to_segment = arith.select %exists, %to_segment0, %zero : i32
        scf.for %segment = %from_segment to %to_segment step %one : i32 {
          func.call @reduce_segment(%out, %token, %segment, %number, %rows_table, %weights_table)
              : (i64, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> ()
        }
      }
      scf.yield %next_id, %next_slot, %next_weight : i32, i32, f32
    }
  }

  %last = func.call @is_last_cta(%control, %ctas) {sync.step = "ticket"} : (!sync.ptr<global>, i32) -> i1
  %concludes = arith.andi %last, %leader : i1
  scf.if %concludes {
    %result = ep.peer_ptr %window, %stride, %rank, %result_at : !sync.ptr<global>
    func.call @conclude(%control, %result, %op, %zero, %zero)
        : (!sync.ptr<global>, !sync.ptr<global>, i64, i32, i32) -> ()
  }
  return
}
