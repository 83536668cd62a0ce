// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The ep dialect: its attributes and operations, as generated from EPOps.td.
#pragma once

#include "dialects/Sync/Sync.h"

#include "mlir/IR/SymbolTable.h"

#include "dialects/EP/EPDialect.h.inc"
#include "dialects/EP/EPEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/EP/EPAttrs.h.inc"

namespace interlock::ep {

/// Discardable attributes of modules and functions; the dialect's description says what they mean.
inline constexpr llvm::StringLiteral targetAttrName = "ep.target";
inline constexpr llvm::StringLiteral kernelAttrName = "ep.kernel";
inline constexpr llvm::StringLiteral blockThreadsAttrName = "ep.block_threads";
inline constexpr llvm::StringLiteral clusterAttrName = "ep.cluster";
inline constexpr llvm::StringLiteral waitAttrName = "ep.wait";
inline constexpr llvm::StringLiteral releaseAttrName = "ep.release";
inline constexpr llvm::StringLiteral launchModeAttrName = "ep.launch_mode";
inline constexpr llvm::StringLiteral launchWaitsAttrName = "ep.launch_waits";

} // namespace interlock::ep

#define GET_OP_CLASSES
#include "dialects/EP/EPOps.h.inc"

namespace interlock::ep {

/// Operations that stand for a whole kernel.
inline bool isStage(mlir::Operation *op) {
  return mlir::isa<DispatchOp, CombineOp, DispatchEpilogueOp, CombinePrologueOp, PackExpertsOp>(op);
}

} // namespace interlock::ep
