// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The passes over LLVM IR that every target has in common.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace interlock::target {

/// Optimises every function of the module for the machine.
void optimise(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace interlock::target
