// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ilk_enumerate, ilk_cache_prewarm, ilk_cache_export, ilk_cache_import.
#include "interlock/prepare.hpp"

#include "runtime/CApi/Handles.h"
#include "runtime/CApi/Status.h"
#include "runtime/CApi/Structs.h"
#include "runtime/Spec/SpecList.h"

using namespace interlock;
using namespace interlock::capi;

namespace {

Result<Deployment> deploymentOf(const ilk_deployment &given) {
  Deployment deployment;
  for (size_t i = 0; i < given.layer_count; ++i) {
    ILK_ASSIGN_OR_RETURN(ilk_layer each, readElement("ilk_layer", given.layers, i));
    ILK_ASSIGN_OR_RETURN(LayerSpec layer, layerOf(each));
    deployment.layers.push_back(layer);
  }
  if (given.device_count)
    deployment.devices.clear();
  for (size_t i = 0; i < given.device_count; ++i) {
    ILK_ASSIGN_OR_RETURN(ilk_device_shape each, readElement("ilk_device_shape", given.devices, i));
    DeviceShape shape;
    if (each.target)
      shape.target = each.target;
    if (each.multiprocessors)
      shape.multiprocessors = each.multiprocessors;
    if (each.ranks_per_device)
      shape.ranksPerDevice = each.ranks_per_device;
    deployment.devices.push_back(std::move(shape));
  }
  if (given.option_count)
    deployment.options.clear();
  for (size_t i = 0; i < given.option_count; ++i) {
    ILK_ASSIGN_OR_RETURN(ilk_operation_options each, readElement("ilk_operation_options", given.options, i));
    ILK_ASSIGN_OR_RETURN(OperationOptions options, optionsOf(each));
    deployment.options.push_back(options);
  }
  return deployment;
}

/// What export and import have in common.
template <typename Cache, typename Move>
ilk_status moveEntries(Cache *cache, const char *file, ilk_archive_report *out, Move move) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a cache and a file name", cache, file));
    ILK_ASSIGN_OR_RETURN(ArchiveReport report, move(*cache->kernels, file));
    if (!report.problems.empty())
      remark(report.problems.front());
    return writeOptional("ilk_archive_report", out, {0, report.entries, report.bytes, report.problems.size()});
  });
}

} // namespace

extern "C" {

ilk_status ilk_enumerate(const ilk_deployment *given, char **kernels) {
  return call([&]() -> Status {
    ILK_ASSIGN_OR_RETURN(ilk_deployment read, capi::read("ilk_deployment", given));
    ILK_ASSIGN_OR_RETURN(Deployment deployment, deploymentOf(read));
    ILK_ASSIGN_OR_RETURN(std::vector<KernelSpec> specs, enumerateKernels(deployment));
    return giveText(kernels, formatSpecList(specs));
  });
}

ilk_status ilk_cache_prewarm(ilk_cache *cache, const char *kernels, const ilk_prewarm_options *given,
                             ilk_prewarm_report *out) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a cache and a list of kernels", cache, kernels));
    ILK_ASSIGN_OR_RETURN(ilk_prewarm_options options, readOptional("ilk_prewarm_options", given));
    ILK_ASSIGN_OR_RETURN(int32_t origin, requireEnum("an origin of kernels", options.kernels, ILK_KERNELS_FROM_SOURCE));
    ILK_ASSIGN_OR_RETURN(std::vector<KernelSpec> specs, parseSpecList(kernels));
    PrewarmOptions how;
    how.threads = options.threads;
    if (options.progress)
      how.progress = [&](const PrewarmProgress &now) { options.progress(options.user, now.done, now.of, now.failed); };
    PrewarmReport report = origin == ILK_KERNELS_FROM_SOURCE ? prewarmFromSource(*cache->kernels, specs, how)
                                                             : prewarm(*cache->kernels, specs, how);
    if (!report.failures.empty())
      remark(report.failures.front().error.message);
    return writeOptional("ilk_prewarm_report", out, {0, report.compiled, report.cached, report.failures.size()});
  });
}

ilk_status ilk_cache_export(const ilk_cache *cache, const char *file, ilk_archive_report *report) {
  return moveEntries(cache, file, report, exportCache);
}

ilk_status ilk_cache_import(ilk_cache *cache, const char *file, ilk_archive_report *report) {
  return moveEntries(cache, file, report, importCache);
}
}
