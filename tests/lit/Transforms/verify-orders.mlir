// RUN: interlock-opt %s -split-input-file -verify-diagnostics --sync-verify-scopes

// Below hand-offs the verifier asks the scope model: rules by their ids, the other places as notes.

// A signal to another rank publishes what was stored before it, so it releases at system scope.
func.func @relaxed_publish(%w: i64, %stride: i64, %own: i32, %peer: i32, %v: i64, %t: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
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
  // expected-error @+1 {{expected this store of the window at 512 to release the window at 0, or a release fence between them, got relaxed.sys and no fence [SL03]}}
  sync.signal_set relaxed sys %flag, %v : i64
  // expected-note @+1 {{waited for here}}
  %ok = sync.signal_wait acquire sys %mine, %v, %t : i64
  // expected-note @+1 {{the access that must come first}}
  %x = ep.load %got : !sync.ptr<global> -> i64
  ep.store %x, %mine : i64, !sync.ptr<global>
  return
}

// -----

func.func @no_barrier(%v: i32) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %zero = arith.constant 0 : i32
  %s = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    // expected-note @+1 {{the other access}}
    ep.store %v, %s : i32, !sync.ptr<shared>
  }
  // expected-error @+1 {{expected a barrier between this load of shared memory #1 and another thread's access to shared memory #1, found a path without one [SL30]}}
  %x = ep.load %s : !sync.ptr<shared> -> i32
  return
}

// -----

func.func @barrier(%v: i32) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %zero = arith.constant 0 : i32
  %s = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    ep.store %v, %s : i32, !sync.ptr<shared>
  }
  sync.cta_barrier
  %x = ep.load %s : !sync.ptr<shared> -> i32
  return
}

// -----

func.func @narrow(%w: i64, %stride: i64, %own: i32) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %c8 = arith.constant 8 : i64
  %one = arith.constant 1 : i32
  %count = ep.peer_ptr %w, %stride, %own, %c8 : !sync.ptr<global>
  // expected-error @+1 {{expected this atomic of the window at 8 to have at least gpu scope, since threads that far away access the window at 8 too, got cta [SL31]}}
  %old = sync.atomic add relaxed cta %count, %one : !sync.ptr<global>, i32
  return
}

// -----

func.func @unfinished(%a: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %bytes = arith.constant 1024 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 1024 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.if %first {
    sync.barrier_expect_tx relaxed cta %b, bytes = 1024
    // expected-note @+2 {{copied here}}
    // expected-note @+1 {{read by the copy here}}
    sync.bulk_copy %s, %g, %bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
  }
  sync.cta_barrier
  // expected-error @+1 {{expected the asynchronous copy to shared memory #2 to be complete before this load of shared memory #2, found no wait for it}}
  %x = ep.load %s : !sync.ptr<shared> -> i32
  // expected-error @+1 {{expected the asynchronous copy that reads argument 0 to be done with it before this store of argument 0}}
  ep.store %x, %g : i32, !sync.ptr<global>
  return
}

// -----

func.func @finished(%a: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %zero = arith.constant 0 : i32
  %bytes = arith.constant 1024 : i32
  %g = ep.global_ptr %a : !sync.ptr<global>
  %s = sync.shared_alloc bytes = 1024 align = 16 : !sync.ptr<shared>
  %b = sync.barrier_alloc : !sync.barrier
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    sync.barrier_init %b, count = 1
  }
  sync.cta_barrier
  scf.if %first {
    sync.barrier_expect_tx relaxed cta %b, bytes = 1024
    sync.bulk_copy %s, %g, %bytes on %b : !sync.ptr<shared>, !sync.ptr<global>
  }
  sync.barrier_wait acquire cta %b, %zero
  %x = ep.load %s : !sync.ptr<shared> -> i32
  ep.store %x, %g : i32, !sync.ptr<global>
  return
}

// -----

func.func @cluster_relaxed(%v: i32, %rank: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %b = sync.barrier_alloc : !sync.barrier
  // expected-note @+1 {{initialised here}}
  sync.barrier_init %b, count = 1
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  // expected-error @+2 {{expected the mbarrier.init of shared memory #1 to be published to the cluster before this remote arrive of shared memory #1}}
  // expected-remark @+1 {{expected this remote arrive of shared memory #1 to be relaxed, since nothing that it could release comes before it}}
  sync.barrier_arrive release cluster %b rank %rank
  sync.cluster_arrive relaxed
  sync.cluster_wait acquire
  return
}

