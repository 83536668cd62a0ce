// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of the conversion to ROCDL, and what they share.
#pragma once

#include "compiler/Conversion/Lowering.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

namespace interlock::rocdl {

using namespace lowering;

/// How LLVM names a scope for the AMDGPU back end; none is the whole system.
llvm::StringRef syncScope(sync::Scope scope);

/// A call of an LLVM intrinsic that the ROCDL dialect has no operation for; its result, or a null value.
mlir::Value intrinsic(Builder &b, llvm::StringRef name, mlir::Type result = {}, mlir::ValueRange operands = {});

/// What a release at `scope` needs before the access that publishes: a fence, with the wait that the back end leaves
/// out. With `sharedOnly` all that it must release lies in shared memory.
void releaseFence(Builder &b, sync::Scope scope, const Context &context, bool sharedOnly = false);
/// What an acquire at `scope` needs behind the access that observes.
void acquireFence(Builder &b, sync::Scope scope);
/// `sem` as fences around a monotonic access that `access` makes; returns what that returned.
mlir::Value ordered(Builder &b, sync::Sem sem, sync::Scope scope, const Context &context,
                    llvm::function_ref<mlir::Value()> access);
/// All threads of the CTA wait for each other; what each of them stored is out of its CU, so that one of them may
/// publish it for all.
void ctaBarrier(Builder &b, const Context &context);

/// Runs `body` where `condition` holds, in a block of its own.
void where(Builder &b, mlir::Value condition, llvm::function_ref<void()> body);

/// Writes what the operation is, and where it stands in its template, as a comment into the assembly.
void commentStep(mlir::Operation *op, Builder &b);

void addSyncBarrierPatterns(mlir::RewritePatternSet &patterns, const Context &context);
void addSyncMemoryPatterns(mlir::RewritePatternSet &patterns, const Context &context);
void addEPPatterns(mlir::RewritePatternSet &patterns, const Context &context);

} // namespace interlock::rocdl
