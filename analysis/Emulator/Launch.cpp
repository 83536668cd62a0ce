// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From a launch to running CTAs, and back: checks, residency, frames, the end of threads, CTAs and grids.
#include "analysis/Emulator/AMDGCN/Image.h"
#include "analysis/Emulator/AMDGCN/Start.h"
#include "analysis/Emulator/Exec.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

uint64_t volume(const Dim3 &d) { return uint64_t(d.x) * d.y * d.z; }
std::array<uint32_t, 3> unflatten(uint64_t i, const Dim3 &d) {
  return {uint32_t(i % d.x), uint32_t(i / d.x % d.y), uint32_t(i / d.x / d.y)};
}

Dim3 clusterOf(const LaunchWork &work) {
  if (work.kernel)
    return work.config.cluster;
  const auto &required = work.entry->source->bounds.requiredCluster;
  if (required && volume(work.config.cluster) == 1)
    return {(*required)[0], (*required)[1], (*required)[2]};
  return work.config.cluster;
}

uint32_t dynamicOffset(const LaunchWork &work) {
  uint32_t align = std::max(work.program->sharedAlign, 16u);
  uint64_t end = sharedBase + work.program->sharedBytes[work.entry->index];
  return uint32_t((end + align - 1) & ~uint64_t(align - 1));
}

} // namespace

Result<void> Engine::checkLaunch(const LaunchWork &work) const {
  if (work.kernel)
    return gcn::checkLaunch(*work.kernel, work.config, work.params.size(), options, *chip.amd);
  const ptx::Function &fn = *work.entry->source;
  const LaunchConfig &c = work.config;
  auto refuse = [&](std::string message) {
    return tl::unexpected(Error{ErrorKind::badInput, fmt::format("launch of {}: {}", fn.name, message)});
  };
  for (const Dim3 *d : {&c.grid, &c.block, &c.cluster})
    if (d->x == 0 || d->y == 0 || d->z == 0)
      return refuse("expected grid, block and cluster dimensions of at least 1");
  if (c.grid.y > 65535 || c.grid.z > 65535 || c.grid.x > 0x7fffffff || volume(c.grid) >> 32)
    return refuse("expected a grid of at most 2^31 - 1 by 65535 by 65535 CTAs");
  uint64_t threads = volume(c.block);
  if (threads > 1024 || c.block.z > 64)
    return refuse(fmt::format("expected at most 1024 threads in a block, found {}", threads));
  if (fn.bounds.requiredThreads) {
    auto &r = *fn.bounds.requiredThreads;
    if (c.block.x != r[0] || c.block.y != r[1] || c.block.z != r[2])
      return refuse(fmt::format("expected the block that .reqntid asks for, {} by {} by {}", r[0], r[1], r[2]));
  }
  if (fn.bounds.maxThreads) {
    auto &r = *fn.bounds.maxThreads;
    if (threads > uint64_t(r[0]) * r[1] * r[2])
      return refuse(
          fmt::format("expected at most the {} threads of .maxntid, found {}", uint64_t(r[0]) * r[1] * r[2], threads));
  }
  Dim3 cluster = clusterOf(work);
  if (fn.bounds.requiredCluster) {
    auto &r = *fn.bounds.requiredCluster;
    if (cluster.x != r[0] || cluster.y != r[1] || cluster.z != r[2])
      return refuse(
          fmt::format("expected the cluster that .reqnctapercluster asks for, {} by {} by {}", r[0], r[1], r[2]));
  }
  uint64_t size = volume(cluster);
  if (size > 1 && !chip.clusters)
    return refuse(fmt::format("expected no cluster, {} has none", chip.name));
  if (size > 16 || size == 0)
    return refuse(fmt::format("expected a cluster of at most 16 CTAs, found {}", size));
  if (c.grid.x % cluster.x || c.grid.y % cluster.y || c.grid.z % cluster.z)
    return refuse(
        fmt::format("expected a grid that is a multiple of the cluster, found {} by {} by {} CTAs in clusters "
                    "of {} by {} by {}",
                    c.grid.x, c.grid.y, c.grid.z, cluster.x, cluster.y, cluster.z));
  if (size > options.residency)
    return refuse(
        fmt::format("expected a residency of at least the cluster size {}, found {}", size, options.residency));
  uint64_t shared = dynamicOffset(work) - sharedBase + uint64_t(c.dynamicSharedBytes);
  if (shared > options.sharedLimit)
    return refuse(fmt::format("expected at most {} bytes of shared memory, found {} static and {} dynamic",
                              options.sharedLimit, work.program->sharedBytes[work.entry->index], c.dynamicSharedBytes));
  if (work.params.size() < fn.paramBytes)
    return refuse(fmt::format("expected {} bytes of parameters, found {}", fn.paramBytes, work.params.size()));
  return {};
}

