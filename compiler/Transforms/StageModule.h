// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Between a KernelSpec and the module with one `ep` stage operation that a person would write by hand.
#pragma once

#include "interlock/spec.hpp"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace interlock {

/// The symbol that a stage made from a spec gets, and thus the kernel's entry: `ep_dispatch`, `ep_combine`, …
std::string entryName(KernelKind kind);

/// A module for `spec.target` with one stage operation; the spec must be valid.
mlir::OwningOpRef<mlir::ModuleOp> buildStageModule(mlir::MLIRContext &context, const KernelSpec &spec);

/// The spec that a stage operation of a module stands for; diagnosed at the operation if it is not valid.
mlir::FailureOr<KernelSpec> specOfStage(mlir::Operation *stage);

/// The chip of the module around `op`; diagnosed at `op` if the module names none or one that is not known.
mlir::FailureOr<TargetInfo> targetOf(mlir::Operation *op);

} // namespace interlock
