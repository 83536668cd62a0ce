// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What can be said of a synchronisation operation by looking at it alone. Pairs are judged by sync-verify-scopes.
#include "dialects/Sync/Sync.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace interlock::sync;

namespace {

std::string listed(ArrayRef<Sem> sems) {
  return llvm::join(llvm::map_range(sems, [](Sem sem) { return stringifySem(sem); }), " or ");
}

LogicalResult verifySem(Operation *op, Sem sem, ArrayRef<Sem> legal) {
  if (llvm::is_contained(legal, sem))
    return success();
  return op->emitOpError() << "expected memory order " << listed(legal) << ", got " << stringifySem(sem);
}

/// A parity that is a constant must be one.
LogicalResult verifyParity(Operation *op, Value parity) {
  APInt value;
  if (matchPattern(parity, m_ConstantInt(&value)) && value.ugt(1)) {
    InFlightDiagnostic error = op->emitOpError() << "expected a parity of 0 or 1, got " << value.getSExtValue();
    error.attachNote(parity.getLoc()) << "see the constant here; a phase number's parity is its lowest bit";
    return error;
  }
  return success();
}

LogicalResult verifyAtLeast(Operation *op, StringRef what, int64_t value, int64_t least) {
  if (value >= least)
    return success();
  return op->emitOpError() << "expected " << what << " to be at least " << least << ", got " << value;
}

} // namespace

LogicalResult interlock::sync::verifyOrder(Operation *op, ArrayRef<Sem> sems, ArrayRef<Scope> scopes) {
  if (auto sem = op->getAttrOfType<SemAttr>("sem"); sem && failed(verifySem(op, sem.getValue(), sems)))
    return failure();
  auto scope = op->getAttrOfType<ScopeAttr>("scope");
  if (!scope || llvm::is_contained(scopes, scope.getValue()))
    return success();
  std::string legal = llvm::join(llvm::map_range(scopes, [](Scope s) { return stringifyScope(s); }), " or ");
  return op->emitOpError() << "expected scope " << legal << ", got " << stringifyScope(scope.getValue())
                           << ": a barrier lies in shared memory, which nobody outside the cluster reaches";
}

LogicalResult HandoffType::verify(function_ref<InFlightDiagnostic()> emitError, Type payload) {
  if (payload.isInteger(32) || payload.isInteger(64))
    return success();
  constexpr int64_t packetWords = 4, mostPackets = 16;
  if (auto vector = dyn_cast<VectorType>(payload))
    if (vector.getRank() == 1 && vector.getElementType().isInteger(32) && !vector.isScalable() &&
        vector.getDimSize(0) % packetWords == 0 && vector.getDimSize(0) <= packetWords * mostPackets)
      return success();
  return emitError() << "expected a payload of i32, i64 or a vector of 4, 8, … 64 i32, got " << payload;
}

LogicalResult HandoffOp::verify() {
  int64_t cluster = static_cast<int32_t>(getCluster());
  if (cluster != 1 && cluster != 2 && cluster != 4 && cluster != 8)
    return emitOpError() << "expected a cluster of 1, 2, 4 or 8 CTAs, got " << cluster;
  return verifyAtLeast(*this, "stages", static_cast<int32_t>(getStages()), 1);
}

LogicalResult PublishCancelOp::verify() {
  auto payload = dyn_cast<VectorType>(cast<HandoffType>(getHandoff().getType()).getPayload());
  if (!payload || payload.getNumElements() != 4)
    return emitOpError() << "expected a hand-off of vector<4xi32>, which an answer to try_cancel is, got "
                         << getHandoff().getType();
  for (Operation *user : getHandoff().getUsers())
    if (isa<PublishOp>(user)) {
      InFlightDiagnostic error = emitOpError()
                                 << "expected a hand-off that is filled in one way, got publish_cancel and publish";
      error.attachNote(user->getLoc()) << "published here";
      return error;
    }
  return success();
}

LogicalResult SharedAllocOp::verify() {
  int64_t bytes = getBytes(), align = getAlign();
  if (failed(verifyAtLeast(*this, "bytes", bytes, 1)))
    return failure();
  if (align < 1 || !llvm::isPowerOf2_64(align))
    return emitOpError() << "expected an alignment that is a power of two, got " << align;
  return success();
}

LogicalResult BarrierInitOp::verify() {
  constexpr int64_t most = (1 << 20) - 1; // PTX ISA, "mbarrier": valid range of the expected arrival count
  int64_t count = static_cast<int32_t>(getCount());
  if (count >= 1 && count <= most)
    return success();
  return emitOpError() << "expected a count from 1 to " << most << ", got " << count;
}

LogicalResult BarrierExpectTxOp::verify() {
  constexpr int64_t most = (1 << 20) - 1; // PTX ISA, "mbarrier": valid range of the tx-count
  int64_t bytes = static_cast<int32_t>(getBytes());
  if (bytes >= 0 && bytes <= most)
    return success();
  return emitOpError() << "expected from 0 to " << most << " bytes in a phase, got " << bytes;
}

LogicalResult BarrierWaitOp::verify() { return verifyParity(*this, getParity()); }
LogicalResult BarrierTryWaitOp::verify() { return verifyParity(*this, getParity()); }

LogicalResult BulkCopyOp::verify() {
  Space to = cast<PtrType>(getDestination().getType()).getSpace();
  Space from = cast<PtrType>(getSource().getType()).getSpace();
  if (to == from)
    return emitOpError() << "expected a copy between global and shared memory, got " << stringifySpace(from) << " to "
                         << stringifySpace(to);
  if (to == Space::shared && !getBarrier())
    return emitOpError() << "expected a barrier that a copy into shared memory completes on, got none";
  if (to == Space::global && getBarrier()) {
    InFlightDiagnostic error = emitOpError()
                               << "expected no barrier on a copy out of shared memory, which completes by its bulk "
                                  "group (sync.bulk_commit, sync.bulk_wait), got one";
    error.attachNote(getBarrier().getLoc()) << "see the barrier here";
    return error;
  }
  APInt bytes;
  if (matchPattern(getBytes(), m_ConstantInt(&bytes)) && (bytes.getZExtValue() % 16 != 0))
    return emitOpError() << "expected a multiple of 16 bytes, got " << bytes.getZExtValue();
  return success();
}

LogicalResult BulkWaitOp::verify() {
  return verifyAtLeast(*this, "pending groups", static_cast<int32_t>(getPending()), 0);
}

LogicalResult ClusterArriveOp::verify() { return verifySem(*this, getSem(), {Sem::relaxed, Sem::release}); }
LogicalResult ClusterWaitOp::verify() { return verifySem(*this, getSem(), {Sem::acquire}); }

LogicalResult FenceOp::verify() {
  if (!getRestrict())
    return success();
  if (getSem() != Sem::acquire && getSem() != Sem::release)
    return emitOpError() << "expected memory order acquire or release on a restricted fence, got "
                         << stringifySem(getSem());
  if (getScope() != Scope::cluster)
    return emitOpError() << "expected scope cluster on a restricted fence, got " << stringifyScope(getScope());
  return success();
}

LogicalResult ProxyFenceOp::verify() {
  if (getFirst() != getSecond())
    return success();
  return emitOpError() << "expected two different proxies, got " << stringifyProxy(getFirst())
                       << " twice: within one proxy sync.fence orders";
}
