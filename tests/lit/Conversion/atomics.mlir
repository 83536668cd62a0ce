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

// CHECK-LABEL: .entry global_atomics
func.func @global_atomics(%a: i64, %w: i32, %v: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %g = ep.global_ptr %a : !sync.ptr<global>
  // CHECK: atom.relaxed.cta.global.add.u32 %
  %x1 = sync.atomic add relaxed cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.relaxed.cluster.global.add.u64 %
  // OLD: atom.relaxed.gpu.global.add.u64 %
  %x2 = sync.atomic add relaxed cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.relaxed.gpu.global.add.u32 %
  %x3 = sync.atomic add relaxed gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.relaxed.sys.global.add.u64 %
  %x4 = sync.atomic add relaxed sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acquire.cta.global.add.u32 %
  %x5 = sync.atomic add acquire cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.acquire.cluster.global.add.u64 %
  // OLD: atom.acquire.gpu.global.add.u64 %
  %x6 = sync.atomic add acquire cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acquire.gpu.global.add.u32 %
  %x7 = sync.atomic add acquire gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.acquire.sys.global.add.u64 %
  %x8 = sync.atomic add acquire sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.release.cta.global.add.u32 %
  %x9 = sync.atomic add release cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.release.cluster.global.add.u64 %
  // OLD: atom.release.gpu.global.add.u64 %
  %x10 = sync.atomic add release cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.release.gpu.global.add.u32 %
  %x11 = sync.atomic add release gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.release.sys.global.add.u64 %
  %x12 = sync.atomic add release sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acq_rel.cta.global.add.u32 %
  %x13 = sync.atomic add acq_rel cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.acq_rel.cluster.global.add.u64 %
  // OLD: atom.acq_rel.gpu.global.add.u64 %
  %x14 = sync.atomic add acq_rel cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acq_rel.gpu.global.add.u32 %
  %x15 = sync.atomic add acq_rel gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.acq_rel.sys.global.add.u64 %
  %x16 = sync.atomic add acq_rel sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.relaxed.cta.global.or.b32 %
  %x17 = sync.atomic or relaxed cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.relaxed.cluster.global.or.b64 %
  // OLD: atom.relaxed.gpu.global.or.b64 %
  %x18 = sync.atomic or relaxed cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.relaxed.gpu.global.or.b32 %
  %x19 = sync.atomic or relaxed gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.relaxed.sys.global.or.b64 %
  %x20 = sync.atomic or relaxed sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acquire.cta.global.or.b32 %
  %x21 = sync.atomic or acquire cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.acquire.cluster.global.or.b64 %
  // OLD: atom.acquire.gpu.global.or.b64 %
  %x22 = sync.atomic or acquire cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acquire.gpu.global.or.b32 %
  %x23 = sync.atomic or acquire gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.acquire.sys.global.or.b64 %
  %x24 = sync.atomic or acquire sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.release.cta.global.or.b32 %
  %x25 = sync.atomic or release cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.release.cluster.global.or.b64 %
  // OLD: atom.release.gpu.global.or.b64 %
  %x26 = sync.atomic or release cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.release.gpu.global.or.b32 %
  %x27 = sync.atomic or release gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.release.sys.global.or.b64 %
  %x28 = sync.atomic or release sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acq_rel.cta.global.or.b32 %
  %x29 = sync.atomic or acq_rel cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.acq_rel.cluster.global.or.b64 %
  // OLD: atom.acq_rel.gpu.global.or.b64 %
  %x30 = sync.atomic or acq_rel cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acq_rel.gpu.global.or.b32 %
  %x31 = sync.atomic or acq_rel gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.acq_rel.sys.global.or.b64 %
  %x32 = sync.atomic or acq_rel sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.relaxed.cta.global.max.u32 %
  %x33 = sync.atomic max relaxed cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.relaxed.cluster.global.max.u64 %
  // OLD: atom.relaxed.gpu.global.max.u64 %
  %x34 = sync.atomic max relaxed cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.relaxed.gpu.global.max.u32 %
  %x35 = sync.atomic max relaxed gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.relaxed.sys.global.max.u64 %
  %x36 = sync.atomic max relaxed sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acquire.cta.global.max.u32 %
  %x37 = sync.atomic max acquire cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.acquire.cluster.global.max.u64 %
  // OLD: atom.acquire.gpu.global.max.u64 %
  %x38 = sync.atomic max acquire cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acquire.gpu.global.max.u32 %
  %x39 = sync.atomic max acquire gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.acquire.sys.global.max.u64 %
  %x40 = sync.atomic max acquire sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.release.cta.global.max.u32 %
  %x41 = sync.atomic max release cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.release.cluster.global.max.u64 %
  // OLD: atom.release.gpu.global.max.u64 %
  %x42 = sync.atomic max release cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.release.gpu.global.max.u32 %
  %x43 = sync.atomic max release gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.release.sys.global.max.u64 %
  %x44 = sync.atomic max release sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acq_rel.cta.global.max.u32 %
  %x45 = sync.atomic max acq_rel cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.acq_rel.cluster.global.max.u64 %
  // OLD: atom.acq_rel.gpu.global.max.u64 %
  %x46 = sync.atomic max acq_rel cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acq_rel.gpu.global.max.u32 %
  %x47 = sync.atomic max acq_rel gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.acq_rel.sys.global.max.u64 %
  %x48 = sync.atomic max acq_rel sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.relaxed.cta.global.exch.b32 %
  %x49 = sync.atomic exch relaxed cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.relaxed.cluster.global.exch.b64 %
  // OLD: atom.relaxed.gpu.global.exch.b64 %
  %x50 = sync.atomic exch relaxed cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.relaxed.gpu.global.exch.b32 %
  %x51 = sync.atomic exch relaxed gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.relaxed.sys.global.exch.b64 %
  %x52 = sync.atomic exch relaxed sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acquire.cta.global.exch.b32 %
  %x53 = sync.atomic exch acquire cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.acquire.cluster.global.exch.b64 %
  // OLD: atom.acquire.gpu.global.exch.b64 %
  %x54 = sync.atomic exch acquire cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acquire.gpu.global.exch.b32 %
  %x55 = sync.atomic exch acquire gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.acquire.sys.global.exch.b64 %
  %x56 = sync.atomic exch acquire sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.release.cta.global.exch.b32 %
  %x57 = sync.atomic exch release cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.release.cluster.global.exch.b64 %
  // OLD: atom.release.gpu.global.exch.b64 %
  %x58 = sync.atomic exch release cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.release.gpu.global.exch.b32 %
  %x59 = sync.atomic exch release gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.release.sys.global.exch.b64 %
  %x60 = sync.atomic exch release sys %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acq_rel.cta.global.exch.b32 %
  %x61 = sync.atomic exch acq_rel cta %g, %w : !sync.ptr<global>, i32
  // NEW: atom.acq_rel.cluster.global.exch.b64 %
  // OLD: atom.acq_rel.gpu.global.exch.b64 %
  %x62 = sync.atomic exch acq_rel cluster %g, %v : !sync.ptr<global>, i64
  // CHECK: atom.acq_rel.gpu.global.exch.b32 %
  %x63 = sync.atomic exch acq_rel gpu %g, %w : !sync.ptr<global>, i32
  // CHECK: atom.acq_rel.sys.global.exch.b64 %
  %x64 = sync.atomic exch acq_rel sys %g, %v : !sync.ptr<global>, i64
  // CHECK: ret;
  return
}

