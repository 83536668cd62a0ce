// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The one place that makes inline PTX: for instructions that LLVM 22 has no way to, or no right one.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Value.h"

#include <string>

namespace interlock::nvvm {

/// Emits `ptx` (operands $0, $1, … : the result first, if there is one) and returns its result, or a null value.
///
/// It has side effects, and it clobbers memory, so that LLVM moves no access across it and keeps each one where it
/// stands: every instruction that goes this way orders other accesses or is one itself.
mlir::Value inlinePTX(mlir::ImplicitLocOpBuilder &builder, const std::string &ptx, mlir::ValueRange operands,
                      mlir::Type result = {});

} // namespace interlock::nvvm
