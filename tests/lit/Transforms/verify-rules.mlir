// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// RUN: interlock-opt %s -split-input-file -verify-diagnostics --sync-verify-scopes
//
// The rules of docs/rules on barriers, signals, copies and fences, each flagged and in its nearest right form. Not here:
// SL09, SL16, SL20, SL21, SL24, SL25 and SL29 speak of what the dialects cannot say (forms of an instruction, loads from
// a peer's shared memory, non-coherent loads, bar.arrive, tensor maps, asynchronous reductions). SL03, SL12, SL14, SL28,
// SL30 and SL31 are in verify-orders.mlir, hand-offs as a whole in verify-scopes.mlir.

// SL01
func.func @narrow_release(%a: i64, %f: i64, %v: i64, %t: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %cta = ep.cta_id : i32
  %data = ep.global_ptr %a : !sync.ptr<global>
  %flag = ep.global_ptr %f : !sync.ptr<global>
  %first = arith.cmpi eq, %cta, %zero : i32
  scf.if %first {
    // expected-note @+1 {{the access that must come first}}
    ep.store %v, %data : i64, !sync.ptr<global>
    // expected-error @+1 {{expected this store of argument 1 to have at least gpu scope, since another CTA waits for it and then touches argument 0, got release.cta [SL01]}}
    sync.signal_set release cta %flag, %v : i64
  } else {
    // expected-note @+1 {{waited for here}}
    %ok = sync.signal_wait acquire gpu %flag, %v, %t : i64
    // expected-note @+1 {{the access that must come second}}
    %x = ep.load %data : !sync.ptr<global> -> i64
  }
  return
}

// -----

// SL01 and SL02, right
func.func @flag(%a: i64, %f: i64, %v: i64, %t: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %cta = ep.cta_id : i32
  %data = ep.global_ptr %a : !sync.ptr<global>
  %flag = ep.global_ptr %f : !sync.ptr<global>
  %first = arith.cmpi eq, %cta, %zero : i32
  scf.if %first {
    ep.store %v, %data : i64, !sync.ptr<global>
    sync.signal_set release gpu %flag, %v : i64
  } else {
    %ok = sync.signal_wait acquire gpu %flag, %v, %t : i64
    %x = ep.load %data : !sync.ptr<global> -> i64
  }
  return
}

// -----

// SL02
func.func @narrow_acquire(%a: i64, %f: i64, %v: i64, %t: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %cta = ep.cta_id : i32
  %data = ep.global_ptr %a : !sync.ptr<global>
  %flag = ep.global_ptr %f : !sync.ptr<global>
  %first = arith.cmpi eq, %cta, %zero : i32
  scf.if %first {
    // expected-note @+1 {{the access that must come first}}
    ep.store %v, %data : i64, !sync.ptr<global>
    // expected-note @+1 {{signalled here}}
    sync.signal_set release gpu %flag, %v : i64
  } else {
    // expected-error @+1 {{expected this poll of argument 1 to have at least gpu scope, since another CTA completes it and argument 0 is touched behind it, got relaxed.cta [SL02]}}
    %ok = sync.signal_wait acquire cta %flag, %v, %t : i64
    // expected-note @+1 {{the access that must come second}}
    %x = ep.load %data : !sync.ptr<global> -> i64
  }
  return
}

// -----

