// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Combine prologue: the rows of a token's local experts are reduced to the one row that goes back.
//
// Protocol. The work is dealt out to the CTAs in turns, a group at a time or, where rows go through a ring, a piece of a
// group's rows; a token row belongs to one group, so each CTA writes what nobody else touches, and none waits for another.
// Groups have between one and top-k rows, so shares of whole groups differ much: of 264 CTAs with 15.5 groups each one has
// a quarter more than the mean, with pieces a seventh more. The sum is f32 from +0 in the order of the group's list, by
// fused multiply-adds, rounded once; where a packet is added up in one thread, so that no order depends on timing. Where
// the chip has bulk copies, warp 0 copies the rows' pieces into a ring in shared memory and the other warps add them up, a
// packet a thread.
//
// Memory order. A stage's full barrier completes when its piece is there: the copy's bytes are announced by a relaxed
// arrive, its completion is what the reducing warps acquire. They read through the generic proxy; before the async proxy
// may overwrite the stage each reader fences the proxies, its warp meets, and one lane arrives on the stage's empty
// barrier, which warp 0 acquires before it copies again. Both barriers and all data are the CTA's own: scope cta.

// A whole warp: in lane k the weight of the group's k-th row; of a group beyond the last one as @load_group.
func.func private @read_weight(%group: i32, %number: i32, %weights: i64) -> f32 {
  %one = arith.constant 1 : i32
  %unit = arith.constant 1.0 : f32
  %none = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %topk = arith.constant #topk
  %stride = arith.constant #topk_bytes
  %lane = ep.lane_id : i32
  %holds = arith.cmpi ult, %lane, %topk : i32
  %weighted = arith.cmpi ne, %weights, %none : i64
  %reads = arith.andi %holds, %weighted : i1
  %weight = scf.if %reads -> (f32) {
    %last = arith.subi %number, %one : i32
    %at_group = arith.minui %group, %last : i32
    %list = func.call @at(%weights, %at_group, %stride) : (i64, i32, i64) -> i64
    %a = func.call @at(%list, %lane, %four) : (i64, i32, i64) -> i64
    %p = ep.global_ptr %a : !sync.ptr<global>
    %w = ep.load %p : !sync.ptr<global> -> f32
    scf.yield %w : f32
  } else {
    scf.yield %unit : f32
  }
  return %weight : f32
}

// Warp 0: of each piece that this CTA has, the rows of its group, in the order in which they are added up.
func.func private @fill_ring(%ring: !sync.ptr<shared>, %full: !sync.barrier, %empty: !sync.barrier, %expert_rows: i64,
                             %tokens: i64, %rows: i64, %status: i64, %number: i32, %token_count: i32,
                             %expert_count: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %topk = arith.constant #topk
  %stages = arith.constant #stages
  %chunks = arith.constant #chunks
  %last_chunk = arith.constant #last_chunk
  %chunk_bytes = arith.constant #chunk_bytes
  %tail_bytes = arith.constant #tail_bytes
  %chunk_stride = arith.constant #chunk_stride
  %row_stride = arith.constant #row_stride
  %lane = ep.lane_id : i32
  %leader = arith.cmpi eq, %lane, %zero : i32
  %cta = ep.cta_id : i32
  %ctas = ep.cta_count : i32
  %items = arith.muli %number, %chunks : i32
  %group0 = arith.divui %cta, %chunks : i32
  %token0, %row0 = func.call @load_group(%group0, %number, %tokens, %rows) : (i32, i32, i64, i64) -> (i32, i32)
  %done:3 = scf.for %item = %cta to %items step %ctas
      iter_args(%i0 = %zero, %raw_token = %token0, %raw_row = %row0) -> (i32, i32, i32) : i32 {
    // the next group's lists are on their way while this one's rows are
    %piece = arith.remui %item, %chunks : i32
    %next_item = arith.addi %item, %ctas : i32
    %next_group = arith.divui %next_item, %chunks : i32
    %next_token, %next_row = func.call @load_group(%next_group, %number, %tokens, %rows)
        : (i32, i32, i64, i64) -> (i32, i32)
    %token, %row = func.call @check_group(%raw_token, %raw_row, %token_count, %expert_count, %status)
        : (i32, i32, i32, i32, i64) -> (i32, i32)
    %is_tail = arith.cmpi eq, %piece, %last_chunk : i32
    %i3 = scf.for %k = %zero to %topk step %one iter_args(%i = %i0) -> (i32) : i32 {
      %from_row = ep.shuffle %row, %k : i32
      %exists = arith.cmpi sge, %from_row, %zero : i32
      %issues = arith.andi %exists, %leader : i1
      scf.if %issues {
        %stage = arith.remui %i, %stages : i32
        %round = arith.divui %i, %stages : i32
        %phase = arith.andi %round, %one : i32
        // a fresh barrier counts as having completed a phase of parity 1
        %parity = arith.xori %phase, %one : i32
        %f = sync.barrier_at %full, %stage : !sync.barrier
        %e = sync.barrier_at %empty, %stage : !sync.barrier
        %slot_off = arith.extui %stage : i32 to i64
        %slot_bytes = arith.muli %slot_off, %chunk_stride : i64
        %slot = ep.offset %ring, %slot_bytes : !sync.ptr<shared>
        %row_a = func.call @at(%expert_rows, %from_row, %row_stride) : (i64, i32, i64) -> i64
        %from_a = func.call @at(%row_a, %piece, %chunk_stride) : (i64, i32, i64) -> i64
        %from = ep.global_ptr %from_a : !sync.ptr<global>
        sync.barrier_wait acquire cta %e, %parity
        scf.if %is_tail {
          sync.barrier_expect_tx relaxed cta %f, bytes = #tail_bytes
          sync.bulk_copy %slot, %from, %tail_bytes on %f : !sync.ptr<shared>, !sync.ptr<global>
        } else {
          sync.barrier_expect_tx relaxed cta %f, bytes = #chunk_bytes
          sync.bulk_copy %slot, %from, %chunk_bytes on %f : !sync.ptr<shared>, !sync.ptr<global>
        }
      }
      sync.warp_barrier
      %add = arith.extui %exists : i1 to i32
      %next = arith.addi %i, %add : i32
      scf.yield %next : i32
    }
    scf.yield %i3, %next_token, %next_row : i32, i32, i32
  }
  return
}

