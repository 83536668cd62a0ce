// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of the conversion to NVVM.
#pragma once

#include "compiler/Conversion/Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace interlock::nvvm {

using namespace lowering;

/// The NVPTX back end's address space of the shared memory of a cluster.
inline constexpr unsigned sharedClusterSpace = 7;

void addSyncBarrierPatterns(mlir::RewritePatternSet &patterns, const Context &context);
void addSyncMemoryPatterns(mlir::RewritePatternSet &patterns, const Context &context);
void addEPPatterns(mlir::RewritePatternSet &patterns, const Context &context);

} // namespace interlock::nvvm
