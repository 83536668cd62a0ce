// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What can be said of an ep operation by looking at it alone. A stage's fields are judged by the very rules that a
// KernelSpec is judged by, so that a module written by hand and a spec are refused in the same words.
#include "dialects/EP/EP.h"

#include "interlock/spec.hpp"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace interlock;
using namespace interlock::ep;

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

/// The kernel, where the module names its chip.
LogicalResult verifyForChip(Operation *op, llvm::function_ref<KernelSpec(const std::string &)> specFor) {
  auto module = op->getParentOfType<ModuleOp>();
  auto target = module ? module->getAttrOfType<StringAttr>(targetAttrName) : StringAttr();
  if (!target)
    return success();
  if (Status valid = validate(specFor(target.str())); !valid) {
    InFlightDiagnostic error = op->emitOpError() << valid.error().message;
    error.attachNote(module.getLoc()) << "the chip is named here";
    return error;
  }
  return success();
}

interlock::Schedule scheduleOf(ep::Schedule schedule) {
  switch (schedule) {
  case ep::Schedule::grid_stride:
    return interlock::Schedule::gridStride;
  case ep::Schedule::claimed:
    return interlock::Schedule::claimed;
  case ep::Schedule::clc:
    return interlock::Schedule::clc;
  }
  llvm_unreachable("a schedule is one of these");
}

/// The layer alone, and the kernel where the module names its chip.
template <typename StageOp> LogicalResult verifyStage(StageOp op, KernelKind kind) {
  KernelSpec spec;
  spec.kernel = kind;
  LayerSpec &layer = spec.layer;
  if (failed(readDType(op, "dtype", op.getDtype(), layer.dtype)) ||
      failed(readDType(op, "combine_dtype", op.getCombineDtype(), layer.combineDType)))
    return failure();
  layer.ranks = op.getRanks();
  layer.experts = op.getExperts();
  layer.topk = op.getTopk();
  layer.hidden = op.getHidden();
  layer.scaleBytes = op.getScaleBytes();
  layer.maxTokens = op.getMaxTokens();
  layer.capacity = op.getCapacity();
  layer.expertRows = op.getExpertRows();
  layer.ownInPlace = op.getOwnInPlace();
  if (Status valid = validate(layer); !valid)
    return op.emitOpError() << valid.error().message;

  Result<WaitStrategy> wait = parseWaitStrategy(std::string_view(op.getWait()));
  if (!wait)
    return op.emitOpError() << wait.error().message;
  return verifyForChip(op, [&](const std::string &target) {
    spec.target = target;
    spec.schedule = scheduleOf(op.getSchedule());
    spec.cluster = op.getCluster();
    spec.blockThreads = op.getBlockThreads();
    spec.tileTokens = op.getTileTokens();
    spec.wait = *wait;
    return spec;
  });
}

template <typename StageOp> LogicalResult verifyLocalStage(StageOp op, KernelKind kind) {
  DType dtype;
  if (failed(readDType(op, "dtype", op.getDtype(), dtype)))
    return failure();
  KernelSpec spec = localKernel(kind, op.getTopk(), op.getHidden(), dtype);
  if (Status valid = validate(spec.layer); !valid)
    return op.emitOpError() << valid.error().message;
  return verifyForChip(op, [&](const std::string &target) {
    spec.target = target;
    spec.stages = op.getStages();
    spec.blockThreads = op.getBlockThreads();
    spec.programmatic = op.getProgrammatic();
    return spec;
  });
}

LogicalResult verifyElements(Operation *op, Type vector, Type element) {
  int64_t expected = 128 / element.getIntOrFloatBitWidth();
  int64_t count = cast<VectorType>(vector).getNumElements();
  if (count == expected)
    return success();
  return op->emitOpError() << "expected " << expected << " elements of f32, as many " << element
                           << " as a packet of 16 bytes has, got " << count;
}