// The other warps: thread t of them has packet t of every piece.
func.func private @drain_ring(%ring: !sync.ptr<shared>, %full: !sync.barrier, %empty: !sync.barrier, %token_rows: i64,
                              %tokens: i64, %rows: i64, %weights: i64, %status: i64, %number: i32, %token_count: i32,
                              %expert_count: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i64
  %nought = arith.constant dense<0.0> : !acc
  %width = arith.constant #warp_width
  %topk = arith.constant #topk
  %stages = arith.constant #stages
  %chunks = arith.constant #chunks
  %last_chunk = arith.constant #last_chunk
  %chunk_packets = arith.constant #chunk_packets
  %tail_packets = arith.constant #tail_packets
  %chunk_stride = arith.constant #chunk_stride
  %row_stride = arith.constant #row_stride
  %packet_bytes = arith.constant 16 : i64
  %tid = ep.thread_id : i32
  %lane = ep.lane_id : i32
  %first_lane = arith.cmpi eq, %lane, %zero : i32
  %own = arith.subi %tid, %width : i32
  %own_bytes = func.call @at(%none, %own, %packet_bytes) : (i64, i32, i64) -> i64
  %cta = ep.cta_id : i32
  %ctas = ep.cta_count : i32
  %items = arith.muli %number, %chunks : i32
  %group0 = arith.divui %cta, %chunks : i32
  %token0, %row0 = func.call @load_group(%group0, %number, %tokens, %rows) : (i32, i32, i64, i64) -> (i32, i32)
  %weight0 = func.call @read_weight(%group0, %number, %weights) : (i32, i32, i64) -> f32
  %done:4 = scf.for %item = %cta to %items step %ctas
      iter_args(%i0 = %zero, %raw_token = %token0, %raw_row = %row0, %weight = %weight0) -> (i32, i32, i32, f32) : i32 {
    %piece = arith.remui %item, %chunks : i32
    %next_item = arith.addi %item, %ctas : i32
    %next_group = arith.divui %next_item, %chunks : i32
    %next_token, %next_row = func.call @load_group(%next_group, %number, %tokens, %rows)
        : (i32, i32, i64, i64) -> (i32, i32)
    %next_weight = func.call @read_weight(%next_group, %number, %weights) : (i32, i32, i64) -> f32
    %token, %row = func.call @check_group(%raw_token, %raw_row, %token_count, %expert_count, %status)
        : (i32, i32, i32, i32, i64) -> (i32, i32)
    %there = arith.cmpi sge, %token, %zero : i32
    %is_tail = arith.cmpi eq, %piece, %last_chunk : i32
    %packets = arith.select %is_tail, %tail_packets, %chunk_packets : i32
    %has = arith.cmpi ult, %own, %packets : i32
    %i3, %sum = scf.for %k = %zero to %topk step %one iter_args(%i = %i0, %acc0 = %nought) -> (i32, !acc) : i32 {
      %from_row = ep.shuffle %row, %k : i32
      %factor = ep.shuffle %weight, %k : f32
      %exists = arith.cmpi sge, %from_row, %zero : i32
      %acc2 = scf.if %exists -> (!acc) {
        %stage = arith.remui %i, %stages : i32
        %round = arith.divui %i, %stages : i32
        %parity = arith.andi %round, %one : i32
        %f = sync.barrier_at %full, %stage : !sync.barrier
        %e = sync.barrier_at %empty, %stage : !sync.barrier
        %slot_off = arith.extui %stage : i32 to i64
        %slot_bytes = arith.muli %slot_off, %chunk_stride : i64
        sync.barrier_wait acquire cta %f, %parity
        %acc1 = scf.if %has -> (!acc) {
          %at = arith.addi %slot_bytes, %own_bytes : i64
          %p = ep.offset %ring, %at : !sync.ptr<shared>
          %packet = ep.packet_load %p : !sync.ptr<shared> -> vector<4xi32>
          %a = ep.accumulate %acc0, %packet, %factor as !elem : !acc
          scf.yield %a : !acc
        } else {
          scf.yield %acc0 : !acc
        }
        // what was read here is overwritten through the async proxy
        sync.proxy_fence generic async shared
        sync.warp_barrier
        scf.if %first_lane {
          sync.barrier_arrive release cta %e
        }
        scf.yield %acc1 : !acc
      } else {
        scf.yield %acc0 : !acc
      }
      %add = arith.extui %exists : i1 to i32
      %next = arith.addi %i, %add : i32
      scf.yield %next, %acc2 : i32, !acc
    }
    %writes = arith.andi %there, %has : i1
    scf.if %writes {
      %packet = ep.pack %sum as !elem : !acc
      %row_a = func.call @at(%token_rows, %token, %row_stride) : (i64, i32, i64) -> i64
      %piece_a = func.call @at(%row_a, %piece, %chunk_stride) : (i64, i32, i64) -> i64
      %to_a = arith.addi %piece_a, %own_bytes : i64
      %to = ep.global_ptr %to_a : !sync.ptr<global>
      ep.packet_store %packet, %to : vector<4xi32>, !sync.ptr<global>
    }
    scf.yield %i3, %next_token, %next_row, %next_weight : i32, i32, i32, f32
  }
  return
}

