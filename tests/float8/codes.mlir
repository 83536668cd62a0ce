// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Every code of an 8-bit float as f32, and f32 values as codes, four a thread. The text in front of this one names the
// chip and the type: #target, #block_threads and !code.
module attributes {ep.target = #target} {
  func.func private @word_at(%base: i64, %index: i32) -> !sync.ptr<global> {
    %four = arith.constant 4 : i64
    %wide = arith.extui %index : i32 to i64
    %bytes = arith.muli %wide, %four : i64
    %a = arith.addi %base, %bytes : i64
    %p = ep.global_ptr %a : !sync.ptr<global>
    return %p : !sync.ptr<global>
  }

  // in: %values f32 to quantise, %words words of codes to read; out: their codes, their values
  func.func @codes(%values: i64, %codes_out: i64, %codes: i64, %values_out: i64, %number: i32, %words: i32)
      attributes {ep.kernel, ep.block_threads = #block_threads} {
    %four = arith.constant 4 : i32
    %one = arith.constant 1 : i32
    %threads = arith.constant #block_threads
    %tid = ep.thread_id : i32
    %cta = ep.cta_id : i32
    %ctas = ep.cta_count : i32
    %skip = arith.muli %cta, %threads : i32
    %mine = arith.addi %skip, %tid : i32
    %step = arith.muli %ctas, %threads : i32
    scf.for %i = %mine to %number step %step : i32 {
      %first = arith.muli %i, %four : i32
      %p0 = func.call @word_at(%values, %first) : (i64, i32) -> !sync.ptr<global>
      %packet = ep.packet_load %p0 : !sync.ptr<global> -> vector<4xi32>
      %v = ep.unpack %packet as f32 : vector<4xf32>
      %c = ep.quantize %v as !code : vector<4xf32> -> i32
      %to = func.call @word_at(%codes_out, %i) : (i64, i32) -> !sync.ptr<global>
      ep.store %c, %to : i32, !sync.ptr<global>
    }
    sync.warp_barrier
    scf.for %i = %mine to %words step %step : i32 {
      %from = func.call @word_at(%codes, %i) : (i64, i32) -> !sync.ptr<global>
      %word = ep.load %from : !sync.ptr<global> -> i32
      %v = ep.dequantize %word as !code : i32 -> vector<4xf32>
      %packet = ep.pack %v as f32 : vector<4xf32>
      %first = arith.muli %i, %four : i32
      %to = func.call @word_at(%values_out, %first) : (i64, i32) -> !sync.ptr<global>
      ep.packet_store %packet, %to : vector<4xi32>, !sync.ptr<global>
    }
    sync.warp_barrier
    return
  }
}
