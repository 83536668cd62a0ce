// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Names of protocol steps, which travel with the locations while templates are inlined.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace interlock {

/// Puts each `sync.step` (dialects/Sync/Step.h) into its operation's location, from where inlining carries it on, and
/// takes it off operations that are none of the sync dialect's, such as calls.
void keepStepsInLocations(mlir::ModuleOp module);

/// The step that an operation is: its `sync.step`, else the operation's own name where it is one of the sync dialect.
/// Empty for any other operation.
std::string stepOf(mlir::Operation *op);

} // namespace interlock
