// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s -verify-diagnostics -split-input-file

// A stage is refused in the words in which a spec is.
// expected-error @+1 {{'ep.dispatch' op expected top-k}}
ep.dispatch @dispatch
  layer(ranks = 8, experts = 256, topk = 33, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
        max_tokens = 4096, capacity = 0, expert_rows = false)
  kernel(schedule = grid_stride, cluster = 1, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")

// -----

// expected-error @+1 {{'ep.combine' op expected dtype to be f32, f16, bf16, f8E4M3FN, f8E4M3FNUZ or f8E5M2, got 'i32'}}
ep.combine @combine mode = gather
  layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = i32, combine_dtype = bf16, scale_bytes = 0,
        max_tokens = 4096, capacity = 0, expert_rows = false)
  kernel(schedule = grid_stride, cluster = 1, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")

// -----

// expected-error @+1 {{'ep.combine' op expected a wait strategy}}
ep.combine @combine mode = gather
  layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
        max_tokens = 4096, capacity = 0, expert_rows = false)
  kernel(schedule = grid_stride, cluster = 1, block_threads = 512, tile_tokens = 8, wait = "sleep")

// -----

// expected-note @+1 {{the chip is named here}}
module attributes {ep.target = "sm_80"} {
  // expected-error @+1 {{'ep.dispatch' op sm_80 has no thread-block clusters: expected a cluster of 1, got 4}}
  ep.dispatch @dispatch
    layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
          max_tokens = 4096, capacity = 0, expert_rows = false)
    kernel(schedule = claimed, cluster = 4, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")
}

// -----

// expected-note @+1 {{the chip is named here}}
module attributes {ep.target = "sm_90a"} {
  // expected-error @+1 {{'ep.dispatch' op sm_90a has no cluster launch control: expected schedule grid_stride or claimed, got clc}}
  ep.dispatch @dispatch
    layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
          max_tokens = 4096, capacity = 0, expert_rows = false)
    kernel(schedule = clc, cluster = 1, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")
}

// -----

func.func @inner() {
  // expected-error @+1 {{'ep.dispatch' op symbol's parent must have the SymbolTable trait}}
  ep.dispatch @dispatch
    layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
          max_tokens = 4096, capacity = 0, expert_rows = false)
    kernel(schedule = grid_stride, cluster = 1, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")
  return
}

// -----

