// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ep.for_each_tile → a loop. Units are groups of `cluster` tiles: a cluster takes a unit, its CTA r the unit's tile r.
// It is replaced by the number of the grid's CTAs that this one has stood for.
#include "compiler/Transforms/Passes.h"
#include "dialects/EP/EP.h"
#include "dialects/Sync/Sync.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_LOWERTILES
#include "compiler/Transforms/Passes.h.inc"

namespace {

class TileLowering {
public:
  explicit TileLowering(ep::ForEachTileOp op)
      : op(op), b(op.getLoc(), op), cluster(op->getAttrOfType<IntegerAttr>("cluster").getInt()) {}

  void run() {
    rank = cluster > 1 ? ep::ClusterRankOp::create(b, b.getI32Type()).getResult() : Value();
    // units = ceil(count / cluster)
    Value padded = arith::AddIOp::create(b, op.getCount(), constant(cluster - 1));
    units = arith::DivUIOp::create(b, padded, constant(cluster));
    Value ctas = lower();
    op.getCtas().replaceAllUsesWith(ctas);
    op.erase();
  }

private:
  Value lower() {
    switch (op.getSchedule()) {
    case ep::Schedule::grid_stride:
      return strided();
    case ep::Schedule::claimed:
      return op.usesMailboxes() ? mailed() : claimed();
    case ep::Schedule::clc:
      return cancelled();
    }
    return {};
  }