// SL07
func.func @arrive_cta(%a: i64, %v: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %is_leader = arith.cmpi eq, %me, %zero : i32
  %leader = arith.andi %first, %is_leader : i1
  %follower = arith.cmpi eq, %me, %one : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %b = sync.barrier_alloc : !sync.barrier
  scf.if %first {
    sync.barrier_init %b, count = 1
    sync.init_fence
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  scf.if %leader {
    // expected-note @+1 {{the access that must come first}}
    ep.store %v, %g : i32, !sync.ptr<global>
    // expected-error @+1 {{expected this remote arrive of shared memory #1 to have at least cluster scope, since another CTA of the cluster waits for it and then touches argument 0, got release.cta [SL07]}}
    sync.barrier_arrive release cta %b rank %one
  }
  scf.if %follower {
    // expected-note @+1 {{waited for here}}
    sync.barrier_wait acquire cluster %b, %zero
    // expected-note @+1 {{the access that must come second}}
    %x = ep.load %g : !sync.ptr<global> -> i32
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  return
}

// -----

// SL07 and SL08, right
func.func @hand_over(%a: i64, %v: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %is_leader = arith.cmpi eq, %me, %zero : i32
  %leader = arith.andi %first, %is_leader : i1
  %follower = arith.cmpi eq, %me, %one : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %b = sync.barrier_alloc : !sync.barrier
  scf.if %first {
    sync.barrier_init %b, count = 1
    sync.init_fence
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  scf.if %leader {
    ep.store %v, %g : i32, !sync.ptr<global>
    sync.barrier_arrive release cluster %b rank %one
  }
  scf.if %follower {
    sync.barrier_wait acquire cluster %b, %zero
    %x = ep.load %g : !sync.ptr<global> -> i32
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  return
}

// -----

// SL08
func.func @wait_cta(%a: i64, %v: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %is_leader = arith.cmpi eq, %me, %zero : i32
  %leader = arith.andi %first, %is_leader : i1
  %follower = arith.cmpi eq, %me, %one : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %b = sync.barrier_alloc : !sync.barrier
  scf.if %first {
    sync.barrier_init %b, count = 1
    sync.init_fence
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  scf.if %leader {
    // expected-note @+1 {{the access that must come first}}
    ep.store %v, %g : i32, !sync.ptr<global>
    // expected-note @+1 {{signalled here}}
    sync.barrier_arrive release cluster %b rank %one
  }
  scf.if %follower {
    // expected-error @+1 {{expected this wait of shared memory #1 to have at least cluster scope, since another CTA of the cluster completes it and argument 0 is touched behind it, got relaxed.cta [SL08]}}
    sync.barrier_wait acquire cta %b, %zero
    // expected-note @+1 {{the access that must come second}}
    %x = ep.load %g : !sync.ptr<global> -> i32
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  return
}

// -----

// SL10
func.func @generic_write(%a: i64, %v: i32, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %bytes = arith.constant 16 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 16 align = 16 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  // expected-error @+1 {{expected a proxy fence by the thread that writes shared memory #1 before this barrier of the CTA, since the asynchronous proxy reads it behind that, found none [SL10]}}
  ep.store %v, %s : i32, !sync.ptr<shared>
  // expected-note @+1 {{handed over here}}
  sync.cta_barrier
  scf.if %first {
    // expected-note @+1 {{through the asynchronous proxy here}}
    sync.bulk_copy %g, %s, %bytes : !sync.ptr<global>, !sync.ptr<shared>
    sync.bulk_commit
    sync.bulk_wait 0
  }
  return
}

// -----

// SL10, right
func.func @fenced_write(%a: i64, %v: i32, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %bytes = arith.constant 16 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 16 align = 16 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  ep.store %v, %s : i32, !sync.ptr<shared>
  sync.proxy_fence generic async shared
  sync.cta_barrier
  scf.if %first {
    sync.bulk_copy %g, %s, %bytes : !sync.ptr<global>, !sync.ptr<shared>
    sync.bulk_commit
    sync.bulk_wait 0
  }
  return
}

// -----

// SL11
func.func @overwritten(%a: i64, %out: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bytes = arith.constant 1024 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 1024 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 1024
      // expected-note @+1 {{through the asynchronous proxy here}}
      sync.bulk_copy %s, %g, %bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
    }
    %parity = arith.andi %i, %one : i32
    sync.barrier_wait acquire cta %b, %parity
    // expected-note @+1 {{accessed through the generic proxy here}}
    %x = ep.load %s : !sync.ptr<shared> -> i32
    %sum = sync.atomic add relaxed gpu %o, %x : !sync.ptr<global>, i32
    // expected-error @+1 {{expected a proxy fence by the thread that reads shared memory #2 before this barrier of the CTA, since the asynchronous proxy overwrites it behind that, found none [SL11]}}
    sync.cta_barrier
  }
  return
}

// -----

// SL11, of an answer to try_cancel
func.func @answer_overwritten(%out: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %o = ep.global_ptr %out : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 16 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 16
      // expected-note @+1 {{through the asynchronous proxy here}}
      sync.try_cancel %s, %b
    }
    %parity = arith.andi %i, %one : i32
    sync.barrier_wait acquire cta %b, %parity
    // expected-note @+1 {{accessed through the generic proxy here}}
    %answer = ep.packet_load %s : !sync.ptr<shared> -> vector<4xi32>
    // expected-error @+1 {{expected a proxy fence by the thread that reads shared memory #2 before this barrier of the CTA, since the asynchronous proxy overwrites it behind that, found none [SL11]}}
    sync.cta_barrier
    %cta = sync.canceled_cta %answer : vector<4xi32> -> i32
    %sum = sync.atomic add relaxed gpu %o, %cta : !sync.ptr<global>, i32
  }
  return
}

// -----

// SL11, right
func.func @freed(%a: i64, %out: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bytes = arith.constant 1024 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 1024 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 1024
      sync.bulk_copy %s, %g, %bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
    }
    %parity = arith.andi %i, %one : i32
    sync.barrier_wait acquire cta %b, %parity
    %x = ep.load %s : !sync.ptr<shared> -> i32
    %sum = sync.atomic add relaxed gpu %o, %x : !sync.ptr<global>, i32
    sync.proxy_fence generic async shared
    sync.cta_barrier
  }
  return
}