// CHECK-LABEL: .entry shared_atomics
func.func @shared_atomics(%w: i32, %v: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %s = sync.shared_alloc bytes = 8 align = 8 : !sync.ptr<shared>
  // CHECK: atom.relaxed.cta.shared.add.u32 %
  %x65 = sync.atomic add relaxed cta %s, %w : !sync.ptr<shared>, i32
  // CHECK: atom.relaxed.cta.shared.add.u64 %
  %x66 = sync.atomic add relaxed cta %s, %v : !sync.ptr<shared>, i64
  // CHECK: atom.relaxed.cta.shared.or.b32 %
  %x67 = sync.atomic or relaxed cta %s, %w : !sync.ptr<shared>, i32
  // CHECK: atom.relaxed.cta.shared.or.b64 %
  %x68 = sync.atomic or relaxed cta %s, %v : !sync.ptr<shared>, i64
  // CHECK: atom.relaxed.cta.shared.max.u32 %
  %x69 = sync.atomic max relaxed cta %s, %w : !sync.ptr<shared>, i32
  // CHECK: atom.relaxed.cta.shared.max.u64 %
  %x70 = sync.atomic max relaxed cta %s, %v : !sync.ptr<shared>, i64
  // CHECK: atom.relaxed.cta.shared.exch.b32 %
  %x71 = sync.atomic exch relaxed cta %s, %w : !sync.ptr<shared>, i32
  // CHECK: atom.relaxed.cta.shared.exch.b64 %
  %x72 = sync.atomic exch relaxed cta %s, %v : !sync.ptr<shared>, i64
  // CHECK: ret;
  return
}
