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

// Loads and stores keep their order and scope in LLVM; additions are inline PTX, since atomicrmw keeps neither.
// CHECK-LABEL: .entry signals
func.func @signals(%a: i64, %w: i32, %v: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  // CHECK: st.relaxed.cta.global.b32 [
  sync.signal_set relaxed cta %g, %w : i32
  // CHECK: red.relaxed.cta.global.add.u32 [
  sync.signal_add relaxed cta %g, %w : i32
  // CHECK: st.relaxed.cta.global.b64 [
  sync.signal_set relaxed cta %g, %v : i64
  // CHECK: red.relaxed.cta.global.add.u64 [
  sync.signal_add relaxed cta %g, %v : i64
  // NEW: st.relaxed.cluster.global.b32 [
  // OLD: st.relaxed.gpu.global.b32 [
  sync.signal_set relaxed cluster %g, %w : i32
  // NEW: red.relaxed.cluster.global.add.u32 [
  // OLD: red.relaxed.gpu.global.add.u32 [
  sync.signal_add relaxed cluster %g, %w : i32
  // NEW: st.relaxed.cluster.global.b64 [
  // OLD: st.relaxed.gpu.global.b64 [
  sync.signal_set relaxed cluster %g, %v : i64
  // NEW: red.relaxed.cluster.global.add.u64 [
  // OLD: red.relaxed.gpu.global.add.u64 [
  sync.signal_add relaxed cluster %g, %v : i64
  // CHECK: st.relaxed.gpu.global.b32 [
  sync.signal_set relaxed gpu %g, %w : i32
  // CHECK: red.relaxed.gpu.global.add.u32 [
  sync.signal_add relaxed gpu %g, %w : i32
  // CHECK: st.relaxed.gpu.global.b64 [
  sync.signal_set relaxed gpu %g, %v : i64
  // CHECK: red.relaxed.gpu.global.add.u64 [
  sync.signal_add relaxed gpu %g, %v : i64
  // CHECK: st.relaxed.sys.global.b32 [
  sync.signal_set relaxed sys %g, %w : i32
  // CHECK: red.relaxed.sys.global.add.u32 [
  sync.signal_add relaxed sys %g, %w : i32
  // CHECK: st.relaxed.sys.global.b64 [
  sync.signal_set relaxed sys %g, %v : i64
  // CHECK: red.relaxed.sys.global.add.u64 [
  sync.signal_add relaxed sys %g, %v : i64
  // CHECK: st.release.cta.global.b32 [
  sync.signal_set release cta %g, %w : i32
  // CHECK: red.release.cta.global.add.u32 [
  sync.signal_add release cta %g, %w : i32
  // CHECK: st.release.cta.global.b64 [
  sync.signal_set release cta %g, %v : i64
  // CHECK: red.release.cta.global.add.u64 [
  sync.signal_add release cta %g, %v : i64
  // NEW: st.release.cluster.global.b32 [
  // OLD: st.release.gpu.global.b32 [
  sync.signal_set release cluster %g, %w : i32
  // NEW: red.release.cluster.global.add.u32 [
  // OLD: red.release.gpu.global.add.u32 [
  sync.signal_add release cluster %g, %w : i32
  // NEW: st.release.cluster.global.b64 [
  // OLD: st.release.gpu.global.b64 [
  sync.signal_set release cluster %g, %v : i64
  // NEW: red.release.cluster.global.add.u64 [
  // OLD: red.release.gpu.global.add.u64 [
  sync.signal_add release cluster %g, %v : i64
  // CHECK: st.release.gpu.global.b32 [
  sync.signal_set release gpu %g, %w : i32
  // CHECK: red.release.gpu.global.add.u32 [
  sync.signal_add release gpu %g, %w : i32
  // CHECK: st.release.gpu.global.b64 [
  sync.signal_set release gpu %g, %v : i64
  // CHECK: red.release.gpu.global.add.u64 [
  sync.signal_add release gpu %g, %v : i64
  // CHECK: st.release.sys.global.b32 [
  sync.signal_set release sys %g, %w : i32
  // CHECK: red.release.sys.global.add.u32 [
  sync.signal_add release sys %g, %w : i32
  // CHECK: st.release.sys.global.b64 [
  sync.signal_set release sys %g, %v : i64
  // CHECK: red.release.sys.global.add.u64 [
  sync.signal_add release sys %g, %v : i64
  // CHECK: ret;
  return
}

