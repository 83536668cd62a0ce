// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel over the sync and ep dialects, told in the words of analysis/ScopeModel: what sync-verify-scopes has judged.
#pragma once

#include "analysis/ScopeModel/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace interlock {

struct ScopeProgram {
  scope::Program program;
  /// By the `line` of a place in a finding: the operation that is meant.
  std::vector<mlir::Operation *> operations;
};

/// Hand-offs and all that is below them; control flow of scf. What other kernels of the stream did to the symmetric
/// window before this one, and will do after it, stands at the kernel's entry and its end, so that the signals between
/// ranks have something to order.
ScopeProgram scopeProgramOf(mlir::func::FuncOp function);

} // namespace interlock
