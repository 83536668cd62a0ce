// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The sync dialect: its attributes, types and operations, as generated from SyncOps.td.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Sync/SyncDialect.h.inc"
#include "dialects/Sync/SyncEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Sync/SyncAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Sync/SyncTypes.h.inc"

namespace interlock::sync {

/// Name of the unit attribute of a wait or an arrive that says: all that it must order lies in shared memory.
inline constexpr llvm::StringLiteral sharedOnlyAttrName = "sync.shared_only";

/// Checks an operation's `sem` and `scope` against what its class allows; diagnosed at the operation.
mlir::LogicalResult verifyOrder(mlir::Operation *op, llvm::ArrayRef<Sem> sems, llvm::ArrayRef<Scope> scopes);

/// The trait of operations that carry `sem` and `scope`.
template <typename ConcreteType> class LegalOrder : public mlir::OpTrait::TraitBase<ConcreteType, LegalOrder> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyOrder(op, ConcreteType::legalSems(), ConcreteType::legalScopes());
  }
};

} // namespace interlock::sync

#define GET_OP_CLASSES
#include "dialects/Sync/SyncOps.h.inc"
