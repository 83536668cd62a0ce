// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the local stages share: how a warp reads a group's lists. Private functions: each is inlined where it is called.

// base + index * stride, in 64 bits
func.func private @at(%base: i64, %index: i32, %stride: i64) -> i64 {
  %wide = arith.extui %index : i32 to i64
  %scaled = arith.muli %wide, %stride : i64
  %sum = arith.addi %base, %scaled : i64
  return %sum : i64
}

// All threads, before anything that an earlier kernel wrote is read. With programmatic launches the next kernel may come
// up meanwhile; it waits in its turn before it reads what this one writes.
func.func private @after_predecessor() {
  %programmatic = arith.constant #programmatic
  scf.if %programmatic {
    sync.dependency_wait
    sync.launch_dependents
  }
  return
}

// The number of groups: the host's, or less if the device has counted fewer.
func.func private @group_count(%count: i64, %groups: i32) -> i32 {
  %none = arith.constant 0 : i64
  %counted = arith.cmpi ne, %count, %none : i64
  %number = scf.if %counted -> (i32) {
    %p = ep.global_ptr %count : !sync.ptr<global>
    %n = ep.load %p : !sync.ptr<global> -> i32
    %least = arith.minui %n, %groups : i32
    scf.yield %least : i32
  } else {
    scf.yield %groups : i32
  }
  return %number : i32
}

func.func private @complain(%status: i64, %what: i32) {
  %p = ep.global_ptr %status : !sync.ptr<global>
  %old = sync.atomic or relaxed gpu %p, %what : !sync.ptr<global>, i32
  return
}

// A whole warp: what the lists say of a group, not looked at yet: its token's row, and in lane k its k-th expert row. Of a
// group beyond the last one it is the last one's, so that a warp can ask for its next group before it works on this one;
// there is one group at least.
func.func private @load_group(%group: i32, %number: i32, %tokens: i64, %rows: i64) -> (i32, i32) {
  %one = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %none = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %topk = arith.constant #topk
  %stride = arith.constant #topk_bytes
  %lane = ep.lane_id : i32
  %holds = arith.cmpi ult, %lane, %topk : i32
  %listed = arith.cmpi ne, %tokens, %none : i64
  %last = arith.subi %number, %one : i32
  %at_group = arith.minui %group, %last : i32
  %token = scf.if %listed -> (i32) {
    %a = func.call @at(%tokens, %at_group, %four) : (i64, i32, i64) -> i64
    %p = ep.global_ptr %a : !sync.ptr<global>
    %t = ep.load %p : !sync.ptr<global> -> i32
    scf.yield %t : i32
  } else {
    scf.yield %at_group : i32
  }
  %row = scf.if %holds -> (i32) {
    %list = func.call @at(%rows, %at_group, %stride) : (i64, i32, i64) -> i64
    %a = func.call @at(%list, %lane, %four) : (i64, i32, i64) -> i64
    %p = ep.global_ptr %a : !sync.ptr<global>
    %r = ep.load %p : !sync.ptr<global> -> i32
    scf.yield %r : i32
  } else {
    scf.yield %minus : i32
  }
  return %token, %row : i32, i32
}

// A whole warp: the rows that were loaded, as far as they are there. A row beyond the array's end counts as none (-1), and
// so does every row of a token that is beyond it; `status` tells.
func.func private @check_group(%token: i32, %row: i32, %token_rows: i32, %expert_rows: i32, %status: i64) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %minus = arith.constant -1 : i32
  %true = arith.constant true
  %bad_token = arith.constant #bad_token
  %bad_row = arith.constant #bad_row
  %lane = ep.lane_id : i32
  %leader = arith.cmpi eq, %lane, %zero : i32
  %there = arith.cmpi ult, %token, %token_rows : i32
  %inside = arith.cmpi ult, %row, %expert_rows : i32
  %named = arith.cmpi ne, %row, %minus : i32
  %outside = arith.xori %inside, %true : i1
  %wrong = arith.andi %named, %outside : i1
  scf.if %wrong {
    func.call @complain(%status, %bad_row) : (i64, i32) -> ()
  }
  %missing = arith.xori %there, %true : i1
  %tells = arith.andi %missing, %leader : i1
  scf.if %tells {
    func.call @complain(%status, %bad_token) : (i64, i32) -> ()
  }
  %good = arith.andi %inside, %there : i1
  %kept = arith.select %good, %row, %minus : i32
  %safe = arith.select %there, %token, %minus : i32
  return %safe, %kept : i32, i32
}

// Both at once, for who does not look ahead.
func.func private @read_group(%group: i32, %tokens: i64, %rows: i64, %token_rows: i32, %expert_rows: i32, %status: i64)
    -> (i32, i32) {
  %beyond = arith.constant -1 : i32
  %raw_token, %raw_row = func.call @load_group(%group, %beyond, %tokens, %rows) : (i32, i32, i64, i64) -> (i32, i32)
  %token, %row = func.call @check_group(%raw_token, %raw_row, %token_rows, %expert_rows, %status)
      : (i32, i32, i32, i32, i64) -> (i32, i32)
  return %token, %row : i32, i32
}
