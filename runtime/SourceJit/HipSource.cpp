// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// HIP C++: hiprtc, the gate on what its code object disassembles to, the facts that a launch needs.
#include "runtime/SourceJit/SourceCompiler.h"

#include "runtime/Cache/Compiler.h"
#include "runtime/Driver/CodeObject.h"
#include "runtime/SourceJit/Hiprtc.h"
#include "runtime/SourceJit/SourceForm.h"
#include "runtime/SourceJit/SourceGate.h"

#include <fmt/format.h>

namespace interlock {

namespace {
class HipCompiler final : public SourceCompiler {
public:
  HipCompiler(std::shared_ptr<Hiprtc> hiprtc, std::shared_ptr<Compiler> plugin, const std::string &pluginIdentity)
      : hiprtc(std::move(hiprtc)), plugin(std::move(plugin)), pluginIdentity(pluginIdentity) {}

  std::string identity() const override {
    return nlohmann::json{{"hiprtc", hiprtc->identity()}, {"gate", gateIdentity()}, {"disassembler", pluginIdentity}}
        .dump();
  }

  Result<std::map<std::string, std::string>> make(const SourceKernel &kernel,
                                                  const lint::Contract &contract) const override;

private:
  std::shared_ptr<Hiprtc> hiprtc;
  std::shared_ptr<Compiler> plugin;
  std::string pluginIdentity;
};

Result<std::map<std::string, std::string>> HipCompiler::make(const SourceKernel &kernel,
                                                             const lint::Contract &contract) const {
  StepTimes times;
  ILK_ASSIGN_OR_RETURN(HiprtcOutput output, hiprtc->compile(kernel));
  times.step("compile");
  std::optional<ObjectKernel> facts = kernelOfObject(output.object, output.entry);
  if (!facts)
    return makeError(Code::compile,
                     fmt::format("expected {} to be a __global__ function, got another one", nameOf(kernel)));
  ILK_ASSIGN_OR_RETURN(std::vector<Disassembly> texts, plugin->disassemble(output.object, kernel.target));
  std::string text = std::move(texts.front().text);
  times.step("disassemble");
  ILK_ASSIGN_OR_RETURN(nlohmann::json findings, judgeAssembly(kernel, text, contract));
  times.step("gate");
  nlohmann::json remarks = nlohmann::json::array();
  if (facts->scratchBytes)
    remarks.push_back(fmt::format("the kernel keeps {} bytes a thread in scratch memory, which is slow: fewer threads "
                                  "per CTA would leave it more registers",
                                  facts->scratchBytes));
  nlohmann::json meta = {{"entry", output.entry},
                         {"target", kernel.target},
                         {"block_threads", facts->requiredThreads},
                         {"max_threads", facts->maxThreads},
                         {"cluster", 1},
                         {"shared_bytes", facts->sharedBytes},
                         {"scratch_bytes", facts->scratchBytes},
                         {"wave_width", facts->waveWidth},
                         {"vgprs", facts->vgprs},
                         {"agprs", facts->agprs},
                         {"sgprs", facts->sgprs},
                         {"cooperative", false},
                         {"remarks", std::move(remarks)},
                         {"findings", std::move(findings)},
                         {"timings_ms", times.json()},
                         {"assembler", output.version},
                         {"toolchain", "hip"},
                         {"source", nlohmann::json::parse(canonicalForm(kernel))}};
  return std::map<std::string, std::string>{
      {"asm", std::move(text)},
      {"hsaco", std::move(output.object)},
      {"meta", meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}};
}
} // namespace

Result<std::shared_ptr<SourceCompiler>> findHipCompiler(const SourceOptions &options,
                                                        std::shared_ptr<Compiler> plugin) {
  ILK_ASSIGN_OR_RETURN(std::shared_ptr<Hiprtc> hiprtc, Hiprtc::find(options));
  auto identity = plugin ? plugin->identity() : Result<std::string>(makeError(Code::notFound, "the cache has none"));
  if (!identity)
    return makeError(identity.error().code,
                     fmt::format("HIP C++ needs the compiler plugin too, whose disassembly scope-lint judges: {}",
                                 identity.error().message));
  return std::make_shared<HipCompiler>(std::move(hiprtc), std::move(plugin), *identity);
}

} // namespace interlock