// -----

// SL11, right
func.func @answer_freed(%out: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %o = ep.global_ptr %out : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 16 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 16
      sync.try_cancel %s, %b
    }
    %parity = arith.andi %i, %one : i32
    sync.barrier_wait acquire cta %b, %parity
    %answer = ep.packet_load %s : !sync.ptr<shared> -> vector<4xi32>
    sync.proxy_fence generic async shared
    sync.cta_barrier
    %cta = sync.canceled_cta %answer : vector<4xi32> -> i32
    %sum = sync.atomic add relaxed gpu %o, %cta : !sync.ptr<global>, i32
  }
  return
}

// -----

// SL13
func.func @transaction(%a: i64, %v: i32, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %bytes = arith.constant 512 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 512 align = 16 : !sync.ptr<shared>
  %header = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.if %first {
    sync.barrier_expect_tx release cta %b, bytes = 512
    // expected-note @+2 {{stored here}}
    // expected-note @+1 {{the other access}}
    ep.store %v, %header : i32, !sync.ptr<shared>
    // expected-error @+1 {{expected an arrival that releases the store to shared memory #2 before the wait on shared memory #1 can cover it, got only the transaction of this asynchronous copy of shared memory #3, which tells of its own bytes [SL13]}}
    sync.bulk_copy %s, %g, %bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
  }
  // expected-note @+1 {{waited for here}}
  sync.barrier_wait acquire cta %b, %zero
  // expected-note @+2 {{read here}}
  // expected-error @+1 {{expected a barrier between this load of shared memory #2 and another thread's access to shared memory #2, found a path without one [SL30]}}
  %x = ep.load %header : !sync.ptr<shared> -> i32
  %sum = sync.atomic add relaxed gpu %o, %x : !sync.ptr<global>, i32
  return
}

// -----

// SL13, right
func.func @released(%a: i64, %v: i32, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %bytes = arith.constant 512 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 512 align = 16 : !sync.ptr<shared>
  %header = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.if %first {
    ep.store %v, %header : i32, !sync.ptr<shared>
    sync.barrier_expect_tx release cta %b, bytes = 512
    sync.bulk_copy %s, %g, %bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
  }
  sync.barrier_wait acquire cta %b, %zero
  %x = ep.load %header : !sync.ptr<shared> -> i32
  %sum = sync.atomic add relaxed gpu %o, %x : !sync.ptr<global>, i32
  return
}

// -----

