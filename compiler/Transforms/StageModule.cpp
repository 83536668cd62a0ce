// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Transforms/StageModule.h"

#include "dialects/EP/EP.h"

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

FailureOr<DType> dtypeOf(Operation *stage, StringRef attribute) {
  if (auto type = stage->getAttrOfType<TypeAttr>(attribute)) {
    Type element = type.getValue();
    if (element.isF32())
      return DType::f32;
    if (element.isF16())
      return DType::f16;
    if (element.isBF16())
      return DType::bf16;
    if (isa<Float8E4M3FNType>(element))
      return DType::f8e4m3fn;
    if (isa<Float8E4M3FNUZType>(element))
      return DType::f8e4m3fnuz;
    if (isa<Float8E5M2Type>(element))
      return DType::f8e5m2;
  }
  return stage->emitError() << "expected `" << attribute
                            << "` to be f32, f16, bf16, f8E4M3FN, f8E4M3FNUZ or f8E5M2, got "
                            << stage->getAttr(attribute);
}

} // namespace

llvm::StringRef entryName(KernelKind kind) { return kind == KernelKind::combine ? "ep_combine" : "ep_dispatch"; }

OwningOpRef<ModuleOp> buildStageModule(MLIRContext &context, const KernelSpec &spec) {
  context.loadDialect<ep::EPDialect>();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  (*module)->setAttr(targetAttrName, builder.getStringAttr(spec.target));
  builder.setInsertionPointToEnd(module->getBody());

  const LayerSpec &layer = spec.layer;
  bool combine = spec.kernel == KernelKind::combine;
  OperationState state(loc, combine ? ep::CombineOp::getOperationName() : ep::DispatchOp::getOperationName());
  auto number = [&](StringRef name, uint32_t value) { state.addAttribute(name, builder.getI32IntegerAttr(value)); };
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(entryName(spec.kernel)));
  number("ranks", layer.ranks);
  number("experts", layer.experts);
  number("topk", layer.topk);
  number("hidden", layer.hidden);
  state.addAttribute("dtype", TypeAttr::get(elementType(builder, layer.dtype)));
  state.addAttribute("combine_dtype", TypeAttr::get(elementType(builder, layer.combineDType)));
  number("scale_bytes", layer.scaleBytes);
  number("max_tokens", layer.maxTokens);
  number("capacity", layer.capacity);
  state.addAttribute("expert_rows", builder.getBoolAttr(layer.expertRows));
  state.addAttribute("schedule", ep::ScheduleAttr::get(&context, ep::Schedule(spec.schedule)));
  number("cluster", spec.cluster);
  number("block_threads", spec.blockThreads);
  number("tile_tokens", spec.tileTokens);
  state.addAttribute("wait", builder.getStringAttr(name(spec.wait)));
  if (combine)
    state.addAttribute("mode", ep::CombineModeAttr::get(&context, ep::CombineMode::gather));
  builder.create(state);
  return module;
}

FailureOr<TargetInfo> targetOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto name = module ? module->getAttrOfType<StringAttr>(targetAttrName) : StringAttr();
  if (!name)
    return op->emitError() << "expected the module to name its chip by `" << targetAttrName
                           << " = \"sm_90a\"`, got none";
  Result<TargetInfo> target = findTarget(std::string_view(name.getValue()));
  if (!target)
    return op->emitError() << target.error().message;
  return *target;
}

FailureOr<KernelSpec> specOfStage(Operation *stage) {
  KernelSpec spec;
  FailureOr<TargetInfo> target = targetOf(stage);
  FailureOr<DType> dtype = dtypeOf(stage, "dtype"), combineDType = dtypeOf(stage, "combine_dtype");
  if (failed(target) || failed(dtype) || failed(combineDType))
    return failure();
  auto number = [&](StringRef name) {
    return static_cast<uint32_t>(stage->getAttrOfType<IntegerAttr>(name).getValue().getZExtValue());
  };
  spec.kernel = isa<ep::CombineOp>(stage) ? KernelKind::combine : KernelKind::dispatch;
  spec.target = std::string(target->name);
  LayerSpec &layer = spec.layer;
  layer.ranks = number("ranks");
  layer.experts = number("experts");
  layer.topk = number("topk");
  layer.hidden = number("hidden");
  layer.dtype = *dtype;
  layer.combineDType = *combineDType;
  layer.scaleBytes = number("scale_bytes");
  layer.maxTokens = number("max_tokens");
  layer.capacity = number("capacity");
  layer.expertRows = stage->getAttrOfType<BoolAttr>("expert_rows").getValue();
  spec.schedule = Schedule(stage->getAttrOfType<ep::ScheduleAttr>("schedule").getValue());
  spec.cluster = number("cluster");
  spec.blockThreads = number("block_threads");
  spec.tileTokens = number("tile_tokens");
  Result<WaitStrategy> wait = parseWaitStrategy(std::string_view(stage->getAttrOfType<StringAttr>("wait").getValue()));
  if (!wait)
    return stage->emitError() << wait.error().message;
  spec.wait = *wait;
  if (Status valid = validate(spec); !valid)
    return stage->emitError() << valid.error().message;
  return spec;
}

} // namespace interlock
