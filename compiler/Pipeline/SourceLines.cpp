// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Pipeline/SourceLines.h"

#include "compiler/Transforms/Steps.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/LocationSnapshot.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace mlir;

namespace interlock {
namespace {

constexpr const char *mark = "expanded";

/// The place that an operation was marked with.
std::optional<FileLineColLoc> markedPlace(Operation *op) {
  Location whole = op->getLoc();
  auto fused = dyn_cast<FusedLoc>(whole); // of what was unknown before nothing but the mark is there
  for (Location each : fused ? fused.getLocations() : ArrayRef<Location>(whole))
    if (auto named = dyn_cast<NameLoc>(each); named && named.getName() == mark)
      if (auto place = dyn_cast<FileLineColLoc>(named.getChildLoc()))
        return place;
  return std::nullopt;
}

} // namespace

StepsByLine markLines(ModuleOp module, const std::string &file) {
  StepsByLine steps;
  generateLocationsFromIR(llvm::nulls(), file, mark, module, OpPrintingFlags().enableDebugInfo(false));
  module.walk([&](Operation *op) {
    if (auto place = markedPlace(op))
      if (std::string step = stepOf(op); !step.empty())
        steps[place->getLine()] = step;
  });
  return steps;
}

StepsByLine markSteps(ModuleOp module) {
  MLIRContext *context = module.getContext();
  auto markWith = [&](Operation *op, unsigned number) {
    auto place = NameLoc::get(StringAttr::get(context, mark), FileLineColLoc::get(context, mark, number, 0));
    op->setLoc(FusedLoc::get(context, {op->getLoc(), place}));
  };
  // Line 1 is the kernel's, and that of everything that is no step.
  StepsByLine steps;
  std::map<std::string, unsigned> numbers;
  module.walk([&](Operation *op) {
    if (isa<FunctionOpInterface>(op))
      return markWith(op, 1);
    std::string step = stepOf(op);
    if (step.empty())
      return;
    unsigned number = numbers.emplace(step, numbers.size() + 2).first->second;
    steps[number] = step;
    markWith(op, number);
  });
  return steps;
}

void applyMarks(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    auto whole = markedPlace(function);
    function->walk([&](Operation *op) {
      if (auto place = markedPlace(op); place || (place = whole))
        op->setLoc(*place);
    });
  }
}

} // namespace interlock
