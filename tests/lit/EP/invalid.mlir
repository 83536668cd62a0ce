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
  // expected-error @+1 {{expected a schedule: grid_stride or claimed, got random}}
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

func.func @no_tile(%count: i32) {
  // expected-error @+1 {{'ep.for_each_tile' op expected a body with one argument of i32, the tile, got 0 arguments}}
  "ep.for_each_tile"(%count) ({
  ^body:
  }) {schedule = #ep.schedule<grid_stride>, cluster = 1 : i32} : (i32) -> i32
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

// expected-error @+1 {{expected an attribute of the ep dialect (`ep.target`, `ep.kernel`, `ep.block_threads`, `ep.cluster`, `ep.wait`, `ep.release`), got `ep.threads`}}
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
