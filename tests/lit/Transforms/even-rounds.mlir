// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s --ep-even-rounds -allow-unregistered-dialect -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @by_thread
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32
// CHECK: %[[TID:.*]] = ep.thread_id
// CHECK: %[[BEGIN:.*]] = arith.constant 0 : i32
// CHECK: scf.for %[[ROUND:.*]] = %[[BEGIN]] to %[[N]]
// CHECK-NEXT: %[[I:.*]] = arith.addi %[[ROUND]], %[[TID]]
// CHECK-NEXT: %[[HAS:.*]] = arith.cmpi slt, %[[I]], %[[N]]
// CHECK-NEXT: scf.if %[[HAS]] {
// CHECK-NEXT: sync.warp_barrier
// CHECK-NEXT: "test.use"(%[[I]])
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @by_thread(%n: i32) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %threads = arith.constant 128 : i32
  %tid = ep.thread_id : i32
  scf.for %i = %tid to %n step %threads : i32 {
    sync.warp_barrier
    "test.use"(%i) : (i32) -> ()
  }
  return
}

// -----

// From the end, unsigned, and with a value that goes from round to round: a lane that has nothing left keeps its own.
// CHECK-LABEL: func.func @from_the_end
// CHECK: %[[TID:.*]] = ep.thread_id
// CHECK: %[[LAST:.*]] = arith.constant 127 : i32
// CHECK: %[[OFF:.*]] = arith.subi %[[LAST]], %[[TID]]
// CHECK: %[[BEGIN:.*]] = arith.constant 0 : i32
// CHECK: %[[ALL:.*]] = scf.for unsigned %[[ROUND:[a-z0-9]+]] = %[[BEGIN]] to %{{.*}} step %{{.*}} iter_args(%[[S:[a-z0-9]+]] = %{{.*}}) -> (i32)
// CHECK-NEXT: %[[I:.*]] = arith.addi %[[ROUND]], %[[OFF]]
// CHECK-NEXT: %[[HAS:.*]] = arith.cmpi ult, %[[I]], %{{.*}}
// CHECK-NEXT: %[[R:.*]] = scf.if %[[HAS]] -> (i32) {
// CHECK-NEXT: %[[T:.*]] = arith.addi %[[S]], %[[I]]
// CHECK-NEXT: scf.yield %[[T]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[S]]
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %[[R]]
// CHECK: "test.use"(%[[ALL]])
func.func @from_the_end(%n: i32) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %zero = arith.constant 0 : i32
  %last = arith.constant 127 : i32
  %threads = arith.constant 128 : i32
  %tid = ep.thread_id : i32
  %begin = arith.subi %last, %tid : i32
  %all = scf.for unsigned %i = %begin to %n step %threads iter_args(%s = %zero) -> (i32) : i32 {
    %t = arith.addi %s, %i : i32
    scf.yield %t : i32
  }
  "test.use"(%all) : (i32) -> ()
  return
}

// -----

// As many as there are threads at most: one round, and no loop.
// CHECK-LABEL: func.func @one_round
// CHECK-NOT: scf.for
// CHECK: %[[I:.*]] = arith.addi %{{.*}}, %[[TID:.*]] : i32
// CHECK-NEXT: %[[HAS:.*]] = arith.cmpi slt, %[[I]], %{{.*}}
// CHECK-NEXT: scf.if %[[HAS]] {
// CHECK-NEXT: "test.use"(%[[I]])
func.func @one_round() attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %eight = arith.constant 8 : i32
  %threads = arith.constant 128 : i32
  %tid = ep.thread_id : i32
  scf.for %i = %tid to %eight step %threads : i32 {
    "test.use"(%i) : (i32) -> ()
  }
  return
}

// -----

// Many rounds, though the end as a signed number is below the beginning.
// CHECK-LABEL: func.func @unsigned_end
// CHECK: scf.for unsigned
func.func @unsigned_end() attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %end = arith.constant -16 : i32
  %threads = arith.constant 128 : i32
  %tid = ep.thread_id : i32
  scf.for unsigned %i = %tid to %end step %threads : i32 {
    "test.use"(%i) : (i32) -> ()
  }
  return
}

// -----

// Behind the place where its warp begins, a lane each.
// CHECK-LABEL: func.func @by_lane
// CHECK: scf.for
// CHECK-NEXT: arith.addi
// CHECK-NEXT: arith.cmpi
// CHECK-NEXT: scf.if
func.func @by_lane(%n: i32) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %width = arith.constant 32 : i32
  %lane = ep.lane_id : i32
  %warp = ep.warp_id : i32
  %skip = arith.muli %warp, %width : i32
  %begin = arith.addi %skip, %lane : i32
  scf.for %i = %begin to %n step %width : i32 {
    "test.use"(%i) : (i32) -> ()
  }
  return
}

// -----

// All lanes begin alike, or nobody knows where: nothing to do.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: scf.if
func.func @left_alone(%n: i32, %a: i64) attributes {ep.kernel, ep.block_threads = 128 : i32} {
  %one = arith.constant 1 : i32
  %cta = ep.cta_id : i32
  %lane = ep.lane_id : i32
  %p = ep.global_ptr %a : !sync.ptr<global>
  %from = ep.load %p : !sync.ptr<global> -> i32
  %begin = arith.addi %from, %lane : i32
  scf.for %i = %cta to %n step %one : i32 {
    "test.use"(%i) : (i32) -> ()
  }
  scf.for %i = %begin to %n step %one : i32 {
    "test.use"(%i) : (i32) -> ()
  }
  return
}
