// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From the LLVM dialect to AMDGCN assembly: translation to LLVM IR, optimisation, and the AMDGPU back end.
#pragma once

#include "interlock/spec.hpp"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace interlock::target {

struct AMDGCNOptions {
  bool keepLLVMIR = false; ///< print the optimised LLVM IR too
};

struct AMDGCNOutput {
  std::string llvmIR; ///< optimised LLVM IR as text, if it was asked for
  std::string assembly;
};

/// Translates a module of the LLVM and ROCDL dialects. Failures are diagnosed at the module's location.
mlir::FailureOr<AMDGCNOutput> emitAMDGCN(mlir::ModuleOp lowered, const TargetInfo &target,
                                         const AMDGCNOptions &options = {});

/// The back end for a chip, or null with the reason. Initialises LLVM's part of it.
std::unique_ptr<llvm::TargetMachine> amdgcnMachine(const TargetInfo &target, std::string &error);

} // namespace interlock::target
