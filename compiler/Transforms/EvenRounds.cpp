// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The lanes of a warp go through a loop equally often: what ptxas makes of loops that they leave one after the other is
// not to be relied upon (docs/design-notes.md, "Lanes leave a loop together").
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/ScopeAddresses.h"
#include "dialects/EP/EP.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_EVENROUNDS
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// Where a loop's threads start: each `index` (of the thread, or the lane), or as much from the end, behind one place.
struct Start {
  Value index;
  bool fromEnd = false;
};

class EvenRoundsPass : public impl::EvenRoundsBase<EvenRoundsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<Start> start = startOf(loop.getLowerBound()))
        countRounds(loop, *start);
  }

  static std::optional<Start> startOf(Value begin) {
    std::optional<Start> start;
    for (auto [value, factor] : linearForm(begin).terms) {
      if (value.getDefiningOp<ep::ThreadIdOp>() || value.getDefiningOp<ep::LaneIdOp>()) {
        if (start || (factor != 1 && factor != -1) || value.getType() != begin.getType())
          return std::nullopt;
        start = Start{value, factor < 0};
      } else if (!isUniform(value) && !value.getDefiningOp<ep::WarpIdOp>()) {
        return std::nullopt; // other lanes may begin anywhere
      }
    }
    return start;
  }

  /// How many indices there are.
  int64_t countOf(Value index) {
    constexpr int64_t lanes = 32;
    auto threads = getOperation()->getAttrOfType<IntegerAttr>(ep::blockThreadsAttrName);
    return index.getDefiningOp<ep::LaneIdOp>() || !threads ? lanes : threads.getInt();
  }

  void countRounds(scf::ForOp loop, const Start &start) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Type type = loop.getInductionVar().getType();
    Value offset = start.index, begin;
    if (start.fromEnd) {
      Value last = arith::ConstantOp::create(b, b.getIntegerAttr(type, countOf(start.index) - 1));
      begin = arith::SubIOp::create(b, arith::AddIOp::create(b, loop.getLowerBound(), offset), last);
      offset = arith::SubIOp::create(b, last, offset);
    } else {
      begin = arith::SubIOp::create(b, loop.getLowerBound(), offset);
    }
    auto rounds = scf::ForOp::create(b, begin, loop.getUpperBound(), loop.getStep(), loop.getInitArgs(), nullptr,
                                     loop.getUnsignedCmp());
    {
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(rounds.getBody());
      Value at = arith::AddIOp::create(b, rounds.getInductionVar(), offset);
      auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
      Value has = arith::CmpIOp::create(b, below, at, loop.getUpperBound());
      bool carries = loop.getNumRegionIterArgs() > 0;
      auto branch = scf::IfOp::create(b, loop.getResultTypes(), has, /*withElseRegion=*/carries);
      if (!carries)
        branch.thenBlock()->getTerminator()->erase();
      SmallVector<Value> values{at};
      llvm::append_range(values, rounds.getRegionIterArgs());
      for (auto [argument, value] : llvm::zip_equal(loop.getBody()->getArguments(), values))
        argument.replaceAllUsesWith(value);
      branch.thenBlock()->getOperations().splice(branch.thenBlock()->end(), loop.getBody()->getOperations());
      if (carries) {
        b.setInsertionPointToStart(branch.elseBlock());
        scf::YieldOp::create(b, rounds.getRegionIterArgs());
        b.setInsertionPointAfter(branch);
        scf::YieldOp::create(b, branch.getResults());
      }
    }
    loop.replaceAllUsesWith(rounds.getResults());
    loop.erase();
  }
};

} // namespace
} // namespace interlock
