// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Dispatch: every token row goes once to each rank that owns one of its experts.
//
// Protocol. Each source owns a region of every destination's landing buffer and fills it in its own token order, so a
// row's slot is the number of earlier tokens that go to the same rank: every CTA finds it by counting the ids before its
// tile (a few bytes per token, from L2; dispatch_slots.mlir), and nothing is exchanged before data moves. The CTA with the
// last token has then counted all rows and writes the counts. The CTA that is done last signals every rank that no CTA has
// given up on, waits for their signals, and leaves the counters ready for the next launch. The only CTA of its own grid
// that a CTA waits for is CTA 0, which waits for none, so any grid is right.
//
// With #own_in_place a rank's own rows lie in its region of its own landing buffer already, a token's in the slot of its
// number: every token goes to its own rank, which costs a meta row and nothing else.
//
// Memory order. Rows and counts are plain stores; ticket and `arrived` signal publish them (facts 1 and 2 of
// common.mlir). A landing buffer is written again only after every destination has started a later operation than the one
// that filled it, or, where no combine came behind that, this one: `started` says that the destination's readers, which
// precede that operation in its stream, are done (fact 3; docs/protocol.md, "Why a landing buffer can be written again").

// One warp copies segment `segment` of a token's row to every rank in `mask`: four packets a lane are read together,
// once, and written to each destination.
func.func private @send_segment(%window: i64, %stride: i64, %rank: i32, %buffer: i32, %x: i64, %token: i32,
                                %segment: i32, %mask: i64, %table: !sync.ptr<shared>) {
  %none = arith.constant 0 : i64
  %one_wide = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %width = arith.constant #warp_width
  %segment_packets = arith.constant #segment_packets
  %packets = arith.constant #packets
  %last = arith.constant #last_packet
  %whole = arith.constant #whole_segments
  %packet_bytes = arith.constant 16 : i64
  %row_stride = arith.constant #row_stride
  %rows = arith.constant #rows_per_source
  %landing = arith.constant #off_landing
  %lane = ep.lane_id : i32
  %skip = arith.muli %segment, %segment_packets : i32
  %i0 = arith.addi %skip, %lane : i32
  %i1 = arith.addi %i0, %width : i32
  %i2 = arith.addi %i1, %width : i32
  %i3 = arith.addi %i2, %width : i32
  // beyond the row's end a lane reads the last packet again, so that the loads need no branch
  %j0 = arith.minui %i0, %last : i32
  %j1 = arith.minui %i1, %last : i32
  %j2 = arith.minui %i2, %last : i32
  %j3 = arith.minui %i3, %last : i32
  %in0 = arith.cmpi ult, %i0, %packets : i32
  %in1 = arith.cmpi ult, %i1, %packets : i32
  %in2 = arith.cmpi ult, %i2, %packets : i32
  %in3 = arith.cmpi ult, %i3, %packets : i32
  %write0 = arith.ori %in0, %whole : i1
  %write1 = arith.ori %in1, %whole : i1
  %write2 = arith.ori %in2, %whole : i1
  %write3 = arith.ori %in3, %whole : i1
  %o0 = func.call @at(%none, %j0, %packet_bytes) : (i64, i32, i64) -> i64
  %o1 = func.call @at(%none, %j1, %packet_bytes) : (i64, i32, i64) -> i64
  %o2 = func.call @at(%none, %j2, %packet_bytes) : (i64, i32, i64) -> i64
  %o3 = func.call @at(%none, %j3, %packet_bytes) : (i64, i32, i64) -> i64
  %row = func.call @at(%x, %token, %row_stride) : (i64, i32, i64) -> i64
  %from = ep.global_ptr %row : !sync.ptr<global>
  %f0 = ep.offset %from, %o0 : !sync.ptr<global>
  %f1 = ep.offset %from, %o1 : !sync.ptr<global>
  %f2 = ep.offset %from, %o2 : !sync.ptr<global>
  %f3 = ep.offset %from, %o3 : !sync.ptr<global>
  %v0 = ep.packet_load %f0 : !sync.ptr<global> -> vector<4xi32>
  %v1 = ep.packet_load %f1 : !sync.ptr<global> -> vector<4xi32>
  %v2 = ep.packet_load %f2 : !sync.ptr<global> -> vector<4xi32>
  %v3 = ep.packet_load %f3 : !sync.ptr<global> -> vector<4xi32>
  %done = scf.while (%left = %mask) : (i64) -> i64 {
    %more = arith.cmpi ne, %left, %none : i64
    scf.condition(%more) %left : i64
  } do {
  ^bb0(%left: i64):
    %to_wide = math.cttz %left : i64
    %to = arith.trunci %to_wide : i64 to i32
    %slot_p = func.call @shared_at(%table, %to, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    %slot = ep.load %slot_p : !sync.ptr<shared> -> i32
    %fits = arith.cmpi ult, %slot, %rows : i32
    scf.if %fits {
      %index = func.call @region_row(%buffer, %rank, %slot) : (i32, i32, i32) -> i64
      %bytes = arith.muli %index, %row_stride : i64
      %offset = arith.addi %landing, %bytes : i64
      %dest = ep.peer_ptr %window, %stride, %to, %offset : !sync.ptr<global>
      scf.if %write0 {
        %d = ep.offset %dest, %o0 : !sync.ptr<global>
        ep.packet_store %v0, %d : vector<4xi32>, !sync.ptr<global>
      }
      scf.if %write1 {
        %d = ep.offset %dest, %o1 : !sync.ptr<global>
        ep.packet_store %v1, %d : vector<4xi32>, !sync.ptr<global>
      }
      scf.if %write2 {
        %d = ep.offset %dest, %o2 : !sync.ptr<global>
        ep.packet_store %v2, %d : vector<4xi32>, !sync.ptr<global>
      }
      scf.if %write3 {
        %d = ep.offset %dest, %o3 : !sync.ptr<global>
        ep.packet_store %v3, %d : vector<4xi32>, !sync.ptr<global>
      }
    }
    %minus = arith.subi %left, %one_wide : i64
    %next = arith.andi %left, %minus : i64
    scf.yield %next : i64
  }
  return
}

// One warp writes the routing handle of #handle_tokens tokens from the tile's token `local` on: for each of their experts
// the row at the expert's rank, or -1. A lane has an expert of a token.
func.func private @write_handle(%ids: i64, %slots_out: i64, %first: i32, %local: i32, %count: i32,
                                %masks: !sync.ptr<shared>, %slots: !sync.ptr<shared>, %control: !sync.ptr<global>) {
  %minus = arith.constant -1 : i32
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %true = arith.constant true
  %topk = arith.constant #topk
  %ranks = arith.constant #ranks
  %rows = arith.constant #rows_per_source
  %at_a_time = arith.constant #handle_tokens
  %ids_stride = arith.constant #topk_bytes
  %lane = ep.lane_id : i32
  %which = arith.divui %lane, %topk : i32
  %k = arith.remui %lane, %topk : i32
  %its_local = arith.addi %local, %which : i32
  %in_turn = arith.cmpi ult, %which, %at_a_time : i32
  %in_tile = arith.cmpi ult, %its_local, %count : i32
  %exists = arith.andi %in_turn, %in_tile : i1
  scf.if %exists {
    %token = arith.addi %first, %its_local : i32
    %row = func.call @at(%ids, %token, %ids_stride) : (i64, i32, i64) -> i64
    %a = func.call @at(%row, %k, %four) : (i64, i32, i64) -> i64
    %p = ep.global_ptr %a : !sync.ptr<global>
    %id = ep.load %p : !sync.ptr<global> -> i32
    %valid, %rank = func.call @owner(%id) : (i32) -> (i1, i32)
    %mask_p = func.call @shared_at(%masks, %its_local, %eight) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    %mask = ep.load %mask_p : !sync.ptr<shared> -> i64
    %goes = func.call @has_rank(%mask, %rank) : (i64, i32) -> i1
    %table = arith.muli %its_local, %ranks : i32
    %entry = arith.addi %table, %rank : i32
    %slot_p = func.call @shared_at(%slots, %entry, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
    %slot = ep.load %slot_p : !sync.ptr<shared> -> i32
    %fits = arith.cmpi ult, %slot, %rows : i32
    %sent0 = arith.andi %valid, %goes : i1
    %sent = arith.andi %sent0, %fits : i1
    %result = arith.select %sent, %slot, %minus : i32
    %out_row = func.call @at(%slots_out, %token, %ids_stride) : (i64, i32, i64) -> i64
    %out_a = func.call @at(%out_row, %k, %four) : (i64, i32, i64) -> i64
    %out_p = ep.global_ptr %out_a : !sync.ptr<global>
    ep.store %result, %out_p : i32, !sync.ptr<global>
    %names_one = arith.cmpi ne, %id, %minus : i32
    %unknown = arith.xori %valid, %true : i1
    %foreign = arith.andi %names_one, %unknown : i1
    scf.if %foreign {
      %bad_id = arith.constant #status_bad_id
      %status_at = arith.constant #control_status
      %status_p = ep.offset %control, %status_at : !sync.ptr<global>
      %old = sync.atomic or relaxed gpu %status_p, %bad_id {sync.step = "bad_id"} : !sync.ptr<global>, i32
    }
  }
  // what follows is done by whole warps
  sync.warp_barrier {sync.step = "join"}
  return
}

// Word `word` of a token's meta row: ids, weights, the token's index, nothing up to the scales, the scales.
func.func private @meta_word(%word: i32, %ids_row: i64, %weights_row: i64, %scales_row: i64, %token: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i64
  %weights_word = arith.constant #meta_weights_word
  %token_word = arith.constant #meta_token_word
  %scales_word = arith.constant #meta_scales_word
  %is_id = arith.cmpi ult, %word, %weights_word : i32
  %is_listed = arith.cmpi ult, %word, %token_word : i32
  %is_scale = arith.cmpi uge, %word, %scales_word : i32
  %is_token = arith.cmpi eq, %word, %token_word : i32
  %weight_n = arith.subi %word, %weights_word : i32
  %scale_n = arith.subi %word, %scales_word : i32
  %list = arith.select %is_id, %ids_row, %weights_row : i64
  %list_n = arith.select %is_id, %word, %weight_n : i32
  %from = arith.select %is_scale, %scales_row, %list : i64
  %n = arith.select %is_scale, %scale_n, %list_n : i32
  %is_read = arith.ori %is_listed, %is_scale : i1
  %value = scf.if %is_read -> (i32) {
    %a = func.call @at(%from, %n, %four) : (i64, i32, i64) -> i64
    %p = ep.global_ptr %a : !sync.ptr<global>
    %v = ep.load %p : !sync.ptr<global> -> i32
    scf.yield %v : i32
  } else {
    %v = arith.select %is_token, %token, %zero : i32
    scf.yield %v : i32
  }
  return %value : i32
}

// One warp writes a token's meta row to every rank in `mask`, a word a lane: a store takes a multiprocessor as long
// whether it has a line or a few bytes of one.
func.func private @send_meta(%window: i64, %stride: i64, %rank: i32, %buffer: i32, %ids: i64, %weights: i64,
                             %scales: i64, %token: i32, %mask: i64, %table: !sync.ptr<shared>) {
  %none = arith.constant 0 : i64
  %one_wide = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %width = arith.constant #warp_width
  %words = arith.constant #meta_words
  %ids_stride = arith.constant #topk_bytes
  %scale_stride = arith.constant #scale_bytes
  %rows = arith.constant #rows_per_source
  %meta = arith.constant #off_meta
  %meta_stride = arith.constant #meta_stride
  %lane = ep.lane_id : i32
  %ids_row = func.call @at(%ids, %token, %ids_stride) : (i64, i32, i64) -> i64
  %weights_row = func.call @at(%weights, %token, %ids_stride) : (i64, i32, i64) -> i64
  %scales_row = func.call @at(%scales, %token, %scale_stride) : (i64, i32, i64) -> i64
  scf.for %word = %lane to %words step %width : i32 {
    %value = func.call @meta_word(%word, %ids_row, %weights_row, %scales_row, %token) : (i32, i64, i64, i64, i32) -> i32
    %word_off = func.call @at(%meta, %word, %four) : (i64, i32, i64) -> i64
    %done = scf.while (%left = %mask) : (i64) -> i64 {
      %more = arith.cmpi ne, %left, %none : i64
      scf.condition(%more) %left : i64
    } do {
    ^bb0(%left: i64):
      %to_wide = math.cttz %left : i64
      %to = arith.trunci %to_wide : i64 to i32
      %slot_p = func.call @shared_at(%table, %to, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      %slot = ep.load %slot_p : !sync.ptr<shared> -> i32
      %fits = arith.cmpi ult, %slot, %rows : i32
      scf.if %fits {
        %index = func.call @region_row(%buffer, %rank, %slot) : (i32, i32, i32) -> i64
        %bytes = arith.muli %index, %meta_stride : i64
        %offset = arith.addi %word_off, %bytes : i64
        %dest = ep.peer_ptr %window, %stride, %to, %offset : !sync.ptr<global>
        ep.store %value, %dest : i32, !sync.ptr<global>
      }
      %minus = arith.subi %left, %one_wide : i64
      %next = arith.andi %left, %minus : i64
      scf.yield %next : i64
    }
  }
  sync.warp_barrier {sync.step = "join"}
  return
}

// Tells every live rank how many rows this one has for it. Whole warps.
func.func private @write_counts(%window: i64, %stride: i64, %rank: i32, %buffer: i32, %live: i64,
                                %counts: !sync.ptr<shared>) {
  %four = arith.constant 4 : i64
  %ranks = arith.constant #ranks
  %threads = arith.constant #block_threads
  %counts_region = arith.constant #off_counts
  %tid = ep.thread_id : i32
  %block = arith.muli %buffer, %ranks : i32
  %own_row = arith.addi %block, %rank : i32
  %own_count = func.call @at(%counts_region, %own_row, %four) : (i64, i32, i64) -> i64
  scf.for %peer = %tid to %ranks step %threads : i32 {
    %to = func.call @has_rank(%live, %peer) : (i64, i32) -> i1
    scf.if %to {
      %p = func.call @shared_at(%counts, %peer, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      %count = ep.load %p : !sync.ptr<shared> -> i32
      %count_to = ep.peer_ptr %window, %stride, %peer, %own_count : !sync.ptr<global>
      ep.store %count, %count_to : i32, !sync.ptr<global>
    }
  }
  sync.warp_barrier {sync.step = "told"}
  return
}

func.func @ep_dispatch(%window: i64, %stride: i64, %x: i64, %scales: i64, %ids: i64, %weights: i64, %slots_out: i64,
                       %timeout: i64, %rank: i32, %tokens: i32, %buffer: i32, %given_up: i32)
    attributes {ep.kernel, ep.block_threads = #block_threads, ep.cluster = #cluster} {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i64
  %one_wide = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %ranks = arith.constant #ranks
  %threads = arith.constant #block_threads
  %warps = arith.constant #warps
  %segments = arith.constant #segments
  %items_per_token = arith.constant #items_per_token
  %handle_tokens = arith.constant #handle_tokens
  %rows = arith.constant #rows_per_source
  %control_at = arith.constant #off_control
  %result_at = arith.constant #off_result
  %started = arith.constant #off_started
  %arrived = arith.constant #off_arrived
  %counts_region = arith.constant #off_counts
  %signal_stride = arith.constant #signal_stride
  %last_use_at = arith.constant #control_last_use
  %claim_at = arith.constant #control_claim
  %mailboxes_at = arith.constant #off_mailboxes

  %counts = sync.shared_alloc bytes = #ranks_bytes align = 4 : !sync.ptr<shared>
  %cursor = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %group_counts = sync.shared_alloc bytes = #group_counts_bytes align = 4 : !sync.ptr<shared>
  %group_slots = sync.shared_alloc bytes = #group_counts_bytes align = 4 : !sync.ptr<shared>
  %masks = sync.shared_alloc bytes = #tile_masks_bytes align = 8 : !sync.ptr<shared>
  %slots = sync.shared_alloc bytes = #tile_slots_bytes align = 4 : !sync.ptr<shared>
  %sums = sync.shared_alloc bytes = 8 align = 4 : !sync.ptr<shared>

  %tid = ep.thread_id : i32
  %warp = ep.warp_id : i32
  %leader = arith.cmpi eq, %tid, %zero : i32
  %control = ep.peer_ptr %window, %stride, %rank, %control_at : !sync.ptr<global>
  %done_ops = ep.load %control : !sync.ptr<global> -> i64
  %op = arith.addi %done_ops, %one_wide : i64
  %live0 = func.call @live_ranks(%control) {sync.step = "live"} : (!sync.ptr<global>) -> i64
  %use_off = func.call @at(%last_use_at, %buffer, %eight) : (i64, i32, i64) -> i64
  %use_p = ep.offset %control, %use_off : !sync.ptr<global>
  %last_use = ep.load %use_p : !sync.ptr<global> -> i64
  func.call @announce(%window, %stride, %rank, %live0, %op) {sync.step = "started"} : (i64, i64, i32, i64, i64) -> ()

  func.call @zero_counts(%counts) {sync.step = "count"} : (!sync.ptr<shared>) -> ()
  scf.if %leader {
    ep.store %zero, %cursor : i32, !sync.ptr<shared>
  }
  sync.cta_barrier {sync.step = "count.begin"}

  // the buffer's last readers are done once their rank has started a later operation: the next one, or, if no combine came
  // behind them, this one
  %used = arith.cmpi ne, %last_use, %none : i64
  %uncombined = arith.cmpi ne, %given_up, %zero : i32
  %live = scf.if %used -> (i64) {
    %next_op = arith.addi %last_use, %one_wide : i64
    %later = arith.select %uncombined, %op, %next_op : i64
    %l = func.call @await(%window, %stride, %rank, %started, %live0, %later, %timeout) {sync.step = "started"}
        : (i64, i64, i32, i64, i64, i64, i64) -> i64
    scf.yield %l : i64
  } else {
    scf.yield %live0 : i64
  }

  %always = func.call @always_to(%rank) : (i32) -> i64
  %all_bits = arith.constant -1 : i64
  %not_in_place = arith.xori %always, %all_bits : i64
  %size = func.call @tile_size(%tokens) : (i32) -> i32
  %tiles = func.call @tile_count(%tokens, %size) : (i32, i32) -> i32
  %claim = ep.offset %control, %claim_at : !sync.ptr<global>
  %mailboxes = ep.peer_ptr %window, %stride, %rank, %mailboxes_at : !sync.ptr<global>
  %ctas = ep.for_each_tile %tile in %tiles claim %claim through %mailboxes
      {schedule = #schedule, cluster = #cluster, remote_shared = #remote_shared} {
    %first = arith.muli %tile, %size : i32
    %left = arith.subi %tokens, %first : i32
    %count = arith.minui %left, %size : i32
    %counted = ep.load %cursor : !sync.ptr<shared> -> i32
    %from = func.call @count_from(%counts, %counted, %first) {sync.step = "count"} : (!sync.ptr<shared>, i32, i32) -> i32
    func.call @count_rows(%ids, %live, %always, %counts, %from, %first) {sync.step = "count"}
        : (i64, i64, i64, !sync.ptr<shared>, i32, i32) -> ()
    sync.cta_barrier {sync.step = "count.join"}
    func.call @assign_slots(%ids, %live, %always, %first, %count, %counts, %group_counts, %group_slots, %masks, %slots, %control) {sync.step = "slots"}
        : (i64, i64, i64, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>, !sync.ptr<shared>, !sync.ptr<shared>,
           !sync.ptr<shared>, !sync.ptr<global>) -> ()
    %end = arith.addi %first, %count : i32
    scf.if %leader {
      ep.store %end, %cursor : i32, !sync.ptr<shared>
    }
    // behind the last tile the counts are those of all tokens
    %ends = arith.cmpi eq, %end, %tokens : i32
    scf.if %ends {
      func.call @write_counts(%window, %stride, %rank, %buffer, %live, %counts) {sync.step = "count"}
          : (i64, i64, i32, i32, i64, !sync.ptr<shared>) -> ()
    }
    sync.cta_barrier {sync.step = "slots.share"}
    %items = arith.muli %count, %items_per_token : i32
    scf.for %item = %warp to %items step %warps : i32 {
      %local = arith.divui %item, %items_per_token : i32
      %segment = arith.remui %item, %items_per_token : i32
      %token = arith.addi %first, %local : i32
      %mask_p = func.call @shared_at(%masks, %local, %eight) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      %mask = ep.load %mask_p : !sync.ptr<shared> -> i64
      %entry = arith.muli %local, %ranks : i32
      %table = func.call @shared_at(%slots, %entry, %four) : (!sync.ptr<shared>, i32, i64) -> !sync.ptr<shared>
      %is_meta = arith.cmpi eq, %segment, %segments : i32
      scf.if %is_meta {
        func.call @send_meta(%window, %stride, %rank, %buffer, %ids, %weights, %scales, %token, %mask, %table) {sync.step = "meta"}
            : (i64, i64, i32, i32, i64, i64, i64, i32, i64, !sync.ptr<shared>) -> ()
        %in_handle = arith.remui %local, %handle_tokens : i32
        %writes = arith.cmpi eq, %in_handle, %zero : i32
        scf.if %writes {
          func.call @write_handle(%ids, %slots_out, %first, %local, %count, %masks, %slots, %control) {sync.step = "handle"}
              : (i64, i64, i32, i32, i32, !sync.ptr<shared>, !sync.ptr<shared>, !sync.ptr<global>) -> ()
        }
      } else {
        %away = arith.andi %mask, %not_in_place : i64
        %any = arith.cmpi ne, %away, %none : i64
        scf.if %any {
          func.call @send_segment(%window, %stride, %rank, %buffer, %x, %token, %segment, %away, %table)
              : (i64, i64, i32, i32, i64, i32, i32, i64, !sync.ptr<shared>) -> ()
        }
      }
    }
  }

  // where there is no last tile the counts are none
  %no_tile = arith.cmpi eq, %tokens, %zero : i32
  %cta = ep.cta_id : i32
  %first_cta = arith.cmpi eq, %cta, %zero : i32
  %none_to_send = arith.andi %no_tile, %first_cta : i1
  scf.if %none_to_send {
    func.call @write_counts(%window, %stride, %rank, %buffer, %live, %counts) {sync.step = "count"}
        : (i64, i64, i32, i32, i64, !sync.ptr<shared>) -> ()
  }

  %last = func.call @is_last_cta(%control, %ctas) {sync.step = "ticket"} : (!sync.ptr<global>, i32) -> i1
  scf.if %last {
    // a rank that some CTA has given up on, and this one perhaps found in time, did not get all its rows, and must not hear
    // that it did
    %lost = func.call @lost_ranks(%control) {sync.step = "live"} : (!sync.ptr<global>) -> i64
    %not_lost = arith.xori %lost, %all_bits : i64
    %served = arith.andi %live, %not_lost : i64
    %second = ep.offset %sums, %four : !sync.ptr<shared>
    scf.if %leader {
      ep.store %zero, %sums : i32, !sync.ptr<shared>
      ep.store %zero, %second : i32, !sync.ptr<shared>
    }
    %block = arith.muli %buffer, %ranks : i32
    %own_signal = func.call @at(%arrived, %rank, %signal_stride) : (i64, i32, i64) -> i64
    scf.for %peer = %tid to %ranks step %threads : i32 {
      %to = func.call @has_rank(%served, %peer) : (i64, i32) -> i1
      scf.if %to {
        %signal = ep.peer_ptr %window, %stride, %peer, %own_signal : !sync.ptr<global>
        sync.signal_set release sys %signal, %op {sync.step = "arrived.tell"} : i64
      }
    }
    sync.warp_barrier {sync.step = "arrived.join"}
    %here = func.call @await(%window, %stride, %rank, %arrived, %served, %op, %timeout) {sync.step = "arrived"}
        : (i64, i64, i32, i64, i64, i64, i64) -> i64
    scf.for %peer = %tid to %ranks step %threads : i32 {
      %came = func.call @has_rank(%here, %peer) : (i64, i32) -> i1
      scf.if %came {
        %row = arith.addi %block, %peer : i32
        %at = func.call @at(%counts_region, %row, %four) : (i64, i32, i64) -> i64
        %p = ep.peer_ptr %window, %stride, %rank, %at : !sync.ptr<global>
        %count = ep.load %p : !sync.ptr<global> -> i32
        %kept = arith.minui %count, %rows : i32
        %o0 = sync.atomic add relaxed cta %sums, %kept {sync.step = "result.sum"} : !sync.ptr<shared>, i32
        %o1 = sync.atomic add relaxed cta %second, %count {sync.step = "result.sum"} : !sync.ptr<shared>, i32
      }
    }
    sync.warp_barrier {sync.step = "result.join"}
    sync.cta_barrier {sync.step = "result.join"}
    scf.if %leader {
      %received = ep.load %sums : !sync.ptr<shared> -> i32
      %wanted = ep.load %second : !sync.ptr<shared> -> i32
      %result = ep.peer_ptr %window, %stride, %rank, %result_at : !sync.ptr<global>
      ep.store %op, %use_p : i64, !sync.ptr<global>
      func.call @conclude(%control, %result, %op, %received, %wanted)
          : (!sync.ptr<global>, !sync.ptr<global>, i64, i32, i32) -> ()
    }
  }
  return
}
