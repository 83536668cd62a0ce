// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The pass: judge, expand, convert, then say what a kernel is.
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/ToROCDL.h"
#include "dialects/Sync/Step.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_CONVERTINTERLOCKTOROCDL
#include "compiler/Conversion/Passes.h.inc"

namespace rocdl {

Value intrinsic(Builder &b, StringRef name, Type result, ValueRange operands) {
  auto call = LLVM::CallIntrinsicOp::create(b, result ? TypeRange(result) : TypeRange(), b.getStringAttr(name),
                                            operands, LLVM::FastmathFlagsAttr());
  return result ? call->getResult(0) : Value();
}

/// Where a template's line stands, through the calls that were inlined and the names of steps; the first of several.
static FileLineColLoc placeOf(Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return placeOf(call.getCallee());
  if (auto name = dyn_cast<NameLoc>(location))
    return placeOf(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location each : fused.getLocations())
      if (FileLineColLoc place = placeOf(each))
        return place;
    return {};
  }
  return dyn_cast<FileLineColLoc>(location);
}

void commentStep(Operation *op, Builder &b) {
  if (!isa<sync::SyncDialect>(op->getDialect()) || isa<sync::SharedAllocOp, sync::BarrierAllocOp, sync::ClockOp>(op))
    return;
  std::string text = "; " + op->getName().getStringRef().str();
  if (auto atomic = dyn_cast<sync::AtomicOp>(op))
    text += " " + sync::stringifyAtomicKind(atomic.getKind()).str();
  if (auto sem = op->getAttrOfType<sync::SemAttr>("sem"))
    text += " " + sync::stringifySem(sem.getValue()).str();
  if (auto scope = op->getAttrOfType<sync::ScopeAttr>("scope"))
    text += " " + sync::stringifyScope(scope.getValue()).str();
  if (auto step = op->getAttrOfType<StringAttr>(sync::stepAttrName))
    text += " (" + step.getValue().str() + ")";
  if (FileLineColLoc place = placeOf(op->getLoc()))
    text += " at " + place.getFilename().str() + ":" + std::to_string(place.getLine());
  LLVM::InlineAsmOp::create(b, TypeRange(), ValueRange(), b.getStringAttr(text), b.getStringAttr(""),
                            /*has_side_effects=*/b.getUnitAttr(), /*is_align_stack=*/UnitAttr(),
                            LLVM::TailCallKindAttr::get(b.getContext(), LLVM::TailCallKind::None),
                            LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
                            /*operand_attrs=*/ArrayAttr());
}

} // namespace rocdl

namespace {

/// What a kernel could be given in registers and has no use for; the back end would else take memory and registers for
/// it. (LLVM, "User Guide for AMDGPU Backend", "LLVM IR Attributes".)
constexpr StringLiteral unused[] = {
    "amdgpu-no-completion-action", "amdgpu-no-default-queue",      "amdgpu-no-dispatch-id",
    "amdgpu-no-heap-ptr",          "amdgpu-no-hostcall-ptr",       "amdgpu-no-implicitarg-ptr",
    "amdgpu-no-lds-kernel-id",     "amdgpu-no-multigrid-sync-arg", "amdgpu-no-queue-ptr",
    "amdgpu-no-workgroup-id-y",    "amdgpu-no-workgroup-id-z",     "amdgpu-no-workitem-id-y",
    "amdgpu-no-workitem-id-z",     "amdgpu-no-cluster-id-y",       "amdgpu-no-cluster-id-z"};

void addPatterns(RewritePatternSet &patterns, const lowering::Context &context) {
  rocdl::addSyncBarrierPatterns(patterns, context);
  rocdl::addSyncMemoryPatterns(patterns, context);
  rocdl::addEPPatterns(patterns, context);
}

struct ConvertInterlockToROCDLPass : impl::ConvertInterlockToROCDLBase<ConvertInterlockToROCDLPass> {
  using ConvertInterlockToROCDLBase::ConvertInterlockToROCDLBase;

  /// Threads of a CTA, cluster shape, and that denormals are kept, as the back end reads them.
  void markKernel(LLVM::LLVMFuncOp function) {
    if (!function->hasAttr(ep::kernelAttrName))
      return;
    Builder builder(&getContext());
    auto threads = static_cast<int32_t>(lowering::kernelNumber(function, ep::blockThreadsAttrName, 1));
    int64_t cluster = lowering::clusterSize(function);
    auto pair = [&](StringRef name, const std::string &value) -> Attribute {
      return builder.getStrArrayAttr({name, value});
    };
    SmallVector<Attribute> attributes = {pair("denormal-fp-math", "ieee,ieee"),
                                         pair("denormal-fp-math-f32", "ieee,ieee")};
    for (StringRef name : unused)
      attributes.push_back(builder.getStringAttr(name));
    if (cluster > 1)
      attributes.push_back(pair("amdgpu-cluster-dims", std::to_string(cluster) + ",1,1"));
    else
      attributes.push_back(builder.getStringAttr("amdgpu-no-cluster-id-x"));
    function.setPassthroughAttr(builder.getArrayAttr(attributes));
    function->setAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    function->setAttr(ROCDL::ROCDLDialect::getFlatWorkGroupSizeAttrName(),
                      builder.getStringAttr(std::to_string(threads) + "," + std::to_string(threads)));
    function->setAttr(ROCDL::ROCDLDialect::getReqdWorkGroupSizeAttrName(),
                      builder.getDenseI32ArrayAttr({threads, 1, 1}));
    lowering::dropKernelAttributes(function);
  }

  void runOnOperation() override {
    FailureOr<TargetInfo> target = lowering::chipOf(getOperation(), chip);
    if (failed(target) || failed(lowering::checkFeatures(getOperation(), *target, "amdgcn")))
      return signalPassFailure();
    lowering::expandPolls(getOperation(), [](ImplicitLocOpBuilder &b) {
      // Leaves the CU to others between two reads of a signal (s_sleep: units of 64 clocks).
      ROCDL::SSleepOp::create(b, b.getI32IntegerAttr(1));
    });
    lowering::TargetLowering own{ROCDL::ROCDLDialect::getDialectNamespace(), addPatterns, rocdl::commentStep};
    if (failed(lowering::convertModule(getOperation(), *target, own)))
      return signalPassFailure();
    getOperation().walk([&](LLVM::LLVMFuncOp function) { markKernel(function); });
  }
};

} // namespace
} // namespace interlock
