// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A payload of one word.

func.func private @make(%hash: i32) -> !payload {
  return %hash : i32
}

func.func private @same(%value: !payload, %hash: i32) -> i1 {
  %same = arith.cmpi eq, %value, %hash : i32
  return %same : i1
}
