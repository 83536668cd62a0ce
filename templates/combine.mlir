// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Combine, gather mode: every rank reads the expert outputs of its own tokens from the ranks that made them and reduces
// them in f32.
//
// Protocol. CTA 0 tells every rank that this rank's expert outputs are ready; every CTA waits for all ranks, then works
// on its own tokens only: it writes nothing that another CTA or rank reads, so the grid needs no barrier and any grid is
// right. Nor do a CTA's warps wait for each other: #warps_per_token of them share a token, and each of these lists the
// token's contributions for itself and reduces its own segments. A token's contributions are listed in a fixed order
// (ranks by their first expert in the token's top-k, or experts in top-k order when the outputs have a row per expert),
// so the sum does not depend on timing.
//
// Memory order. `started` carries release.sys / acquire.sys from the writers of the outputs to the readers (facts 1 and 3
// of common.mlir). The outputs may be written again after any later dispatch has arrived, since every rank has then
// started an operation after this one.

// One warp lists the contributions of `token`: the address of each row and its weight, in order, into the token's part of
// the tables; returns their number. Lane k looks at expert k. The warp that has the token's first share also reduces the
// forwarded weights, if they are wanted.
func.func private @list_rows(%window: i64, %stride: i64, %rank: i32, %buffer: i32, %live: i64, %ids: i64, %weights: i64,
                             %slots: i64, %out_weights: i64, %token: i32, %share: i32, %rows_table: !sync.ptr<shared>,
                             %weights_table: !sync.ptr<shared>) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %none = arith.constant 0 : i64
  %one_wide = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %unit = arith.constant 1.0 : f32
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
  %lane = ep.lane_id : i32
  %holds = arith.cmpi ult, %lane, %topk : i32
  %weighted = arith.cmpi ne, %weights, %none : i64
  %lane_bytes = func.call @at(%none, %lane, %four) : (i64, i32, i64) -> i64
  %ids_row = func.call @at(%ids, %token, %ids_stride) : (i64, i32, i64) -> i64
  %slots_row = func.call @at(%slots, %token, %ids_stride) : (i64, i32, i64) -> i64
  %weights_row = func.call @at(%weights, %token, %ids_stride) : (i64, i32, i64) -> i64

  // lane k: the rank of expert k (-1 where it contributes nothing), its slot there, its weight
  %from, %slot, %weight = scf.if %holds -> (i32, i32, f32) {
    %ids_a = arith.addi %ids_row, %lane_bytes : i64
    %ids_p = ep.global_ptr %ids_a : !sync.ptr<global>
    %id = ep.load %ids_p : !sync.ptr<global> -> i32
    %slots_a = arith.addi %slots_row, %lane_bytes : i64
    %slots_p = ep.global_ptr %slots_a : !sync.ptr<global>
    %s = ep.load %slots_p : !sync.ptr<global> -> i32
    %valid, %owner = func.call @owner(%id) : (i32) -> (i1, i32)
    %here = func.call @has_rank(%live, %owner) : (i64, i32) -> i1
    %landed = arith.cmpi sge, %s, %zero : i32
    %ok0 = arith.andi %valid, %here : i1
    %ok = arith.andi %ok0, %landed : i1
    %f = arith.select %ok, %owner, %minus : i32
    %w = scf.if %weighted -> (f32) {
      %weights_a = arith.addi %weights_row, %lane_bytes : i64
      %weights_p = ep.global_ptr %weights_a : !sync.ptr<global>
      %value = ep.load %weights_p : !sync.ptr<global> -> f32
      scf.yield %value : f32
    } else {
      scf.yield %unit : f32
    }
    scf.yield %f, %s, %w : i32, i32, f32
  } else {
    scf.yield %minus, %minus, %nought : i32, i32, f32
  }
  %contributes = arith.cmpi sge, %from, %zero : i32

  // a rank's first expert stands for the rank; it gathers the weights of the later ones in top-k order
  %repeated, %rank_weight = scf.for %k = %zero to %topk step %one iter_args(%seen = %false, %sum = %weight) -> (i1, f32) : i32 {
    %other_from = ep.shuffle %from, %k : i32
    %other_weight = ep.shuffle %weight, %k : f32
    %same = arith.cmpi eq, %other_from, %from : i32
    %earlier = arith.cmpi ult, %k, %lane : i32
    %later = arith.cmpi ugt, %k, %lane : i32
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

  %votes = ep.ballot %listed : i64
  %lane_bit = func.call @rank_bit(%lane) : (i32) -> i64
  %lanes_below = arith.subi %lane_bit, %one_wide : i64
  %below = arith.andi %votes, %lanes_below : i64
  %position_wide = math.ctpop %below : i64
  %position = arith.trunci %position_wide : i64 to i32
  %safe_slot = arith.select %contributes, %slot, %zero : i32
  %safe_from = arith.select %contributes, %from, %zero : i32
  %index = func.call @region_row(%buffer, %rank, %safe_slot) : (i32, i32, i32) -> i64
  scf.if %listed {
    %sub_row = arith.select %expert_rows, %lane, %zero : i32
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
  %first_share = arith.cmpi eq, %share, %zero : i32
  %wanted = arith.andi %has_place, %first_share : i1
  scf.if %wanted {
    %m0 = arith.muli %index, %meta_stride : i64
    %m1 = arith.addi %meta, %m0 : i64
    %m2 = arith.addi %m1, %weights_at : i64
    %contributors = ep.ballot %stands : i64
    %total = scf.for %k = %zero to %topk step %one iter_args(%sum = %nought) -> (f32) : i32 {
      %there = ep.shuffle %from, %k : i32
      %at_row = ep.shuffle %m2, %k : i64
      %in = func.call @has_rank(%contributors, %k) : (i64, i32) -> i1
      %reads = arith.andi %in, %holds : i1
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
    scf.if %holds {
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

// The offsets in a row of the four packets of segment `segment` that this lane has. Beyond the row's end it has the last
// packet again, so that loads need no branch.
func.func private @lane_packets(%segment: i32) -> (i64, i64, i64, i64) {
  %none = arith.constant 0 : i64
  %width = arith.constant #warp_width
  %segment_packets = arith.constant #segment_packets
  %last = arith.constant #last_packet
  %packet_bytes = arith.constant 16 : i64
  %lane = ep.lane_id : i32
  %skip = arith.muli %segment, %segment_packets : i32
  %i0 = arith.addi %skip, %lane : i32
  %i1 = arith.addi %i0, %width : i32
  %i2 = arith.addi %i1, %width : i32
  %i3 = arith.addi %i2, %width : i32
  %j0 = arith.minui %i0, %last : i32
  %j1 = arith.minui %i1, %last : i32
  %j2 = arith.minui %i2, %last : i32
  %j3 = arith.minui %i3, %last : i32
  %o0 = func.call @at(%none, %j0, %packet_bytes) : (i64, i32, i64) -> i64
  %o1 = func.call @at(%none, %j1, %packet_bytes) : (i64, i32, i64) -> i64
  %o2 = func.call @at(%none, %j2, %packet_bytes) : (i64, i32, i64) -> i64
  %o3 = func.call @at(%none, %j3, %packet_bytes) : (i64, i32, i64) -> i64
  return %o0, %o1, %o2, %o3 : i64, i64, i64, i64
}

// Rounds the lane's four packets of a segment once and writes those that the row has.
func.func private @write_segment(%out: i64, %token: i32, %segment: i32, %o0: i64, %o1: i64, %o2: i64, %o3: i64, %s0: !acc,
                                 %s1: !acc, %s2: !acc, %s3: !acc) {
  %width = arith.constant #warp_width
  %segment_packets = arith.constant #segment_packets
  %packets = arith.constant #packets
  %whole = arith.constant #whole_segments
  %row_stride = arith.constant #combine_row_stride
  %lane = ep.lane_id : i32
  %skip = arith.muli %segment, %segment_packets : i32
  %i0 = arith.addi %skip, %lane : i32
  %i1 = arith.addi %i0, %width : i32
  %i2 = arith.addi %i1, %width : i32
  %i3 = arith.addi %i2, %width : i32
  %in0 = arith.cmpi ult, %i0, %packets : i32
  %in1 = arith.cmpi ult, %i1, %packets : i32
  %in2 = arith.cmpi ult, %i2, %packets : i32
  %in3 = arith.cmpi ult, %i3, %packets : i32
  %write0 = arith.ori %in0, %whole : i1
  %write1 = arith.ori %in1, %whole : i1
  %write2 = arith.ori %in2, %whole : i1
  %write3 = arith.ori %in3, %whole : i1
  %to_a = func.call @at(%out, %token, %row_stride) : (i64, i32, i64) -> i64
  %to = ep.global_ptr %to_a : !sync.ptr<global>
  scf.if %write0 {
    %v = ep.pack %s0 as !elem : !acc
    %d = ep.offset %to, %o0 : !sync.ptr<global>
    ep.packet_store %v, %d : vector<4xi32>, !sync.ptr<global>
  }
  scf.if %write1 {
    %v = ep.pack %s1 as !elem : !acc
    %d = ep.offset %to, %o1 : !sync.ptr<global>
    ep.packet_store %v, %d : vector<4xi32>, !sync.ptr<global>
  }
  scf.if %write2 {
    %v = ep.pack %s2 as !elem : !acc
    %d = ep.offset %to, %o2 : !sync.ptr<global>
    ep.packet_store %v, %d : vector<4xi32>, !sync.ptr<global>
  }
  scf.if %write3 {
    %v = ep.pack %s3 as !elem : !acc
    %d = ep.offset %to, %o3 : !sync.ptr<global>
    ep.packet_store %v, %d : vector<4xi32>, !sync.ptr<global>
  }
  return
}

// One warp reduces segment `segment` of a token: four packets a lane, read together from each contribution in turn.
func.func private @reduce_segment(%out: i64, %token: i32, %segment: i32, %number: i32, %rows_table: !sync.ptr<shared>,
                                  %weights_table: !sync.ptr<shared>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %nought = arith.constant dense<0.0> : !acc
  %o0, %o1, %o2, %o3 = func.call @lane_packets(%segment) : (i32) -> (i64, i64, i64, i64)
  %s0, %s1, %s2, %s3 = scf.for %n = %zero to %number step %one
      iter_args(%a0 = %nought, %a1 = %nought, %a2 = %nought, %a3 = %nought) -> (!acc, !acc, !acc, !acc) : i32 {
    %row_p = func.call @shared_at(%rows_table, %n, %eight) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    %row = ep.load %row_p : !sync.ptr<shared> -> i64
    %weight_p = func.call @shared_at(%weights_table, %n, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    %weight = ep.load %weight_p : !sync.ptr<shared> -> f32
    %from = ep.global_ptr %row : !sync.ptr<global>
    %f0 = ep.offset %from, %o0 : !sync.ptr<global>
    %f1 = ep.offset %from, %o1 : !sync.ptr<global>
    %f2 = ep.offset %from, %o2 : !sync.ptr<global>
    %f3 = ep.offset %from, %o3 : !sync.ptr<global>
    %v0 = ep.packet_load %f0 : !sync.ptr<global> -> vector<4xi32>
    %v1 = ep.packet_load %f1 : !sync.ptr<global> -> vector<4xi32>
    %v2 = ep.packet_load %f2 : !sync.ptr<global> -> vector<4xi32>
    %v3 = ep.packet_load %f3 : !sync.ptr<global> -> vector<4xi32>
    %b0 = ep.accumulate %a0, %v0, %weight as !elem : !acc
    %b1 = ep.accumulate %a1, %v1, %weight as !elem : !acc
    %b2 = ep.accumulate %a2, %v2, %weight as !elem : !acc
    %b3 = ep.accumulate %a3, %v3, %weight as !elem : !acc
    scf.yield %b0, %b1, %b2, %b3 : !acc, !acc, !acc, !acc
  }
  func.call @write_segment(%out, %token, %segment, %o0, %o1, %o2, %o3, %s0, %s1, %s2, %s3)
      : (i64, i32, i32, i64, i64, i64, i64, !acc, !acc, !acc, !acc) -> ()
  return
}

func.func @ep_combine(%window: i64, %stride: i64, %out: i64, %out_weights: i64, %ids: i64, %weights: i64, %slots: i64,
                      %timeout: i64, %rank: i32, %tokens: i32, %buffer: i32, %reserved: i32)
    attributes {ep.kernel, ep.block_threads = #block_threads, ep.cluster = #cluster} {
  %zero = arith.constant 0 : i32
  %one_wide = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %warps = arith.constant #warps
  %topk = arith.constant #topk
  %tile_tokens = arith.constant #tile_tokens
  %round = arith.constant #tile_tokens_less_one
  %segments = arith.constant #segments
  %sharing = arith.constant #warps_per_token
  %shares = arith.constant #tile_shares
  %control_at = arith.constant #off_control
  %result_at = arith.constant #off_result
  %started = arith.constant #off_started
  %claim_at = arith.constant #control_claim

  %rows_tables = sync.shared_alloc bytes = #warps_rows_bytes align = 8 : !sync.ptr<shared>
  %weights_tables = sync.shared_alloc bytes = #warps_weights_bytes align = 4 : !sync.ptr<shared>

  %tid = ep.thread_id : i32
  %warp = ep.warp_id : i32
  %leader = arith.cmpi eq, %tid, %zero : i32
  %control = ep.peer_ptr %window, %stride, %rank, %control_at : !sync.ptr<global>
  %done_ops = ep.load %control : !sync.ptr<global> -> i64
  %op = arith.addi %done_ops, %one_wide : i64
  %live0 = func.call @live_ranks(%control) : (!sync.ptr<global>) -> i64
  %entry = arith.muli %warp, %topk : i32
  %rows_table = func.call @shared_at(%rows_tables, %entry, %eight) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
  %weights_table = func.call @shared_at(%weights_tables, %entry, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
  func.call @announce(%window, %stride, %rank, %live0, %op) : (i64, i64, i32, i64, i64) -> ()
  %live = func.call @await(%window, %stride, %rank, %started, %live0, %op, %timeout)
      : (i64, i64, i32, i64, i64, i64, i64) -> i64

  %padded = arith.addi %tokens, %round : i32
  %tiles = arith.divui %padded, %tile_tokens : i32
  %claim = ep.offset %control, %claim_at : !sync.ptr<global>
  %ctas = ep.for_each_tile %tile in %tiles claim %claim {schedule = #schedule, cluster = #cluster} {
    %first = arith.muli %tile, %tile_tokens : i32
    scf.for %item = %warp to %shares step %warps : i32 {
      %local = arith.divui %item, %sharing : i32
      %share = arith.remui %item, %sharing : i32
      %token = arith.addi %first, %local : i32
      %exists = arith.cmpi slt, %token, %tokens : i32
      scf.if %exists {
        // the tables of the share before are not read any more
        sync.warp_barrier
        %number = func.call @list_rows(%window, %stride, %rank, %buffer, %live, %ids, %weights, %slots, %out_weights,
                                       %token, %share, %rows_table, %weights_table)
            : (i64, i64, i32, i32, i64, i64, i64, i64, i64, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> i32
        sync.warp_barrier
        scf.for %segment = %share to %segments step %sharing : i32 {
          func.call @reduce_segment(%out, %token, %segment, %number, %rows_table, %weights_table)
              : (i64, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>) -> ()
        }
      }
    }
  }

  %last = func.call @is_last_cta(%control, %ctas) : (!sync.ptr<global>, i32) -> i1
  %concludes = arith.andi %last, %leader : i1
  scf.if %concludes {
    %result = ep.peer_ptr %window, %stride, %rank, %result_at : !sync.ptr<global>
    func.call @conclude(%control, %result, %op, %zero, %zero)
        : (!sync.ptr<global>, !sync.ptr<global>, i64, i32, i32) -> ()
  }
  return
}