void Engine::startGrid(Stream &stream, LaunchWork work) {
  auto grid = std::make_unique<Grid>();
  grid->number = ++launches;
  ++statistics.launches;
  grid->device = stream.device;
  grid->program = work.program;
  grid->entry = work.entry;
  grid->kernel = work.kernel;
  grid->name = work.kernel ? std::string_view(work.kernel->name) : work.entry->source->name;
  grid->config = work.config;
  grid->config.cluster = clusterOf(work);
  grid->params = std::move(work.params);
  grid->explicitCluster =
      volume(grid->config.cluster) > 1 || (work.entry && work.entry->source->bounds.explicitCluster);
  grid->clusterSize = uint32_t(volume(grid->config.cluster));
  grid->threads = uint32_t(volume(grid->config.block));
  grid->clusters = grid->endCluster = uint32_t(volume(grid->config.grid) / grid->clusterSize);
  if (work.kernel) {
    grid->sharedTotal = work.kernel->ldsBytes + grid->config.dynamicSharedBytes;
    if (!gcn::prepare(*this, *grid))
      return;
  } else {
    grid->dynamicOffset = dynamicOffset(work);
    grid->sharedTotal = grid->dynamicOffset - sharedBase + grid->config.dynamicSharedBytes;
  }
  grid->prerequisite = stream.running.empty() ? nullptr : stream.running.back();
  stream.running.push_back(grid.get());
  devices[stream.device].grids.push_back(std::move(grid));
  progress();
}

void Engine::startClusters() {
  for (Device &device : devices)
    for (auto &grid : device.grids)
      while (grid->nextCluster < grid->endCluster && device.free >= grid->clusterSize)
        startCluster(device, *grid);
}

