// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The pass: judge, expand, lower control flow, convert everything at once, then say what a kernel is.
#include "compiler/Conversion/Lowering.h"
#include "compiler/Conversion/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_CONVERTINTERLOCKTONVVM
#include "compiler/Conversion/Passes.h.inc"

namespace {

struct ConvertInterlockToNVVMPass : impl::ConvertInterlockToNVVMBase<ConvertInterlockToNVVMPass> {
  using ConvertInterlockToNVVMBase::ConvertInterlockToNVVMBase;

  FailureOr<TargetInfo> target() {
    std::string name = chip;
    if (auto named = getOperation()->getAttrOfType<StringAttr>(ep::targetAttrName); named && name.empty())
      name = named.str();
    if (name.empty())
      return getOperation().emitError() << "expected a chip by the option `chip` or the module's `"
                                        << ep::targetAttrName << "`, got none";
    Result<TargetInfo> found = findTarget(name);
    if (!found)
      return getOperation().emitError() << found.error().message;
    return *found;
  }

  LogicalResult lowerControlFlow() {
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget legal(getContext());
    legal.addIllegalDialect<scf::SCFDialect>();
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(getOperation(), legal, std::move(patterns));
  }

  LogicalResult convert(const TargetInfo &target) {
    LLVMTypeConverter types(&getContext());
    types.addConversion([](sync::PtrType type) {
      bool global = type.getSpace() == sync::Space::global;
      return LLVM::LLVMPointerType::get(type.getContext(), global ? nvvm::globalSpace : nvvm::sharedSpace);
    });
    types.addConversion(
        [](sync::BarrierType type) { return LLVM::LLVMPointerType::get(type.getContext(), nvvm::sharedSpace); });

    unsigned storageCount = 0;
    nvvm::Context context{target, &types, &storageCount};
    RewritePatternSet patterns(&getContext());
    nvvm::addSyncBarrierPatterns(patterns, context);
    nvvm::addSyncMemoryPatterns(patterns, context);
    nvvm::addEPPatterns(patterns, context);
    nvvm::addElementPatterns(patterns, context);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    populateVectorToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);

    LLVMConversionTarget legal(getContext());
    legal.addLegalDialect<NVVM::NVVMDialect>();
    legal.addLegalOp<ModuleOp>();
    return applyFullConversion(getOperation(), legal, std::move(patterns));
  }

  /// Launch bounds and cluster shape as the back end reads them (PTX: .entry, .reqntid, .reqnctapercluster).
  void markKernel(LLVM::LLVMFuncOp function) {
    if (!function->hasAttr(ep::kernelAttrName))
      return;
    Builder builder(&getContext());
    auto number = [&](StringRef name) { return function->getAttrOfType<IntegerAttr>(name).getInt(); };
    auto shape = [&](int64_t x) { return builder.getDenseI32ArrayAttr({static_cast<int32_t>(x), 1, 1}); };
    int64_t cluster = nvvm::clusterSize(function);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), shape(number(ep::blockThreadsAttrName)));
    if (cluster > 1)
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), shape(cluster));
    for (StringRef name : {ep::kernelAttrName, ep::blockThreadsAttrName, ep::clusterAttrName, ep::waitAttrName,
                           ep::releaseAttrName, ep::launchModeAttrName, ep::launchWaitsAttrName})
      function->removeAttr(name);
  }

  void runOnOperation() override {
    FailureOr<TargetInfo> chosen = target();
    if (failed(chosen) || failed(nvvm::checkFeatures(getOperation(), *chosen)))
      return signalPassFailure();
    nvvm::expandPolls(getOperation());
    if (failed(lowerControlFlow()) || failed(convert(*chosen)))
      return signalPassFailure();
    getOperation().walk([&](LLVM::LLVMFuncOp function) { markKernel(function); });
  }
};

} // namespace
} // namespace interlock
