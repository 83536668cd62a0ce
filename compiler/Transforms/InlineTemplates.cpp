// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Callees first, so that each body is whole when it is copied to its callers.
#include "compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_INLINETEMPLATES
#include "compiler/Transforms/Passes.h.inc"

namespace {

class Inlining {
public:
  explicit Inlining(ModuleOp module) : symbols(module), interface(module.getContext()) {}

  LogicalResult run(func::FuncOp function) {
    if (done.contains(function))
      return success();
    if (!open.insert(function).second)
      return function.emitError() << "expected a function that does not call itself, got @" << function.getName();
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls)
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()); callee && !callee.isExternal())
        if (failed(run(callee)) || failed(inlineInto(call, callee)))
          return failure();
    done.insert(function);
    return success();
  }

private:
  LogicalResult inlineInto(func::CallOp call, func::FuncOp callee) {
    bool fits = callee.getBody().hasOneBlock() || isa<func::FuncOp>(call->getParentOp());
    if (!fits || failed(inlineCall(interface, config.getCloneCallback(), call, callee, &callee.getBody())))
      return call.emitError() << "expected a call that can be inlined: with operands and results of the types of @"
                              << callee.getName() << ", and of one block where the call stands in a region of one";
    call.erase();
    return success();
  }

  SymbolTable symbols;
  InlinerInterface interface;
  InlinerConfig config; // for its way to copy a body
  DenseSet<func::FuncOp> open, done;
};

struct InlineTemplatesPass : impl::InlineTemplatesBase<InlineTemplatesPass> {
  void runOnOperation() override {
    Inlining inlining(getOperation());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (failed(inlining.run(function)))
        return signalPassFailure();
    for (func::FuncOp function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function.isPrivate() && !function.isExternal())
        function.erase();
  }
};

} // namespace
} // namespace interlock
