// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What can be said of an ep operation by looking at it alone. A stage's fields are judged by the very rules that a
// KernelSpec is judged by, so that a module written by hand and a spec are refused in the same words.
#include "dialects/EP/EP.h"
#include "dialects/EP/StageSpec.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace interlock;
using namespace interlock::ep;

namespace {

/// The layer alone, and the kernel where the module names its chip.
LogicalResult verifyStage(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto target = module ? module->getAttrOfType<StringAttr>(targetAttrName) : StringAttr();
  FailureOr<KernelSpec> spec = readStage(op, target ? target.getValue() : "");
  if (failed(spec))
    return failure();
  if (Status valid = validate(spec->layer); !valid)
    return op->emitOpError() << valid.error().message;
  if (!target)
    return success();
  if (Status valid = validate(*spec); !valid) {
    InFlightDiagnostic error = op->emitOpError() << valid.error().message;
    error.attachNote(module.getLoc()) << "the chip is named here";
    return error;
  }
  return success();
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

LogicalResult DispatchOp::verify() { return verifyStage(*this); }
LogicalResult CombineOp::verify() { return verifyStage(*this); }
LogicalResult DispatchEpilogueOp::verify() { return verifyStage(*this); }
LogicalResult CombinePrologueOp::verify() { return verifyStage(*this); }
LogicalResult PackExpertsOp::verify() { return verifyStage(*this); }

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