// SL15
func.func @relaxed_barrier(%a: i64, %v: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %is_leader = arith.cmpi eq, %me, %zero : i32
  %leader = arith.andi %first, %is_leader : i1
  %follower = arith.cmpi eq, %me, %one : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  scf.if %leader {
    // expected-note @+1 {{the access that must come first}}
    ep.store %v, %g : i32, !sync.ptr<global>
  }
  // expected-error @+1 {{expected the arrival at the cluster barrier to release argument 0, which is touched by another CTA of the cluster behind the barrier, got .relaxed [SL15]}}
  sync.cluster_arrive relaxed
  // expected-note @+1 {{waited for here}}
  sync.cluster_wait acquire
  scf.if %follower {
    // expected-note @+1 {{the access that must come second}}
    %x = ep.load %g : !sync.ptr<global> -> i32
  }
  return
}

// -----

// SL15, right
func.func @released_barrier(%a: i64, %v: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %is_leader = arith.cmpi eq, %me, %zero : i32
  %leader = arith.andi %first, %is_leader : i1
  %follower = arith.cmpi eq, %me, %one : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  scf.if %leader {
    ep.store %v, %g : i32, !sync.ptr<global>
  }
  sync.cluster_arrive release
  sync.cluster_wait acquire
  scf.if %follower {
    %x = ep.load %g : !sync.ptr<global> -> i32
  }
  return
}

// -----

// SL17
func.func @weak_flag(%a: i64, %f: i64, %v: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %zero64 = arith.constant 0 : i64
  %cta = ep.cta_id : i32
  %data = ep.global_ptr %a : !sync.ptr<global>
  %flag = ep.global_ptr %f : !sync.ptr<global>
  %first = arith.cmpi eq, %cta, %zero : i32
  scf.if %first {
    // expected-note @+1 {{the access that must come first}}
    ep.store %v, %data : i64, !sync.ptr<global>
    // expected-note @+1 {{signalled here}}
    sync.signal_set release gpu %flag, %v : i64
  } else {
    scf.while : () -> () {
      // expected-error @+1 {{expected this poll of argument 1 to acquire argument 0, got a weak access, which orders nothing [SL17]}}
      %seen = ep.load %flag : !sync.ptr<global> -> i64
      %no = arith.cmpi eq, %seen, %zero64 : i64
      scf.condition(%no)
    } do {
      scf.yield
    }
    // expected-note @+1 {{the access that must come second}}
    %x = ep.load %data : !sync.ptr<global> -> i64
  }
  return
}

// -----

// SL19
func.func @mixed(%f: i64, %v: i32, %w: i64, %t: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %cta = ep.cta_id : i32
  %flag = ep.global_ptr %f : !sync.ptr<global>
  %first = arith.cmpi eq, %cta, %zero : i32
  scf.if %first {
    // expected-error @+1 {{expected all strong accesses to argument 0 to have one size and place, got 4 and 8 bytes that overlap: they race, and no other promise of the memory model holds [SL19]}}
    sync.signal_set release gpu %flag, %v : i32
  } else {
    // expected-note @+1 {{the other access}}
    %ok = sync.signal_wait acquire gpu %flag, %w, %t : i64
  }
  return
}

// -----

// SL22
func.func @same_parity(%n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    scf.if %first {
      sync.barrier_arrive relaxed cta %b
    }
    %parity = arith.andi %i, %one : i32
    // expected-error @+1 {{expected the parity of this wait of shared memory #1 to change with each trip of the loop that uses the barrier again, got the same in all: from the second trip on it waits for a phase that is over, or one that never comes [SL22]}}
    sync.barrier_wait acquire cta %b, %zero
    sync.cta_barrier
  }
  return
}

// -----

// SL22, right
func.func @changing_parity(%n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    scf.if %first {
      sync.barrier_arrive relaxed cta %b
    }
    %parity = arith.andi %i, %one : i32
    sync.barrier_wait acquire cta %b, %parity
    sync.cta_barrier
  }
  return
}

// -----

