// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/DeploymentFlags.h"

#include "runtime/Spec/SpecList.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>

namespace interlock::tool {

namespace {
Result<std::vector<KernelSpec>> readSpecs(const std::string &name) {
  std::ifstream file;
  if (name != "-")
    file.open(name, std::ios::binary);
  std::istream &from = name == "-" ? std::cin : file;
  std::string text{std::istreambuf_iterator<char>(from), {}};
  if (name != "-" && (!file.is_open() || file.bad()))
    return makeError(Code::badInput, fmt::format("expected a list of kernels at {}, found nothing to read", name));
  return parseSpecList(text);
}
} // namespace

void DeploymentFlags::addTo(CLI::App &command) {
  command.add_option("--specs", specs, "a list of kernels as `cache enumerate` prints it, or - for stdin");
  command.add_option("--model", layer.model, "preset for --hidden, --experts and --topk");
  command.add_option("--experts", layer.experts, "global experts");
  command.add_option("--topk", layer.topk, "experts per token");
  command.add_option("--hidden", layer.hidden, "elements per token row");
  command.add_option("--ranks", ranks, "ranks of the group, a list")->delimiter(',');
  command.add_option("--tokens", tokens, "most tokens per rank, a list: a kernel each")->delimiter(',');
  command.add_option("--dtype", dtypes, "dispatched rows, a list")->delimiter(',');
  command.add_option("--combine-dtype", layer.combineDType, "combined rows (default: --dtype, bf16 for fp8)");
  command.add_option("--scale-bytes", layer.scaleBytes, "bytes of quantisation scales per token");
  command.add_option("--capacity", layer.capacity, "rows that a rank accepts from each source (default: all)");
  command.add_flag("--expert-rows", layer.expertRows, "combine reads a row per (token, expert)");
  command.add_flag("--own-in-place", layer.ownInPlace, "a rank's rows lie where its own rows land: none is copied");
  command.add_option("--target", targets, "chips, a list")->delimiter(',');
  command.add_option("--multiprocessors", multiprocessors, "of the device: the launch geometry depends on it");
  command.add_option("--ranks-per-device", ranksPerDevice, "ranks that share a device, a list")->delimiter(',');
  command.add_option("--cluster", clusters, "CTAs per cluster, a list")->delimiter(',');
  command.add_option("--schedule", schedules, "grid_stride, claimed or clc, a list")->delimiter(',');
  command.add_option("--wait", layer.wait, "relaxed-fence or acquire (default: the cheaper one)");
  command.add_option("--block", layer.geometry.blockThreads, "threads per CTA (default: by layer and device)");
  command.add_option("--tile", layer.geometry.tileTokens, "tokens per tile (default: by layer and device)");
}

Result<std::vector<KernelSpec>> DeploymentFlags::kernels() const {
  if (!specs.empty())
    return readSpecs(specs);
  Deployment deployment;
  deployment.devices.clear();
  deployment.options.clear();
  LayerFlags flags = layer;
  // An empty list is one value that is missing, which the layer says.
  for (size_t r = 0; r < std::max<size_t>(1, ranks.size()); ++r)
    for (size_t t = 0; t < std::max<size_t>(1, tokens.size()); ++t)
      for (const std::string &dtype : dtypes) {
        if (!ranks.empty())
          flags.ranks = ranks[r];
        if (!tokens.empty())
          flags.tokens = {tokens[t]};
        flags.dtype = dtype;
        ILK_ASSIGN_OR_RETURN(LayerSpec spec, flags.layer());
        deployment.layers.push_back(spec);
      }
  for (uint32_t cluster : clusters)
    for (const std::string &schedule : schedules) {
      flags.cluster = cluster;
      flags.schedule = schedule;
      ILK_ASSIGN_OR_RETURN(OperationOptions options, flags.operation());
      deployment.options.push_back(options);
    }
  for (const std::string &target : targets)
    for (uint32_t sharing : ranksPerDevice)
      deployment.devices.push_back({target, multiprocessors, sharing});
  return enumerateKernels(deployment);
}

} // namespace interlock::tool
