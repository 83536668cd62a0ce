// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// HIP C++: hiprtc, the gate on what its code object disassembles to, the facts that a launch needs.
#include "runtime/SourceJit/SourceCompiler.h"

#include "runtime/Driver/CodeObject.h"
#include "runtime/SourceJit/Disassembly.h"
#include "runtime/SourceJit/Hiprtc.h"
#include "runtime/SourceJit/SourceForm.h"
#include "runtime/SourceJit/SourceGate.h"

#include <fmt/format.h>

namespace interlock {

namespace {
class HipCompiler final : public SourceCompiler {
public:
  HipCompiler(std::shared_ptr<Hiprtc> hiprtc, SourceOptions options)
      : hiprtc(std::move(hiprtc)), options(std::move(options)) {}

  std::string identity() const override {
    return nlohmann::json{{"hiprtc", hiprtc->identity()},
                          {"gate", gateIdentity()},
                          {"disassembler", disassemblerIdentity(options)}}
        .dump();
  }

  Result<std::map<std::string, std::string>> make(const SourceKernel &kernel,
                                                  const lint::Contract &contract) const override;

private:
  std::shared_ptr<Hiprtc> hiprtc;
  SourceOptions options;
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
  nlohmann::json remarks = nlohmann::json::array(), findings = nlohmann::json::array();
  Result<std::string> text = disassemble(output.object, options);
  if (text) {
    times.step("disassemble");
    ILK_ASSIGN_OR_RETURN(findings, judgeAssembly(kernel, *text, contract));
    times.step("gate");
  } else if (text.error().code == Code::notFound) {
    remarks.push_back(fmt::format("scope-lint has not judged the kernel, and the emulator cannot run it: {}",
                                  text.error().message));
  } else {
    return tl::unexpected(text.error());
  }
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
                         {"judged", text.has_value()},
                         {"remarks", std::move(remarks)},
                         {"findings", std::move(findings)},
                         {"timings_ms", times.json()},
                         {"assembler", output.version},
                         {"toolchain", "hip"},
                         {"source", nlohmann::json::parse(canonicalForm(kernel))}};
  return std::map<std::string, std::string>{
      {"asm", text.value_or("")},
      {"hsaco", std::move(output.object)},
      {"meta", meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}};
}
} // namespace

Result<std::shared_ptr<SourceCompiler>> findHipCompiler(const SourceOptions &options) {
  ILK_ASSIGN_OR_RETURN(std::shared_ptr<Hiprtc> hiprtc, Hiprtc::find(options));
  return std::make_shared<HipCompiler>(std::move(hiprtc), options);
}

} // namespace interlock
