// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/API/Compile.h"

#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Pipeline/SourceLines.h"
#include "compiler/Target/AMDGCN.h"
#include "compiler/Target/CodeObject.h"
#include "compiler/Target/CubinAssembler.h"
#include "compiler/Target/Gate.h"
#include "compiler/Target/NVPTX.h"
#include "compiler/Transforms/StageModule.h"
#include "dialects/EP/EP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <chrono>

using namespace mlir;

namespace interlock {
namespace {

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo(false));
  return text + "\n";
}

/// One compilation: the module on its way, what was made so far, and what was said about it.
class Compilation {
public:
  explicit Compilation(const CompileRequest &request)
      : request(request), context(registry(), MLIRContext::Threading::DISABLED) {
    handler = context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) { note(diagnostic); });
  }

  Result<std::map<std::string, std::string>> run() {
    ILK_RETURN_IF_ERROR(begin());
    options.templateDir = request.templateDir;
    keep("stages", [&] { return print(*module); });
    ILK_RETURN_IF_ERROR(step("expand", "", addExpandPasses));
    keep("expanded", [&] { return print(*module); });
    // AMDGCN's comments name the template's line; only PTX has lines of the expanded kernel.
    if (!options.target.isAMD())
      steps = request.lineFile.empty() ? markSteps(*module) : markLines(*module, request.lineFile);
    ILK_RETURN_IF_ERROR(findKernel());
    ILK_RETURN_IF_ERROR(step("verify", "verified", addVerifyPasses, /*newOps=*/false));
    findLaunchMode();
    ILK_RETURN_IF_ERROR(step("lower", "lowered", addLoweringPasses));
    if (wants("llvm") || wants("meta") || wants(options.target.isAMD() ? "asm" : "ptx") ||
        wants(options.target.isAMD() ? "hsaco" : "cubin"))
      ILK_RETURN_IF_ERROR(options.target.isAMD() ? emitForAMD() : emitForNVIDIA());
    return std::move(parts);
  }

