// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From a spec to macros.
#include "bench/compile/DispatchSource.h"

#include "bench/Kernels.h"
#include "runtime/Spec/WindowLayout.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace interlock::bench {

namespace {
class SourceCompiler final : public Compiler {
public:
  SourceCompiler(Nvrtc nvrtc, std::shared_ptr<Compiler> rest) : nvrtc(std::move(nvrtc)), rest(std::move(rest)) {}

  Result<std::string> identity() override {
    ILK_ASSIGN_OR_RETURN(std::string text, rest->identity());
    nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    json["dispatch"] = nvrtc.version(); // no kernel of this compiler may be taken for a generated one
    return json.dump();
  }

  Result<std::map<std::string, std::string>> compile(const KernelSpec &spec,
                                                     const std::vector<std::string> &parts) override {
    if (spec.kernel != KernelKind::dispatch)
      return rest->compile(spec, parts);
    if (spec.schedule != Schedule::gridStride || spec.cluster != 1)
      return makeError(Code::unsupported, fmt::format("the CUDA C++ dispatch is grid_stride at cluster 1, got {} at {}",
                                                      name(spec.schedule), spec.cluster));
    ILK_ASSIGN_OR_RETURN(std::string ptx,
                         nvrtc.compile(dispatchSource(), spec.target, NvrtcProduct::ptx, dispatchOptions(spec)));
    nlohmann::json meta = {{"entry", dispatchEntry},
                           {"target", spec.target},
                           {"ptx_isa", isaOf(ptx)},
                           {"block_threads", spec.blockThreads},
                           {"cluster", 1},
                           {"shared_bytes", 0},
                           {"cooperative", false},
                           {"remarks", nlohmann::json::array()},
                           {"findings", nlohmann::json::array()},
                           {"timings_ms", nlohmann::json::object()},
                           {"assembler", "none"}};
    return std::map<std::string, std::string>{{"ptx", std::move(ptx)}, {"meta", meta.dump()}};
  }

private:
  static std::string isaOf(const std::string &ptx) {
    size_t at = ptx.find(".version ");
    return at == std::string::npos ? "" : ptx.substr(at + 9, ptx.find_first_of(" \n", at + 9) - at - 9);
  }

  Nvrtc nvrtc;
  std::shared_ptr<Compiler> rest;
};
} // namespace

const char *dispatchSource() { return kernels::dispatchCuda; }

std::vector<std::string> dispatchOptions(const KernelSpec &spec) {
  const LayerSpec &layer = spec.layer;
  WindowLayout w = windowLayout(layer);
  std::vector<std::string> options{"--std=c++17"};
  auto wide = [&](const char *name, uint64_t value) { options.push_back(fmt::format("-D{}={}ull", name, value)); };
  auto narrow = [&](const char *name, uint32_t value) { options.push_back(fmt::format("-D{}={}", name, value)); };
  narrow("RANKS", layer.ranks);
  narrow("EXPERTS", layer.experts);
  narrow("EXPERTS_PER_RANK", layer.expertsPerRank());
  narrow("TOPK", layer.topk);
  narrow("ROWS_PER_SOURCE", layer.rowsPerSource());
  narrow("SCALE_WORDS", layer.scaleBytes / 4);
  narrow("BLOCK_THREADS", spec.blockThreads);
  narrow("TILE_TOKENS", spec.tileTokens);
  wide("SIGNAL_STRIDE", WindowLayout::signalStride);
  wide("OFF_CONTROL", w.control);
  wide("OFF_RESULT", w.results + sizeof(OpResult) * uint64_t(KernelKind::dispatch));
  wide("OFF_STARTED", w.started);
  wide("OFF_ARRIVED", w.arrived);
  wide("OFF_COUNTS", w.counts);
  wide("OFF_LANDING", w.landing);
  wide("OFF_META", w.meta);
  wide("ROW_STRIDE", w.rowStride);
  wide("META_STRIDE", w.metaStride);
  wide("META_WEIGHTS", w.metaWeights);
  wide("META_TOKEN", w.metaToken);
  wide("META_SCALES", w.metaScales);
  return options;
}

std::shared_ptr<Compiler> makeSourceCompiler(Nvrtc nvrtc, std::shared_ptr<Compiler> rest) {
  return std::make_shared<SourceCompiler>(std::move(nvrtc), std::move(rest));
}

} // namespace interlock::bench
