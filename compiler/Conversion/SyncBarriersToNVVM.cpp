// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Mbarriers, asynchronous copies and barriers of threads.
#include "compiler/Conversion/InlinePTX.h"
#include "compiler/Conversion/ToNVVM.h"

using namespace mlir;

namespace interlock::nvvm {
namespace {

/// A chip without clusters has barriers of CTA scope only, and each CTA is its own cluster there: the two scopes are
/// one.
NVVM::MemScopeKind barrierScope(sync::Scope scope) {
  return scope == sync::Scope::cluster ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA;
}
bool isRelaxed(sync::Sem sem) { return sem == sync::Sem::relaxed; }

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

Replacement lowerBarrierAlloc(sync::BarrierAllocOp op, sync::BarrierAllocOp::Adaptor, Builder &b,
                              const Context &context) {
  constexpr uint64_t align = 8; // PTX ISA, "Size and alignment of mbarrier object"
  return {makeStorage(op, b.getI64Type(), align, b, context)};
}

/// The same place in the shared memory of the cluster's CTA of rank `rank` (PTX ISA, "mapa").
Value mapToRank(Builder &b, Value pointer, Value rank) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), sharedClusterSpace);
  return NVVM::MapaOp::create(b, type, pointer, rank);
}

Replacement lowerBarrierInit(sync::BarrierInitOp op, sync::BarrierInitOp::Adaptor operands, Builder &b,
                             const Context &) {
  NVVM::MBarrierInitOp::create(b, operands.getBarrier(), b.constant(op.getCount()), /*predicate=*/Value());
  return {};
}

Replacement lowerBarrierArrive(sync::BarrierArriveOp op, sync::BarrierArriveOp::Adaptor operands, Builder &b,
                               const Context &context) {
  if (!context.target.asyncBarrier) {
    // The form of PTX ISA 7.0, which releases at CTA scope: as strong as asked for, or stronger.
    inlinePTX(b, "mbarrier.arrive.shared.b64 $0, [$1];", {operands.getBarrier()}, b.getI64Type());
    return {};
  }
  auto scope = NVVM::MemScopeKindAttr::get(b.getContext(), barrierScope(op.getScope()));
  auto relaxed = b.getBoolAttr(isRelaxed(op.getSem()));
  if (Value rank = operands.getRank())
    NVVM::MBarrierArriveOp::create(b, TypeRange(), mapToRank(b, operands.getBarrier(), rank), /*count=*/Value(), scope,
                                   relaxed);
  else
    NVVM::MBarrierArriveOp::create(b, TypeRange(b.getI64Type()), operands.getBarrier(), /*count=*/Value(), scope,
                                   relaxed);
  return {};
}

Replacement lowerBarrierExpectTx(sync::BarrierExpectTxOp op, sync::BarrierExpectTxOp::Adaptor operands, Builder &b,
                                 const Context &) {
  NVVM::MBarrierArriveExpectTxOp::create(b, TypeRange(b.getI64Type()), operands.getBarrier(), b.constant(op.getBytes()),
                                         NVVM::MemScopeKindAttr::get(b.getContext(), barrierScope(op.getScope())),
                                         b.getBoolAttr(isRelaxed(op.getSem())), /*predicate=*/Value());
  return {};
}

Replacement lowerBarrierTryWait(sync::BarrierTryWaitOp op, sync::BarrierTryWaitOp::Adaptor operands, Builder &b,
                                const Context &context) {
  if (!context.target.asyncBarrier) {
    // The form of PTX ISA 7.1: it does not wait, and it acquires at CTA scope.
    Value done = inlinePTX(b,
                           "{ .reg .pred done; mbarrier.test_wait.parity.shared.b64 done, [$1], $2; "
                           "selp.b32 $0, 1, 0, done; }",
                           {operands.getBarrier(), operands.getParity()}, b.getI32Type());
    return {LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, done, b.constant(0))};
  }
  return {NVVM::MBarrierTryWaitOp::create(b, b.getI1Type(), operands.getBarrier(), operands.getParity(),
                                          /*ticks=*/Value(),
                                          NVVM::MemScopeKindAttr::get(b.getContext(), barrierScope(op.getScope())),
                                          b.getBoolAttr(isRelaxed(op.getSem())))};
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// LLVM 22 has no intrinsic for st.async.
Replacement lowerStoreAsync(sync::StoreAsyncOp op, sync::StoreAsyncOp::Adaptor operands, Builder &b, const Context &) {
  Value to = mapToRank(b, operands.getPointer(), operands.getRank());
  Value barrier = mapToRank(b, operands.getBarrier(), operands.getRank());
  const std::string store = "st.async.shared::cluster.mbarrier::complete_tx::bytes.";
  if (isa<VectorType>(op.getValue().getType())) {
    SmallVector<Value> asmOperands{to};
    for (int64_t i = 0; i < 4; ++i)
      asmOperands.push_back(LLVM::ExtractElementOp::create(b, operands.getValue(), b.constant(i)));
    asmOperands.push_back(barrier);
    inlinePTX(b, store + "v4.b32 [$0], {$1, $2, $3, $4}, [$5];", asmOperands);
    return {};
  }
  bool wide = op.getValue().getType().isInteger(64);
  inlinePTX(b, store + (wide ? "b64" : "b32") + " [$0], $1, [$2];", {to, operands.getValue(), barrier});
  return {};
}

