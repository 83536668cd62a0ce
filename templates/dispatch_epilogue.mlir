// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Dispatch epilogue: a token's row, which arrived once, is copied to the row of each of its local experts.
//
// Protocol. CTA c of n takes the groups c, c + n, …; an expert row belongs to one group, so each CTA writes rows that
// nobody else touches, and none waits for another. Where the chip has bulk copies, one warp moves a row in pieces through
// a ring in shared memory: `#ahead` loads are on their way while the pieces before them are stored, a copy for each expert
// row. All lanes know the group's list, a row a lane; lane 0 issues.
//
// Memory order. A piece is written to shared memory and read from it through the async proxy alone: the load's completion
// on the stage's full barrier, which the warp awaits, orders it before the stores. A stage is loaded again only when the
// bulk group that stored from it has read it (bulk_wait read). Before the kernel ends all stores are complete (bulk_wait
// 0), so that they are there for whoever comes after it on the stream, and the shared memory is not needed any more.

// The piece'th piece of row `row` in an array of rows.
func.func private @piece_of(%rows: i64, %row: i32, %piece: i32) -> !sync.ptr<global> {
  %row_stride = arith.constant #row_stride
  %piece_stride = arith.constant #chunk_stride
  %a = func.call @at(%rows, %row, %row_stride) : (i64, i32, i64) -> i64
  %b = func.call @at(%a, %piece, %piece_stride) : (i64, i32, i64) -> i64
  %p = ep.global_ptr %b : !sync.ptr<global>
  return %p : !sync.ptr<global>
}

// One warp, through the ring.
func.func private @copy_by_bulk(%token_rows: i64, %expert_rows: i64, %tokens: i64, %rows: i64, %count: i64,
                                %status: i64, %groups: i32, %token_count: i32, %expert_count: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %topk = arith.constant #topk
  %stages = arith.constant #stages
  %ahead = arith.constant #ahead
  %chunks = arith.constant #chunks
  %last_chunk = arith.constant #last_chunk
  %chunk_bytes = arith.constant #chunk_bytes
  %tail_bytes = arith.constant #tail_bytes
  %chunk_stride = arith.constant #chunk_stride
  %ring = sync.shared_alloc bytes = #ring_bytes align = 128 : !sync.ptr<shared>
  %full = sync.barrier_alloc count = #stages : !sync.barrier
  %lane = ep.thread_id : i32
  %leader = arith.cmpi eq, %lane, %zero : i32
  %cta = ep.cta_id : i32
  %ctas = ep.cta_count : i32
  scf.if %leader {
    scf.for %s = %zero to %stages step %one : i32 {
      %b = sync.barrier_at %full, %s : !sync.barrier
      sync.barrier_init %b, count = 1
    }
  }
  sync.cta_barrier
  func.call @after_predecessor() : () -> ()
  %number = func.call @group_count(%count, %groups) : (i64, i32) -> i32

  // this CTA's groups, then its pieces of rows; piece i is loaded in step i and stored in step i + ahead
  %short = arith.subi %number, %cta : i32
  %some = arith.cmpi ult, %cta, %number : i32
  %rounded = arith.addi %short, %ctas : i32
  %less = arith.subi %rounded, %one : i32
  %mine0 = arith.divui %less, %ctas : i32
  %mine = arith.select %some, %mine0, %zero : i32
  %pieces = arith.muli %mine, %chunks : i32
  %steps = arith.addi %pieces, %ahead : i32
  scf.for %step = %zero to %steps step %one : i32 {
    %loads = arith.cmpi slt, %step, %pieces : i32
    scf.if %loads {
      %turn = arith.divui %step, %chunks : i32
      %piece = arith.remui %step, %chunks : i32
      %skip = arith.muli %turn, %ctas : i32
      %group = arith.addi %cta, %skip : i32
      %token, %row = func.call @read_group(%group, %tokens, %rows, %token_count, %expert_count, %status)
          : (i32, i64, i64, i32, i32, i64) -> (i32, i32)
      scf.if %leader {
        %stage = arith.remui %step, %stages : i32
        %b = sync.barrier_at %full, %stage : !sync.barrier
        %slot_off = arith.extui %stage : i32 to i64
        %slot_bytes = arith.muli %slot_off, %chunk_stride : i64
        %slot = ep.offset %ring, %slot_bytes : !sync.ptr<shared>
        %there = arith.cmpi sge, %token, %zero : i32
        %from = func.call @piece_of(%token_rows, %token, %piece) : (i64, i32, i32) -> !sync.ptr<global>
        %is_tail = arith.cmpi eq, %piece, %last_chunk : i32
        // whatever stored from this stage before has read it
        sync.bulk_wait #stores_in_flight read
        scf.if %there {
          scf.if %is_tail {
            sync.barrier_expect_tx relaxed cta %b, bytes = #tail_bytes
            sync.bulk_copy %slot, %from, %tail_bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
          } else {
            sync.barrier_expect_tx relaxed cta %b, bytes = #chunk_bytes
            sync.bulk_copy %slot, %from, %chunk_bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
          }
        } else {
          // nothing to load, and nobody reads it: only the phase goes on
          sync.barrier_arrive relaxed cta %b
        }
      }
    }
    %stores = arith.cmpi sge, %step, %ahead : i32
    scf.if %stores {
      %i = arith.subi %step, %ahead : i32
      %turn = arith.divui %i, %chunks : i32
      %piece = arith.remui %i, %chunks : i32
      %skip = arith.muli %turn, %ctas : i32
      %group = arith.addi %cta, %skip : i32
      %token, %row = func.call @read_group(%group, %tokens, %rows, %token_count, %expert_count, %status)
          : (i32, i64, i64, i32, i32, i64) -> (i32, i32)
      %stage = arith.remui %i, %stages : i32
      %round = arith.divui %i, %stages : i32
      %parity = arith.andi %round, %one : i32
      %b = sync.barrier_at %full, %stage : !sync.barrier
      %slot_off = arith.extui %stage : i32 to i64
      %slot_bytes = arith.muli %slot_off, %chunk_stride : i64
      %slot = ep.offset %ring, %slot_bytes : !sync.ptr<shared>
      %is_tail = arith.cmpi eq, %piece, %last_chunk : i32
      %bytes = arith.select %is_tail, %tail_bytes, %chunk_bytes : i32
      sync.barrier_wait acquire cta %b, %parity
      scf.for %k = %zero to %topk step %one : i32 {
        %to_row = ep.shuffle %row, %k : i32
        %exists = arith.cmpi sge, %to_row, %zero : i32
        %issues = arith.andi %exists, %leader : i1
        scf.if %issues {
          %to = func.call @piece_of(%expert_rows, %to_row, %piece) : (i64, i32, i32) -> !sync.ptr<global>
          sync.bulk_copy %to, %slot, %bytes : !sync.ptr<global>, !sync.ptr<shared>
        }
      }
      // of the other lanes an empty group
      sync.bulk_commit
    }
  }
  sync.bulk_wait 0
  return
}

