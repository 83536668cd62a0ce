// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
module attributes {ep.target = "sm_90a"} {
  ep.combine_prologue @ep_combine_prologue
    rows(topk = 8, hidden = 7168, dtype = bf16)
    kernel(stages = 6, block_threads = 480, programmatic = false)
}
