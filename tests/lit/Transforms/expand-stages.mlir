// RUN: interlock-opt %s --interlock-expand | FileCheck %s
// RUN: not interlock-opt %s --interlock-expand=templates=%S/Inputs/broken 2>&1 | FileCheck %s --check-prefix=BROKEN

// The kernel takes the stage's name, its parameters are constants, and the private functions are gone.
// CHECK: module attributes {ep.target = "sm_80"}
// CHECK-NOT: ep.dispatch
// CHECK: func.func @layer7(
// CHECK-SAME: ep.block_threads = 128 : i32
// CHECK-SAME: ep.kernel
// CHECK-NOT: func.call
// CHECK-NOT: ep.for_each_tile
// CHECK-NOT: func.func private

// A template that does not parse is shown with its file, line and a caret.
// BROKEN: expected a template that parses
// BROKEN: dispatch.mlir:3:
// BROKEN: arith.constant #no_such_alias
// BROKEN-NEXT: ^
module attributes {ep.target = "sm_80"} {
  ep.dispatch @layer7
    layer(ranks = 3, experts = 10, topk = 5, hidden = 2888, dtype = bf16, combine_dtype = bf16, scale_bytes = 0, max_tokens = 17, capacity = 0, expert_rows = false)
    kernel(schedule = grid_stride, cluster = 1, block_threads = 128, tile_tokens = 4, wait = "acquire")
}
