// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// mlir-opt with the dialects, passes and pipelines of Interlock.
#include "compiler/Pipeline/Pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  interlock::registerDialects(registry);
  interlock::registerPassesAndPipelines();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Interlock optimizer driver\n", registry));
}