// SL23
// expected-note @+1 {{the kernel ends here}}
func.func @no_tail(%v: i32, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %is_leader = arith.cmpi eq, %me, %zero : i32
  %leader = arith.andi %first, %is_leader : i1
  %follower = arith.cmpi eq, %me, %one : i32
  %o = ep.global_ptr %out : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %full = sync.barrier_alloc : !sync.barrier
  %empty = sync.barrier_alloc : !sync.barrier
  scf.if %first {
    sync.barrier_init %full, count = 1
    sync.barrier_init %empty, count = 1
    sync.init_fence
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  scf.if %leader {
    sync.store_async %v, %s, %full rank %one : i32
  }
  scf.if %follower {
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %full, bytes = 4
    }
    sync.barrier_wait acquire cluster %full, %zero
    %x = ep.load %s : !sync.ptr<shared> -> i32
    %sum = sync.atomic add relaxed gpu %o, %x : !sync.ptr<global>, i32
    scf.if %first {
      // expected-error @+1 {{expected a cluster barrier, or a wait for the peers' last arrivals, between this remote arrive of shared memory #2 and the end of the kernel, found a path without one: shared memory is gone when its CTA has ended [SL23]}}
      sync.barrier_arrive relaxed cluster %empty rank %zero
    }
  }
  return
}

// -----

// SL23, right
func.func @tail(%v: i32, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %is_leader = arith.cmpi eq, %me, %zero : i32
  %leader = arith.andi %first, %is_leader : i1
  %follower = arith.cmpi eq, %me, %one : i32
  %o = ep.global_ptr %out : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %full = sync.barrier_alloc : !sync.barrier
  %empty = sync.barrier_alloc : !sync.barrier
  scf.if %first {
    sync.barrier_init %full, count = 1
    sync.barrier_init %empty, count = 1
    sync.init_fence
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  scf.if %leader {
    sync.store_async %v, %s, %full rank %one : i32
    sync.barrier_wait relaxed cluster %empty, %zero
  }
  scf.if %follower {
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %full, bytes = 4
    }
    sync.barrier_wait acquire cluster %full, %zero
    %x = ep.load %s : !sync.ptr<shared> -> i32
    %sum = sync.atomic add relaxed gpu %o, %x : !sync.ptr<global>, i32
    scf.if %first {
      sync.barrier_arrive relaxed cluster %empty rank %zero
    }
  }
  return
}

// -----

// SL26
func.func @half(%a: i64, %f: i64, %v: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %data = ep.global_ptr %a : !sync.ptr<global>
  %flag = ep.global_ptr %f : !sync.ptr<global>
  ep.store %v, %data : i64, !sync.ptr<global>
  // expected-remark @+1 {{expected an acquire of argument 1 in this kernel, found none: the end of the kernel orders it for later ones on the stream, a kernel that runs meanwhile has to acquire it [SL26]}}
  sync.signal_set release gpu %flag, %v : i64
  return
}

// -----

// SL27
func.func @grid_barrier(%f: i64, %t: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %tid = ep.thread_id : i32
  %flag = ep.global_ptr %f : !sync.ptr<global>
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    // expected-note @+1 {{arrives here}}
    %old = sync.atomic add acq_rel gpu %flag, %one : !sync.ptr<global>, i32
    %ctas = ep.cta_count : i32
    // expected-warning @+1 {{expected a launch that keeps all CTAs resident, found nothing that says so: this poll of argument 0 waits for arrivals of CTAs that may not have been started [SL27]}}
    %ok = sync.signal_wait acquire gpu %flag, %ctas, %t : i32
  }
  sync.cta_barrier
  return
}

// -----

// SL18
func.func @narrow_for_peer(%w: i64, %stride: i64, %own: i32, %peer: i32, %v: i64, %t: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %c0 = arith.constant 0 : i64
  %c512 = arith.constant 512 : i64
  %one = arith.constant 1 : i32
  %to = arith.addi %own, %one : i32
  %data = ep.peer_ptr %w, %stride, %to, %c0 : !sync.ptr<global>
  %flag = ep.peer_ptr %w, %stride, %to, %c512 : !sync.ptr<global>
  %mine = ep.peer_ptr %w, %stride, %own, %c512 : !sync.ptr<global>
  %got = ep.peer_ptr %w, %stride, %own, %c0 : !sync.ptr<global>
  // expected-note @+1 {{the access that must come second}}
  ep.store %v, %data : i64, !sync.ptr<global>
  // expected-error @+1 {{expected this store of the window at 512 to have at least sys scope, since another device waits for it and then touches the window at 0, got release.gpu [SL18]}}
  sync.signal_set release gpu %flag, %v : i64
  // expected-note @+1 {{waited for here}}
  %ok = sync.signal_wait acquire sys %mine, %v, %t : i64
  // expected-note @+1 {{the access that must come first}}
  %x = ep.load %got : !sync.ptr<global> -> i64
  ep.store %x, %mine : i64, !sync.ptr<global>
  return
}