// CHECK-LABEL: .entry loads
func.func @loads(%a: i64, %out: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  %o = ep.global_ptr %out : !sync.ptr<global>
  // CHECK: ld.relaxed.cta.global.b32
  %x1 = sync.signal_load relaxed cta %g : i32
  // CHECK: st.global.b32
  ep.store %x1, %o : i32, !sync.ptr<global>
  // CHECK: ld.relaxed.cta.global.b64
  %x2 = sync.signal_load relaxed cta %g : i64
  // CHECK: st.global.b64
  ep.store %x2, %o : i64, !sync.ptr<global>
  // NEW: ld.relaxed.cluster.global.b32
  // OLD: ld.relaxed.gpu.global.b32
  %x3 = sync.signal_load relaxed cluster %g : i32
  // CHECK: st.global.b32
  ep.store %x3, %o : i32, !sync.ptr<global>
  // NEW: ld.relaxed.cluster.global.b64
  // OLD: ld.relaxed.gpu.global.b64
  %x4 = sync.signal_load relaxed cluster %g : i64
  // CHECK: st.global.b64
  ep.store %x4, %o : i64, !sync.ptr<global>
  // CHECK: ld.relaxed.gpu.global.b32
  %x5 = sync.signal_load relaxed gpu %g : i32
  // CHECK: st.global.b32
  ep.store %x5, %o : i32, !sync.ptr<global>
  // CHECK: ld.relaxed.gpu.global.b64
  %x6 = sync.signal_load relaxed gpu %g : i64
  // CHECK: st.global.b64
  ep.store %x6, %o : i64, !sync.ptr<global>
  // CHECK: ld.relaxed.sys.global.b32
  %x7 = sync.signal_load relaxed sys %g : i32
  // CHECK: st.global.b32
  ep.store %x7, %o : i32, !sync.ptr<global>
  // CHECK: ld.relaxed.sys.global.b64
  %x8 = sync.signal_load relaxed sys %g : i64
  // CHECK: st.global.b64
  ep.store %x8, %o : i64, !sync.ptr<global>
  // CHECK: ld.acquire.cta.global.b32
  %x9 = sync.signal_load acquire cta %g : i32
  // CHECK: st.global.b32
  ep.store %x9, %o : i32, !sync.ptr<global>
  // CHECK: ld.acquire.cta.global.b64
  %x10 = sync.signal_load acquire cta %g : i64
  // CHECK: st.global.b64
  ep.store %x10, %o : i64, !sync.ptr<global>
  // NEW: ld.acquire.cluster.global.b32
  // OLD: ld.acquire.gpu.global.b32
  %x11 = sync.signal_load acquire cluster %g : i32
  // CHECK: st.global.b32
  ep.store %x11, %o : i32, !sync.ptr<global>
  // NEW: ld.acquire.cluster.global.b64
  // OLD: ld.acquire.gpu.global.b64
  %x12 = sync.signal_load acquire cluster %g : i64
  // CHECK: st.global.b64
  ep.store %x12, %o : i64, !sync.ptr<global>
  // CHECK: ld.acquire.gpu.global.b32
  %x13 = sync.signal_load acquire gpu %g : i32
  // CHECK: st.global.b32
  ep.store %x13, %o : i32, !sync.ptr<global>
  // CHECK: ld.acquire.gpu.global.b64
  %x14 = sync.signal_load acquire gpu %g : i64
  // CHECK: st.global.b64
  ep.store %x14, %o : i64, !sync.ptr<global>
  // CHECK: ld.acquire.sys.global.b32
  %x15 = sync.signal_load acquire sys %g : i32
  // CHECK: st.global.b32
  ep.store %x15, %o : i32, !sync.ptr<global>
  // CHECK: ld.acquire.sys.global.b64
  %x16 = sync.signal_load acquire sys %g : i64
  // CHECK: st.global.b64
  ep.store %x16, %o : i64, !sync.ptr<global>
  // CHECK: ret;
  return
}

// A wait: relaxed reads, the clock only after the first of them, one fence behind the last.
// CHECK-LABEL: .entry wait
// CHECK-NOT: ld.acquire
func.func @wait(%a: i64, %v: i64, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  // CHECK: ld.relaxed.sys.global.b64
  // CHECK: setp.{{lt|ge}}.u64
  // CHECK: mov.u64 {{.*}}, %globaltimer;
  // CHECK: $L__BB[[LOOP:[0-9_]*]]:
  // CHECK: ld.relaxed.sys.global.b64
  // CHECK: mov.u64 {{.*}}, %globaltimer;
  // CHECK: bra $L__BB[[LOOP]]
  // NEW: fence.acquire.sys;
  // OLD: fence.acq_rel.sys;
  %ok = sync.signal_wait acquire sys %g, %v, %timeout : i64
  // CHECK: st.global.b8
  %x = arith.extui %ok : i1 to i8
  ep.store %x, %g : i8, !sync.ptr<global>
  // CHECK: ret;
  return
}

// A relaxed wait orders nothing.
// CHECK-LABEL: .entry relaxed_wait
// CHECK: ld.relaxed.gpu.global.b32
// CHECK-NOT: fence
// CHECK: ret;
func.func @relaxed_wait(%a: i64, %v: i32, %timeout: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  %ok = sync.signal_wait relaxed gpu %g, %v, %timeout : i32
  return
}
