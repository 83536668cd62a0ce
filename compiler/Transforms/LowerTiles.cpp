// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ep.for_each_tile → a loop. Units are groups of `cluster` tiles: a cluster takes a unit, its CTA r the unit's tile r.
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
    if (op.getSchedule() == ep::Schedule::claimed)
      claimed();
    else
      strided();
    op.erase();
  }

private:
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

  void strided() {
    Type i32 = b.getI32Type();
    Value first = cluster > 1 ? ep::ClusterIdOp::create(b, i32).getResult() : ep::CtaIdOp::create(b, i32).getResult();
    Value step =
        cluster > 1 ? ep::ClusterCountOp::create(b, i32).getResult() : ep::CtaCountOp::create(b, i32).getResult();
    auto loop = scf::ForOp::create(b, first, units, step);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  /// The leader's thread 0 claims a unit and publishes it; everybody waits for it; one thread a CTA frees the slot once
  /// its CTA has read. The loop ends at the first unit beyond the last, which every CTA of the cluster sees alike.
  void claimed() {
    Type i32 = b.getI32Type();
    Value zero = constant(0);
    Value firstThread = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, ep::ThreadIdOp::create(b, i32), zero);
    Value producer = firstThread;
    if (cluster > 1)
      producer = arith::AndIOp::create(b, firstThread, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank, zero));
    auto type = sync::HandoffType::get(b.getContext(), i32);
    step("ready");
    Value handoff = sync::HandoffOp::create(b, type, b.getI32IntegerAttr(cluster), b.getI32IntegerAttr(1));

    b.setLoc(op.getLoc());
    auto loop = scf::WhileOp::create(b, TypeRange{i32, i32}, ValueRange{zero});
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
      step("share");
      sync::CtaBarrierOp::create(b);
      step("free");
      auto release = scf::IfOp::create(b, firstThread, /*withElseRegion=*/false);
      b.setInsertionPointToStart(release.thenBlock());
      sync::ConsumerReleaseOp::create(b, handoff, iteration, sync::ScopeAttr());

      b.setLoc(op.getLoc());
      b.setInsertionPointToEnd(before);
      Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, taken, units);
      scf::ConditionOp::create(b, more, ValueRange{taken, iteration});

      Block *after = b.createBlock(&loop.getAfter(), {}, {i32, i32}, {op.getLoc(), op.getLoc()});
      body(after->getArgument(0));
      b.setInsertionPointToEnd(after);
      Value next = arith::AddIOp::create(b, after->getArgument(1), constant(1));
      scf::YieldOp::create(b, ValueRange{next});
    }
    Value published = arith::AddIOp::create(b, loop.getResult(1), constant(1));
    auto tail = scf::IfOp::create(b, producer, /*withElseRegion=*/false);
    b.setInsertionPointToStart(tail.thenBlock());
    step("drain");
    sync::ProducerTailOp::create(b, handoff, published, sync::ScopeAttr());
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
