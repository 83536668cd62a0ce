// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// DEFINE: %{chip} =
// DEFINE: %{isa} =
// DEFINE: %{check} =
// DEFINE: %{ptx} = interlock-opt %s --convert-interlock-to-nvvm=chip=%{chip} | mlir-translate --mlir-to-llvmir | llc -mtriple=nvptx64-nvidia-cuda -mcpu=%{chip} -mattr=+ptx%{isa} | FileCheck %s --check-prefixes=%{check}

// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{isa} = 86
// REDEFINE: %{check} = CHECK,NEW
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_100a
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_120a
// REDEFINE: %{isa} = 87
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_80
// REDEFINE: %{isa} = 71
// REDEFINE: %{check} = CHECK,OLD
// RUN: %{ptx}

// On sm_80, arrivals release and tests acquire at CTA scope, and there are no larger clusters than a CTA.
// CHECK-LABEL: .entry barriers
func.func @barriers(%parity: i32, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %o = ep.global_ptr %out : !sync.ptr<global>
  // CHECK: .shared .align 8 .u64 barriers_shared_0;
  %b = sync.barrier_alloc : !sync.barrier
  // CHECK: mbarrier.init.shared.b64 [barriers_shared_0], %r
  sync.barrier_init %b, count = 4
  // NEW: mbarrier.arrive.relaxed.cta.shared.b64 %
  // OLD: mbarrier.arrive.shared.b64 %
  sync.barrier_arrive relaxed cta %b
  // NEW: mbarrier.arrive.relaxed.cluster.shared.b64 %
  // OLD: mbarrier.arrive.shared.b64 %
  sync.barrier_arrive relaxed cluster %b
  // NEW: mbarrier.arrive.shared.b64 %
  // OLD: mbarrier.arrive.shared.b64 %
  sync.barrier_arrive release cta %b
  // NEW: mbarrier.arrive.release.cluster.shared.b64 %
  // OLD: mbarrier.arrive.shared.b64 %
  sync.barrier_arrive release cluster %b
  // NEW: mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p
  // OLD: mbarrier.test_wait.parity.shared.b64 done, [%rd{{[0-9]+}}], %r{{[0-9]+}}; selp.b32
  %d1 = sync.barrier_try_wait relaxed cta %b, %parity : i1
  %e1 = arith.extui %d1 : i1 to i8
  // CHECK: st.global.b8
  ep.store %e1, %o : i8, !sync.ptr<global>
  // NEW: mbarrier.try_wait.parity.relaxed.cluster.shared.b64 %p
  // OLD: mbarrier.test_wait.parity.shared.b64 done, [%rd{{[0-9]+}}], %r{{[0-9]+}}; selp.b32
  %d2 = sync.barrier_try_wait relaxed cluster %b, %parity : i1
  %e2 = arith.extui %d2 : i1 to i8
  // CHECK: st.global.b8
  ep.store %e2, %o : i8, !sync.ptr<global>
  // NEW: mbarrier.try_wait.parity.shared.b64 %p
  // OLD: mbarrier.test_wait.parity.shared.b64 done, [%rd{{[0-9]+}}], %r{{[0-9]+}}; selp.b32
  %d3 = sync.barrier_try_wait acquire cta %b, %parity : i1
  %e3 = arith.extui %d3 : i1 to i8
  // CHECK: st.global.b8
  ep.store %e3, %o : i8, !sync.ptr<global>
  // NEW: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p
  // OLD: mbarrier.test_wait.parity.shared.b64 done, [%rd{{[0-9]+}}], %r{{[0-9]+}}; selp.b32
  %d4 = sync.barrier_try_wait acquire cluster %b, %parity : i1
  %e4 = arith.extui %d4 : i1 to i8
  // CHECK: st.global.b8
  ep.store %e4, %o : i8, !sync.ptr<global>
  // CHECK: bar.sync 0;
  sync.cta_barrier
  // CHECK: bar.warp.sync -1;
  sync.warp_barrier
  // CHECK: ret;
  return
}