  /// What is created from here on is this step of handing out tiles.
  void step(const char *name) { b.setLoc(NameLoc::get(b.getStringAttr(Twine("tile.") + name), op.getLoc())); }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, value, 32); }

  /// The body for the unit's tile of this CTA; the last unit may have fewer tiles than the cluster has CTAs.
  void body(Value unit) {
    if (cluster == 1)
      return inlineBody(unit);
    Value tile = arith::AddIOp::create(b, arith::MulIOp::create(b, unit, constant(cluster)), rank);
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, tile, op.getCount());
    auto guard = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(guard.thenBlock());
    inlineBody(tile);
  }

  void inlineBody(Value tile) {
    Block *source = &op.getRegion().front();
    source->getArgument(0).replaceAllUsesWith(tile);
    Operation *terminator = source->mightHaveTerminator() ? source->getTerminator() : nullptr;
    for (Operation &inner : llvm::make_early_inc_range(*source))
      if (&inner != terminator)
        inner.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  }

  Value ownCluster() {
    Type i32 = b.getI32Type();
    return cluster > 1 ? ep::ClusterIdOp::create(b, i32).getResult() : ep::CtaIdOp::create(b, i32).getResult();
  }
  Value clustersOfGrid() {
    Type i32 = b.getI32Type();
    return cluster > 1 ? ep::ClusterCountOp::create(b, i32).getResult() : ep::CtaCountOp::create(b, i32).getResult();
  }

  /// The body for units `first`, `first + step`, …
  void bodies(Value first, Value step) {
    auto loop = scf::ForOp::create(b, first, units, step);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  Value strided() {
    Value first = ownCluster();
    bodies(first, clustersOfGrid());
    return constant(1);
  }

  Value isFirstThread() {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, ep::ThreadIdOp::create(b, b.getI32Type()), constant(0));
  }
  /// The thread that fills the slots of a hand-off: the first of the leader CTA.
  Value isProducer(Value firstThread) {
    if (cluster == 1)
      return firstThread;
    return arith::AndIOp::create(b, firstThread, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank, constant(0)));
  }
  Value makeHandoff(Type payload) {
    auto type = sync::HandoffType::get(b.getContext(), payload);
    step("ready");
    return sync::HandoffOp::create(b, type, b.getI32IntegerAttr(cluster), b.getI32IntegerAttr(1));
  }
  /// Every CTA has its value, and one thread of it says so.
  void free(Value handoff, Value iteration, Value firstThread) {
    step("share");
    sync::CtaBarrierOp::create(b);
    step("free");
    auto release = scf::IfOp::create(b, firstThread, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(release.thenBlock());
    sync::ConsumerReleaseOp::create(b, handoff, iteration, sync::ScopeAttr());
    b.setLoc(op.getLoc());
  }
  void drain(Value handoff, Value published, Value producer) {
    auto tail = scf::IfOp::create(b, producer, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(tail.thenBlock());
    step("drain");
    sync::ProducerTailOp::create(b, handoff, published, sync::ScopeAttr());
  }

  /// The leader's thread 0 claims a unit and publishes it; everybody waits for it; one thread a CTA frees the slot once
  /// its CTA has read. The loop ends at the first unit beyond the last, which every CTA of the cluster sees alike.
  Value claimed() {
    Type i32 = b.getI32Type();
    Value firstThread = isFirstThread(), producer = isProducer(firstThread), handoff = makeHandoff(i32);
    b.setLoc(op.getLoc());
    auto loop = scf::WhileOp::create(b, TypeRange{i32, i32}, ValueRange{constant(0)});
    {
      OpBuilder::InsertionGuard restore(b);
      Block *before = b.createBlock(&loop.getBefore(), {}, {i32}, {op.getLoc()});
      Value iteration = before->getArgument(0);
      auto produce = scf::IfOp::create(b, producer, /*withElseRegion=*/false);
      b.setInsertionPointToStart(produce.thenBlock());
      step("acquire");
      sync::ProducerAcquireOp::create(b, handoff, iteration, sync::ScopeAttr());
      step("claim");
      Value unit = sync::AtomicOp::create(b, i32, sync::AtomicKind::add, sync::Sem::relaxed, sync::Scope::gpu,
                                          op.getClaim(), constant(1));
      step("publish");
      sync::PublishOp::create(b, handoff, iteration, unit, sync::ScopeAttr());

      b.setInsertionPointToEnd(before);
      step("wait");
      Value taken = sync::ConsumerWaitOp::create(b, i32, handoff, iteration, sync::ScopeAttr());
      free(handoff, iteration, firstThread);
      Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, taken, units);
      scf::ConditionOp::create(b, more, ValueRange{taken, iteration});

      Block *after = b.createBlock(&loop.getAfter(), {}, {i32, i32}, {op.getLoc(), op.getLoc()});
      body(after->getArgument(0));
      b.setInsertionPointToEnd(after);
      Value next = arith::AddIOp::create(b, after->getArgument(1), constant(1));
      scf::YieldOp::create(b, ValueRange{next});
    }
    drain(handoff, arith::AddIOp::create(b, loop.getResult(1), constant(1)), producer);
    return constant(1);
  }

  void arriveInCluster(const char *name) {
    step(name);
    sync::ClusterArriveOp::create(b, sync::Sem::release);
  }
  void waitForCluster(const char *name) {
    step(name);
    sync::ClusterWaitOp::create(b, sync::Sem::acquire);
  }

  /// As `claimed`, through a word of device memory that is the cluster's own. A cluster begins with the unit of its own
  /// number, so that one which gets none needs no word. The leader claims the next unit before the body, so that the
  /// answer is there behind it. The cluster's barrier says two things in turn. That the word is free: everybody arrives
  /// when he has what was in it, and waits behind the body. That it is full: everybody arrives and waits behind the
  /// leader's store. So one word is enough.
  Value mailed() {
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    Value producer = isProducer(isFirstThread()), first = ownCluster(), clusters = clustersOfGrid();
    Value wordBytes = arith::ConstantIntOp::create(b, 4, 64);
    Value bytes = arith::MulIOp::create(b, arith::ExtUIOp::create(b, i64, first), wordBytes);
    Value word = ep::OffsetOp::create(b, op.getMailboxes(), bytes);
    auto loop = scf::WhileOp::create(b, TypeRange{i32}, ValueRange{first});
    OpBuilder::InsertionGuard restore(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, {i32}, {op.getLoc()});
    Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, before->getArgument(0), units);
    scf::ConditionOp::create(b, more, before->getArguments());

    Block *round = b.createBlock(&loop.getAfter(), {}, {i32}, {op.getLoc()});
    arriveInCluster("free");
    auto claim = scf::IfOp::create(b, TypeRange{i32}, producer, /*addThenBlock=*/true, /*addElseBlock=*/true);
    b.setInsertionPointToStart(claim.thenBlock());
    step("claim");
    Value taken = sync::AtomicOp::create(b, i32, sync::AtomicKind::add, sync::Sem::relaxed, sync::Scope::gpu,
                                         op.getClaim(), constant(1));
    scf::YieldOp::create(b, taken);
    b.setInsertionPointToStart(claim.elseBlock());
    scf::YieldOp::create(b, constant(0));

    b.setInsertionPointToEnd(round);
    b.setLoc(op.getLoc());
    body(round->getArgument(0));
    waitForCluster("acquire");
    auto publish = scf::IfOp::create(b, producer, /*withElseRegion=*/false);
    b.setInsertionPointToStart(publish.thenBlock());
    ep::StoreOp::create(b, arith::AddIOp::create(b, claim.getResult(0), clusters), word);
    b.setInsertionPointToEnd(round);
    arriveInCluster("publish");
    waitForCluster("wait");
    b.setLoc(op.getLoc());
    scf::YieldOp::create(b, ep::LoadOp::create(b, i32, word).getResult());
    b.setInsertionPointAfter(loop);
    return constant(1);
  }

  /// Each round does a unit while the leader's request for the next is on its way, and ends when a request fails: then
  /// every cluster of the grid has begun, and asking again is not allowed. A grid with fewer clusters than there are
  /// units strides, so that any grid is right.
  Value cancelled() {
    Type i32 = b.getI32Type();
    Value firstThread = isFirstThread(), producer = isProducer(firstThread);
    Value handoff = makeHandoff(VectorType::get({4}, i32));
    b.setLoc(op.getLoc());
    Value first = ownCluster(), stride = clustersOfGrid();
    auto loop = scf::WhileOp::create(b, TypeRange{VectorType::get({4}, i32), i32}, ValueRange{first, constant(0)});
    {
      OpBuilder::InsertionGuard restore(b);
      Block *before = b.createBlock(&loop.getBefore(), {}, {i32, i32}, {b.getLoc(), b.getLoc()});
      Value unit = before->getArgument(0), iteration = before->getArgument(1);
      auto ask = scf::IfOp::create(b, producer, /*withElseRegion=*/false);
      b.setInsertionPointToStart(ask.thenBlock());
      step("acquire");
      sync::ProducerAcquireOp::create(b, handoff, iteration, sync::ScopeAttr());
      step("publish");
      sync::PublishCancelOp::create(b, handoff, iteration, sync::ScopeAttr());

      b.setInsertionPointToEnd(before);
      b.setLoc(op.getLoc());
      bodies(unit, stride);
      step("wait");
      Value answer = sync::ConsumerWaitOp::create(b, VectorType::get({4}, i32), handoff, iteration, sync::ScopeAttr());
      free(handoff, iteration, firstThread);
      Value next = arith::AddIOp::create(b, iteration, constant(1));
      Value more = sync::IsCanceledOp::create(b, b.getI1Type(), answer);
      scf::ConditionOp::create(b, more, ValueRange{answer, next});

      Block *after = b.createBlock(&loop.getAfter(), {}, loop.getResultTypes(), {b.getLoc(), b.getLoc()});
      Value cta = sync::CanceledCtaOp::create(b, i32, after->getArgument(0));
      Value taken = arith::DivUIOp::create(b, cta, constant(cluster));
      scf::YieldOp::create(b, ValueRange{taken, after->getArgument(1)});
    }
    // as many requests as units that this cluster has stood for: all but the last request gave one, and one was its own
    Value rounds = loop.getResult(1);
    drain(handoff, rounds, producer);
    return rounds;
  }

  ep::ForEachTileOp op;
  ImplicitLocOpBuilder b;
  int64_t cluster;
  Value rank, units;
};

struct LowerTilesPass : impl::LowerTilesBase<LowerTilesPass> {
  void runOnOperation() override {
    SmallVector<ep::ForEachTileOp> loops;
    getOperation().walk([&](ep::ForEachTileOp op) { loops.push_back(op); });
    for (ep::ForEachTileOp op : loops)
      TileLowering(op).run();
  }
};

} // namespace
} // namespace interlock
