// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which place `.loc` names for an instruction: the line of the operation in the expanded kernel as it prints, or, where
// only the names of protocol steps are wanted, a number for each name.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <map>
#include <string>

namespace interlock {

/// The step of each line that is one.
using StepsByLine = std::map<uint32_t, std::string>;

/// Marks every operation with its line in the module as it prints. `file` is the name that such a text will have.
StepsByLine markLines(mlir::ModuleOp module, const std::string &file);

/// Marks the steps alone, each with a number for its name: numbering lines takes printing the module.
StepsByLine markSteps(mlir::ModuleOp module);

/// From here on operations' places are those that they, or what they were lowered from, were marked with; before,
/// diagnostics name the places that they came from.
void applyMarks(mlir::ModuleOp module);

} // namespace interlock
