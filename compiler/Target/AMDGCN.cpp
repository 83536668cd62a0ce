// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Drives LLVM directly, so that every intermediate step can be shown.
#include "compiler/Target/AMDGCN.h"

#include "compiler/Target/Optimise.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace mlir;

namespace interlock::target {
namespace {

void initialiseLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
}

/// The comments that name the steps of the protocol come as inline assembly; the lines that LLVM puts around it say
/// nothing, since no instruction is in it.
std::string withoutAsmMarks(llvm::StringRef text) {
  std::string clean;
  clean.reserve(text.size());
  for (llvm::StringRef line : llvm::split(text, '\n'))
    if (llvm::StringRef bare = line.trim(); bare != ";;#ASMSTART" && bare != ";;#ASMEND")
      clean.append(line).append("\n");
  if (!clean.empty())
    clean.pop_back(); // split sees an empty line behind the last newline
  return clean;
}

} // namespace

std::unique_ptr<llvm::TargetMachine> amdgcnMachine(const TargetInfo &target, std::string &error) {
  initialiseLLVM();
  llvm::Triple triple("amdgcn-amd-amdhsa");
  const llvm::Target *backEnd = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backEnd)
    return nullptr;
  llvm::TargetOptions options;
  options.MCOptions.AsmVerbose = true;
  return std::unique_ptr<llvm::TargetMachine>(backEnd->createTargetMachine(
      triple, target.name, target.features, options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}

FailureOr<AMDGCNOutput> emitAMDGCN(ModuleOp lowered, const TargetInfo &target, const AMDGCNOptions &options) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = amdgcnMachine(target, error);
  if (!machine)
    return lowered.emitError() << "expected the AMDGPU back end in this build, got: " << error;

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(lowered, context, "interlock");
  if (!module)
    return failure();
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  module->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", target.codeObject * 100);
  optimise(*module, *machine);

  AMDGCNOutput output;
  if (options.keepLLVMIR)
    llvm::raw_string_ostream(output.llvmIR) << *module;

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return lowered.emitError() << "expected a back end that writes assembly, got one for " << StringRef(target.name)
                               << " that does not";
  codegen.run(*module);
  output.assembly = withoutAsmMarks(text);
  return output;
}

} // namespace interlock::target
