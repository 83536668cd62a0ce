// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What both conversions do around their own patterns: find the chip, lower control flow, convert everything at once.
#include "compiler/Conversion/Lowering.h"

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

namespace interlock::lowering {

FailureOr<TargetInfo> chipOf(ModuleOp module, const std::string &option) {
  std::string name = option;
  if (auto named = module->getAttrOfType<StringAttr>(ep::targetAttrName); named && name.empty())
    name = named.str();
  if (name.empty())
    return module.emitError() << "expected a chip by the option `chip` or the module's `" << ep::targetAttrName
                              << "`, got none";
  interlock::Result<TargetInfo> found = findTarget(name);
  if (!found)
    return module.emitError() << found.error().message;
  return *found;
}

static LogicalResult lowerControlFlow(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget legal(*module.getContext());
  legal.addIllegalDialect<scf::SCFDialect>();
  legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  // What these patterns make they also convert, so nothing ever has to be taken back, and keeping track would take
  // time.
  ConversionConfig config;
  config.allowPatternRollback = false;
  return applyPartialConversion(module, legal, std::move(patterns), config);
}

LogicalResult convertModule(ModuleOp module, const TargetInfo &target, const TargetLowering &own) {
  if (failed(lowerControlFlow(module)))
    return failure();
  MLIRContext *context = module.getContext();
  LLVMTypeConverter types(context);
  types.addConversion([](sync::PtrType type) {
    bool global = type.getSpace() == sync::Space::global;
    return LLVM::LLVMPointerType::get(type.getContext(), global ? globalSpace : sharedSpace);
  });
  types.addConversion(
      [](sync::BarrierType type) { return LLVM::LLVMPointerType::get(type.getContext(), sharedSpace); });

  unsigned storageCount = 0;
  Context shared{target, &types, &storageCount, own.before};
  RewritePatternSet patterns(context);
  addMemoryPatterns(patterns, shared);
  addElementPatterns(patterns, shared);
  own.addPatterns(patterns, shared);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);

  LLVMConversionTarget legal(*context);
  legal.addLegalDialect(own.dialect);
  legal.addLegalOp<ModuleOp>();
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never; // LLVM folds anyway
  return applyFullConversion(module, legal, std::move(patterns), config);
}

void dropKernelAttributes(LLVM::LLVMFuncOp kernel) {
  for (StringRef name : {ep::kernelAttrName, ep::blockThreadsAttrName, ep::clusterAttrName, ep::waitAttrName,
                         ep::releaseAttrName, ep::launchModeAttrName, ep::launchWaitsAttrName})
    kernel->removeAttr(name);
}

} // namespace interlock::lowering
