// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A hand-off becomes, per stage, a slot with a full and an empty barrier in every CTA; only the leader's empty barriers
// are used. Within a cluster the payload and its completion travel by store_async (PTX ISA, "st.async"), so a
// consumer's arrive.expect_tx carries no data and stays relaxed at CTA scope.
//
// With cluster launch control the hardware fills the slot through the async proxy and completes on the barrier of the
// slot's own CTA. So in a cluster of one CTA a wait at CTA scope is right, and both directions need a proxy fence where
// the slot goes from one proxy to the other: by each reader once it has read, and by the producer before it asks again
// (PTX ISA, "clusterlaunchcontrol.try_cancel", and "Async proxy"). In a larger cluster the ISA does not say to which
// thread the multicast completion belongs; the wait has the cluster's scope there, which costs nothing.
#include "compiler/Transforms/Handoffs.h"
#include "compiler/Transforms/Passes.h"
#include "dialects/EP/EP.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_LOWERHANDOFFS
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// What one asynchronous store carries at most (PTX ISA, "st.async", `.v4.b32`).
constexpr int64_t packetWords = 4, packetBytes = 16;

class HandoffLowering {
public:
  explicit HandoffLowering(Handoff &handoff)
      : handoff(handoff), b(handoff.op.getLoc(), handoff.op), stages(handoff.op.getStages()),
        payload(cast<sync::HandoffType>(handoff.op.getType()).getPayload()),
        packets(isa<VectorType>(payload) ? cast<VectorType>(payload).getDimSize(0) / packetWords : 0),
        payloadBytes(packets ? packets * packetBytes : payload.getIntOrFloatBitWidth() / 8),
        byCancel(isFilledByCancel(handoff)) {}