// -----

// SL18, and what that leaves of the wait is SL04
func.func @narrow_of_peer(%w: i64, %stride: i64, %own: i32, %peer: i32, %v: i64, %t: i64, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %c0 = arith.constant 0 : i64
  %c512 = arith.constant 512 : i64
  %one = arith.constant 1 : i32
  %to = arith.addi %own, %one : i32
  %data = ep.peer_ptr %w, %stride, %to, %c0 : !sync.ptr<global>
  %flag = ep.peer_ptr %w, %stride, %to, %c512 : !sync.ptr<global>
  %mine = ep.peer_ptr %w, %stride, %own, %c512 : !sync.ptr<global>
  %got = ep.peer_ptr %w, %stride, %own, %c0 : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  // expected-note @+1 {{the access that must come second}}
  ep.store %v, %data : i64, !sync.ptr<global>
  // expected-note @+1 {{signalled here}}
  sync.signal_set release sys %flag, %v : i64
  // expected-error @+2 {{expected this poll of the window at 512 to have at least sys scope, since another device completes it and the window at 0 is touched behind it, got relaxed.gpu [SL18]}}
  // expected-warning @+1 {{expected this poll of the window at 512 to acquire what its writer has published, or an acquire fence behind it, got relaxed.gpu and a plain load of the window at 0 [SL04]}}
  %ok = sync.signal_wait acquire gpu %mine, %v, %t : i64
  // expected-note @+2 {{the access that must come first}}
  // expected-note @+1 {{read here}}
  %x = ep.load %got : !sync.ptr<global> -> i64
  ep.store %x, %o : i64, !sync.ptr<global>
  return
}

// -----

// SL04
func.func @relaxed_wait(%w: i64, %stride: i64, %own: i32, %peer: i32, %v: i64, %t: i64, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %c0 = arith.constant 0 : i64
  %c512 = arith.constant 512 : i64
  %one = arith.constant 1 : i32
  %to = arith.addi %own, %one : i32
  %data = ep.peer_ptr %w, %stride, %to, %c0 : !sync.ptr<global>
  %flag = ep.peer_ptr %w, %stride, %to, %c512 : !sync.ptr<global>
  %mine = ep.peer_ptr %w, %stride, %own, %c512 : !sync.ptr<global>
  %got = ep.peer_ptr %w, %stride, %own, %c0 : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  // expected-note @+1 {{the access that must come second}}
  ep.store %v, %data : i64, !sync.ptr<global>
  // expected-note @+1 {{signalled here}}
  sync.signal_set release sys %flag, %v : i64
  // expected-error @+1 {{expected this poll of the window at 512 to acquire the window at 0, or an acquire fence between them, got relaxed.sys and no fence [SL04]}}
  %ok = sync.signal_wait relaxed sys %mine, %v, %t : i64
  // expected-note @+1 {{the access that must come first}}
  %x = ep.load %got : !sync.ptr<global> -> i64
  ep.store %x, %o : i64, !sync.ptr<global>
  return
}

// -----

