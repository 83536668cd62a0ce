// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// 8-bit floats: the chip's instructions for the type that it converts, and never for the other one.
// REQUIRES: compiler
// DEFINE: %{chip} =
// DEFINE: %{isa} =
// DEFINE: %{check} =
// DEFINE: %{ptx} = interlock-opt %s --convert-interlock-to-nvvm=chip=%{chip} | mlir-translate --mlir-to-llvmir | opt -O2 -mtriple=nvptx64-nvidia-cuda -mcpu=%{chip} | llc -mtriple=nvptx64-nvidia-cuda -mcpu=%{chip} -mattr=+ptx%{isa} | FileCheck %s --check-prefixes=%{check}
// DEFINE: %{asm} = interlock-opt %s --convert-interlock-to-rocdl=chip=%{chip} | mlir-translate --mlir-to-llvmir | opt -O2 -mtriple=amdgcn-amd-amdhsa -mcpu=%{chip} | llc -mtriple=amdgcn-amd-amdhsa -mcpu=%{chip} | FileCheck %s --check-prefixes=%{check}
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{isa} = 81
// REDEFINE: %{check} = PTX
// RUN: %{ptx}
// REDEFINE: %{chip} = sm_80
// REDEFINE: %{isa} = 70
// REDEFINE: %{check} = NONE
// RUN: %{ptx}
// REDEFINE: %{chip} = gfx90a
// RUN: %{asm}
// REDEFINE: %{chip} = gfx1100
// RUN: %{asm}
// REDEFINE: %{check} = FNUZ
// REDEFINE: %{chip} = gfx942
// RUN: %{asm}
// REDEFINE: %{check} = OCP
// REDEFINE: %{chip} = gfx950
// RUN: %{asm}
// REDEFINE: %{chip} = gfx1201
// RUN: %{asm}
// REDEFINE: %{chip} = gfx1250
// RUN: %{asm}

// PTX-LABEL: .entry ocp_encode
// PTX-COUNT-4: cvt.rn.satfinite.e4m3x2.f32
// OCP-LABEL: {{^}}ocp_encode:
// OCP-COUNT-4: v_cvt_pk_fp8_f32
// FNUZ-LABEL: {{^}}ocp_encode:
// FNUZ-NOT: _fp8
// NONE-NOT: e4m3
// NONE-NOT: _fp8
func.func @ocp_encode(%a: i64) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %x = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
  %v = ep.unpack %x as bf16 : vector<8xf32>
  %c = ep.quantize %v as f8E4M3FN : vector<8xf32> -> i64
  ep.store %c, %p : i64, !sync.ptr<global>
  return
}

// PTX-LABEL: .entry ocp_decode
// PTX-COUNT-4: cvt.rn.f16x2.e4m3x2
// OCP-LABEL: {{^}}ocp_decode:
// OCP-COUNT-4: v_cvt_pk_f32_fp8
// FNUZ-LABEL: {{^}}ocp_decode:
// FNUZ-NOT: _fp8
func.func @ocp_decode(%a: i64) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %c = ep.load %p : !sync.ptr<global> -> i64
  %v = ep.dequantize %c as f8E4M3FN : i64 -> vector<8xf32>
  %x = ep.pack %v as bf16 : vector<8xf32>
  ep.packet_store %x, %p : vector<4xi32>, !sync.ptr<global>
  return
}

// PTX-LABEL: .entry fnuz_encode
// PTX-NOT: e4m3
// OCP-LABEL: {{^}}fnuz_encode:
// OCP-NOT: _fp8
// FNUZ-LABEL: {{^}}fnuz_encode:
// FNUZ-COUNT-4: v_cvt_pk_fp8_f32
func.func @fnuz_encode(%a: i64) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %x = ep.packet_load %p : !sync.ptr<global> -> vector<4xi32>
  %v = ep.unpack %x as bf16 : vector<8xf32>
  %c = ep.quantize %v as f8E4M3FNUZ : vector<8xf32> -> i64
  ep.store %c, %p : i64, !sync.ptr<global>
  return
}

// FNUZ-LABEL: {{^}}fnuz_decode:
// FNUZ-COUNT-4: v_cvt_pk_f32_fp8
func.func @fnuz_decode(%a: i64) attributes {ep.kernel, ep.block_threads = 64 : i32} {
  %p = ep.global_ptr %a : !sync.ptr<global>
  %c = ep.load %p : !sync.ptr<global> -> i64
  %v = ep.dequantize %c as f8E4M3FNUZ : i64 -> vector<8xf32>
  %x = ep.pack %v as bf16 : vector<8xf32>
  ep.packet_store %x, %p : vector<4xi32>, !sync.ptr<global>
  return
}
