// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
// RUN: interlock-opt %s --ep-inline-templates -split-input-file -verify-diagnostics | FileCheck %s

// Calls of calls, and a function that is called twice; what is private and has a body goes.
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[A:.*]]: i32)
// CHECK-NEXT: %[[TWICE:.*]] = arith.addi %[[A]], %[[A]]
// CHECK-NEXT: %[[FOUR:.*]] = arith.addi %[[TWICE]], %[[TWICE]]
// CHECK-NEXT: %[[EIGHT:.*]] = arith.addi %[[FOUR]], %[[FOUR]]
// CHECK-NEXT: call @elsewhere(%[[EIGHT]])
// CHECK-NEXT: return %[[EIGHT]]
// CHECK: func.func private @elsewhere(i32)
// CHECK-NOT: func.func
func.func @kernel(%a: i32) -> i32 {
  %b = call @fourfold(%a) : (i32) -> i32
  %c = call @twice(%b) : (i32) -> i32
  call @elsewhere(%c) : (i32) -> ()
  return %c : i32
}
func.func private @elsewhere(i32)
func.func private @fourfold(%a: i32) -> i32 {
  %b = call @twice(%a) : (i32) -> i32
  %c = call @twice(%b) : (i32) -> i32
  return %c : i32
}
func.func private @twice(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  return %b : i32
}
func.func private @uncalled(%a: i32) -> i32 {
  return %a : i32
}

// -----

func.func @kernel() {
  call @there() : () -> ()
  return
}
// expected-error @below {{expected a function that does not call itself, got @there}}
func.func private @there() {
  call @back() : () -> ()
  return
}
func.func private @back() {
  call @there() : () -> ()
  return
}

// -----

func.func @kernel(%c: i1) {
  scf.if %c {
    // expected-error @below {{expected a call that can be inlined: with operands and results of the types of @branches, and of one block where the call stands in a region of one}}
    func.call @branches(%c) : (i1) -> ()
  }
  return
}
func.func private @branches(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  cf.br ^b
^b:
  return
}
