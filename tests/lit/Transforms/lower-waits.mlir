// RUN: interlock-opt %s --sync-lower-waits="strategy=relaxed-fence" | FileCheck %s --check-prefixes=CHECK,FENCE
// RUN: interlock-opt %s --sync-lower-waits="strategy=acquire" | FileCheck %s --check-prefixes=CHECK,ACQUIRE
// RUN: not interlock-opt %s --sync-lower-waits="strategy=hope" 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: expected {{.*}}relaxed-fence{{.*}}hope

// CHECK-LABEL: func.func @shared_only
// FENCE: scf.while
// FENCE-NEXT: sync.barrier_try_wait relaxed cluster
// FENCE: }
// FENCE: sync.fence acquire cluster restrict
// ACQUIRE: sync.barrier_try_wait acquire cluster
// ACQUIRE-NOT: sync.fence
// FENCE: sync.fence release cluster restrict
// FENCE-NEXT: sync.barrier_arrive relaxed cluster
// ACQUIRE: sync.barrier_arrive release cluster
func.func @shared_only(%parity: i32, %rank: i32) {
  %b = sync.barrier_alloc : !sync.barrier
  sync.barrier_wait acquire cluster %b, %parity {sync.shared_only}
  sync.barrier_arrive release cluster %b rank %rank {sync.shared_only}
  return
}

// Data outside shared memory needs the whole fence, and the arrive keeps its release.
// CHECK-LABEL: func.func @any_data
// FENCE: sync.barrier_try_wait relaxed cluster
// FENCE: sync.fence acquire cluster{{$}}
// ACQUIRE: sync.barrier_try_wait acquire cluster
// CHECK: sync.barrier_arrive release cluster
func.func @any_data(%parity: i32, %rank: i32) {
  %b = sync.barrier_alloc : !sync.barrier
  sync.barrier_wait acquire cluster %b, %parity
  sync.barrier_arrive release cluster %b rank %rank
  return
}

// CHECK-LABEL: func.func @own_cta
// CHECK: sync.barrier_try_wait acquire cta
// CHECK-NOT: sync.fence
func.func @own_cta(%parity: i32) {
  %b = sync.barrier_alloc : !sync.barrier
  sync.barrier_wait acquire cta %b, %parity
  return
}
