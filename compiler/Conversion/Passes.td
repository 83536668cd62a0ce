// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#ifndef INTERLOCK_COMPILER_CONVERSION_PASSES
#define INTERLOCK_COMPILER_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertInterlockToNVVM : Pass<"convert-interlock-to-nvvm", "mlir::ModuleOp"> {
  let summary = "Convert sync, ep and what stands around them to the LLVM and NVVM dialects, for one chip";
  let description = [{
    Every operation becomes the PTX instruction that it links to, with the very order and scope that it states; where LLVM
    has no right way to that instruction, by inline PTX, of which this pass is the only source. What a chip lacks is
    refused with a sentence, or, where that is sound, made stronger with a remark: on a chip without clusters a fence,
    a signal or an atomic at cluster scope gets gpu scope, and a barrier at cluster scope gets cta scope, since each CTA
    is then its own cluster.

    Functions marked `ep.kernel` become kernels. Stages, `ep.for_each_tile`, hand-offs and `sync.barrier_wait` must have
    been lowered before.

    ```mlir
    func.func @k(%p: i64) attributes {ep.kernel, ep.block_threads = 64 : i32} {
      sync.fence acq_rel gpu
      return
    }
    // becomes
    llvm.func @k(%p: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64>} {
      llvm.fence syncscope("device") acq_rel
      llvm.return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to convert for, as sm_90a; the module's `ep.target` if empty">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect", "mlir::scf::SCFDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "interlock::sync::SyncDialect"];
}

def ConvertInterlockToROCDL : Pass<"convert-interlock-to-rocdl", "mlir::ModuleOp"> {
  let summary = "Convert sync, ep and what stands around them to the LLVM and ROCDL dialects, for one chip";
  let description = [{
    Scopes become LLVM's: cta `workgroup`, cluster `cluster` where the chip has clusters and else, with a remark, `agent`,
    gpu `agent`, sys the whole system. Every ordered access becomes a monotonic one with fences around it; a bounded wait
    becomes monotonic reads with `s_sleep` between them and one acquire fence behind; `sync.barrier` becomes a word in LDS
    with the state of an mbarrier, and a copy that completes on it a copy by the thread itself. Lanes, ids and masks are
    those of a wave of 32 or 64 lanes, as the chip has. The grid's size is read from the dispatch packet, the clock is the
    constant one of 100 MHz. Each operation of `sync` leaves a comment that names it in the assembly. What a chip lacks is
    refused with a sentence.

    Functions marked `ep.kernel` become kernels. Stages, `ep.for_each_tile`, hand-offs and `sync.barrier_wait` must have
    been lowered before.

    ```mlir
    func.func @k(%p: !sync.ptr<global>, %v: i64) attributes {ep.kernel, ep.block_threads = 64 : i32} {
      sync.signal_set release sys %p, %v : i64
      return
    }
    // becomes, for gfx942
    llvm.func @k(%p: !llvm.ptr<1>, %v: i64) attributes {rocdl.kernel, rocdl.flat_work_group_size = "64,64", …} {
      llvm.fence release
      rocdl.s.waitcnt 3952
      llvm.store %v, %p atomic monotonic {alignment = 8 : i64} : i64, !llvm.ptr<1>
      llvm.return
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to convert for, as gfx942; the module's `ep.target` if empty">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect", "mlir::scf::SCFDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::ROCDL::ROCDLDialect", "interlock::sync::SyncDialect"];
}

#endif // INTERLOCK_COMPILER_CONVERSION_PASSES