LogicalResult verifyCodes(Operation *op, Type values, Type codes) {
  auto packet = dyn_cast<VectorType>(codes);
  int64_t bytes = packet ? 16 : codes.getIntOrFloatBitWidth() / 8, count = cast<VectorType>(values).getNumElements();
  if (count == bytes)
    return success();
  return op->emitOpError() << "expected a byte for each of " << count << " values, got " << codes << ", which has "
                           << bytes;
}

LogicalResult verifyStreaming(Operation *op, bool streaming, Type pointer) {
  if (!streaming || cast<sync::PtrType>(pointer).getSpace() == sync::Space::global)
    return success();
  return op->emitOpError() << "expected a global pointer with the streaming hint, got a shared one: shared memory is "
                              "not cached";
}

} // namespace

LogicalResult DispatchOp::verify() { return verifyStage(*this, KernelKind::dispatch); }
LogicalResult CombineOp::verify() { return verifyStage(*this, KernelKind::combine); }
LogicalResult DispatchEpilogueOp::verify() { return verifyLocalStage(*this, KernelKind::dispatchEpilogue); }
LogicalResult CombinePrologueOp::verify() { return verifyLocalStage(*this, KernelKind::combinePrologue); }

LogicalResult PackExpertsOp::verify() {
  LayerSpec layer;
  if (failed(readDType(*this, "dtype", getDtype(), layer.dtype)))
    return failure();
  layer.ranks = getRanks();
  layer.experts = getExperts();
  layer.topk = getTopk();
  layer.hidden = getHidden();
  layer.scaleBytes = getScaleBytes();
  layer.maxTokens = getRowsPerSource();
  KernelSpec spec;
  spec.kernel = KernelKind::packExperts;
  spec.layer = layer;
  spec.layer.combineDType = byteSize(layer.dtype) > byteSize(DType::bf16) ? layer.dtype : DType::bf16;
  if (Status valid = validate(spec.layer); !valid)
    return emitOpError() << valid.error().message;
  return verifyForChip(*this, [&](const std::string &target) {
    spec = packKernel(layer, target);
    spec.blockThreads = getBlockThreads();
    return spec;
  });
}

LogicalResult PacketLoadOp::verify() { return verifyStreaming(*this, getStreaming(), getPointer().getType()); }
LogicalResult PacketStoreOp::verify() { return verifyStreaming(*this, getStreaming(), getPointer().getType()); }

LogicalResult UnpackOp::verify() { return verifyElements(*this, getResult().getType(), getDtype()); }
LogicalResult PackOp::verify() { return verifyElements(*this, getValues().getType(), getDtype()); }
LogicalResult AccumulateOp::verify() { return verifyElements(*this, getAccumulator().getType(), getDtype()); }

LogicalResult QuantizeOp::verify() { return verifyCodes(*this, getValues().getType(), getResult().getType()); }
LogicalResult DequantizeOp::verify() { return verifyCodes(*this, getResult().getType(), getCodes().getType()); }

LogicalResult ForEachTileOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isInteger(32))
    return emitOpError() << "expected a body with one argument of i32, the tile, got " << body.getNumArguments()
                         << " arguments";
  int64_t cluster = static_cast<int32_t>(getCluster());
  if (cluster != 1 && cluster != 2 && cluster != 4 && cluster != 8)
    return emitOpError() << "expected a cluster of 1, 2, 4 or 8 CTAs, got " << cluster;
  if (getSchedule() == ep::Schedule::claimed && !getClaim())
    return emitOpError() << "expected a claim counter with schedule claimed, got none";
  if (usesMailboxes() && !getMailboxes())
    return emitOpError() << "expected mailboxes to hand a claimed tile through, since a CTA has no access to its "
                            "cluster's shared memory, got none";
  if (!usesMailboxes())
    return success();
  WalkResult walked = body.walk([&](Operation *inner) {
    if (!isa<sync::ClusterArriveOp, sync::ClusterWaitOp>(inner))
      return WalkResult::advance();
    InFlightDiagnostic diagnostic = emitOpError()
                                    << "expected a body without a cluster barrier, since with mailboxes it runs "
                                       "between an arrival and the wait for it, got one";
    diagnostic.attachNote(inner->getLoc()) << "the cluster barrier is here";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}
