// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s --sync-verify-scopes -verify-diagnostics -split-input-file

// Slots of a ring that bulk copies fill and empty: waited for before they are read, filled again when that is over, and all
// is over before the thread ends.
func.func @clean(%a: i64, %c: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %b1024 = arith.constant 1024 : i32
  %w1024 = arith.constant 1024 : i64
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %c : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 2048 align = 16 : !sync.ptr<shared>
  %bar = sync.barrier_alloc count = 2 : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %bar, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    %st = arith.remui %i, %two : i32
    %r = arith.divui %i, %two : i32
    %p = arith.andi %r, %one : i32
    %b = sync.barrier_at %bar, %st : !sync.barrier
    %w = arith.extui %st : i32 to i64
    %m = arith.muli %w, %w1024 : i64
    %slot = ep.offset %s, %m : !sync.ptr<shared>
    sync.bulk_wait 0 read
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 1024
      sync.bulk_copy %slot, %g, %b1024 on %b : !sync.ptr<shared>, !sync.ptr<global>
    }
    sync.barrier_wait acquire cta %b, %p
    scf.if %first {
      sync.bulk_copy %o, %slot, %b1024 : !sync.ptr<global>, !sync.ptr<shared>
    }
    sync.bulk_commit
  }
  sync.bulk_wait 0
  return
}

// -----

func.func @no_wait_for_readers(%a: i64, %c: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %b1024 = arith.constant 1024 : i32
  %w1024 = arith.constant 1024 : i64
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %c : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 2048 align = 16 : !sync.ptr<shared>
  %bar = sync.barrier_alloc count = 2 : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %bar, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    %st = arith.remui %i, %two : i32
    %r = arith.divui %i, %two : i32
    %p = arith.andi %r, %one : i32
    %b = sync.barrier_at %bar, %st : !sync.barrier
    %w = arith.extui %st : i32 to i64
    %m = arith.muli %w, %w1024 : i64
    %slot = ep.offset %s, %m : !sync.ptr<shared>
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 1024
      // expected-error @+1 {{expected the readers of shared memory #2 to be done with the slot before this asynchronous copy of shared memory #2 fills it again}}
      sync.bulk_copy %slot, %g, %b1024 on %b : !sync.ptr<shared>, !sync.ptr<global>
    }
    sync.barrier_wait acquire cta %b, %p
    scf.if %first {
      sync.bulk_copy %o, %slot, %b1024 : !sync.ptr<global>, !sync.ptr<shared>
    }
    sync.bulk_commit
  }
  sync.bulk_wait 0
  return
}

// -----

func.func @no_wait_for_the_copy(%a: i64, %c: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %b1024 = arith.constant 1024 : i32
  %w1024 = arith.constant 1024 : i64
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %c : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 2048 align = 16 : !sync.ptr<shared>
  %bar = sync.barrier_alloc count = 2 : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %bar, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    %st = arith.remui %i, %two : i32
    %r = arith.divui %i, %two : i32
    %p = arith.andi %r, %one : i32
    %b = sync.barrier_at %bar, %st : !sync.barrier
    %w = arith.extui %st : i32 to i64
    %m = arith.muli %w, %w1024 : i64
    %slot = ep.offset %s, %m : !sync.ptr<shared>
    sync.bulk_wait 0 read
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 1024
      sync.bulk_copy %slot, %g, %b1024 on %b : !sync.ptr<shared>, !sync.ptr<global>
    }
    scf.if %first {
      // expected-error @+1 {{expected an acquiring wait for the copy into shared memory #2 on every path to this asynchronous copy of argument 1, found one without [SL32]}}
      sync.bulk_copy %o, %slot, %b1024 : !sync.ptr<global>, !sync.ptr<shared>
    }
    sync.bulk_commit
  }
  sync.bulk_wait 0
  return
}

// -----

