// RUN: interlock-opt %s --ep-lower-tiles | FileCheck %s

// CHECK-LABEL: func.func @strided
// CHECK: %[[FIRST:.*]] = ep.cta_id
// CHECK: %[[STEP:.*]] = ep.cta_count
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
// CHECK-NOT: sync.handoff
func.func @strided(%count: i32, %claim: !sync.ptr<global>, %out: !sync.ptr<global>) {
  ep.for_each_tile %tile in %count claim %claim {schedule = #ep.schedule<grid_stride>, cluster = 1 : i32} {
    ep.store %tile, %out : i32, !sync.ptr<global>
  }
  return
}

// CTA r of a cluster takes the unit's tile r, if there is one.
// CHECK-LABEL: func.func @strided_cluster
// CHECK: %[[RANK:.*]] = ep.cluster_rank
// CHECK: ep.cluster_id
// CHECK: ep.cluster_count
// CHECK: scf.for
// CHECK: %[[TILE:.*]] = arith.addi %{{.*}}, %[[RANK]]
// CHECK: arith.cmpi ult, %[[TILE]]
// CHECK: scf.if
func.func @strided_cluster(%count: i32, %claim: !sync.ptr<global>, %out: !sync.ptr<global>) {
  ep.for_each_tile %tile in %count claim %claim {schedule = #ep.schedule<grid_stride>, cluster = 4 : i32} {
    ep.store %tile, %out : i32, !sync.ptr<global>
  }
  return
}

// The leader claims and publishes; everybody waits, reads, and frees the slot; the leader drains it at the end.
// CHECK-LABEL: func.func @claimed
// CHECK: sync.handoff cluster = 2 stages = 1
// CHECK: scf.while
// CHECK: sync.producer_acquire
// CHECK: sync.atomic add relaxed gpu
// CHECK: sync.publish
// CHECK: sync.consumer_wait
// CHECK-NEXT: sync.cta_barrier
// CHECK: sync.consumer_release
// CHECK: scf.condition
// CHECK: sync.producer_tail
func.func @claimed(%count: i32, %claim: !sync.ptr<global>, %out: !sync.ptr<global>) {
  ep.for_each_tile %tile in %count claim %claim {schedule = #ep.schedule<claimed>, cluster = 2 : i32} {
    ep.store %tile, %out : i32, !sync.ptr<global>
  }
  return
}

// Where a CTA cannot write its cluster's shared memory, the unit goes through a word of device memory: claimed before the
// body, written behind the barrier that says that its last value has been read, read behind the one that publishes it.
// CHECK-LABEL: func.func @mailbox
// CHECK-SAME: %[[COUNT:[a-z0-9]+]]: i32, %[[CLAIM:[a-z0-9]+]]: !sync.ptr<global>, %[[BOXES:[a-z0-9]+]]: !sync.ptr<global>
// CHECK-NOT: sync.handoff
// CHECK: %[[LEADS:.*]] = arith.andi
// CHECK: %[[OWN:.*]] = ep.cluster_id
// CHECK: %[[CLUSTERS:.*]] = ep.cluster_count
// CHECK: %[[BYTES:.*]] = arith.muli
// CHECK: %[[SLOT:.*]] = ep.offset %[[BOXES]], %[[BYTES]]
// CHECK: scf.while (%[[UNIT:.*]] = %[[OWN]])
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[UNIT]]
// CHECK: scf.condition(%[[MORE]]) %[[UNIT]]
// CHECK: sync.cluster_arrive release
// CHECK: %[[TAKEN:.*]] = scf.if %[[LEADS]]
// CHECK: sync.atomic add relaxed gpu %[[CLAIM]]
// CHECK: ep.store
// CHECK: sync.cluster_wait acquire
// CHECK: scf.if %[[LEADS]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[TAKEN]], %[[CLUSTERS]]
// CHECK: ep.store %[[NEXT]], %[[SLOT]]
// CHECK: sync.cluster_arrive release
// CHECK-NEXT: sync.cluster_wait acquire
// CHECK-NEXT: %[[GOT:.*]] = ep.load %[[SLOT]]
// CHECK-NEXT: scf.yield %[[GOT]]
func.func @mailbox(%count: i32, %claim: !sync.ptr<global>, %boxes: !sync.ptr<global>, %out: !sync.ptr<global>) {
  ep.for_each_tile %tile in %count claim %claim through %boxes
      {schedule = #ep.schedule<claimed>, cluster = 2 : i32, remote_shared = false} {
    ep.store %tile, %out : i32, !sync.ptr<global>
  }
  return
}

// Only there: a chip with remote shared memory has the hand-off, and a cluster of one CTA needs nobody else's.
// CHECK-LABEL: func.func @mailbox_unused
// CHECK: sync.handoff cluster = 4
// CHECK-NOT: sync.cluster_arrive
// CHECK: sync.handoff cluster = 1
// CHECK-NOT: sync.cluster_arrive
// CHECK: return
func.func @mailbox_unused(%count: i32, %claim: !sync.ptr<global>, %boxes: !sync.ptr<global>, %out: !sync.ptr<global>) {
  ep.for_each_tile %tile in %count claim %claim through %boxes
      {schedule = #ep.schedule<claimed>, cluster = 4 : i32, remote_shared = true} {
    ep.store %tile, %out : i32, !sync.ptr<global>
  }
  ep.for_each_tile %tile in %count claim %claim
      {schedule = #ep.schedule<claimed>, cluster = 1 : i32, remote_shared = false} {
    ep.store %tile, %out : i32, !sync.ptr<global>
  }
  return
}

// Cluster launch control: the request is out while the unit is done; an answer of yes gives the next unit, and the
// result counts them.
// CHECK-LABEL: func.func @cancelled
// CHECK: %[[HANDOFF:.*]] = sync.handoff cluster = 2 stages = 1 : !sync.handoff<vector<4xi32>>
// CHECK: %[[OWN:.*]] = ep.cluster_id
// CHECK: %[[STEP:.*]] = ep.cluster_count
// CHECK: %[[LOOP:.*]]:2 = scf.while (%[[UNIT:.*]] = %[[OWN]], %[[ROUND:.*]] = %{{.*}})
// CHECK: sync.producer_acquire %[[HANDOFF]][%[[ROUND]]]
// CHECK-NEXT: sync.publish_cancel %[[HANDOFF]][%[[ROUND]]]
// CHECK: scf.for %{{.*}} = %[[UNIT]] to %{{.*}} step %[[STEP]]
// CHECK: ep.store
// CHECK: %[[ANSWER:.*]] = sync.consumer_wait %[[HANDOFF]][%[[ROUND]]]
// CHECK-NEXT: sync.cta_barrier
// CHECK: sync.consumer_release %[[HANDOFF]][%[[ROUND]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROUND]]
// CHECK: %[[YES:.*]] = sync.is_canceled %[[ANSWER]]
// CHECK: scf.condition(%[[YES]]) %[[ANSWER]], %[[NEXT]]
// CHECK: sync.canceled_cta
// CHECK: arith.divui
// CHECK: sync.producer_tail %[[HANDOFF]][%[[LOOP]]#1]
// CHECK: return %[[LOOP]]#1
func.func @cancelled(%count: i32, %out: !sync.ptr<global>) -> i32 {
  %ctas = ep.for_each_tile %tile in %count {schedule = #ep.schedule<clc>, cluster = 2 : i32} {
    ep.store %tile, %out : i32, !sync.ptr<global>
  }
  return %ctas : i32
}
