// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Pipeline/Pipeline.h"

#include "compiler/Conversion/Passes.h"
#include "compiler/Transforms/Passes.h"
#include "dialects/EP/EP.h"
#include "dialects/Sync/Sync.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace interlock {
namespace {

/// The options of the registered pipelines, as text.
struct NamedPipelineOptions : PassPipelineOptions<NamedPipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("chip to generate for"), llvm::cl::init("sm_90a")};
  Option<std::string> templates{*this, "templates", llvm::cl::desc("directory that overrides the embedded templates")};

  FailureOr<PipelineOptions> resolve() const {
    Result<TargetInfo> chip = findTarget(std::string_view(target));
    if (!chip) {
      llvm::errs() << chip.error().message << "\n";
      return failure();
    }
    return PipelineOptions{*chip, templates};
  }
};

void registerPipeline(StringRef name, StringRef summary, void (*add)(OpPassManager &, const PipelineOptions &)) {
  // PassPipelineRegistration takes a function without state, so the three pipelines are registered by hand.
  registerPassPipeline(
      name, summary,
      [add](OpPassManager &passes, StringRef text, function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        NamedPipelineOptions named;
        if (failed(named.parseFromString(text)))
          return failure();
        FailureOr<PipelineOptions> options = named.resolve();
        if (failed(options))
          return error("expected a chip that exists");
        add(passes, *options);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)> show) { show(NamedPipelineOptions()); });
}

} // namespace

void addExpandPasses(OpPassManager &passes, const PipelineOptions &options) {
  ExpandStagesOptions expand;
  expand.templateDir = options.templateDir;
  passes.addPass(createExpandStages(expand));
  passes.addPass(createInlineTemplates());
  passes.addNestedPass<func::FuncOp>(createLowerTiles());
  passes.addNestedPass<func::FuncOp>(createNameSteps());
  // A template has structured control flow: no blocks to merge and none that nothing reaches.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  passes.addPass(createCanonicalizerPass(config));
  passes.addPass(createCSEPass());
}

void addVerifyPasses(OpPassManager &passes, const PipelineOptions &options) {
  passes.addNestedPass<func::FuncOp>(createInferScopes());
  passes.addNestedPass<func::FuncOp>(createVerifyScopes());
  passes.addNestedPass<func::FuncOp>(createDeriveLaunchMode());
}

void addLoweringPasses(OpPassManager &passes, const PipelineOptions &options) {
  passes.addNestedPass<func::FuncOp>(createLowerHandoffs());
  LowerWaitsOptions waits;
  // An NVIDIA chip without restricted fences has only one way to wait; on the others each kernel says its own.
  if (!options.target.restrictedFence && !options.target.isAMD())
    waits.strategy = std::string(name(WaitStrategy::acquire));
  passes.addNestedPass<func::FuncOp>(createLowerWaits(waits));
  // What the conversion leaves to clean up LLVM cleans up anyway: with canonicalisation here every PTX text came out
  // the same.
  std::string chip(options.target.name);
  if (options.target.isAMD()) {
    passes.addPass(createConvertInterlockToROCDL({chip}));
  } else {
    passes.addNestedPass<func::FuncOp>(createEvenRounds());
    passes.addPass(createConvertInterlockToNVVM({chip}));
  }
}

void registerPassesAndPipelines() {
  registerInterlockTransformsPasses();
  registerConversionPasses();
  registerPipeline("interlock-expand", "Stage module to an expanded, folded kernel", addExpandPasses);
  registerPipeline("interlock-verify", "Infer the scopes of hand-offs and judge them", addVerifyPasses);
  registerPipeline("interlock-lower", "Checked kernel to the LLVM dialect and the chip's", addLoweringPasses);
}

void registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  NVVM::NVVMDialect, ROCDL::ROCDLDialect, scf::SCFDialect, vector::VectorDialect, sync::SyncDialect,
                  ep::EPDialect>();
  func::registerInlinerExtension(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}

} // namespace interlock