func.func private @reduce_by_bulk(%token_rows: i64, %expert_rows: i64, %tokens: i64, %rows: i64, %weights: i64,
                                  %count: i64, %status: i64, %groups: i32, %token_count: i32, %expert_count: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %stages = arith.constant #stages
  %ring = sync.shared_alloc bytes = #ring_bytes align = 128 : !sync.ptr<shared>
  %full = sync.barrier_alloc count = #stages : !sync.barrier
  %empty = sync.barrier_alloc count = #stages : !sync.barrier
  %tid = ep.thread_id : i32
  %warp = ep.warp_id : i32
  %leader = arith.cmpi eq, %tid, %zero : i32
  %copies = arith.cmpi eq, %warp, %zero : i32
  %cta = ep.cta_id : i32
  scf.if %leader {
    scf.for %s = %zero to %stages step %one : i32 {
      %f = sync.barrier_at %full, %s : !sync.barrier
      %e = sync.barrier_at %empty, %s : !sync.barrier
      sync.barrier_init %f, count = 1
      sync.barrier_init %e, count = #consumers
    }
  }
  sync.cta_barrier
  func.call @after_predecessor() : () -> ()
  %number = func.call @group_count(%count, %groups) : (i64, i32) -> i32
  %chunks = arith.constant #chunks
  %items = arith.muli %number, %chunks : i32
  %some = arith.cmpi ult, %cta, %items : i32
  scf.if %some {
    scf.if %copies {
      func.call @fill_ring(%ring, %full, %empty, %expert_rows, %tokens, %rows, %status, %number, %token_count,
                           %expert_count)
          : (!sync.ptr<shared>, !sync.barrier, !sync.barrier, i64, i64, i64, i64, i32, i32, i32) -> ()
    } else {
      func.call @drain_ring(%ring, %full, %empty, %token_rows, %tokens, %rows, %weights, %status, %number, %token_count,
                            %expert_count)
          : (!sync.ptr<shared>, !sync.barrier, !sync.barrier, i64, i64, i64, i64, i64, i32, i32, i32) -> ()
    }
  }
  return
}

