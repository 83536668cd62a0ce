// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// CUDA C++: NVRTC, the gate on its PTX, the facts that a launch needs.
#include "runtime/SourceJit/SourceCompiler.h"

#include "analysis/PTX/Reader.h"
#include "runtime/SourceJit/Nvrtc.h"
#include "runtime/SourceJit/SourceForm.h"
#include "runtime/SourceJit/SourceGate.h"

#include <fmt/format.h>

namespace interlock {

namespace {
Result<ptx::Module> readPtx(const SourceKernel &kernel, const NvrtcOutput &output) {
  auto module = ptx::read(output.ptx, kernel.source.name + ".ptx");
  if (!module)
    return makeError(Code::compile, fmt::format("expected PTX of {} that can be judged, got: {}", output.version,
                                                module.error().str()));
  return std::move(*module);
}

uint32_t product(const std::optional<std::array<uint32_t, 3>> &bound) {
  return bound ? (*bound)[0] * (*bound)[1] * (*bound)[2] : 0;
}

uint32_t sharedBytes(const ptx::Module &module, const ptx::Function &function) {
  uint64_t bytes = 0;
  for (const auto *list : {&module.variables, &function.variables})
    for (const ptx::Variable &variable : *list)
      if (variable.space == ptx::Space::shared && !variable.unsized)
        bytes = (bytes + variable.align - 1) / variable.align * variable.align + variable.size;
  return uint32_t(bytes);
}

class CudaCompiler final : public SourceCompiler {
public:
  explicit CudaCompiler(std::shared_ptr<Nvrtc> nvrtc) : nvrtc(std::move(nvrtc)) {}

  std::string identity() const override {
    return nlohmann::json{{"nvrtc", nvrtc->identity()}, {"gate", gateIdentity()}}.dump();
  }

  Result<std::map<std::string, std::string>> make(const SourceKernel &kernel,
                                                  const lint::Contract &contract) const override;

private:
  std::shared_ptr<Nvrtc> nvrtc;
};

Result<std::map<std::string, std::string>> CudaCompiler::make(const SourceKernel &kernel,
                                                              const lint::Contract &contract) const {
  StepTimes times;
  ILK_ASSIGN_OR_RETURN(NvrtcOutput output, nvrtc->compile(kernel, {}));
  times.step("compile");
  ILK_ASSIGN_OR_RETURN(ptx::Module module, readPtx(kernel, output));
  const ptx::Function *function = module.findFunction(output.entry);
  if (!function || !function->entry || !function->defined)
    return makeError(Code::compile,
                     fmt::format("expected {} to be a __global__ function, got another one", nameOf(kernel)));
  ILK_ASSIGN_OR_RETURN(nlohmann::json findings, judge(kernel, module, contract, [&]() -> Result<ptx::Module> {
                         ILK_ASSIGN_OR_RETURN(NvrtcOutput lined,
                                              nvrtc->compile(kernel, {.cubin = false, .lines = true}));
                         return readPtx(kernel, lined);
                       }));
  times.step("gate");
  uint32_t cluster = product(function->bounds.requiredCluster);
  nlohmann::json meta = {{"entry", output.entry},
                         {"target", kernel.target},
                         {"ptx_isa", fmt::format("{}.{}", module.version / 10, module.version % 10)},
                         {"block_threads", product(function->bounds.requiredThreads)},
                         {"max_threads", product(function->bounds.maxThreads)},
                         {"cluster", cluster ? cluster : 1},
                         {"shared_bytes", sharedBytes(module, *function)},
                         {"cooperative", false},
                         {"remarks", nlohmann::json::array()},
                         {"findings", std::move(findings)},
                         {"timings_ms", times.json()},
                         {"assembler", output.version},
                         {"toolchain", "cuda"},
                         {"source", nlohmann::json::parse(canonicalForm(kernel))}};
  return std::map<std::string, std::string>{
      {"ptx", std::move(output.ptx)},
      {"cubin", std::move(output.cubin)},
      {"meta", meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}};
}

} // namespace

Result<std::shared_ptr<SourceCompiler>> findCudaCompiler(const SourceOptions &options) {
  ILK_ASSIGN_OR_RETURN(std::shared_ptr<Nvrtc> nvrtc, Nvrtc::find(options.nvrtcPath));
  return std::make_shared<CudaCompiler>(std::move(nvrtc));
}

} // namespace interlock
