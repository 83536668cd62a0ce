// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A payload of several packets, more than one asynchronous store carries; no two words of it are alike (#steps).

func.func private @make(%hash: i32) -> !payload {
  %steps = arith.constant #steps
  %all = vector.broadcast %hash : i32 to !payload
  %value = arith.addi %all, %steps : !payload
  return %value : !payload
}

func.func private @same(%value: !payload, %hash: i32) -> i1 {
  %zero = arith.constant 0 : i32
  %expected = func.call @make(%hash) : (i32) -> !payload
  %differ = arith.xori %value, %expected : !payload
  %any = vector.reduction <or>, %differ : !payload into i32
  %same = arith.cmpi eq, %any, %zero : i32
  return %same : i1
}
