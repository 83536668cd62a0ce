// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s -split-input-file | FileCheck %s
// RUN: interlock-opt %s -split-input-file | interlock-opt -split-input-file | FileCheck %s

// CHECK: module attributes {ep.target = "sm_90a"}
module attributes {ep.target = "sm_90a"} {
  // CHECK: ep.dispatch @dispatch
  // CHECK-NEXT: layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = f8E4M3FN, combine_dtype = bf16, scale_bytes = 224, max_tokens = 4096, capacity = 0, expert_rows = false)
  // CHECK-NEXT: kernel(schedule = claimed, cluster = 2, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")
  ep.dispatch @dispatch
    layer(ranks = 8, experts = 256, topk = 8, hidden = 7168, dtype = f8E4M3FN, combine_dtype = bf16, scale_bytes = 224,
          max_tokens = 4096, capacity = 0, expert_rows = false)
    kernel(schedule = claimed, cluster = 2, block_threads = 512, tile_tokens = 8, wait = "relaxed-fence")
}

// -----

// CHECK: ep.combine @combine mode = gather
// CHECK-NEXT: layer(ranks = 3, experts = 10, topk = 5, hidden = 2888, dtype = bf16, combine_dtype = f32, scale_bytes = 0, max_tokens = 17, capacity = 9, expert_rows = true)
// CHECK-NEXT: kernel(schedule = grid_stride, cluster = 1, block_threads = 64, tile_tokens = 1, wait = "acquire")
ep.combine @combine mode = gather
  layer(ranks = 3, experts = 10, topk = 5, hidden = 2888, dtype = bf16, combine_dtype = f32, scale_bytes = 0,
        max_tokens = 17, capacity = 9, expert_rows = true)
  kernel(schedule = grid_stride, cluster = 1, block_threads = 64, tile_tokens = 1, wait = "acquire")

// -----

// CHECK: ep.dispatch @in_place
// CHECK-NEXT: expert_rows = false, own_in_place)
ep.dispatch @in_place
  layer(ranks = 3, experts = 10, topk = 5, hidden = 2888, dtype = bf16, combine_dtype = f32, scale_bytes = 0,
        max_tokens = 17, capacity = 0, expert_rows = false, own_in_place)
  kernel(schedule = grid_stride, cluster = 1, block_threads = 64, tile_tokens = 1, wait = "acquire")

// -----

// CHECK: func.func @kernel() attributes {ep.block_threads = 128 : i32, ep.cluster = 2 : i32, ep.kernel}
func.func @kernel() attributes {ep.kernel, ep.block_threads = 128 : i32, ep.cluster = 2 : i32} {
  return
}

// -----

// CHECK: ep.dispatch_epilogue @epilogue
// CHECK-NEXT: rows(topk = 8, hidden = 7168, dtype = f8E4M3FN)
// CHECK-NEXT: kernel(stages = 6, block_threads = 32, programmatic = true)
ep.dispatch_epilogue @epilogue
  rows(topk = 8, hidden = 7168, dtype = f8E4M3FN)
  kernel(stages = 6, block_threads = 32, programmatic = true)

// -----

// CHECK: ep.combine_prologue @prologue
// CHECK-NEXT: rows(topk = 32, hidden = 8, dtype = bf16)
// CHECK-NEXT: kernel(stages = 0, block_threads = 256, programmatic = false)
ep.combine_prologue @prologue
  rows(topk = 32, hidden = 8, dtype = bf16)
  kernel(stages = 0, block_threads = 256, programmatic = false)

// -----

// CHECK: ep.pack_experts @pack
// CHECK-NEXT: layer(ranks = 3, experts = 10, topk = 5, hidden = 272, dtype = f8E4M3FN, scale_bytes = 8, rows_per_source = 17)
// CHECK-NEXT: kernel(block_threads = 128)
ep.pack_experts @pack
  layer(ranks = 3, experts = 10, topk = 5, hidden = 272, dtype = f8E4M3FN, scale_bytes = 8, rows_per_source = 17)
  kernel(block_threads = 128)
