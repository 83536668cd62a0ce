// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From a source to a cached kernel: NVRTC, the gate, the facts that a launch needs.
#include "interlock/source.hpp"

#include "analysis/PTX/Reader.h"
#include "runtime/Cache/KernelCache.h"
#include "runtime/SourceJit/Nvrtc.h"
#include "runtime/SourceJit/SourceForm.h"
#include "runtime/SourceJit/SourceGate.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace interlock {

namespace {
using Clock = std::chrono::steady_clock;

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

Result<std::map<std::string, std::string>> make(const SourceKernel &kernel, const lint::Contract &contract,
                                                const Nvrtc &nvrtc) {
  auto begin = Clock::now();
  ILK_ASSIGN_OR_RETURN(NvrtcOutput output, nvrtc.compile(kernel, {}));
  auto compiled = Clock::now();
  ILK_ASSIGN_OR_RETURN(ptx::Module module, readPtx(kernel, output));
  const ptx::Function *function = module.findFunction(output.entry);
  if (!function || !function->entry || !function->defined)
    return makeError(Code::compile,
                     fmt::format("expected {} to be a __global__ function, got another one", nameOf(kernel)));
  ILK_ASSIGN_OR_RETURN(nlohmann::json findings, judge(kernel, module, contract, [&]() -> Result<ptx::Module> {
                         ILK_ASSIGN_OR_RETURN(NvrtcOutput lined,
                                              nvrtc.compile(kernel, {.cubin = false, .lines = true}));
                         return readPtx(kernel, lined);
                       }));
  auto milliseconds = [](Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); };
  uint32_t cluster = product(function->bounds.requiredCluster);
  nlohmann::json meta = {
      {"entry", output.entry},
      {"target", kernel.target},
      {"ptx_isa", fmt::format("{}.{}", module.version / 10, module.version % 10)},
      {"block_threads", product(function->bounds.requiredThreads)},
      {"max_threads", product(function->bounds.maxThreads)},
      {"cluster", cluster ? cluster : 1},
      {"shared_bytes", sharedBytes(module, *function)},
      {"cooperative", false},
      {"remarks", nlohmann::json::array()},
      {"findings", std::move(findings)},
      {"timings_ms", {{"compile", milliseconds(compiled - begin)}, {"gate", milliseconds(Clock::now() - compiled)}}},
      {"assembler", output.version},
      {"toolchain", "cuda"},
      {"source", nlohmann::json::parse(canonicalForm(kernel))}};
  return std::map<std::string, std::string>{
      {"ptx", std::move(output.ptx)},
      {"cubin", std::move(output.cubin)},
      {"meta", meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}};
}

/// What the cache is asked for. NVRTC is looked for when the cache wants to know of it, and at most once.
class Request {
public:
  Request(const SourceKernel &kernel, lint::Contract contract, const SourceOptions &options)
      : kernel(kernel), contract(std::move(contract)), options(options) {}

  SourceRequest request() {
    SourceRequest request;
    request.form = canonicalForm(kernel);
    request.target = kernel.target;
    request.what = nameOf(kernel);
    request.toolchain = "cuda";
    request.identity = [this]() -> Result<std::string> {
      ILK_ASSIGN_OR_RETURN(const Nvrtc *nvrtc, find());
      return nlohmann::json{{"nvrtc", nvrtc->identity()}, {"gate", gateIdentity()}}.dump();
    };
    request.compile = [this]() -> Result<std::map<std::string, std::string>> {
      ILK_ASSIGN_OR_RETURN(const Nvrtc *nvrtc, find());
      return make(kernel, contract, *nvrtc);
    };
    return request;
  }

private:
  Result<const Nvrtc *> find() {
    if (!found) {
      ILK_ASSIGN_OR_RETURN(found, Nvrtc::find(options.nvrtcPath));
    }
    return found.get();
  }

  const SourceKernel &kernel;
  lint::Contract contract;
  const SourceOptions &options;
  std::shared_ptr<Nvrtc> found;
};
} // namespace

Result<CompiledSource> compileSource(KernelCache &cache, const SourceKernel &kernel, const SourceOptions &options) {
  ILK_RETURN_IF_ERROR(validate(kernel));
  ILK_ASSIGN_OR_RETURN(lint::Contract contract, contractOf(kernel));
  Request wanted(kernel, std::move(contract), options);
  ILK_ASSIGN_OR_RETURN(Lookup found, cache.get(wanted.request()));
  const Artifact &artifact = *found.artifact;
  CompiledSource made;
  made.image = {artifact.text, artifact.binary, artifact.facts.entry};
  made.blockThreads = artifact.facts.blockThreads;
  made.maxThreads = artifact.meta.value("max_threads", 0u);
  made.cluster = artifact.facts.cluster;
  made.sharedBytes = artifact.facts.sharedBytes;
  made.meta = artifact.meta.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  made.outcome = name(found.outcome);
  made.reason = found.reason;
  made.milliseconds = found.milliseconds;
  return made;
}

Result<std::string> keyOfSource(KernelCache &cache, const SourceKernel &kernel, const SourceOptions &options) {
  ILK_RETURN_IF_ERROR(validate(kernel));
  ILK_ASSIGN_OR_RETURN(lint::Contract contract, contractOf(kernel));
  return cache.keyOf(Request(kernel, std::move(contract), options).request());
}

} // namespace interlock
