// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Ops/LocalKernel.h"

#include "runtime/Cache/KernelCache.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock {

Result<LocalKernel> LocalKernel::load(Driver &driver, KernelCache &cache, uint32_t device, const KernelSpec &spec) {
  if (!isLocal(spec.kernel))
    return makeError(Code::badInput,
                     fmt::format("expected a local kernel, dispatch_epilogue, combine_prologue or pack_experts, got {}",
                                 name(spec.kernel)));
  ILK_RETURN_IF_ERROR(validate(spec));
  ILK_ASSIGN_OR_RETURN(Lookup found, cache.get(spec));
  LocalKernel made(driver);
  const LaunchFacts &facts = found.artifact->facts;
  made.made = {spec, 0, std::string(name(found.outcome)), found.reason, found.milliseconds};
  made.mode = facts.launchMode;
  made.config = {.grid = 1,
                 .block = facts.blockThreads,
                 .cluster = facts.cluster,
                 .cooperative = facts.launchMode == LaunchMode::cooperative,
                 .programmatic = spec.programmatic};
  ILK_ASSIGN_OR_RETURN(made.kernel, driver.load(device, {found.artifact->text, found.artifact->binary, facts.entry}));
  made.loaded = true;
  return made;
}

LocalKernel::~LocalKernel() {
  // A destructor has nobody to report to; the driver frees everything when it goes.
  if (loaded)
    (void)driver->unload(kernel);
}

Result<uint32_t> LocalKernel::residentCtas() const { return driver->residentCtas(kernel, config); }

Result<uint32_t> LocalKernel::defaultGrid(uint32_t groups) const {
  ILK_ASSIGN_OR_RETURN(uint32_t bound, residentCtas());
  return std::clamp(groups, 1u, std::max(1u, bound));
}

Status LocalKernel::launch(StreamId stream, uint32_t grid, const LocalParams &params, bool forceCooperative) const {
  return launch(stream, grid, std::as_bytes(std::span(&params, 1)), forceCooperative);
}

Status LocalKernel::launch(StreamId stream, uint32_t grid, const PackParams &params) const {
  return launch(stream, grid, std::as_bytes(std::span(&params, 1)), false);
}

Status LocalKernel::launch(StreamId stream, uint32_t grid, std::span<const std::byte> params,
                           bool forceCooperative) const {
  if (grid == 0)
    return makeError(Code::badInput, "expected a grid of at least 1 CTA, got 0");
  LaunchConfig launch = config;
  launch.grid = grid;
  if (forceCooperative) {
    launch.cooperative = true;
    launch.checkResidency = false;
  }
  return driver->launch(stream, kernel, launch, params);
}

} // namespace interlock
