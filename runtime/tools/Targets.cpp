// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock targets`: the chips that kernels can be generated for, and the models whose figures are known.
#include "interlock/spec.hpp"
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

namespace interlock::tool {

namespace {
std::string isa(uint32_t version) { return fmt::format("{}.{}", version / 10, version % 10); }
const char *yesNo(bool value) { return value ? "yes" : "no"; }

nlohmann::json asJson() {
  nlohmann::json chips = nlohmann::json::array(), presets = nlohmann::json::array();
  for (const TargetInfo &t : targets()) {
    chips.push_back({{"name", t.name},
                     {"vendor", t.vendor},
                     {"warp_width", t.warpWidth},
                     {"clusters", t.clusters},
                     {"remote_shared", t.remoteShared},
                     {"async_barrier", t.asyncBarrier},
                     {"restricted_fence", t.restrictedFence},
                     {"max_shared_bytes", t.maxSharedBytes},
                     {"f8", name(t.f8)}});
    if (t.isAMD())
      chips.back().update({{"features", t.features}, {"code_object", t.codeObject}});
    else
      chips.back().update({{"compute_capability", t.computeCapability}, {"min_ptx_isa", isa(t.minPtxIsa)}});
  }
  for (const ModelPreset &m : models())
    presets.push_back(
        {{"name", m.name}, {"hidden", m.hidden}, {"experts", m.experts}, {"topk", m.topk}, {"source", m.source}});
  return {{"targets", chips}, {"models", presets}};
}

void asTables() {
  std::vector<std::vector<std::string>> rows;
  for (const TargetInfo &t : targets())
    rows.push_back({std::string(t.name), std::string(t.vendor), std::to_string(t.warpWidth),
                    t.isAMD() ? fmt::format("code object {}", t.codeObject) : "PTX " + isa(t.minPtxIsa),
                    yesNo(t.clusters), yesNo(t.remoteShared), yesNo(t.asyncBarrier), yesNo(t.restrictedFence),
                    std::to_string(t.maxSharedBytes), std::string(name(t.f8))});
  printTable({"target", "vendor", "lanes", "from", "clusters", "remote shared", "async barrier", "restricted fence",
              "shared bytes", "fp8"},
             rows);
  fmt::print("\n");
  rows.clear();
  for (const ModelPreset &m : models())
    rows.push_back({std::string(m.name), std::to_string(m.hidden), std::to_string(m.experts), std::to_string(m.topk)});
  printTable({"model", "hidden", "experts", "top-k"}, rows);
}
} // namespace

void addTargets(CLI::App &app, Context &context) {
  CLI::App *command = app.add_subcommand("targets", "list the chips and the model presets");
  command->callback([&context] {
    if (context.json)
      print(asJson());
    else
      asTables();
  });
}

} // namespace interlock::tool