ep.dispatch @dispatch
  layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = bf16, combine_dtype = bf16, scale_bytes = 0,
        max_tokens = 4096, capacity = 0, expert_rows = false)
  // expected-error @+1 {{expected a schedule: grid_stride or claimed or clc, got random}}
  kernel(schedule = random, cluster = 1, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")

// -----

// expected-error @+1 {{expected a mode of combine: gather, got scatter}}
ep.combine @combine mode = scatter

// -----

func.func @wide_unpack(%packet: vector<4xi32>) {
  // expected-error @+1 {{'ep.unpack' op expected 4 elements of f32, as many 'f32' as a packet of 16 bytes has, got 8}}
  %x = ep.unpack %packet as f32 : vector<8xf32>
  return
}

// -----

func.func @narrow_pack(%values: vector<4xf32>) {
  // expected-error @+1 {{'ep.pack' op expected 8 elements of f32, as many 'bf16' as a packet of 16 bytes has, got 4}}
  %x = ep.pack %values as bf16 : vector<4xf32>
  return
}

// -----

func.func @narrow_accumulate(%values: vector<4xf32>, %packet: vector<4xi32>, %w: f32) {
  // expected-error @+1 {{'ep.accumulate' op expected 8 elements of f32, as many 'f16' as a packet of 16 bytes has, got 4}}
  %x = ep.accumulate %values, %packet, %w as f16 : vector<4xf32>
  return
}

// -----

func.func @integer_unpack(%packet: vector<4xi32>) {
  // expected-error @+1 {{attribute 'dtype' failed to satisfy constraint: type attribute of f32, f16 or bf16}}
  %x = ep.unpack %packet as i8 : vector<8xf32>
  return
}

// -----

func.func @streaming_load(%s: !sync.ptr<shared>) {
  // expected-error @+1 {{'ep.packet_load' op expected a global pointer with the streaming hint, got a shared one: shared memory is not cached}}
  %x = ep.packet_load %s streaming : !sync.ptr<shared> -> vector<4xi32>
  return
}

// -----

func.func @streaming_store(%s: !sync.ptr<shared>, %x: vector<4xi32>) {
  // expected-error @+1 {{'ep.packet_store' op expected a global pointer with the streaming hint, got a shared one: shared memory is not cached}}
  ep.packet_store %x, %s streaming : vector<4xi32>, !sync.ptr<shared>
  return
}

// -----

func.func @wide_load(%s: !sync.ptr<shared>) {
  // expected-error @+1 {{result #0 must be i8, i16, i32, i64 or f32, but got 'f64'}}
  %x = ep.load %s : !sync.ptr<shared> -> f64
  return
}

// -----

func.func @odd_cluster(%count: i32) {
  // expected-error @+1 {{'ep.for_each_tile' op expected a cluster of 1, 2, 4 or 8 CTAs, got 5}}
  ep.for_each_tile %tile in %count {schedule = #ep.schedule<grid_stride>, cluster = 5 : i32} {
  }
  return
}

// -----

func.func @no_claim(%count: i32) {
  // expected-error @+1 {{'ep.for_each_tile' op expected a claim counter with schedule claimed, got none}}
  ep.for_each_tile %tile in %count {schedule = #ep.schedule<claimed>, cluster = 1 : i32} {
  }
  return
}

// -----

func.func @no_mailboxes(%count: i32, %claim: !sync.ptr<global>) {
  // expected-error @+1 {{'ep.for_each_tile' op expected mailboxes to hand a claimed tile through, since a CTA has no access to its cluster's shared memory, got none}}
  ep.for_each_tile %tile in %count claim %claim
      {schedule = #ep.schedule<claimed>, cluster = 2 : i32, remote_shared = false} {
  }
  return
}

// -----

func.func @barrier_in_body(%count: i32, %claim: !sync.ptr<global>) {
  // expected-error @+1 {{'ep.for_each_tile' op expected a body without a cluster barrier, since with mailboxes it runs between an arrival and the wait for it, got one}}
  ep.for_each_tile %tile in %count claim %claim through %claim
      {schedule = #ep.schedule<claimed>, cluster = 2 : i32, remote_shared = false} {
    // expected-note @+1 {{the cluster barrier is here}}
    sync.cluster_arrive release
    sync.cluster_wait acquire
  }
  return
}

// -----

func.func @no_tile(%count: i32) {
  // expected-error @+1 {{'ep.for_each_tile' op expected a body with one argument of i32, the tile, got 0 arguments}}
  "ep.for_each_tile"(%count) ({
  ^body:
  }) {schedule = #ep.schedule<grid_stride>, cluster = 1 : i32, operandSegmentSizes = array<i32: 1, 0, 0>} : (i32) -> i32
  return
}

// -----

// expected-error @+1 {{expected `ep.block_threads` to be an i32 from 1 to 1024, got 2048 : i32}}
func.func private @threads() attributes {ep.block_threads = 2048 : i32}

// -----

// expected-error @+1 {{expected `ep.cluster` to be 1, 2, 4 or 8, of type i32, got 3 : i32}}
func.func private @cluster() attributes {ep.cluster = 3 : i32}

// -----

// expected-error @+1 {{expected `ep.kernel` to be a unit attribute, got true}}
func.func private @kernel() attributes {ep.kernel = true}

// -----

// expected-error @+1 {{expected `ep.target` to be the name of a chip, a string, got 90 : i32}}
module attributes {ep.target = 90 : i32} {
}

// -----

// expected-error @+1 {{expected an attribute of the ep dialect (`ep.target`, `ep.kernel`, `ep.block_threads`, `ep.cluster`, `ep.wait`, `ep.release`, `ep.launch_mode`, `ep.launch_waits`), got `ep.threads`}}
func.func private @unknown() attributes {ep.threads = 1 : i32}

// -----

// expected-error @+1 {{expected `ep.wait` to be "relaxed-fence" or "acquire", got "hope"}}
func.func @f() attributes {ep.wait = "hope"} {
  return
}

// -----

// expected-error @+1 {{expected `ep.release` to be "restricted-fence" or "arrive", got 3 : i32}}
func.func @f() attributes {ep.release = 3 : i32} {
  return
}

// -----

// expected-error @+1 {{'ep.dispatch_epilogue' op expected hidden to be a multiple of 8 so that a row of bf16 is whole 16-byte packets, got 9: 8 or 16 would do}}
ep.dispatch_epilogue @epilogue
  rows(topk = 8, hidden = 9, dtype = bf16)
  kernel(stages = 6, block_threads = 32, programmatic = false)

// -----

// expected-error @+1 {{'ep.combine_prologue' op expected combine to work on f32, f16 or bf16 rows, got f8e4m3fn}}
ep.combine_prologue @prologue
  rows(topk = 8, hidden = 64, dtype = f8E4M3FN)
  kernel(stages = 6, block_threads = 480, programmatic = false)

// -----

// expected-note @+1 {{the chip is named here}}
module attributes {ep.target = "sm_80"} {
  // expected-error @+1 {{'ep.combine_prologue' op sm_80 has no bulk copies: expected 0 stages, which means plain packets, got 6}}
  ep.combine_prologue @prologue
    rows(topk = 8, hidden = 64, dtype = bf16)
    kernel(stages = 6, block_threads = 256, programmatic = false)
}

// -----

// expected-note @+1 {{the chip is named here}}
module attributes {ep.target = "sm_80"} {
  // expected-error @+1 {{'ep.dispatch_epilogue' op sm_80 has no programmatic dependent launch}}
  ep.dispatch_epilogue @epilogue
    rows(topk = 8, hidden = 64, dtype = bf16)
    kernel(stages = 0, block_threads = 256, programmatic = true)
}

// -----

// expected-note @+1 {{the chip is named here}}
module attributes {ep.target = "sm_90a"} {
  // expected-error @+1 {{'ep.dispatch_epilogue' op expected 0 stages (plain packets) or 2 to 8, got 9}}
  ep.dispatch_epilogue @epilogue
    rows(topk = 8, hidden = 64, dtype = bf16)
    kernel(stages = 9, block_threads = 32, programmatic = false)
}

// -----

// expected-note @+1 {{the chip is named here}}
module attributes {ep.target = "sm_90a"} {
  // expected-error @+1 {{'ep.combine_prologue' op expected at least 64 threads per CTA, a warp that copies and one that reduces, got 32}}
  ep.combine_prologue @prologue
    rows(topk = 8, hidden = 64, dtype = bf16)
    kernel(stages = 2, block_threads = 32, programmatic = false)
}

// -----

// expected-error @+1 {{expected `ep.launch_mode` to be the name of a launch mode, a string, got 1}}
func.func @mode() attributes {ep.kernel, ep.launch_mode = 1 : i32} {
  return
}

// -----

func.func @short_codes(%values: vector<8xf32>) {
  // expected-error @+1 {{'ep.quantize' op expected a byte for each of 8 values, got 'i32', which has 4}}
  %x = ep.quantize %values as f8E4M3FN : vector<8xf32> -> i32
  return
}

// -----

func.func @long_codes(%packet: vector<4xi32>) {
  // expected-error @+1 {{'ep.dequantize' op expected a byte for each of 8 values, got 'vector<4xi32>', which has 16}}
  %x = ep.dequantize %packet as f8E4M3FNUZ : vector<4xi32> -> vector<8xf32>
  return
}

// -----

func.func @other_type(%values: vector<4xf32>) {
  // expected-error @+1 {{'ep.quantize' op attribute 'dtype' failed to satisfy constraint: type attribute of f8E4M3FN or f8E4M3FNUZ}}
  %x = ep.quantize %values as f8E5M2 : vector<4xf32> -> i32
  return
}

// -----

// expected-error @+1 {{'ep.pack_experts' op expected ranks from 1 to 64, got 0}}
ep.pack_experts @pack
  layer(ranks = 0, experts = 4, topk = 2, hidden = 64, dtype = bf16, scale_bytes = 0, rows_per_source = 16)
  kernel(block_threads = 256)

// -----

module attributes {ep.target = "sm_90a"} {
  // expected-error @+1 {{'ep.pack_experts' op expected ranks from 1 to 64, got 0}}
  ep.pack_experts @pack
    layer(ranks = 0, experts = 4, topk = 2, hidden = 64, dtype = bf16, scale_bytes = 0, rows_per_source = 16)
    kernel(block_threads = 256)
}

// -----

// expected-error @+1 {{'ep.pack_experts' op expected top-k to be at most the number of experts, 4, got 8}}
ep.pack_experts @pack
  layer(ranks = 2, experts = 4, topk = 8, hidden = 64, dtype = bf16, scale_bytes = 0, rows_per_source = 16)
  kernel(block_threads = 256)

// -----

// expected-note @+1 {{the chip is named here}}
module attributes {ep.target = "sm_90a"} {
  // expected-error @+1 {{'ep.pack_experts' op expected the counts of 1024 experts per rank to fit 48896 bytes of shared memory with 256 threads per CTA, got 81928: fewer threads or more ranks would do}}
  ep.pack_experts @pack
    layer(ranks = 1, experts = 1024, topk = 8, hidden = 64, dtype = bf16, scale_bytes = 0, rows_per_source = 16)
    kernel(block_threads = 256)
}

// -----

// expected-note @+1 {{the chip is named here}}
module attributes {ep.target = "gfx942"} {
  // expected-error @+1 {{'ep.pack_experts' op expected threads per CTA to be a multiple of 64 and at most 1024, got 96}}
  ep.pack_experts @pack
    layer(ranks = 4, experts = 64, topk = 8, hidden = 64, dtype = bf16, scale_bytes = 0, rows_per_source = 16)
    kernel(block_threads = 96)
}