// All warps, a packet a thread, straight from memory.
func.func private @reduce_by_packets(%token_rows: i64, %expert_rows: i64, %tokens: i64, %rows: i64, %weights: i64,
                                     %count: i64, %status: i64, %groups: i32, %token_count: i32, %expert_count: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %nought = arith.constant dense<0.0> : !acc
  %topk = arith.constant #topk
  %packets = arith.constant #packets
  %threads = arith.constant #block_threads
  %row_stride = arith.constant #row_stride
  %none = arith.constant 0 : i64
  %packet_bytes = arith.constant 16 : i64
  %tid = ep.thread_id : i32
  %cta = ep.cta_id : i32
  %ctas = ep.cta_count : i32
  func.call @after_predecessor() : () -> ()
  %number = func.call @group_count(%count, %groups) : (i64, i32) -> i32
  scf.for %group = %cta to %number step %ctas : i32 {
    %token, %row = func.call @read_group(%group, %tokens, %rows, %token_count, %expert_count, %status)
        : (i32, i64, i64, i32, i32, i64) -> (i32, i32)
    %weight = func.call @read_weight(%group, %number, %weights) : (i32, i32, i64) -> f32
    %last = arith.subi %packets, %one : i32
    %there = arith.cmpi sge, %token, %zero : i32
    scf.if %there {
      %to_row = func.call @at(%token_rows, %token, %row_stride) : (i64, i32, i64) -> i64
      // the lanes stay together for the shuffles, so beyond the row's end they read its last packet again
      scf.for %begin = %zero to %packets step %threads : i32 {
        %i = arith.addi %begin, %tid : i32
        %inside = arith.cmpi ult, %i, %packets : i32
        %j = arith.minui %i, %last : i32
        %offset = func.call @at(%none, %j, %packet_bytes) : (i64, i32, i64) -> i64
        %sum = scf.for %k = %zero to %topk step %one iter_args(%acc0 = %nought) -> (!acc) : i32 {
          %from_row = ep.shuffle %row, %k : i32
          %factor = ep.shuffle %weight, %k : f32
          %exists = arith.cmpi sge, %from_row, %zero : i32
          %acc1 = scf.if %exists -> (!acc) {
            %row_a = func.call @at(%expert_rows, %from_row, %row_stride) : (i64, i32, i64) -> i64
            %a = arith.addi %row_a, %offset : i64
            %p = ep.global_ptr %a : !sync.ptr<global>
            %packet = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
            %added = ep.accumulate %acc0, %packet, %factor as !elem : !acc
            scf.yield %added : !acc
          } else {
            scf.yield %acc0 : !acc
          }
          scf.yield %acc1 : !acc
        }
        scf.if %inside {
          %packet = ep.pack %sum as !elem : !acc
          %to_a = arith.addi %to_row, %offset : i64
          %to = ep.global_ptr %to_a : !sync.ptr<global>
          ep.packet_store %packet, %to : vector<4xi32>, !sync.ptr<global>
        }
      }
    }
  }
  return
}

func.func @ep_combine_prologue(%token_rows: i64, %expert_rows: i64, %tokens: i64, %rows: i64, %weights: i64,
                               %count: i64, %status: i64, %groups: i32, %token_count: i32, %expert_count: i32,
                               %reserved: i32)
    attributes {ep.kernel, ep.block_threads = #block_threads} {
  %bulk = arith.constant #bulk
  scf.if %bulk {
    func.call @reduce_by_bulk(%token_rows, %expert_rows, %tokens, %rows, %weights, %count, %status, %groups,
                              %token_count, %expert_count) : (i64, i64, i64, i64, i64, i64, i64, i32, i32, i32) -> ()
  } else {
    func.call @reduce_by_packets(%token_rows, %expert_rows, %tokens, %rows, %weights, %count, %status, %groups,
                                 %token_count, %expert_count) : (i64, i64, i64, i64, i64, i64, i64, i32, i32, i32) -> ()
  }
  return
}
