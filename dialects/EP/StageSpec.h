// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a stage operation says, as the plain value that the rest of the library knows it by.
#pragma once

#include "interlock/spec.hpp"

#include "mlir/IR/Operation.h"

namespace interlock::ep {

/// The spec that a stage operation stands for on a chip, not validated; "" where no chip is named, and then what
/// depends on one is as for a chip without features. Diagnosed at the operation where a field names nothing: a type
/// that no row has, an unknown way to wait.
mlir::FailureOr<KernelSpec> readStage(mlir::Operation *stage, llvm::StringRef target);

} // namespace interlock::ep
