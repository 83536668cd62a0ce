// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A payload of eight bytes whose halves differ.

func.func private @make(%hash: i32) -> !payload {
  %shift = arith.constant 32 : i64
  %ones = arith.constant -1 : i64
  %low = arith.extui %hash : i32 to i64
  %not = arith.xori %low, %ones : i64
  %high = arith.shli %not, %shift : i64
  %value = arith.ori %high, %low : i64
  return %value : i64
}

func.func private @same(%value: !payload, %hash: i32) -> i1 {
  %expected = func.call @make(%hash) : (i32) -> !payload
  %same = arith.cmpi eq, %value, %expected : i64
  return %same : i1
}
