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

#endif // INTERLOCK_COMPILER_CONVERSION_PASSES
