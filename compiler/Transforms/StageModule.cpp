// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Transforms/StageModule.h"

#include "dialects/EP/EP.h"
#include "dialects/EP/StageSpec.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace interlock {
namespace {

Type elementType(OpBuilder &builder, DType dtype) {
  switch (dtype) {
  case DType::f32:
    return builder.getF32Type();
  case DType::f16:
    return builder.getF16Type();
  case DType::bf16:
    return builder.getBF16Type();
  case DType::f8e4m3fn:
    return builder.getType<Float8E4M3FNType>();
  case DType::f8e4m3fnuz:
    return builder.getType<Float8E4M3FNUZType>();
  case DType::f8e5m2:
    return builder.getType<Float8E5M2Type>();
  }
  return {};
}

} // namespace

std::string entryName(KernelKind kind) { return "ep_" + std::string(name(kind)); }

namespace {

/// A stage operation in the making.
class Stage {
public:
  Stage(OpBuilder &builder, StringRef operation, const KernelSpec &spec)
      : builder(builder), spec(spec), state(builder.getUnknownLoc(), operation) {
    state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(entryName(spec.kernel)));
    number("topk", spec.layer.topk);
    number("hidden", spec.layer.hidden);
    number("block_threads", spec.blockThreads);
  }
  void attribute(StringRef name, Attribute value) { state.addAttribute(name, value); }
  void number(StringRef name, uint32_t value) { attribute(name, builder.getI32IntegerAttr(value)); }
  void flag(StringRef name, bool value) { attribute(name, builder.getBoolAttr(value)); }
  void type(StringRef name, DType dtype) { attribute(name, TypeAttr::get(elementType(builder, dtype))); }
  /// What lies in a window's landing region, and whose it is.
  void received() {
    number("ranks", spec.layer.ranks);
    number("experts", spec.layer.experts);
    type("dtype", spec.layer.dtype);
    number("scale_bytes", spec.layer.scaleBytes);
  }
  void build() { builder.create(state); }

private:
  OpBuilder &builder;
  const KernelSpec &spec;
  OperationState state;
};

void buildLocalStage(OpBuilder &builder, const KernelSpec &spec) {
  bool prologue = spec.kernel == KernelKind::combinePrologue;
  Stage stage(builder,
              prologue ? ep::CombinePrologueOp::getOperationName() : ep::DispatchEpilogueOp::getOperationName(), spec);
  stage.type("dtype", prologue ? spec.layer.combineDType : spec.layer.dtype);
  stage.number("stages", spec.stages);
  stage.flag("programmatic", spec.programmatic);
  stage.build();
}

void buildPackStage(OpBuilder &builder, const KernelSpec &spec) {
  Stage stage(builder, ep::PackExpertsOp::getOperationName(), spec);
  stage.received();
  stage.number("rows_per_source", spec.layer.rowsPerSource());
  stage.build();
}

void buildTransportStage(OpBuilder &builder, const KernelSpec &spec) {
  bool combine = spec.kernel == KernelKind::combine;
  Stage stage(builder, combine ? ep::CombineOp::getOperationName() : ep::DispatchOp::getOperationName(), spec);
  stage.received();
  stage.type("combine_dtype", spec.layer.combineDType);
  stage.number("max_tokens", spec.layer.maxTokens);
  stage.number("capacity", spec.layer.capacity);
  stage.flag("expert_rows", spec.layer.expertRows);
  if (spec.layer.ownInPlace)
    stage.attribute("own_in_place", builder.getUnitAttr());
  stage.attribute("schedule", ep::ScheduleAttr::get(builder.getContext(), ep::Schedule(spec.schedule)));
  stage.number("cluster", spec.cluster);
  stage.number("tile_tokens", spec.tileTokens);
  stage.attribute("wait", builder.getStringAttr(name(spec.wait)));
  if (combine)
    stage.attribute("mode", ep::CombineModeAttr::get(builder.getContext(), ep::CombineMode::gather));
  stage.build();
}

} // namespace

OwningOpRef<ModuleOp> buildStageModule(MLIRContext &context, const KernelSpec &spec) {
  context.loadDialect<ep::EPDialect>();
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  (*module)->setAttr(ep::targetAttrName, builder.getStringAttr(spec.target));
  builder.setInsertionPointToEnd(module->getBody());
  (!isLocal(spec.kernel)        ? buildTransportStage
   : worksOnGroups(spec.kernel) ? buildLocalStage
                                : buildPackStage)(builder, spec);
  return module;
}

FailureOr<TargetInfo> targetOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto name = module ? module->getAttrOfType<StringAttr>(ep::targetAttrName) : StringAttr();
  if (!name)
    return op->emitError() << "expected the module to name its chip by `" << ep::targetAttrName
                           << " = \"sm_90a\"`, got none";
  Result<TargetInfo> target = findTarget(std::string_view(name.getValue()));
  if (!target)
    return op->emitError() << target.error().message;
  return *target;
}

FailureOr<KernelSpec> specOfStage(Operation *stage) {
  FailureOr<TargetInfo> target = targetOf(stage);
  if (failed(target))
    return failure();
  FailureOr<KernelSpec> spec = ep::readStage(stage, target->name);
  if (failed(spec))
    return failure();
  if (Status valid = validate(*spec); !valid)
    return stage->emitError() << valid.error().message;
  return spec;
}

} // namespace interlock
