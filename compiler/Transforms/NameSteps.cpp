// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A template names its steps where it stands (`await` in a function that waits) and where it calls (`started` at the
// call); only after inlining is a step's whole name known.
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/Steps.h"
#include "dialects/Sync/Step.h"
#include "dialects/Sync/Sync.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_NAMESTEPS
#include "compiler/Transforms/Passes.h.inc"

namespace {

bool isSync(Operation *op) { return isa_and_present<sync::SyncDialect>(op->getDialect()); }

/// The names in a location, callers first: `started.await`.
std::string namesIn(Location location) {
  auto join = [](std::string first, std::string_view second) {
    return first.append(first.empty() || second.empty() ? "" : ".").append(second);
  };
  if (auto named = dyn_cast<NameLoc>(location))
    return join(namesIn(named.getChildLoc()), named.getName().getValue());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return join(namesIn(call.getCaller()), namesIn(call.getCallee()));
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location each : fused.getLocations())
      if (std::string names = namesIn(each); !names.empty())
        return names;
  return {};
}

struct NameStepsPass : impl::NameStepsBase<NameStepsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isSync(op))
        return;
      if (std::string step = namesIn(op->getLoc()); !step.empty())
        op->setAttr(sync::stepAttrName, StringAttr::get(op->getContext(), step));
    });
  }
};

} // namespace

void keepStepsInLocations(ModuleOp module) {
  module.walk([](Operation *op) {
    auto step = op->getAttrOfType<StringAttr>(sync::stepAttrName);
    if (!step)
      return;
    op->setLoc(NameLoc::get(step, op->getLoc()));
    if (!isSync(op))
      op->removeAttr(sync::stepAttrName);
  });
}

std::string stepOf(Operation *op) {
  if (auto step = op->getAttrOfType<StringAttr>(sync::stepAttrName))
    return step.getValue().str();
  return isSync(op) ? op->getName().stripDialect().str() : std::string();
}

} // namespace interlock
