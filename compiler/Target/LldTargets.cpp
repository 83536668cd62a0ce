// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// lld links bitcode too, for which it initialises every back end that LLVM was built with. We give it objects only, so
// that neither the back ends that are not linked nor the optimiser's extension need be there: they would make the
// plugin twice as large.
#include "llvm/Plugins/PassPlugin.h"

#define ILK_ABSENT(target)                                                                                             \
  void LLVMInitialize##target##TargetInfo() {}                                                                         \
  void LLVMInitialize##target##Target() {}                                                                             \
  void LLVMInitialize##target##TargetMC() {}                                                                           \
  void LLVMInitialize##target##AsmPrinter() {}                                                                         \
  void LLVMInitialize##target##AsmParser() {}

extern "C" {
#include "compiler/Target/AbsentTargets.inc"
}

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "", [](llvm::PassBuilder &) {}};
}
