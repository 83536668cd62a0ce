// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The two places where LLVM 22's back end needs help on the gfx9 chips (compiler/Conversion/OrderROCDL.cpp): a wait behind
// the write-back of a release, and the stores of all waves drained before the barrier behind which one wave publishes.
// Without what the conversion adds, the assembly is wrong: where a line with `not` fails, LLVM has mended it.
// REQUIRES: compiler
// DEFINE: %{chip} =
// DEFINE: %{lowered} = interlock-opt %s --convert-interlock-to-rocdl=chip=%{chip}
// DEFINE: %{asm} = mlir-translate --mlir-to-llvmir | llc -mtriple=amdgcn-amd-amdhsa -mcpu=%{chip}
// REDEFINE: %{chip} = gfx90a
// RUN: %{lowered} | %{asm} | FileCheck %s
// RUN: %{lowered} | sed '1,/rocdl.s.barrier/{/rocdl.s.waitcnt/d}' | %{asm} | not FileCheck %s --check-prefix=CHECK
// RUN: %{lowered} | sed '/rocdl.s.barrier/,${/rocdl.s.waitcnt/d}' | %{asm} | not FileCheck %s --check-prefix=CHECK
// REDEFINE: %{chip} = gfx942
// RUN: %{lowered} | %{asm} | FileCheck %s
// RUN: %{lowered} | sed '1,/rocdl.s.barrier/{/rocdl.s.waitcnt/d}' | %{asm} | not FileCheck %s --check-prefix=CHECK
// RUN: %{lowered} | sed '/rocdl.s.barrier/,${/rocdl.s.waitcnt/d}' | %{asm} | not FileCheck %s --check-prefix=CHECK
// REDEFINE: %{chip} = gfx950
// RUN: %{lowered} | %{asm} | FileCheck %s
// RUN: %{lowered} | sed '1,/rocdl.s.barrier/{/rocdl.s.waitcnt/d}' | %{asm} | not FileCheck %s --check-prefix=CHECK
// RUN: %{lowered} | sed '/rocdl.s.barrier/,${/rocdl.s.waitcnt/d}' | %{asm} | not FileCheck %s --check-prefix=CHECK
//
// The other chips wait by themselves.
// REDEFINE: %{chip} = gfx1100
// RUN: %{lowered} | %{asm} | FileCheck %s --check-prefix=DRAINS
// RUN: %{lowered} | not grep rocdl.s.waitcnt
// REDEFINE: %{chip} = gfx1201
// RUN: %{lowered} | %{asm} | FileCheck %s --check-prefix=DRAINS
// REDEFINE: %{chip} = gfx1250
// RUN: %{lowered} | %{asm} | FileCheck %s --check-prefix=DRAINS

// All store, one publishes: what dispatch does. Once the barrier has drained the stores, nothing but the write-back is
// outstanding, which is where the back end drops the wait.
// CHECK-LABEL: {{^}}publish:
// CHECK: global_store_dwordx2
// CHECK-NOT: s_barrier
// CHECK: s_waitcnt {{.*}}vmcnt(0)
// CHECK-NOT: global_store
// CHECK: s_barrier
// CHECK: buffer_wbl2
// CHECK-NEXT: s_waitcnt vmcnt(0)
// CHECK-NOT: buffer_wbl2
// CHECK: global_store_dwordx2
// DRAINS-LABEL: {{^}}publish:
// DRAINS: global_store_b64
// DRAINS-NOT: s_barrier
// DRAINS: {{s_waitcnt_vscnt null, 0x0|s_wait_storecnt(_dscnt)? 0x0}}
// DRAINS-NOT: global_store
// DRAINS: s_barrier
func.func @publish(%data: i64, %flag: i64, %w: i64) attributes {ep.kernel, ep.block_threads = 256 : i32} {
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i64
  %t = ep.thread_id : i32
  %wide = arith.extui %t : i32 to i64
  %bytes = arith.muli %wide, %eight : i64
  %p = ep.global_ptr %data : !sync.ptr<global>
  %q = ep.offset %p, %bytes : !sync.ptr<global>
  %f = ep.global_ptr %flag : !sync.ptr<global>
  %leader = arith.cmpi eq, %t, %zero : i32
  ep.store %w, %q : i64, !sync.ptr<global>
  sync.cta_barrier
  scf.if %leader {
    sync.signal_set release sys %f, %w : i64
  }
  return
}
