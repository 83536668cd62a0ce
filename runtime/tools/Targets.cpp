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
  for (const TargetInfo &t : targets())
    chips.push_back({{"name", t.name},
                     {"vendor", t.vendor},
                     {"compute_capability", t.computeCapability},
                     {"warp_width", t.warpWidth},
                     {"min_ptx_isa", isa(t.minPtxIsa)},
                     {"clusters", t.clusters},
                     {"async_barrier", t.asyncBarrier},
                     {"restricted_fence", t.restrictedFence},
                     {"max_shared_bytes", t.maxSharedBytes}});
  for (const ModelPreset &m : models())
    presets.push_back(
        {{"name", m.name}, {"hidden", m.hidden}, {"experts", m.experts}, {"topk", m.topk}, {"source", m.source}});
  return {{"targets", chips}, {"models", presets}};
}

void asTables() {
  std::vector<std::vector<std::string>> rows;
  for (const TargetInfo &t : targets())
    rows.push_back({std::string(t.name), std::string(t.vendor), isa(t.minPtxIsa), yesNo(t.clusters),
                    yesNo(t.asyncBarrier), yesNo(t.restrictedFence), std::to_string(t.maxSharedBytes)});
  printTable({"target", "vendor", "ptx isa", "clusters", "async barrier", "restricted fence", "shared bytes"}, rows);
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