  void run() {
    allocate();
    for (const HandoffUse &use : handoff.uses) {
      b.setLoc(use.op->getLoc());
      b.setInsertionPoint(use.op);
      lower(use);
      use.op->erase();
    }
    handoff.op->erase();
  }

private:
  bool crossesCtas() const { return handoff.cluster > 1; }
  /// Whether the payload comes as a transaction that the barrier counts.
  bool isAsync() const { return crossesCtas() || byCancel; }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, value, 32); }
  Value isFirstThread() {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, ep::ThreadIdOp::create(b, b.getI32Type()), constant(0));
  }

  /// Storage, and barriers initialised by one thread and made visible to every thread that will use them.
  void allocate() {
    for (int64_t stage = 0; stage < stages; ++stage) {
      full.push_back(sync::BarrierAllocOp::create(b));
      empty.push_back(sync::BarrierAllocOp::create(b));
      slots.push_back(sync::SharedAllocOp::create(b, sync::PtrType::get(b.getContext(), sync::Space::shared),
                                                  b.getI64IntegerAttr(payloadBytes),
                                                  b.getI64IntegerAttr(std::min(payloadBytes, packetBytes))));
    }
    auto init = scf::IfOp::create(b, isFirstThread(), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(init.thenBlock());
      for (int64_t stage = 0; stage < stages; ++stage) {
        sync::BarrierInitOp::create(b, full[stage], b.getI32IntegerAttr(1));
        sync::BarrierInitOp::create(b, empty[stage], b.getI32IntegerAttr(handoff.cluster));
      }
      if (isAsync())
        sync::InitFenceOp::create(b);
    }
    if (crossesCtas()) {
      // The init fence publishes the barriers, so the arrive has nothing left to release.
      sync::ClusterArriveOp::create(b, sync::Sem::relaxed);
      sync::ClusterWaitOp::create(b, sync::Sem::acquire);
    } else {
      sync::CtaBarrierOp::create(b);
    }
  }

  /// The one of `perStage` that iteration `iteration` uses.
  Value pick(ArrayRef<Value> perStage, Value iteration) {
    Value chosen = perStage[0];
    if (stages == 1)
      return chosen;
    Value stage = arith::RemUIOp::create(b, iteration, constant(stages));
    for (int64_t i = 1; i < stages; ++i) {
      Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, stage, constant(i));
      chosen = arith::SelectOp::create(b, is, perStage[i], chosen);
    }
    return chosen;
  }

  /// Parity of the phase that the full barrier completes in `iteration`.
  Value fullParity(Value iteration) {
    Value round = stages == 1 ? iteration : arith::DivUIOp::create(b, iteration, constant(stages)).getResult();
    return arith::AndIOp::create(b, round, constant(1));
  }

  /// A fresh barrier counts as having completed the phase before its first, of parity 1: the first acquire passes.
  void waitEmpty(Value iteration, sync::Scope scope) {
    Value parity = arith::XOrIOp::create(b, fullParity(iteration), constant(1));
    markSharedOnly(sync::BarrierWaitOp::create(b, sync::Sem::acquire, scope, pick(empty, iteration), parity));
  }

  void markSharedOnly(Operation *op) { op->setAttr(sharedOnlyAttrName, b.getUnitAttr()); }

  void lower(const HandoffUse &use) {
    sync::Scope scope = use.op->getAttrOfType<sync::ScopeAttr>(scopeAttrName).getValue();
    Value iteration = use.op->getOperand(1);
    switch (use.role) {
    case HandoffRole::producerAcquire:
      return waitEmpty(iteration, scope);
    case HandoffRole::publish:
      if (byCancel)
        return askToCancel(iteration);
      return publish(iteration, use.op->getOperand(2), scope);
    case HandoffRole::consumerWait:
      return consumerWait(use.op, iteration, scope);
    case HandoffRole::consumerRelease: {
      Value leader = crossesCtas() ? constant(0) : Value();
      return markSharedOnly(
          sync::BarrierArriveOp::create(b, sync::Sem::release, scope, pick(empty, iteration), leader));
    }
    case HandoffRole::producerTail:
      for (int64_t stage = 0; stage < stages; ++stage)
        waitEmpty(arith::AddIOp::create(b, iteration, constant(stage)), scope);
      return;
    }
  }

  void publish(Value iteration, Value value, sync::Scope scope) {
    Value slot = pick(slots, iteration), barrier = pick(full, iteration);
    SmallVector<Value> pieces = split(value);
    if (!crossesCtas()) {
      for (auto [i, piece] : llvm::enumerate(pieces)) {
        if (packets)
          ep::PacketStoreOp::create(b, piece, pieceOf(slot, i), /*streaming=*/UnitAttr());
        else
          ep::StoreOp::create(b, piece, slot);
      }
      markSharedOnly(sync::BarrierArriveOp::create(b, sync::Sem::release, scope, barrier, Value()));
      return;
    }
    for (int64_t rank = 0; rank < handoff.cluster; ++rank)
      for (auto [i, piece] : llvm::enumerate(pieces))
        sync::StoreAsyncOp::create(b, piece, pieceOf(slot, i), barrier, constant(rank));
  }

  /// Slots that were read are written by the async proxy again.
  void fenceProxies() {
    sync::ProxyFenceOp::create(b, sync::Proxy::generic, sync::Proxy::async,
                               sync::SpaceAttr::get(b.getContext(), sync::Space::shared));
  }

  void askToCancel(Value iteration) {
    fenceProxies();
    sync::TryCancelOp::create(b, pick(slots, iteration), pick(full, iteration),
                              crossesCtas() ? b.getUnitAttr() : UnitAttr());
  }

  /// Where a slot's i-th packet lies.
  Value pieceOf(Value slot, int64_t i) {
    return i == 0 ? slot
                  : ep::OffsetOp::create(b, slot, arith::ConstantIntOp::create(b, i * packetBytes, 64)).getResult();
  }

  /// The value as what one store carries each: itself, or its packets.
  SmallVector<Value> split(Value value) {
    if (!packets)
      return {value};
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < packets; ++i) {
      int64_t first = i * packetWords;
      pieces.push_back(
          vector::ShuffleOp::create(b, value, value, ArrayRef<int64_t>{first, first + 1, first + 2, first + 3}));
    }
    return pieces;
  }

  /// The slot's content.
  Value load(Value slot) {
    if (!packets)
      return ep::LoadOp::create(b, payload, slot);
    Value whole;
    for (int64_t i = 0; i < packets; ++i) {
      Value piece = ep::PacketLoadOp::create(b, packetType(), pieceOf(slot, i), /*streaming=*/UnitAttr());
      if (whole) {
        auto words = llvm::to_vector(llvm::seq<int64_t>(0, (i + 1) * packetWords));
        piece = vector::ShuffleOp::create(b, whole, piece, words);
      }
      whole = piece;
    }
    return whole;
  }
  Type packetType() { return VectorType::get({packetWords}, b.getI32Type()); }

  void consumerWait(Operation *op, Value iteration, sync::Scope scope) {
    Value barrier = pick(full, iteration);
    if (isAsync()) {
      auto expect = scf::IfOp::create(b, isFirstThread(), /*withElseRegion=*/false);
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(expect.thenBlock());
      sync::BarrierExpectTxOp::create(b, sync::Sem::relaxed, sync::Scope::cta, barrier,
                                      static_cast<uint32_t>(payloadBytes));
    }
    markSharedOnly(sync::BarrierWaitOp::create(b, sync::Sem::acquire, scope, barrier, fullParity(iteration)));
    op->getResult(0).replaceAllUsesWith(load(pick(slots, iteration)));
    if (byCancel)
      fenceProxies();
  }

  Handoff &handoff;
  ImplicitLocOpBuilder b;
  int64_t stages;
  Type payload;
  int64_t packets; ///< of a vector payload; 0 for an integer
  int64_t payloadBytes;
  bool byCancel;
  SmallVector<Value> full, empty, slots;
};

struct LowerHandoffsPass : impl::LowerHandoffsBase<LowerHandoffsPass> {
  void runOnOperation() override {
    for (Handoff handoff : collectHandoffs(getOperation())) {
      for (const HandoffUse &use : handoff.uses)
        if (!use.op->hasAttr(scopeAttrName)) {
          use.op->emitError() << "expected a scope on every hand-off operation, got none: run sync-infer-scopes first";
          return signalPassFailure();
        }
      HandoffLowering(handoff).run();
    }
  }
};

} // namespace
} // namespace interlock