// All warps, a packet a lane, straight from memory to memory.
func.func private @copy_by_packets(%token_rows: i64, %expert_rows: i64, %tokens: i64, %rows: i64, %count: i64,
                                   %status: i64, %groups: i32, %token_count: i32, %expert_count: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
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
    // the lanes stay together for the shuffles, so beyond the row's end they read its last packet again
    %last = arith.subi %packets, %one : i32
    %there = arith.cmpi sge, %token, %zero : i32
    scf.if %there {
      %row_a = func.call @at(%token_rows, %token, %row_stride) : (i64, i32, i64) -> i64
      scf.for %begin = %zero to %packets step %threads : i32 {
        %i = arith.addi %begin, %tid : i32
        %inside = arith.cmpi ult, %i, %packets : i32
        %j = arith.minui %i, %last : i32
        %offset = func.call @at(%none, %j, %packet_bytes) : (i64, i32, i64) -> i64
        %from_a = arith.addi %row_a, %offset : i64
        %from = ep.global_ptr %from_a : !sync.ptr<global>
        %packet = ep.packet_load %from : !sync.ptr<global> -> vector<4xi32>
        scf.for %k = %zero to %topk step %one : i32 {
          %to_row = ep.shuffle %row, %k : i32
          %exists = arith.cmpi sge, %to_row, %zero : i32
          %writes = arith.andi %exists, %inside : i1
          scf.if %writes {
            %to_a = func.call @at(%expert_rows, %to_row, %row_stride) : (i64, i32, i64) -> i64
            %a = arith.addi %to_a, %offset : i64
            %to = ep.global_ptr %a : !sync.ptr<global>
            ep.packet_store %packet, %to : vector<4xi32>, !sync.ptr<global>
          }
        }
      }
    }
  }
  return
}

func.func @ep_dispatch_epilogue(%token_rows: i64, %expert_rows: i64, %tokens: i64, %rows: i64, %weights: i64,
                                %count: i64, %status: i64, %groups: i32, %token_count: i32, %expert_count: i32,
                                %reserved: i32)
    attributes {ep.kernel, ep.block_threads = #block_threads} {
  %bulk = arith.constant #bulk
  scf.if %bulk {
    func.call @copy_by_bulk(%token_rows, %expert_rows, %tokens, %rows, %count, %status, %groups, %token_count,
                            %expert_count) : (i64, i64, i64, i64, i64, i64, i32, i32, i32) -> ()
  } else {
    func.call @copy_by_packets(%token_rows, %expert_rows, %tokens, %rows, %count, %status, %groups, %token_count,
                               %expert_count) : (i64, i64, i64, i64, i64, i64, i32, i32, i32) -> ()
  }
  return
}
