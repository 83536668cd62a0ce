// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions are exact or rounded once to nearest even; a multiply-add is one instruction.
// DEFINE: %{chip} = sm_90a
// DEFINE: %{isa} = 80
// DEFINE: %{ptx} = interlock-opt %s --convert-interlock-to-nvvm=chip=%{chip} | mlir-translate --mlir-to-llvmir | opt -O2 -mtriple=nvptx64-nvidia-cuda -mcpu=%{chip} | llc -mtriple=nvptx64-nvidia-cuda -mcpu=%{chip} -mattr=+ptx%{isa} | FileCheck %s
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_80
// REDEFINE: %{isa} = 70
// RUN: %{ptx}

// Several packets are in flight before the first is used, and none is taken through the non-coherent path.
// CHECK-LABEL: .entry bf16
// CHECK-NOT: ld.global.nc
func.func @bf16(%a: i64, %w: f32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %step = arith.constant 16 : i64
  %q = ep.offset %p, %step : !sync.ptr<global>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  // CHECK: ld.global.v4.b32
  // CHECK-NEXT: ld.global.v4.b32
  %x = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
  %y = ep.packet_load %q : !sync.ptr<global> -> vector<4xi32>
  // CHECK: shl.b32 %{{.*}}, %{{.*}}, 16;
  // CHECK: and.b32 %{{.*}}, %{{.*}}, -65536;
  // CHECK-COUNT-16: fma.rn.f32
  // CHECK-NOT: mul.
  // CHECK-NOT: add.{{.*}}f32
  %s = ep.accumulate %zero, %x, %w as bf16 : vector<8xf32>
  %t = ep.accumulate %s, %y, %w as bf16 : vector<8xf32>
  // CHECK-COUNT-4: cvt.rn.bf16x2.f32
  %r = ep.pack %t as bf16 : vector<8xf32>
  // CHECK: st.global.v4.b32
  ep.packet_store %r, %p : vector<4xi32>, !sync.ptr<global>
  // CHECK: ret;
  return
}

// The word at the lowest address comes first.
// CHECK-LABEL: .entry words
func.func @words(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  // CHECK: ld.global.v4.b32 {[[W0:%r[0-9]+]], [[W1:%r[0-9]+]], [[W2:%r[0-9]+]], [[W3:%r[0-9]+]]}
  %x = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
  %w0, %w1, %w2, %w3 = ep.packet_words %x
  // CHECK: sub.{{[su]}}32 [[D:%r[0-9]+]], [[W0]], [[W3]];
  %d = arith.subi %w0, %w3 : i32
  // CHECK: sub.{{[su]}}32 [[E:%r[0-9]+]], [[W1]], [[W2]];
  %e = arith.subi %w1, %w2 : i32
  %y = arith.xori %d, %e : i32
  // CHECK: xor.b32 [[Y:%r[0-9]+]], [[D]], [[E]];
  // CHECK: st.global.b32 {{.*}}, [[Y]];
  ep.store %y, %p : i32, !sync.ptr<global>
  return
}

// CHECK-LABEL: .entry f16
func.func @f16(%a: i64, %w: f32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  // CHECK: ld.global.v4.b32
  %x = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
  // CHECK-COUNT-8: cvt.f32.f16
  // CHECK-COUNT-8: fma.rn.f32
  %s = ep.accumulate %zero, %x, %w as f16 : vector<8xf32>
  // CHECK-COUNT-4: cvt.rn.f16x2.f32
  %r = ep.pack %s as f16 : vector<8xf32>
  // CHECK: st.global.v4.b32
  ep.packet_store %r, %p : vector<4xi32>, !sync.ptr<global>
  // CHECK: ret;
  return
}

// CHECK-LABEL: .entry f32
func.func @f32(%a: i64, %w: f32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %zero = arith.constant dense<0.0> : vector<4xf32>
  // CHECK: ld.global.v4.b32
  %x = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
  // CHECK-COUNT-4: fma.rn.f32
  // CHECK-NOT: cvt
  %s = ep.accumulate %zero, %x, %w as f32 : vector<4xf32>
  %r = ep.pack %s as f32 : vector<4xf32>
  // CHECK: st.global.v4.b32
  ep.packet_store %r, %p : vector<4xi32>, !sync.ptr<global>
  // CHECK: ret;
  return
}

// A product and a sum that the template keeps apart stay apart.
// CHECK-LABEL: .entry apart
func.func @apart(%a: i64, %x: f32, %y: f32, %z: f32) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  // CHECK: mul.rn.f32
  %product = arith.mulf %x, %y : f32
  // CHECK: add.rn.f32
  %sum = arith.addf %product, %z : f32
  ep.store %sum, %p : f32, !sync.ptr<global>
  // CHECK: ret;
  return
}

// The streaming hint.
// CHECK-LABEL: .entry streaming
func.func @streaming(%a: i64) attributes {ep.kernel, ep.block_threads = 32 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %step = arith.constant 16 : i64
  %q = ep.offset %p, %step : !sync.ptr<global>
  // CHECK: ld.global.L1::no_allocate.v4.b32 {%r[[A:[0-9]+]], %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, [%rd
  %x = ep.packet_load %p streaming : !sync.ptr<global> -> vector<4xi32>
  // CHECK: st.global.L1::no_allocate.v4.b32 [%rd{{[0-9]+}}], {%r[[A]],
  ep.packet_store %x, %q streaming : vector<4xi32>, !sync.ptr<global>
  // CHECK: ret;
  return
}
