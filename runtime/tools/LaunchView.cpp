// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/LaunchView.h"

#include "runtime/Spec/WindowLayout.h"

#include <fmt/format.h>

namespace interlock::tool {

namespace {
nlohmann::json argumentsOf(KernelKind kind) {
  nlohmann::json arguments = nlohmann::json::array();
  for (const KernelParam &param : kernelParams(kind))
    arguments.push_back({{"name", param.name}, {"type", param.type}, {"offset", param.offset}, {"bytes", param.bytes}});
  return arguments;
}

nlohmann::json windowOf(const LayerSpec &layer) {
  WindowLayout w = windowLayout(layer);
  nlohmann::json regions = nlohmann::json::array();
  for (const WindowRegion &region : windowRegions(layer))
    regions.push_back({{"name", region.name}, {"offset", region.offset}, {"bytes", region.bytes}});
  return {{"bytes", w.size},
          {"buffers", WindowLayout::buffers},
          {"signal_stride", WindowLayout::signalStride},
          {"row_stride", w.rowStride},
          {"combine_row_stride", w.combineRowStride},
          {"rows_per_expert_token", w.outRows},
          {"meta_stride", w.metaStride},
          {"meta_weights", w.metaWeights},
          {"meta_token", w.metaToken},
          {"meta_scales", w.metaScales},
          {"regions", regions}};
}
} // namespace

nlohmann::json launchView(const Artifact &artifact) {
  const LaunchFacts &facts = artifact.facts;
  nlohmann::json launch = {{"entry", facts.entry},
                           {"arguments", argumentsOf(artifact.spec.kernel)},
                           {"shared_bytes", facts.sharedBytes},
                           {"block", {facts.blockThreads, 1, 1}},
                           {"cluster", {facts.cluster, 1, 1}},
                           {"grid_multiple_of", facts.cluster},
                           {"cooperative", facts.cooperative},
                           {"launch_mode", name(facts.launchMode)}};
  if (!isLocal(artifact.spec.kernel)) // a local kernel has no window
    launch["window"] = windowOf(artifact.spec.layer);
  if (artifact.meta.contains("descriptor"))
    launch["descriptor"] = artifact.meta["descriptor"];
  return launch;
}

std::string launchText(const nlohmann::json &launch) {
  std::string text = fmt::format("entry {}", launch["entry"].get<std::string>());
  if (launch.contains("descriptor"))
    text += fmt::format(" (descriptor {})", launch["descriptor"].get<std::string>());
  text += fmt::format(", {} threads per CTA, a grid of a multiple of {} CTAs, {} bytes of shared memory\n",
                      launch["block"][0].get<uint64_t>(), launch["grid_multiple_of"].get<uint64_t>(),
                      launch["shared_bytes"].get<uint64_t>());
  for (const auto &argument : launch["arguments"])
    text += fmt::format("  argument {:4} {} {}\n", argument["offset"].get<uint64_t>(),
                        argument["type"].get<std::string>(), argument["name"].get<std::string>());
  if (!launch.contains("window"))
    return text;
  const nlohmann::json &window = launch["window"];
  text += fmt::format("window of {} bytes per rank\n", window["bytes"].get<uint64_t>());
  for (const auto &region : window["regions"])
    text += fmt::format("  {:12} at {:12}, {} bytes\n", region["name"].get<std::string>(),
                        region["offset"].get<uint64_t>(), region["bytes"].get<uint64_t>());
  return text;
}

std::string launchModeText(const Artifact &artifact) {
  auto says = [](LaunchMode mode) -> std::string_view {
    switch (mode) {
    case LaunchMode::any:
      return "any grid, resident or not: no CTA waits for another one";
    case LaunchMode::cluster:
      return "any grid of whole clusters: a CTA waits for its cluster at most, whose CTAs run together";
    case LaunchMode::forward:
      return "any grid whose CTAs are started in order: a CTA waits for earlier ones at most";
    case LaunchMode::peers:
      return "the kernels of the other ranks must run meanwhile: on GPUs of their own, or all grids resident together";
    case LaunchMode::cooperative:
      return "the whole grid resident at once, by a cooperative launch: CTAs wait for each other";
    }
    return "";
  };
  std::string text =
      fmt::format("launch mode {}: {}\n", name(artifact.facts.launchMode), says(artifact.facts.launchMode));
  auto waits = artifact.meta.find("launch_waits");
  if (waits != artifact.meta.end() && waits->is_array())
    for (const nlohmann::json &wait : *waits)
      text += fmt::format("  {} at {}: {} ({})\n", wait.value("operation", ""), wait.value("at", ""),
                          wait.value("because", ""), wait.value("mode", ""));
  return text;
}

} // namespace interlock::tool
