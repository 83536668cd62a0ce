func.func @kernel(%a: i64, %c: i64, %n: i32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
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