// -----

// A word of the window for each cluster: its barrier orders what its CTAs do to it.
func.func @word_of_cluster(%w: i64, %stride: i64, %own: i32, %v: i32) attributes {ep.kernel, ep.block_threads = 64 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i64
  %c256 = arith.constant 256 : i64
  %words = ep.peer_ptr %w, %stride, %own, %c256 : !sync.ptr<global>
  %id = ep.cluster_id : i32
  %wide = arith.extui %id : i32 to i64
  %bytes = arith.muli %wide, %four : i64
  %word = ep.offset %words, %bytes : !sync.ptr<global>
  %rank = ep.cluster_rank : i32
  %leads = arith.cmpi eq, %rank, %zero : i32
  scf.if %leads {
    ep.store %v, %word : i32, !sync.ptr<global>
  }
  sync.cluster_arrive release
  sync.cluster_wait acquire
  %x = ep.load %word : !sync.ptr<global> -> i32
  return
}

// -----

// A barrier of the CTA reaches its own threads only, and what comes behind the arrival is not released by it.
func.func @word_between(%w: i64, %stride: i64, %own: i32, %v: i32) attributes {ep.kernel, ep.block_threads = 64 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i64
  %c256 = arith.constant 256 : i64
  %words = ep.peer_ptr %w, %stride, %own, %c256 : !sync.ptr<global>
  %id = ep.cluster_id : i32
  %wide = arith.extui %id : i32 to i64
  %bytes = arith.muli %wide, %four : i64
  %word = ep.offset %words, %bytes : !sync.ptr<global>
  %rank = ep.cluster_rank : i32
  %leads = arith.cmpi eq, %rank, %zero : i32
  sync.cluster_arrive release
  scf.if %leads {
    // expected-note @+1 {{the other access}}
    ep.store %v, %word : i32, !sync.ptr<global>
  }
  sync.cta_barrier
  sync.cluster_wait acquire
  // expected-error @+1 {{expected the cluster's barrier between this load of the window at 256 and the access to the window at 256 by another of its CTAs, found a path without it [SL30]}}
  %x = ep.load %word : !sync.ptr<global> -> i32
  return
}

// -----

// The barrier of a cluster says nothing of another cluster's CTAs.
func.func @word_of_all(%w: i64, %stride: i64, %own: i32, %v: i32) attributes {ep.kernel, ep.block_threads = 64 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %c256 = arith.constant 256 : i64
  %word = ep.peer_ptr %w, %stride, %own, %c256 : !sync.ptr<global>
  %rank = ep.cluster_rank : i32
  %leads = arith.cmpi eq, %rank, %zero : i32
  scf.if %leads {
    // expected-note @+1 {{accessed here}}
    ep.store %v, %word : i32, !sync.ptr<global>
  }
  sync.cluster_arrive release
  sync.cluster_wait acquire
  // expected-error @+1 {{expected this load of the window at 256 to come behind an acquire of what other CTAs did to the window at 256, found nothing that tells that they are through with it [SL30]}}
  %x = ep.load %word : !sync.ptr<global> -> i32
  return
}

// -----

// Shared memory that is written between the arrival and the wait needs a barrier of its own.
func.func @shared_between(%v: i32) attributes {ep.kernel, ep.block_threads = 64 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %s = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  sync.cluster_arrive release
  scf.if %first {
    // expected-note @+1 {{the other access}}
    ep.store %v, %s : i32, !sync.ptr<shared>
  }
  sync.cluster_wait acquire
  // expected-error @+1 {{expected a barrier between this load of shared memory #1 and another thread's access to shared memory #1, found a path without one [SL30]}}
  %x = ep.load %s : !sync.ptr<shared> -> i32
  return
}

// -----

func.func @shared_before(%v: i32) attributes {ep.kernel, ep.block_threads = 64 : i32, ep.cluster = 2 : i32} {
  %zero = arith.constant 0 : i32
  %s = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  %tid = ep.thread_id : i32
  %first = arith.cmpi eq, %tid, %zero : i32
  scf.if %first {
    ep.store %v, %s : i32, !sync.ptr<shared>
  }
  sync.cluster_arrive release
  sync.cluster_wait acquire
  %x = ep.load %s : !sync.ptr<shared> -> i32
  return
}
