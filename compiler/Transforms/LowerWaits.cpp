// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The two ways to wait on a barrier that a peer CTA completes, and the release that matches each.
#include "compiler/Transforms/Handoffs.h"
#include "compiler/Transforms/Passes.h"
#include "dialects/EP/EP.h"

#include "interlock/spec.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_LOWERWAITS
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// while (!try_wait) {}
void buildTryLoop(ImplicitLocOpBuilder &b, sync::Sem sem, sync::Scope scope, Value barrier, Value parity) {
  auto loop = scf::WhileOp::create(b, TypeRange{}, ValueRange{});
  OpBuilder::InsertionGuard restore(b);
  b.createBlock(&loop.getBefore());
  Value done = sync::BarrierTryWaitOp::create(b, b.getI1Type(), sem, scope, barrier, parity);
  Value again = arith::XOrIOp::create(b, done, arith::ConstantIntOp::create(b, 1, 1));
  scf::ConditionOp::create(b, again, ValueRange{});
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b);
}

struct LowerWaitsPass : impl::LowerWaitsBase<LowerWaitsPass> {
  using LowerWaitsBase::LowerWaitsBase;

  void lowerWait(sync::BarrierWaitOp op, bool relaxed) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    bool far = op.getScope() == sync::Scope::cluster;
    if (relaxed && far) {
      buildTryLoop(b, sync::Sem::relaxed, op.getScope(), op.getBarrier(), op.getParity());
      // The fence comes after the try that saw the phase, so it acquires (PTX ISA, "Acquire pattern").
      sync::FenceOp::create(b, sync::Sem::acquire, op.getScope(), op->hasAttr(sharedOnlyAttrName));
    } else {
      buildTryLoop(b, op.getSem(), op.getScope(), op.getBarrier(), op.getParity());
    }
    op.erase();
  }

  void lowerArrive(sync::BarrierArriveOp op) {
    bool far = op.getScope() == sync::Scope::cluster && op.getSem() == sync::Sem::release;
    if (!far || !op->hasAttr(sharedOnlyAttrName))
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    sync::FenceOp::create(b, sync::Sem::release, op.getScope(), /*restrict=*/true);
    op.setSem(sync::Sem::relaxed);
  }

  /// The option, else the function's attribute, else the default.
  std::string choice(const std::string &option, StringRef attribute, StringRef otherwise) {
    if (!option.empty())
      return option;
    auto own = getOperation()->getAttrOfType<StringAttr>(attribute);
    return own ? own.str() : otherwise.str();
  }

  void runOnOperation() override {
    std::string wait = choice(strategy, ep::waitAttrName, name(WaitStrategy::relaxedFence));
    std::string releaseBy = choice(release, ep::releaseAttrName, "restricted-fence");
    Result<WaitStrategy> chosen = parseWaitStrategy(wait);
    if (!chosen) {
      getOperation().emitError() << chosen.error().message;
      return signalPassFailure();
    }
    if (releaseBy != "restricted-fence" && releaseBy != "arrive") {
      getOperation().emitError() << "expected release restricted-fence or arrive, got '" << releaseBy << "'";
      return signalPassFailure();
    }
    bool relaxed = *chosen == WaitStrategy::relaxedFence, fences = relaxed && releaseBy == "restricted-fence";
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<sync::BarrierWaitOp, sync::BarrierArriveOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto wait = dyn_cast<sync::BarrierWaitOp>(op))
        lowerWait(wait, relaxed);
      else if (fences)
        lowerArrive(cast<sync::BarrierArriveOp>(op));
    }
  }
};

} // namespace
} // namespace interlock