func.func @relaxed_wait(%a: i64, %c: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %b1024 = arith.constant 1024 : i32
  %w1024 = arith.constant 1024 : i64
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %c : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 2048 align = 16 : !sync.ptr<shared>
  %bar = sync.barrier_alloc count = 2 : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %bar, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    %st = arith.remui %i, %two : i32
    %r = arith.divui %i, %two : i32
    %p = arith.andi %r, %one : i32
    %b = sync.barrier_at %bar, %st : !sync.barrier
    %w = arith.extui %st : i32 to i64
    %m = arith.muli %w, %w1024 : i64
    %slot = ep.offset %s, %m : !sync.ptr<shared>
    sync.bulk_wait 0 read
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 1024
      sync.bulk_copy %slot, %g, %b1024 on %b : !sync.ptr<shared>, !sync.ptr<global>
    }
    sync.barrier_wait relaxed cta %b, %p
    scf.if %first {
      // expected-error @+1 {{expected an acquiring wait for the copy into shared memory #2}}
      sync.bulk_copy %o, %slot, %b1024 : !sync.ptr<global>, !sync.ptr<shared>
    }
    sync.bulk_commit
  }
  sync.bulk_wait 0
  return
}

// -----

// A relaxed wait with an acquire fence behind it is one too.
func.func @relaxed_wait_and_fence(%a: i64, %c: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %b1024 = arith.constant 1024 : i32
  %w1024 = arith.constant 1024 : i64
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %c : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 2048 align = 16 : !sync.ptr<shared>
  %bar = sync.barrier_alloc count = 2 : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %bar, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    %st = arith.remui %i, %two : i32
    %r = arith.divui %i, %two : i32
    %p = arith.andi %r, %one : i32
    %b = sync.barrier_at %bar, %st : !sync.barrier
    %w = arith.extui %st : i32 to i64
    %m = arith.muli %w, %w1024 : i64
    %slot = ep.offset %s, %m : !sync.ptr<shared>
    sync.bulk_wait 0 read
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 1024
      sync.bulk_copy %slot, %g, %b1024 on %b : !sync.ptr<shared>, !sync.ptr<global>
    }
    sync.barrier_wait relaxed cta %b, %p
    sync.fence acquire cta
    scf.if %first {
      sync.bulk_copy %o, %slot, %b1024 : !sync.ptr<global>, !sync.ptr<shared>
    }
    sync.bulk_commit
  }
  sync.bulk_wait 0
  return
}

// -----

// expected-error @+1 {{expected the copies out of shared memory #2 to be done with it before the thread ends}}
func.func @not_drained(%a: i64, %c: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %b1024 = arith.constant 1024 : i32
  %w1024 = arith.constant 1024 : i64
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %c : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 2048 align = 16 : !sync.ptr<shared>
  %bar = sync.barrier_alloc count = 2 : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %bar, count = 1
  }
  sync.cta_barrier
  scf.for %i = %zero to %n step %one : i32 {
    %st = arith.remui %i, %two : i32
    %r = arith.divui %i, %two : i32
    %p = arith.andi %r, %one : i32
    %b = sync.barrier_at %bar, %st : !sync.barrier
    %w = arith.extui %st : i32 to i64
    %m = arith.muli %w, %w1024 : i64
    %slot = ep.offset %s, %m : !sync.ptr<shared>
    sync.bulk_wait 0 read
    scf.if %first {
      sync.barrier_expect_tx relaxed cta %b, bytes = 1024
      sync.bulk_copy %slot, %g, %b1024 on %b : !sync.ptr<shared>, !sync.ptr<global>
    }
    sync.barrier_wait acquire cta %b, %p
    scf.if %first {
      sync.bulk_copy %o, %slot, %b1024 : !sync.ptr<global>, !sync.ptr<shared>
    }
    sync.bulk_commit
  }
  return
}

// -----

// A word that every CTA adds to is shared by all of them, whatever it is.
func.func @narrow_word(%a: i64, %v: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  // expected-error @+1 {{to have at least gpu scope, since threads that far away access argument 0 too, got cta [SL31]}}
  %old = sync.atomic or relaxed cta %p, %v : !sync.ptr<global>, i32
  return
}
