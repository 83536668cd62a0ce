// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Target/Optimise.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace interlock::target {
namespace {

/// What pays on our kernels, which come as one function in SSA form: the default -O2 pipeline takes more than twice the
/// time and yields as many instructions (bench/results/compile.json has the time, bench/results/single_gpu.json the
/// speed).
llvm::FunctionPassManager optimisations() {
  // One round of InstCombine: a second one found nothing worth its time.
  auto instCombine = [] {
    return llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false));
  };
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(instCombine());
  llvm::LoopPassManager rotate;
  rotate.addPass(llvm::LoopRotatePass());
  rotate.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rotate), /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager unroll;
  // Unrolled first: a loop that is gone has no induction variable to simplify.
  unroll.addPass(llvm::LoopFullUnrollPass());
  unroll.addPass(llvm::IndVarSimplifyPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(unroll)));
  passes.addPass(llvm::GVNPass()); // EarlyCSE would take half the time and leave up to 2 % more instructions
  passes.addPass(instCombine());
  llvm::LoopPassManager hoist;
  hoist.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(hoist), /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

} // namespace

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::FunctionPassManager passes = optimisations();
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

} // namespace interlock::target
