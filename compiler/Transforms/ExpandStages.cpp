// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Replaces stage operations by their specialised templates.
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/StageModule.h"
#include "compiler/Transforms/Steps.h"
#include "compiler/Transforms/TemplatePreamble.h"
#include "dialects/EP/EP.h"
#include "dialects/Sync/Sync.h"
#include "templates/Embedded.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <string>
#include <vector>

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_EXPANDSTAGES
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// The text of a template: the directory's file if it has one, else the embedded one.
FailureOr<std::string> templateText(Operation *stage, StringRef directory, StringRef name) {
  if (!directory.empty()) {
    SmallString<128> path(directory);
    llvm::sys::path::append(path, name);
    if (auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true))
      return (*file)->getBuffer().str();
    else if (file.getError() != std::errc::no_such_file_or_directory)
      return stage->emitError() << "expected to read the template " << path << ", got: " << file.getError().message();
  }
  for (const templates::EmbeddedFile &file : templates::embedded())
    if (file.name == std::string_view(name))
      return std::string(file.text);
  return stage->emitError() << "expected a template " << name << ", got none";
}

/// Parses one template file behind the preamble. The preamble shares the file's first line (a comment).
OwningOpRef<ModuleOp> parseTemplate(Operation *stage, StringRef preamble, StringRef directory, StringRef name) {
  FailureOr<std::string> text = templateText(stage, directory, name);
  if (failed(text))
    return nullptr;
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy((preamble + *text).str(), name), SMLoc());
  std::string message;
  llvm::raw_string_ostream stream(message);
  OwningOpRef<ModuleOp> module;
  {
    // Printed with file, line and caret, then carried by one diagnostic at the stage.
    SourceMgrDiagnosticHandler handler(*sources, stage->getContext(), stream);
    // Not verified alone: a template calls functions of others. The expanded module is verified as a whole.
    module = parseSourceFile<ModuleOp>(sources, ParserConfig(stage->getContext(), /*verifyAfterParse=*/false));
  }
  if (!module)
    stage->emitError() << "expected a template that parses, got:\n" << message;
  return module;
}

/// What stages share, those of the symmetric window their signals and the local ones their lists; then the kernel's
/// own.
std::vector<std::string> sourcesOf(KernelKind kind) {
  std::vector<std::string> sources = {isLocal(kind) ? "local.mlir" : "common.mlir"};
  if (kind == KernelKind::dispatch)
    sources.push_back("dispatch_slots.mlir");
  sources.push_back(std::string(name(kind)) + ".mlir");
  return sources;
}

struct ExpandStagesPass : impl::ExpandStagesBase<ExpandStagesPass> {
  using ExpandStagesBase::ExpandStagesBase;

  LogicalResult expand(Operation *stage) {
    FailureOr<KernelSpec> spec = specOfStage(stage);
    FailureOr<TargetInfo> target = targetOf(stage);
    if (failed(spec) || failed(target))
      return failure();
    std::string preamble = templatePreamble(*spec, *target);
    // The entry takes the stage's name.
    StringAttr symbol = stage->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    Block *body = getOperation().getBody();
    for (const std::string &source : sourcesOf(spec->kernel)) {
      OwningOpRef<ModuleOp> module = parseTemplate(stage, preamble, templateDir, source);
      if (!module)
        return failure();
      for (Operation &function : llvm::make_early_inc_range(*module->getBody())) {
        if (function.hasAttr(ep::kernelAttrName)) {
          SymbolTable::setSymbolName(&function, symbol);
          function.setAttr(ep::waitAttrName, StringAttr::get(&getContext(), name(spec->wait)));
        }
        function.moveBefore(body, body->end());
      }
    }
    stage->erase();
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> stages;
    for (Operation &op : getOperation().getOps())
      if (ep::isStage(&op))
        stages.push_back(&op);
    // The templates' private functions are specialised to their stage, so two stages cannot share a module.
    if (stages.size() > 1) {
      InFlightDiagnostic error = stages[1]->emitError() << "expected one stage in a module, got another";
      error.attachNote(stages[0]->getLoc()) << "see the first stage here";
      return signalPassFailure();
    }
    if (!stages.empty() && failed(expand(stages.front())))
      return signalPassFailure();
    keepStepsInLocations(getOperation());
  }
};

} // namespace
} // namespace interlock