// SL05
func.func @late_fence(%w: i64, %stride: i64, %own: i32, %peer: i32, %v: i64, %t: i64, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %c0 = arith.constant 0 : i64
  %c512 = arith.constant 512 : i64
  %one = arith.constant 1 : i32
  %to = arith.addi %own, %one : i32
  %data = ep.peer_ptr %w, %stride, %to, %c0 : !sync.ptr<global>
  %flag = ep.peer_ptr %w, %stride, %to, %c512 : !sync.ptr<global>
  %mine = ep.peer_ptr %w, %stride, %own, %c512 : !sync.ptr<global>
  %got = ep.peer_ptr %w, %stride, %own, %c0 : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  // expected-note @+1 {{the access that must come second}}
  ep.store %v, %data : i64, !sync.ptr<global>
  // expected-error @+2 {{expected the release fence before this store of the window at 512, found it behind: a fence orders only what stands before it [SL05]}}
  // expected-note @+1 {{signalled here}}
  sync.signal_set relaxed sys %flag, %v : i64
  sync.fence release sys
  sync.fence acquire sys
  // expected-note @+2 {{waited for here}}
  // expected-error @+1 {{expected the acquire fence behind this poll of the window at 512, found it before: a fence orders only what stands behind it [SL05]}}
  %ok = sync.signal_wait relaxed sys %mine, %v, %t : i64
  // expected-note @+1 {{the access that must come first}}
  %x = ep.load %got : !sync.ptr<global> -> i64
  ep.store %x, %o : i64, !sync.ptr<global>
  return
}

// -----

// SL04, SL05 and SL18, right
func.func @fences(%w: i64, %stride: i64, %own: i32, %peer: i32, %v: i64, %t: i64, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %c0 = arith.constant 0 : i64
  %c512 = arith.constant 512 : i64
  %one = arith.constant 1 : i32
  %to = arith.addi %own, %one : i32
  %data = ep.peer_ptr %w, %stride, %to, %c0 : !sync.ptr<global>
  %flag = ep.peer_ptr %w, %stride, %to, %c512 : !sync.ptr<global>
  %mine = ep.peer_ptr %w, %stride, %own, %c512 : !sync.ptr<global>
  %got = ep.peer_ptr %w, %stride, %own, %c0 : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  ep.store %v, %data : i64, !sync.ptr<global>
  sync.fence release sys
  sync.signal_set relaxed sys %flag, %v : i64
  %ok = sync.signal_wait relaxed sys %mine, %v, %t : i64
  sync.fence acquire sys
  %x = ep.load %got : !sync.ptr<global> -> i64
  ep.store %x, %o : i64, !sync.ptr<global>
  return
}

// -----

// SL06
func.func @restricted(%a: i64, %v: i32, %rank: i32, %parity: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %leads = arith.cmpi eq, %me, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
    sync.init_fence
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  %one = arith.constant 1 : i32
  %sends = arith.andi %first, %leads : i1
  scf.if %sends {
    // expected-note @+1 {{the access that must come first}}
    ep.store %v, %g : i32, !sync.ptr<global>
    // expected-note @+1 {{signalled here}}
    sync.barrier_arrive release cluster %b rank %one
  }
  %follows = arith.cmpi eq, %me, %one : i32
  scf.if %follows {
    scf.while : () -> () {
      // expected-error @+1 {{expected the fence behind this wait of shared memory #1 to cover argument 0, got one that is restricted to shared memory [SL06]}}
      %ok = sync.barrier_try_wait relaxed cluster %b, %zero : i1
      %true = arith.constant true
      %no = arith.xori %ok, %true : i1
      scf.condition(%no)
    } do {
      scf.yield
    }
    sync.fence acquire cluster restrict
    // expected-note @+1 {{the access that must come second}}
    %x = ep.load %g : !sync.ptr<global> -> i32
    ep.store %x, %g : i32, !sync.ptr<global>
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  return
}

// -----

// SL06, right
func.func @whole_fence(%a: i64, %v: i32, %rank: i32, %parity: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %me = ep.cluster_rank : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  %leads = arith.cmpi eq, %me, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
    sync.init_fence
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  %one = arith.constant 1 : i32
  %sends = arith.andi %first, %leads : i1
  scf.if %sends {
    ep.store %v, %g : i32, !sync.ptr<global>
    sync.barrier_arrive release cluster %b rank %one
  }
  %follows = arith.cmpi eq, %me, %one : i32
  scf.if %follows {
    scf.while : () -> () {
      %ok = sync.barrier_try_wait relaxed cluster %b, %zero : i1
      %true = arith.constant true
      %no = arith.xori %ok, %true : i1
      scf.condition(%no)
    } do {
      scf.yield
    }
    sync.fence acquire cluster
    %x = ep.load %g : !sync.ptr<global> -> i32
    ep.store %x, %g : i32, !sync.ptr<global>
  }
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  return
}
