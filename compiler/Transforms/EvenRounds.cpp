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
  std::optional<int64_t> place; ///< if it is a constant: what the loop begins with less the index, or plus it
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
    LinearForm form = linearForm(begin);
    std::optional<Start> start;
    for (auto [value, factor] : form.terms) {
      if (value.getDefiningOp<ep::ThreadIdOp>() || value.getDefiningOp<ep::LaneIdOp>()) {
        if (start || (factor != 1 && factor != -1) || value.getType() != begin.getType())
          return std::nullopt;
        start = Start{value, factor < 0, std::nullopt};
      } else if (!isUniform(value) && !value.getDefiningOp<ep::WarpIdOp>()) {
        return std::nullopt; // other lanes may begin anywhere
      }
    }
    if (start && form.terms.size() == 1)
      start->place = form.constant;
    return start;
  }

  /// The last of the indices.
  int64_t lastOf(Value index) {
    constexpr int64_t lanes = 32;
    auto threads = getOperation()->getAttrOfType<IntegerAttr>(ep::blockThreadsAttrName);
    return (index.getDefiningOp<ep::LaneIdOp>() || !threads ? lanes : threads.getInt()) - 1;
  }

  /// What a round does: the loop's body, if this lane has something left.
  static ValueRange moveBody(ImplicitLocOpBuilder &b, scf::ForOp loop, Value at, ValueRange carried) {
    auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value has = arith::CmpIOp::create(b, below, at, loop.getUpperBound());
    auto branch = scf::IfOp::create(b, loop.getResultTypes(), has, /*withElseRegion=*/!carried.empty());
    if (carried.empty())
      branch.thenBlock()->getTerminator()->erase();
    loop.getInductionVar().replaceAllUsesWith(at);
    for (auto [argument, value] : llvm::zip_equal(loop.getRegionIterArgs(), carried))
      argument.replaceAllUsesWith(value);
    branch.thenBlock()->getOperations().splice(branch.thenBlock()->end(), loop.getBody()->getOperations());
    if (!carried.empty()) {
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, carried);
      b.setInsertionPointAfter(branch);
    }
    return branch.getResults();
  }

  void countRounds(scf::ForOp loop, const Start &start) {
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Type type = loop.getInductionVar().getType();
    auto constant = [&](int64_t value) { return arith::ConstantOp::create(b, b.getIntegerAttr(type, value)); };
    int64_t last = lastOf(start.index);
    Value offset = start.fromEnd ? arith::SubIOp::create(b, constant(last), start.index).getResult() : start.index;
    std::optional<int64_t> begin = start.place;
    if (begin && start.fromEnd)
      *begin -= last;
    std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
    // As signed numbers: an unsigned end beyond them would look like less than the beginning.
    if (begin && end && step && 0 <= *begin && *begin <= *end && *end - *begin <= *step &&
        !loop.getNumRegionIterArgs()) {
      // there is one round
      moveBody(b, loop, arith::AddIOp::create(b, constant(*begin), offset), {});
      loop.erase();
      return;
    }
    Value first = begin ? constant(*begin).getResult() : arith::SubIOp::create(b, loop.getLowerBound(), offset);
    auto rounds = scf::ForOp::create(b, first, loop.getUpperBound(), loop.getStep(), loop.getInitArgs(), nullptr,
                                     loop.getUnsignedCmp());
    {
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToStart(rounds.getBody());
      Value at = arith::AddIOp::create(b, rounds.getInductionVar(), offset);
      ValueRange results = moveBody(b, loop, at, rounds.getRegionIterArgs());
      if (!results.empty())
        scf::YieldOp::create(b, results);
    }
    loop.replaceAllUsesWith(rounds.getResults());
    loop.erase();
  }
};

} // namespace
} // namespace interlock
