// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "dialects/EP/StageSpec.h"

#include "dialects/EP/EP.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace interlock::ep {

namespace {

LogicalResult readDType(Operation *op, StringRef field, Type type, DType &dtype) {
  if (type.isF32())
    dtype = DType::f32;
  else if (type.isF16())
    dtype = DType::f16;
  else if (type.isBF16())
    dtype = DType::bf16;
  else if (isa<Float8E4M3FNType>(type))
    dtype = DType::f8e4m3fn;
  else if (isa<Float8E4M3FNUZType>(type))
    dtype = DType::f8e4m3fnuz;
  else if (isa<Float8E5M2Type>(type))
    dtype = DType::f8e5m2;
  else
    return op->emitOpError() << "expected " << field << " to be f32, f16, bf16, f8E4M3FN, f8E4M3FNUZ or f8E5M2, got "
                             << type;
  return success();
}

interlock::Schedule scheduleOf(Schedule schedule) {
  switch (schedule) {
  case Schedule::grid_stride:
    return interlock::Schedule::gridStride;
  case Schedule::claimed:
    return interlock::Schedule::claimed;
  case Schedule::clc:
    return interlock::Schedule::clc;
  }
  llvm_unreachable("a schedule is one of these");
}

/// What lies in a window's landing region, and whose it is.
template <typename StageOp> LogicalResult readReceived(StageOp op, LayerSpec &layer) {
  layer.ranks = op.getRanks();
  layer.experts = op.getExperts();
  layer.topk = op.getTopk();
  layer.hidden = op.getHidden();
  layer.scaleBytes = op.getScaleBytes();
  return readDType(op, "dtype", op.getDtype(), layer.dtype);
}

template <typename StageOp> FailureOr<KernelSpec> readTransport(StageOp op, KernelKind kind, StringRef target) {
  KernelSpec spec;
  spec.kernel = kind;
  spec.target = target.str();
  LayerSpec &layer = spec.layer;
  if (failed(readReceived(op, layer)) ||
      failed(readDType(op, "combine_dtype", op.getCombineDtype(), layer.combineDType)))
    return failure();
  layer.maxTokens = op.getMaxTokens();
  layer.capacity = op.getCapacity();
  layer.expertRows = op.getExpertRows();
  layer.ownInPlace = op.getOwnInPlace();
  spec.schedule = scheduleOf(op.getSchedule());
  spec.cluster = op.getCluster();
  spec.blockThreads = op.getBlockThreads();
  spec.tileTokens = op.getTileTokens();
  Result<WaitStrategy> wait = parseWaitStrategy(std::string_view(op.getWait()));
  if (!wait)
    return op.emitOpError() << wait.error().message;
  spec.wait = *wait;
  return spec;
}

template <typename StageOp> FailureOr<KernelSpec> readLocal(StageOp op, KernelKind kind, StringRef target) {
  DType dtype{};
  if (failed(readDType(op, "dtype", op.getDtype(), dtype)))
    return failure();
  KernelSpec spec = localKernel(kind, op.getTopk(), op.getHidden(), dtype, std::string_view(target));
  spec.stages = op.getStages();
  spec.blockThreads = op.getBlockThreads();
  spec.programmatic = op.getProgrammatic();
  return spec;
}

FailureOr<KernelSpec> readPack(PackExpertsOp op, StringRef target) {
  LayerSpec layer;
  if (failed(readReceived(op, layer)))
    return failure();
  layer.maxTokens = op.getRowsPerSource();
  KernelSpec spec = packKernel(layer, std::string_view(target));
  spec.blockThreads = op.getBlockThreads();
  return spec;
}

} // namespace

FailureOr<KernelSpec> readStage(Operation *stage, StringRef target) {
  return llvm::TypeSwitch<Operation *, FailureOr<KernelSpec>>(stage)
      .Case([&](DispatchOp op) { return readTransport(op, KernelKind::dispatch, target); })
      .Case([&](CombineOp op) { return readTransport(op, KernelKind::combine, target); })
      .Case([&](DispatchEpilogueOp op) { return readLocal(op, KernelKind::dispatchEpilogue, target); })
      .Case([&](CombinePrologueOp op) { return readLocal(op, KernelKind::combinePrologue, target); })
      .Case([&](PackExpertsOp op) { return readPack(op, target); })
      .Default([](Operation *op) { return op->emitError() << "expected a stage operation, got " << op->getName(); });
}

} // namespace interlock::ep