void Engine::startCluster(Device &device, Grid &grid) {
  const LaunchConfig &config = grid.config;
  auto owned = std::make_unique<Cluster>();
  Cluster &cluster = *owned;
  cluster.grid = &grid;
  cluster.index = grid.nextCluster++;
  Dim3 clusters{config.grid.x / config.cluster.x, config.grid.y / config.cluster.y, config.grid.z / config.cluster.z};
  cluster.id = unflatten(cluster.index, clusters);
  uint32_t slot = 0;
  for (uint32_t rank = 0; rank < grid.clusterSize; ++rank) {
    auto cta = std::make_unique<Cta>();
    cta->grid = &grid;
    cta->cluster = &cluster;
    cta->rank = rank;
    cta->uid = ++ctas;
    while (device.slots[slot])
      ++slot;
    device.slots[slot] = true;
    --device.free;
    cta->slot = slot;
    auto in = unflatten(rank, config.cluster);
    cta->id = {cluster.id[0] * config.cluster.x + in[0], cluster.id[1] * config.cluster.y + in[1],
               cluster.id[2] * config.cluster.z + in[2]};
    cta->index = cta->id[0] + config.grid.x * (cta->id[1] + config.grid.y * cta->id[2]);
    cta->shared.assign(grid.sharedTotal, 0x5a); // no valid mbarrier
    cta->sharedSpan = {sharedBase, sharedBase + cta->shared.size(), cta->shared.data()};
    cta->liveThreads = grid.threads;
    cluster.liveThreads += grid.threads;
    cluster.ctas.push_back(std::move(cta));
  }
  grid.running.push_back(std::move(owned));
  for (auto &cta : cluster.ctas) {
    if (grid.kernel) {
      gcn::startWaves(*this, *cta);
      if (observer)
        observer->sync({actor(cta->warps.front(), 0), SyncKind::gridBegin});
      continue;
    }
    uint32_t warps = (grid.threads + warpLanes - 1) / warpLanes;
    for (uint32_t w = 0; w < warps; ++w) {
      Warp &warp = cta->warps.emplace_back();
      warp.cta = cta.get();
      warp.index = w;
      uint32_t threads = std::min(warpLanes, grid.threads - w * warpLanes);
      warp.exists = warp.live = threads == warpLanes ? ~LaneMask(0) : (LaneMask(1) << threads) - 1;
      Group group;
      group.lanes = warp.live;
      group.frame = makeFrame(warp, grid.entry, nullptr, warp.live);
      warp.groups.push_back(group);
      setReady(warp);
    }
    if (observer)
      observer->sync({actor(cta->warps.front(), 0), SyncKind::gridBegin});
  }
  progress();
}

Frame *Engine::makeFrame(Warp &warp, const DecodedFunction *fn, Frame *parent, LaneMask lanes) {
  auto owned = std::make_unique<Frame>();
  Frame &f = *owned;
  f.fn = fn;
  f.parent = parent;
  f.depth = parent ? parent->depth + 1 : 0;
  f.lanes = lanes;
  f.registers.reset(new uint64_t[size_t(std::max(1u, fn->slots)) * warpLanes]());
  if (fn->localBytes)
    f.local.reset(new uint8_t[fn->localBytes * warpLanes]());
  if (fn->paramBytes)
    f.params.reset(new uint8_t[fn->paramBytes * warpLanes]());
  const Cta &cta = *warp.cta;
  const Grid &grid = *cta.grid;
  const LaunchConfig &c = grid.config;
  const Dim3 &k = c.cluster;
  auto in = unflatten(cta.rank, k);
  for (auto [slot, which] : fn->fixed) {
    uint64_t *r = f.registers.get() + size_t(slot) * warpLanes;
    for (uint32_t lane = 0; lane < warpLanes; ++lane) {
      uint32_t thread = warp.index * warpLanes + lane;
      uint64_t v = 0;
      switch (which) {
      case Fixed::tidX:
        v = thread % c.block.x;
        break;
      case Fixed::tidY:
        v = thread / c.block.x % c.block.y;
        break;
      case Fixed::tidZ:
        v = thread / c.block.x / c.block.y;
        break;
      case Fixed::ntidX:
        v = c.block.x;
        break;
      case Fixed::ntidY:
        v = c.block.y;
        break;
      case Fixed::ntidZ:
        v = c.block.z;
        break;
      case Fixed::ctaidX:
      case Fixed::ctaidY:
      case Fixed::ctaidZ:
        v = cta.id[size_t(which) - size_t(Fixed::ctaidX)];
        break;
      case Fixed::nctaidX:
        v = c.grid.x;
        break;
      case Fixed::nctaidY:
        v = c.grid.y;
        break;
      case Fixed::nctaidZ:
        v = c.grid.z;
        break;
      case Fixed::clusteridX:
      case Fixed::clusteridY:
      case Fixed::clusteridZ:
        v = cta.cluster->id[size_t(which) - size_t(Fixed::clusteridX)];
        break;
      case Fixed::nclusteridX:
        v = c.grid.x / k.x;
        break;
      case Fixed::nclusteridY:
        v = c.grid.y / k.y;
        break;
      case Fixed::nclusteridZ:
        v = c.grid.z / k.z;
        break;
      case Fixed::clusterCtaidX:
      case Fixed::clusterCtaidY:
      case Fixed::clusterCtaidZ:
        v = in[size_t(which) - size_t(Fixed::clusterCtaidX)];
        break;
      case Fixed::clusterNctaidX:
        v = k.x;
        break;
      case Fixed::clusterNctaidY:
        v = k.y;
        break;
      case Fixed::clusterNctaidZ:
        v = k.z;
        break;
      case Fixed::clusterCtarank:
        v = cta.rank;
        break;
      case Fixed::clusterNctarank:
        v = grid.clusterSize;
        break;
      case Fixed::isExplicitCluster:
        v = grid.explicitCluster;
        break;
      case Fixed::laneid:
        v = lane;
        break;
      case Fixed::warpid:
        v = warp.index;
        break;
      case Fixed::nwarpid:
        v = 64;
        break;
      case Fixed::smid:
        v = cta.slot;
        break;
      case Fixed::nsmid:
        v = options.residency;
        break;
      case Fixed::gridid:
        v = grid.number;
        break;
      case Fixed::lanemaskEq:
        v = uint32_t(1) << lane;
        break;
      case Fixed::lanemaskLe:
        v = ~uint32_t(0) >> (31 - lane);
        break;
      case Fixed::lanemaskLt:
        v = (uint32_t(1) << lane) - 1;
        break;
      case Fixed::lanemaskGe:
        v = uint32_t(~uint32_t(0) << lane);
        break;
      case Fixed::lanemaskGt:
        v = uint32_t(~uint32_t(1) << lane);
        break;
      case Fixed::dynamicShared:
        v = grid.dynamicOffset;
        break;
      case Fixed::dynamicSharedSize:
        v = c.dynamicSharedBytes;
        break;
      case Fixed::totalSharedSize:
        v = sharedBase + grid.sharedTotal;
        break;
      case Fixed::localBase:
      case Fixed::paramBase:
        v = uint64_t(f.depth) << 20;
        break;
      case Fixed::zero:
        break;
      }
      r[lane] = v;
    }
  }
  warp.frames.push_back(std::move(owned));
  return &f;
}

