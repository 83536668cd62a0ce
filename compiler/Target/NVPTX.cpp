// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Drives LLVM directly, so that every intermediate step can be shown.
#include "compiler/Target/NVPTX.h"

#include "compiler/Target/Optimise.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;

namespace interlock::target {
namespace {

/// What raises the PTX ISA above the chip's own minimum, by the spelling that an operation or inline assembly has.
struct Feature {
  llvm::StringLiteral opName; ///< prefix of an operation's name, or empty
  llvm::StringLiteral text;   ///< substring of inline assembly, or empty
  unsigned ptxIsa;
};
constexpr Feature features[] = {
    {"nvvm.cluster.arrive", "barrier.cluster", 80},
    {"nvvm.read.ptx.sreg.cluster", "%cluster", 78},
    {"nvvm.mapa", "mapa", 78},
    {"nvvm.mbarrier", "mbarrier", 70},
    {"", "test_wait.parity", 71},
    {"nvvm.mbarrier.try_wait", "mbarrier.try_wait", 78},
    {"nvvm.mbarrier.init.fence", "fence.mbarrier_init", 80},
    {"nvvm.fence.mbarrier.init", "", 80},
    {"nvvm.fence.sync_restrict", "sync_restrict", 86},
    {"nvvm.fence.proxy", "fence.proxy.async", 80},
    {"nvvm.cp.async.bulk", "cp.async.bulk", 80},
    {"", "st.async", 81},
    {"", "mbarrier.arrive.expect_tx", 80},
    {"", ".relaxed.cluster.shared", 80},
    {"", "fence.acquire", 86},
    {"", "fence.release", 86},
    {"nvvm.match.sync", "match.", 60},
    // LLVM asks for the version that brought them to sm_89.
    {"nvvm.convert.f32x2.to.f8x2", "", 81},
    {"nvvm.convert.f8x2.to.f16x2", "", 81},
};

/// mbarrier operations that state `.relaxed` need PTX ISA 8.6; those that state any scope need 8.0.
unsigned mbarrierQualifierIsa(Operation *op) {
  if (auto relaxed = op->getAttrOfType<BoolAttr>("relaxed"); relaxed && relaxed.getValue())
    return 86;
  return op->hasAttr("scope") ? 80 : 0;
}

/// LLVM prints one-sided fences (`fence.acquire.cluster`) for acquire and release fences on chips that have them.
unsigned fenceIsa(LLVM::FenceOp fence, const TargetInfo &target) {
  auto ordering = fence.getOrdering();
  bool oneSided = ordering == LLVM::AtomicOrdering::acquire || ordering == LLVM::AtomicOrdering::release;
  return oneSided && target.computeCapability >= 90 ? 86 : 60;
}

void initialiseLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// Makes LLVM carry each operation's place to its instructions. `DebugDirectivesOnly` asks for nothing but .loc: with
/// line tables of its own the back end would mark the PTX as made for debugging, and ptxas would not optimise it.
void keepPlaces(ModuleOp lowered) {
  MLIRContext *context = lowered.getContext();
  for (auto function : lowered.getOps<LLVM::LLVMFuncOp>()) {
    auto place = dyn_cast<FileLineColLoc>(Location(function.getLoc()));
    if (!place || function.isExternal())
      continue;
    auto file = LLVM::DIFileAttr::get(context, place.getFilename().getValue(), "");
    auto unit = LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C, file,
                                             StringAttr::get(context, "interlock"), /*isOptimized=*/true,
                                             LLVM::DIEmissionKind::DebugDirectivesOnly);
    auto type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
    auto flags = LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized;
    auto scope = LLVM::DISubprogramAttr::get(context, DistinctAttr::create(UnitAttr::get(context)), unit, file,
                                             function.getNameAttr(), function.getNameAttr(), file, place.getLine(),
                                             place.getLine(), flags, type, /*retainedNodes=*/{}, /*annotations=*/{});
    function->setLoc(FusedLoc::get(context, {place}, scope));
  }
}

/// Leaves out of code generation what finds next to nothing behind optimise(): straight-line strength reduction,
/// reassociation, and the CSE that cleans up behind each. Of the PTX one instruction in a thousand went by them, and
/// ptxas makes as much of it either way. Loop strength reduction and the CSE behind it stay: without, ptxas unrolls.
class CodegenGate final : public llvm::OptPassGate {
public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef) const override {
    beforeLoops &= pass != "Loop Strength Reduction";
    return !beforeLoops || (pass != "slsr" && pass != "nary-reassociate" && pass != "early-cse");
  }

private:
  mutable bool beforeLoops = true;
};

/// LLVM IR as text, with its line information only if it was asked for.
std::string textOf(const llvm::Module &module, bool keepLines) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (keepLines) {
    stream << module;
    return text;
  }
  std::unique_ptr<llvm::Module> bare = llvm::CloneModule(module);
  llvm::StripDebugInfo(*bare);
  stream << *bare;
  return text;
}

} // namespace

unsigned requiredPtxIsa(ModuleOp lowered, const TargetInfo &target) {
  unsigned isa = target.minPtxIsa;
  lowered.walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    StringRef assembly;
    if (auto inlineAsm = dyn_cast<LLVM::InlineAsmOp>(op))
      assembly = inlineAsm.getAsmString();
    for (const Feature &feature : features)
      if ((!feature.opName.empty() && name.starts_with(feature.opName)) ||
          (!feature.text.empty() && assembly.contains(feature.text)))
        isa = std::max(isa, feature.ptxIsa);
    if (name.starts_with("nvvm.mbarrier"))
      isa = std::max(isa, mbarrierQualifierIsa(op));
    if (assembly.contains("mbarrier") && assembly.contains(".relaxed"))
      isa = std::max(isa, 86u);
    if (auto fence = dyn_cast<LLVM::FenceOp>(op))
      isa = std::max(isa, fenceIsa(fence, target));
  });
  return isa;
}

FailureOr<NVPTXOutput> emitNVPTX(ModuleOp lowered, const TargetInfo &target, const NVPTXOptions &options) {
  initialiseLLVM();
  NVPTXOutput output;
  output.ptxIsa = requiredPtxIsa(lowered, target);

  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backEnd = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backEnd)
    return lowered.emitError() << "expected the NVPTX back end in this build, got: " << error;
  std::string chip(target.name), isa = "+ptx" + std::to_string(output.ptxIsa);
  std::unique_ptr<llvm::TargetMachine> machine(backEnd->createTargetMachine(
      triple, chip, isa, llvm::TargetOptions(), std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));

  keepPlaces(lowered);
  CodegenGate gate;
  llvm::LLVMContext context;
  context.setOptPassGate(gate);
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(lowered, context, "interlock");
  if (!module)
    return failure();
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  optimise(*module, *machine);

  if (options.keepLLVMIR)
    output.llvmIR = textOf(*module, options.keepLines);

  constexpr unsigned sharedSpace = 3;
  for (const llvm::GlobalVariable &global : module->globals())
    if (global.getAddressSpace() == sharedSpace)
      output.sharedBytes += module->getDataLayout().getTypeAllocSize(global.getValueType());

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return lowered.emitError() << "expected a back end that writes assembly, got one for " << chip << " that does not";
  codegen.run(*module);
  output.ptx = labelSteps(text.str(), options.steps, options.keepLines);
  return output;
}

} // namespace interlock::target
