// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What LLVM's optimisation must leave alone: reads of shared memory that someone else fills between two waits, and tries
// that have no other effect than to look.
// RUN: interlock-opt %s --convert-interlock-to-nvvm=chip=sm_90a | mlir-translate --mlir-to-llvmir | opt -O2 -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90a | llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90a -mattr=+ptx86 -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx

// CHECK-LABEL: .entry slots
func.func @slots(%a: i64, %rank: i32, %v: i32) attributes {ep.kernel, ep.block_threads = 32 : i32, ep.cluster = 2 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  %true = arith.constant true
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = sync.barrier_alloc : !sync.barrier
  %slot = sync.shared_alloc bytes = 4 align = 4 : !sync.ptr<shared>
  sync.store_async %v, %slot, %full rank %rank : i32
  // CHECK: st.async
  // CHECK: [[LOOP:\$L__BB[0-9_]+]]:
  // CHECK: mbarrier.try_wait.parity.relaxed.cluster.shared.b64 %p
  // CHECK: bra [[LOOP]];
  // CHECK: fence.acquire.sync_restrict::shared::cluster.cluster;
  scf.while : () -> () {
    %done = sync.barrier_try_wait relaxed cluster %full, %zero : i1
    %again = arith.xori %done, %true : i1
    scf.condition(%again)
  } do {
    scf.yield
  }
  sync.fence acquire cluster restrict
  // CHECK: ld.shared.b32
  %x = ep.load %slot : !sync.ptr<shared> -> i32
  // CHECK: mbarrier.try_wait.parity.acquire.cluster.shared.b64
  %ok = sync.barrier_try_wait acquire cluster %full, %one : i1
  // CHECK: ld.shared.b32
  %y = ep.load %slot : !sync.ptr<shared> -> i32
  // CHECK: bar.sync 0;
  sync.cta_barrier
  // CHECK: ld.shared.b32
  %z = ep.load %slot : !sync.ptr<shared> -> i32
  %s0 = arith.addi %x, %y : i32
  %s1 = arith.addi %s0, %z : i32
  // CHECK: st.global.b32
  ep.store %s1, %g : i32, !sync.ptr<global>
  // CHECK: ret;
  return
}

// A store stays before the signal that announces it, and a load behind the wait that covers it.
// CHECK-LABEL: .entry ordered
func.func @ordered(%a: i64, %b: i64, %v: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %data = ep.global_ptr %a : !sync.ptr<global>
  %signal = ep.global_ptr %b : !sync.ptr<global>
  // CHECK: st.global.b64
  ep.store %v, %data : i64, !sync.ptr<global>
  // CHECK: red.release.sys.global.add.u64
  sync.signal_add release sys %signal, %v : i64
  // CHECK: ld.relaxed.sys.global.b64
  // CHECK: fence.acquire.sys;
  %ok = sync.signal_wait acquire sys %signal, %v, %timeout : i64
  // CHECK: ld.global.b64
  %x = ep.load %data : !sync.ptr<global> -> i64
  // CHECK: st.global.b64
  ep.store %x, %signal : i64, !sync.ptr<global>
  // CHECK: ret;
  return
}