void Engine::lanesExited(Warp &warp, LaneMask lanes) {
  Cta &cta = *warp.cta;
  Cluster &cluster = *cta.cluster;
  for (LaneMask m = lanes; m; m &= m - 1) {
    // A thread that has arrived at the cluster barrier and ends is not waited for twice.
    uint32_t &phase = warp.clusterPhase[std::countr_zero(m)];
    if (phase && phase == cluster.phase)
      --cluster.arrived;
    phase = 0;
  }
  uint32_t count = uint32_t(std::popcount(lanes));
  cta.liveThreads -= count;
  cluster.liveThreads -= count;
  for (uint32_t b = 0; b < 16; ++b)
    if (cta.barriers[b].arrived && !cta.barriers[b].expected)
      checkBarrier(cta, b);
  checkClusterBarrier(cluster);
  checkWarpBarriers(warp);
  wake(warp, WaitKind::warp);
  if (warp.live == 0)
    setUnready(warp);
  if (cta.liveThreads == 0 && cta.pendingAsync == 0)
    finishCta(cta);
}

void Engine::finishCta(Cta &cta) {
  Grid &grid = *cta.grid;
  Device &device = devices[grid.device];
  cta.finished = true;
  device.slots[cta.slot] = false;
  ++device.free;
  if (!cta.launchedDependents)
    ++grid.ctasReleased;
  if (observer)
    observer->sync({actor(cta.warps.front(), 0), SyncKind::gridEnd});
  if (++cta.cluster->finished == cta.cluster->ctas.size())
    ++grid.finishedClusters;
  progress();
  pumpNeeded = true; // which takes the cluster away: the caller may still be inside one of its warps
}

} // namespace interlock::emu