private:
  static const DialectRegistry &registry() {
    static const DialectRegistry dialects = [] {
      DialectRegistry all;
      registerDialects(all);
      return all;
    }();
    return dialects;
  }

  /// The module that the pipeline starts from, and the chip that it is for.
  Status begin() {
    if (request.module.empty()) {
      ILK_RETURN_IF_ERROR(validate(request.spec));
      module = buildStageModule(context, request.spec);
    } else {
      module = parse(request.module);
      if (!module)
        return failure();
    }
    FailureOr<TargetInfo> target = targetOf(*module);
    if (failed(target))
      return failure();
    options.target = *target;
    for (const auto &[part, amd] : {std::pair("ptx", false), {"cubin", false}, {"asm", true}, {"hsaco", true}})
      if (wants(part) && amd != options.target.isAMD())
        return makeError(Code::badInput,
                         fmt::format("{} is a product of {} chips, expected {} for {}", part, amd ? "AMD" : "NVIDIA",
                                     amd ? "ptx or cubin" : "asm or hsaco", options.target.name));
    return {};
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, request.moduleFile), llvm::SMLoc());
    return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  }

  /// What a launch needs to know stands on the kernel from its expansion to the conversion.
  Status findKernel() {
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp function : module->getOps<func::FuncOp>())
      if (function->hasAttr(ep::kernelAttrName))
        kernels.push_back(function);
    if (kernels.size() != 1)
      return makeError(Code::compile, fmt::format("expected a module with one kernel (a function with `{}`), got {}",
                                                  std::string_view(ep::kernelAttrName), kernels.size()));
    auto number = [&](StringRef name) {
      auto value = kernels[0]->getAttrOfType<IntegerAttr>(name);
      return value ? uint32_t(value.getInt()) : 1u;
    };
    facts.entry = kernels[0].getName().str();
    facts.blockThreads = number(ep::blockThreadsAttrName);
    facts.cluster = number(ep::clusterAttrName);
    return {};
  }

  /// What ep-derive-launch-mode left at the kernel.
  void findLaunchMode() {
    for (func::FuncOp function : module->getOps<func::FuncOp>()) {
      auto mode = function->getAttrOfType<StringAttr>(ep::launchModeAttrName);
      auto waits = function->getAttrOfType<ArrayAttr>(ep::launchWaitsAttrName);
      if (!mode)
        continue;
      facts.launchMode = mode.str();
      for (Attribute each : waits ? waits.getValue() : ArrayRef<Attribute>()) {
        nlohmann::json wait = nlohmann::json::object();
        for (NamedAttribute field : cast<DictionaryAttr>(each))
          wait[field.getName().str()] = cast<StringAttr>(field.getValue()).str();
        facts.launchWaits.push_back(std::move(wait));
      }
    }
  }

  bool wants(const std::string &part) const { return request.parts.contains(part); }
  template <typename Make> void keep(const std::string &part, Make make) {
    if (wants(part))
      parts[part] = make();
  }

  void note(Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      stream << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn() << ": ";
    stream << diagnostic;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      for (Diagnostic &more : diagnostic.getNotes())
        stream << "; note: " << more;
      errors.push_back(text);
    } else if (std::find(remarks.begin(), remarks.end(), text) == remarks.end()) {
      remarks.push_back(text);
    }
  }

  tl::unexpected<Error> failure() {
    std::string why =
        errors.empty() ? "the compiler failed without a diagnostic" : fmt::format("{}", fmt::join(errors, "\n"));
    return makeError(Code::compile, why);
  }

  template <typename Run> auto timed(const char *name, Run run) {
    auto begin = std::chrono::steady_clock::now();
    auto result = run();
    std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    timings[name] = spent.count();
    return result;
  }

  /// `newOps`: the passes make operations, and do not only judge them and note what they found.
  Status step(const char *name, const char *part, void (*add)(OpPassManager &, const PipelineOptions &),
              bool newOps = true) {
    LogicalResult done = timed(name, [&] {
      PassManager passes(&context);
      add(passes, options);
      // Not after every pass, which was a twelfth of the work of a compilation, but where operations are new.
      passes.enableVerifier(false);
      return success(succeeded(passes.run(*module)) && (!newOps || succeeded(verify(*module))));
    });
    if (failed(done))
      return failure();
    keep(part, [&] { return print(*module); });
    return {};
  }

  Status emitForNVIDIA() {
    bool keepLines = !request.lineFile.empty();
    applyMarks(*module);
    FailureOr<target::NVPTXOutput> output =
        timed("emit", [&] { return target::emitNVPTX(*module, options.target, {wants("llvm"), keepLines, steps}); });
    if (failed(output))
      return failure();
    keep("llvm", [&] { return output->llvmIR; });
    ILK_ASSIGN_OR_RETURN(findings, timed("gate", [&] { return target::gatePtx(output->ptx, facts.cluster); }));
    keep("ptx", [&] { return output->ptx; });
    std::string assembler = "none";
    if (wants("cubin")) {
      auto found = target::CubinAssembler::find();
      if (found) {
        assembler = (*found)->identity();
        auto cubin = timed("assemble", [&] { return (*found)->assemble(output->ptx, options.target.name, keepLines); });
        if (!cubin)
          return tl::unexpected(cubin.error());
        parts["cubin"] = std::move(*cubin);
      } else {
        remarks.push_back(found.error().message);
      }
    }
    keep("meta", [&] {
      nlohmann::json json = meta();
      json["ptx_isa"] = fmt::format("{}.{}", output->ptxIsa / 10, output->ptxIsa % 10);
      json["shared_bytes"] = output->sharedBytes;
      json["assembler"] = assembler;
      return json.dump(2) + "\n";
    });
    return {};
  }

  Status emitForAMD() {
    FailureOr<target::AMDGCNOutput> output =
        timed("emit", [&] { return target::emitAMDGCN(*module, options.target, {.keepLLVMIR = wants("llvm")}); });
    if (failed(output))
      return failure();
    keep("llvm", [&] { return output->llvmIR; });
    ILK_ASSIGN_OR_RETURN(findings, timed("gate", [&] { return target::gateAmdgcn(output->assembly); }));
    keep("asm", [&] { return output->assembly; });
    if (!wants("hsaco") && !wants("meta"))
      return {};
    ILK_ASSIGN_OR_RETURN(std::string object,
                         timed("assemble", [&] { return target::assembleObject(output->assembly, options.target); }));
    if (wants("hsaco")) {
      ILK_ASSIGN_OR_RETURN(parts["hsaco"], timed("link", [&] { return target::linkCodeObject(object); }));
    }
    ILK_ASSIGN_OR_RETURN(nlohmann::json kernel, target::describeKernel(object));
    if (kernel["scratch_bytes"] != 0)
      remarks.push_back(
          fmt::format("the kernel keeps {} bytes a thread in scratch memory, which is slow: fewer threads "
                      "per CTA would leave it more registers",
                      kernel["scratch_bytes"].get<uint64_t>()));
    keep("meta", [&] {
      nlohmann::json json = meta();
      json["code_object"] = options.target.codeObject;
      json["assembler"] = "LLVM";
      json.update(kernel);
      return json.dump(2) + "\n";
    });
    return {};
  }

  /// What is said of a kernel for any chip.
  nlohmann::json meta() const {
    return {{"entry", facts.entry},
            {"target", options.target.name},
            {"block_threads", facts.blockThreads},
            {"cluster", facts.cluster},
            {"launch_mode", facts.launchMode},
            {"launch_waits", facts.launchWaits},
            {"cooperative", facts.launchMode == name(LaunchMode::cooperative)},
            {"remarks", remarks},
            {"findings", findings},
            {"timings_ms", timings}};
  }

  struct KernelFacts {
    std::string entry;
    uint32_t blockThreads = 0, cluster = 1;
    std::string launchMode = std::string(name(LaunchMode::any));
    nlohmann::json launchWaits = nlohmann::json::array();
  };

  const CompileRequest &request;
  MLIRContext context;
  DiagnosticEngine::HandlerID handler;
  PipelineOptions options;
  OwningOpRef<ModuleOp> module;
  KernelFacts facts;
  target::StepNames steps;
  std::map<std::string, std::string> parts;
  std::vector<std::string> errors, remarks;
  nlohmann::json findings = nlohmann::json::array();
  std::map<std::string, double> timings;
};

} // namespace

const std::vector<std::string> &partNames() {
  static const std::vector<std::string> names = {"stages", "expanded", "verified", "lowered", "llvm",
                                                 "ptx",    "cubin",    "asm",      "hsaco",   "meta"};
  return names;
}

Result<std::map<std::string, std::string>> compile(const CompileRequest &request) {
  for (const std::string &part : request.parts)
    if (std::find(partNames().begin(), partNames().end(), part) == partNames().end())
      return makeError(Code::badInput,
                       fmt::format("expected a part of {}, got {}", fmt::join(partNames(), ", "), part));
  return Compilation(request).run();
}

} // namespace interlock
