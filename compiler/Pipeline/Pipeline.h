// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The steps from a stage module to the LLVM dialect, each a pipeline that can be stopped after.
#pragma once

#include "interlock/spec.hpp"

#include "mlir/Pass/PassManager.h"

#include <string>

namespace interlock {

struct PipelineOptions {
  TargetInfo target;
  std::string templateDir; ///< overrides embedded templates, if not empty
};

/// Stage module → kernel function over ep, sync, scf and arith, with all parameters folded and hand-offs in place.
void addExpandPasses(mlir::OpPassManager &passes, const PipelineOptions &options);
/// Scopes inferred and judged.
void addVerifyPasses(mlir::OpPassManager &passes, const PipelineOptions &options);
/// Hand-offs → barriers → waits → LLVM dialect and NVVM or ROCDL, as the target has.
void addLoweringPasses(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Makes every pass of ours, and the pipelines `interlock-expand`, `interlock-verify` and `interlock-lower`, known to
/// interlock-opt.
void registerPassesAndPipelines();

/// Registers the dialects, interfaces and translations that the pipeline needs.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace interlock
