// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The pass: judge, expand, convert, then say what a kernel is.
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/ToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_CONVERTINTERLOCKTONVVM
#include "compiler/Conversion/Passes.h.inc"

namespace {

void addPatterns(RewritePatternSet &patterns, const lowering::Context &context) {
  nvvm::addSyncBarrierPatterns(patterns, context);
  nvvm::addSyncMemoryPatterns(patterns, context);
  nvvm::addEPPatterns(patterns, context);
}

struct ConvertInterlockToNVVMPass : impl::ConvertInterlockToNVVMBase<ConvertInterlockToNVVMPass> {
  using ConvertInterlockToNVVMBase::ConvertInterlockToNVVMBase;

  /// Launch bounds and cluster shape as the back end reads them (PTX: .entry, .reqntid, .reqnctapercluster).
  void markKernel(LLVM::LLVMFuncOp function) {
    if (!function->hasAttr(ep::kernelAttrName))
      return;
    Builder builder(&getContext());
    auto number = [&](StringRef name) { return function->getAttrOfType<IntegerAttr>(name).getInt(); };
    auto shape = [&](int64_t x) { return builder.getDenseI32ArrayAttr({static_cast<int32_t>(x), 1, 1}); };
    int64_t cluster = lowering::clusterSize(function);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), shape(number(ep::blockThreadsAttrName)));
    if (cluster > 1)
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), shape(cluster));
    lowering::dropKernelAttributes(function);
  }

  void runOnOperation() override {
    FailureOr<TargetInfo> target = lowering::chipOf(getOperation(), chip);
    if (failed(target) || failed(lowering::checkFeatures(getOperation(), *target, "nvptx")))
      return signalPassFailure();
    lowering::expandPolls(getOperation());
    lowering::TargetLowering own{NVVM::NVVMDialect::getDialectNamespace(), addPatterns};
    if (failed(lowering::convertModule(getOperation(), *target, own)))
      return signalPassFailure();
    getOperation().walk([&](LLVM::LLVMFuncOp function) { markKernel(function); });
  }
};

} // namespace
} // namespace interlock