Replacement lowerBulkCopy(sync::BulkCopyOp op, sync::BulkCopyOp::Adaptor operands, Builder &b, const Context &) {
  if (!op.getBarrier()) {
    NVVM::CpAsyncBulkSharedCTAToGlobalOp::create(b, operands.getDestination(), operands.getSource(),
                                                 operands.getBytes(), /*l2CacheHint=*/Value(), /*byteMask=*/Value());
    return {};
  }
  // To shared::cluster, of which the own shared memory is a part: that form is older than the one to shared::cta.
  auto type = LLVM::LLVMPointerType::get(b.getContext(), sharedClusterSpace);
  Value to = LLVM::AddrSpaceCastOp::create(b, type, operands.getDestination());
  NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(b, to, operands.getSource(), operands.getBarrier(),
                                                   operands.getBytes(), /*multicastMask=*/Value(),
                                                   /*l2CacheHint=*/Value());
  return {};
}

Replacement lowerBulkCommit(sync::BulkCommitOp, sync::BulkCommitOp::Adaptor, Builder &b, const Context &) {
  NVVM::CpAsyncBulkCommitGroupOp::create(b);
  return {};
}

Replacement lowerBulkWait(sync::BulkWaitOp op, sync::BulkWaitOp::Adaptor, Builder &b, const Context &) {
  NVVM::CpAsyncBulkWaitGroupOp::create(b, b.getI32IntegerAttr(op.getPending()),
                                       op.getRead() ? b.getUnitAttr() : UnitAttr());
  return {};
}

//===----------------------------------------------------------------------===//
// Cluster launch control
//===----------------------------------------------------------------------===//

Replacement lowerTryCancel(sync::TryCancelOp op, sync::TryCancelOp::Adaptor operands, Builder &b, const Context &) {
  NVVM::ClusterLaunchControlTryCancelOp::create(b, op.getMulticast() ? b.getUnitAttr() : UnitAttr(),
                                                operands.getPointer(), operands.getBarrier());
  return {};
}

Value queryCancel(Builder &b, Value answer, NVVM::ClusterLaunchControlQueryType what, Type type) {
  Value bits = LLVM::BitcastOp::create(b, b.getIntegerType(128), answer);
  return NVVM::ClusterLaunchControlQueryCancelOp::create(b, type, what, bits);
}

Replacement lowerIsCanceled(sync::IsCanceledOp, sync::IsCanceledOp::Adaptor operands, Builder &b, const Context &) {
  return {queryCancel(b, operands.getAnswer(), NVVM::ClusterLaunchControlQueryType::IS_CANCELED, b.getI1Type())};
}

Replacement lowerCanceledCta(sync::CanceledCtaOp, sync::CanceledCtaOp::Adaptor operands, Builder &b, const Context &) {
  return {
      queryCancel(b, operands.getAnswer(), NVVM::ClusterLaunchControlQueryType::GET_FIRST_CTA_ID_X, b.getI32Type())};
}

//===----------------------------------------------------------------------===//
// Barriers of threads
//===----------------------------------------------------------------------===//

Replacement lowerCtaBarrier(sync::CtaBarrierOp, sync::CtaBarrierOp::Adaptor, Builder &b, const Context &) {
  NVVM::Barrier0Op::create(b);
  return {};
}

Replacement lowerWarpBarrier(sync::WarpBarrierOp, sync::WarpBarrierOp::Adaptor, Builder &b, const Context &) {
  NVVM::SyncWarpOp::create(b, b.constant(-1));
  return {};
}

Replacement lowerClusterArrive(sync::ClusterArriveOp op, sync::ClusterArriveOp::Adaptor, Builder &b, const Context &) {
  if (isRelaxed(op.getSem()))
    NVVM::ClusterArriveRelaxedOp::create(b, UnitAttr());
  else
    NVVM::ClusterArriveOp::create(b, UnitAttr()); // `.release` is the instruction's default
  return {};
}

Replacement lowerClusterWait(sync::ClusterWaitOp, sync::ClusterWaitOp::Adaptor, Builder &b, const Context &) {
  NVVM::ClusterWaitOp::create(b, UnitAttr()); // `.acquire` is the instruction's default
  return {};
}

} // namespace

void addSyncBarrierPatterns(RewritePatternSet &patterns, const Context &context) {
  add(patterns, context, lowerBarrierAlloc, lowerBarrierInit, lowerBarrierArrive, lowerBarrierExpectTx,
      lowerBarrierTryWait, lowerStoreAsync, lowerBulkCopy, lowerBulkCommit, lowerBulkWait, lowerTryCancel,
      lowerIsCanceled, lowerCanceledCta, lowerCtaBarrier, lowerWarpBarrier, lowerClusterArrive, lowerClusterWait);
}

} // namespace interlock::nvvm
