// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Elements and packets: 16-byte accesses to global memory, fused multiply-adds with denormals kept, and bf16 with and
// without an instruction for it.
// REQUIRES: compiler
// DEFINE: %{chip} =
// DEFINE: %{check} =
// DEFINE: %{asm} = interlock-opt %s --convert-interlock-to-rocdl=chip=%{chip} | mlir-translate --mlir-to-llvmir | llc -mtriple=amdgcn-amd-amdhsa -mcpu=%{chip} | FileCheck %s --check-prefixes=CHECK,%{check}
// REDEFINE: %{check} = OLD
// REDEFINE: %{chip} = gfx90a
// RUN: %{asm}
// REDEFINE: %{chip} = gfx942
// RUN: %{asm}
// REDEFINE: %{chip} = gfx1100
// RUN: %{asm}
// REDEFINE: %{chip} = gfx1201
// RUN: %{asm}
// REDEFINE: %{check} = NEW
// REDEFINE: %{chip} = gfx950
// RUN: %{asm}
// REDEFINE: %{chip} = gfx1250
// RUN: %{asm}

// CHECK-LABEL: {{^}}reduce:
// CHECK: global_load_{{dwordx4|b128}}
// CHECK-COUNT-4: v_{{pk_fma_f32|fma_f32|fma_mix_f32_bf16|fmac_f32|dual_fmac_f32}}
// A chip without the instruction rounds by hand, to nearest even, and keeps NaN a NaN.
// OLD: v_add3_u32
// OLD-NOT: v_cvt_pk_bf16_f32
// NEW-COUNT-4: v_{{cvt_pk_bf16_f32|fma_mixlo_bf16}}
// CHECK: global_store_{{dwordx4|b128}}
// CHECK-NOT: flat_{{load|store}}
// CHECK: .amdhsa_float_denorm_mode_32 3
// CHECK: .amdhsa_float_denorm_mode_16_64 3
func.func @reduce(%a: i64, %c: i64, %w: f32) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %t32 = ep.thread_id : i32
  %t64 = arith.extui %t32 : i32 to i64
  %sixteen = arith.constant 16 : i64
  %own = arith.muli %t64, %sixteen : i64
  %pa = arith.addi %a, %own : i64
  %qa = arith.addi %c, %own : i64
  %p = ep.global_ptr %pa : !sync.ptr<global>
  %q = ep.global_ptr %qa : !sync.ptr<global>
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %x = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
  %s = ep.accumulate %zero, %x, %w as bf16 : vector<8xf32>
  %y = ep.packet_load %q : !sync.ptr<global> -> vector<4xi32>
  %t = ep.accumulate %s, %y, %w as bf16 : vector<8xf32>
  %r = ep.pack %t as bf16 : vector<8xf32>
  ep.packet_store %r, %q : vector<4xi32>, !sync.ptr<global>
  return
}

// A streaming access asks for no place in the caches.
// CHECK-LABEL: {{^}}stream:
// CHECK: global_load_{{dwordx4|b128}} {{.*(nt|slc|th:TH_LOAD_NT)}}
// CHECK: global_store_{{dwordx4|b128}} {{.*(nt|slc|th:TH_STORE_NT)}}
func.func @stream(%a: i64, %c: i64) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %t32 = ep.thread_id : i32
  %t64 = arith.extui %t32 : i32 to i64
  %sixteen = arith.constant 16 : i64
  %own = arith.muli %t64, %sixteen : i64
  %pa = arith.addi %a, %own : i64
  %qa = arith.addi %c, %own : i64
  %p = ep.global_ptr %pa : !sync.ptr<global>
  %q = ep.global_ptr %qa : !sync.ptr<global>
  %x = ep.packet_load %p streaming : !sync.ptr<global> -> vector<4xi32>
  ep.packet_store %x, %q streaming : vector<4xi32>, !sync.ptr<global>
  return
}
