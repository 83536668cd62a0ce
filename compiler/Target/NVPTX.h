// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From the LLVM dialect to PTX: translation to LLVM IR, optimisation, and the NVPTX back end.
#pragma once

#include "compiler/Target/SourceLabels.h"

#include "interlock/spec.hpp"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace interlock::target {

/// The lowest PTX ISA (10*major+minor) that knows the chip and everything that the lowered module uses.
/// Source: the "PTX ISA Notes" of each instruction; inline assembly is read for the same features.
unsigned requiredPtxIsa(mlir::ModuleOp lowered, const TargetInfo &target);

struct NVPTXOptions {
  bool keepLLVMIR = false; ///< print the optimised LLVM IR too
  bool keepLines = false;  ///< the PTX says by .file and .loc where instructions came from
  StepNames steps = {};    ///< what instructions of a line are called in the PTX
};

struct NVPTXOutput {
  std::string llvmIR; ///< optimised LLVM IR as text, if it was asked for
  std::string ptx;
  unsigned ptxIsa = 0;      ///< 10*major+minor, as in the text's .version
  uint64_t sharedBytes = 0; ///< static shared memory of a CTA
};

/// Translates a module of the LLVM and NVVM dialects. Failures are diagnosed at the module's location. The instructions
/// are the same whatever the options.
mlir::FailureOr<NVPTXOutput> emitNVPTX(mlir::ModuleOp lowered, const TargetInfo &target,
                                       const NVPTXOptions &options = {});

} // namespace interlock::target
