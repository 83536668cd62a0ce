// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Pipeline/SourceLines.h"

#include "compiler/Transforms/Steps.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Transforms/LocationSnapshot.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace mlir;

namespace interlock {
namespace {

constexpr const char *mark = "expanded";

/// The place in the text that an operation was marked with.
std::optional<FileLineColLoc> markedPlace(Operation *op) {
  if (auto fused = dyn_cast<FusedLoc>(op->getLoc()))
    for (Location each : fused.getLocations())
      if (auto named = dyn_cast<NameLoc>(each); named && named.getName() == mark)
        if (auto place = dyn_cast<FileLineColLoc>(named.getChildLoc()))
          return place;
  return std::nullopt;
}

} // namespace

SourceLines SourceLines::of(ModuleOp module, const std::string &file) {
  SourceLines lines;
  llvm::raw_string_ostream stream(lines.printed);
  generateLocationsFromIR(stream, file, mark, module, OpPrintingFlags().enableDebugInfo(false));
  module.walk([&](Operation *op) {
    if (auto place = markedPlace(op))
      if (std::string step = stepOf(op); !step.empty())
        lines.names[place->getLine()] = step;
  });
  return lines;
}

void SourceLines::apply(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto place = markedPlace(op))
      op->setLoc(*place);
  });
}

} // namespace interlock
