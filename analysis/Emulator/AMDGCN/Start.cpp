// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Launches: their checks, the dispatch packet and the kernarg segment, and the registers with which waves begin (User
// Guide for AMDGPU Backend, "Initial Kernel Execution State").
#include "analysis/Emulator/AMDGCN/Start.h"

#include "analysis/Emulator/AMDGCN/Wave.h"

#include <fmt/format.h>

namespace interlock::emu::gcn {
namespace {

constexpr uint64_t packetBytes = 64;
constexpr uint32_t modeRoundNearestKeepDenormals = 0xf0;

uint64_t volume(const Dim3 &d) { return uint64_t(d.x) * d.y * d.z; }

template <typename T> void store(std::vector<uint8_t> &to, uint64_t offset, T value) {
  if (offset + sizeof(T) <= to.size())
    std::memcpy(to.data() + offset, &value, sizeof(T));
}

uint64_t hiddenValue(std::string_view kind, const LaunchConfig &c) {
  auto axis = [&](const Dim3 &d) -> uint32_t { return kind.back() == 'x' ? d.x : kind.back() == 'y' ? d.y : d.z; };
  if (kind.starts_with("hidden_block_count_"))
    return axis(c.grid);
  if (kind.starts_with("hidden_group_size_"))
    return axis(c.block);
  if (kind == "hidden_grid_dims")
    return c.grid.z > 1 || c.block.z > 1 ? 3 : c.grid.y > 1 || c.block.y > 1 ? 2 : 1;
  if (kind == "hidden_dynamic_lds_size")
    return c.dynamicSharedBytes;
  if (kind == "hidden_private_base")
    return window::local >> 32;
  if (kind == "hidden_shared_base")
    return window::shared >> 32;
  return 0; // remainders of whole workgroups, offsets, and services that nobody offers
}

} // namespace

Result<void> checkLaunch(const Kernel &kernel, const LaunchConfig &c, size_t paramBytes, const MachineOptions &options,
                         const Target &target) {
  auto refuse = [&](std::string message) {
    return tl::unexpected(Error{ErrorKind::badInput, fmt::format("launch of {}: {}", kernel.name, message)});
  };
  for (const Dim3 *d : {&c.grid, &c.block, &c.cluster})
    if (d->x == 0 || d->y == 0 || d->z == 0)
      return refuse("expected grid, block and cluster dimensions of at least 1");
  if (c.grid.y > 65535 || c.grid.z > 65535 || volume(c.grid) >> 31)
    return refuse("expected a grid of less than 2^31 workgroups, 65535 of them along y and z");
  uint64_t threads = volume(c.block);
  if (threads > 1024 || c.block.x > 1024 || c.block.y > 1024 || c.block.z > 1024)
    return refuse(fmt::format("expected at most 1024 work-items in a workgroup, found {}", threads));
  if (threads > kernel.maxThreads)
    return refuse(fmt::format("expected at most the {} work-items of .max_flat_workgroup_size, found {}",
                              kernel.maxThreads, threads));
  uint64_t size = volume(c.cluster);
  if (size > 1 && !target.clusters)
    return refuse(fmt::format("expected no cluster, {} has none", target.name));
  if (size > 16)
    return refuse(fmt::format("expected a cluster of at most 16 workgroups, found {}", size));
  if (c.grid.x % c.cluster.x || c.grid.y % c.cluster.y || c.grid.z % c.cluster.z)
    return refuse("expected a grid that is a multiple of the cluster");
  if (size > options.residency)
    return refuse(
        fmt::format("expected a residency of at least the cluster size {}, found {}", size, options.residency));
  if (uint64_t(kernel.ldsBytes) + c.dynamicSharedBytes > options.sharedLimit)
    return refuse(fmt::format("expected at most {} bytes of LDS, found {} static and {} dynamic", options.sharedLimit,
                              kernel.ldsBytes, c.dynamicSharedBytes));
  if (paramBytes < kernel.explicitBytes)
    return refuse(fmt::format("expected {} bytes of parameters, found {}", kernel.explicitBytes, paramBytes));
  return {};
}

bool prepare(Engine &engine, Grid &grid) {
  const Kernel &k = *grid.kernel;
  const LaunchConfig &c = grid.config;
  auto dispatch = std::make_shared<Dispatch>();
  // 256 bytes more than the text names: implicit arguments that it does not list may be asked for all the same.
  uint64_t bytes = packetBytes + k.kernargBytes + 256;
  uint64_t at = engine.memory.allocate(grid.device, bytes, 256);
  if (!at) {
    engine.fail(ErrorKind::badInput, fmt::format("expected host memory for {} bytes of arguments", bytes));
    return false;
  }
  dispatch->address = at;
  dispatch->packet = at;
  dispatch->kernarg = at + packetBytes;
  std::vector<uint8_t> m(bytes);
  store<uint16_t>(m, 0, 2); // a kernel dispatch
  store<uint16_t>(m, 2, 3);
  store(m, 4, uint16_t(c.block.x)), store(m, 6, uint16_t(c.block.y)), store(m, 8, uint16_t(c.block.z));
  store(m, 12, c.grid.x * c.block.x), store(m, 16, c.grid.y * c.block.y), store(m, 20, c.grid.z * c.block.z);
  store(m, 24, k.scratchBytes), store(m, 28, grid.sharedTotal);
  store(m, 40, dispatch->kernarg);
  std::copy_n(grid.params.begin(), std::min<size_t>(grid.params.size(), k.explicitBytes), m.begin() + packetBytes);
  for (const amdgcn::Argument &a : k.source->arguments)
    if (a.hidden()) {
      uint64_t v = hiddenValue(a.valueKind, c);
      for (uint32_t i = 0; i < std::min(a.size, 8u); ++i)
        store(m, packetBytes + a.offset + i, uint8_t(v >> 8 * i));
    }
  std::memcpy(engine.memory.find(at, bytes).at(at), m.data(), bytes);
  grid.dispatch = std::move(dispatch);
  if (engine.caches)
    engine.caches->beginGrid(grid.device);
  return true;
}

void finish(Engine &engine, Grid &grid) {
  if (engine.caches)
    engine.caches->endGrid(grid.device);
  if (!grid.dispatch)
    return;
  if (engine.caches)
    engine.caches->drop(grid.dispatch->address, grid.dispatch->address + packetBytes + 65536 + 512);
  engine.memory.release(grid.dispatch->address);
  engine.dropCaches();
}

void startWaves(Engine &engine, Cta &cta) {
  Grid &grid = *cta.grid;
  const Kernel &k = *grid.kernel;
  const Image &image = *grid.program->image;
  const LaunchConfig &c = grid.config;
  const Target &target = *image.target;
  auto on = [&](std::string_view key) { return k.source->directive(key) != 0; };
  cta.workgroup = std::make_shared<Workgroup>();
  Workgroup &group = *cta.workgroup;
  if (engine.caches)
    engine.caches->enter(cta, group.caches, k.workgroupProcessorMode);
  uint32_t waves = (grid.threads + k.lanes - 1) / k.lanes;
  group.waves = waves;
  for (uint32_t n = 0; n < waves; ++n) {
    Warp &warp = cta.warps.emplace_back();
    warp.cta = &cta;
    warp.index = n;
    warp.exists = warp.live = 1;
    warp.groups.emplace_back();
    warp.wave = std::make_shared<Wave>();
    Wave &w = *warp.wave;
    w.image = &image;
    w.kernel = &k;
    w.pc = k.begin;
    w.lanes = k.lanes;
    w.threads = std::min(k.lanes, grid.threads - n * k.lanes);
    w.mode = modeRoundNearestKeepDenormals;
    w.v.reset(new uint32_t[size_t(image.vgprs + image.agprs + 32) * maxLanes]());
    w.scratchBytes = k.scratchBytes;
    if (k.scratchBytes)
      w.scratch.reset(new uint8_t[size_t(k.scratchBytes) * k.lanes]());
    if (engine.caches) {
      unsigned side = k.workgroupProcessorMode ? n % 2 : 0;
      w.memory.path = &group.caches.path[side];
      w.memory.scalarPath = &group.caches.scalarPath;
    }
    uint64_t exec = w.threads == 64 ? ~uint64_t(0) : (uint64_t(1) << w.threads) - 1;
    w.setPair(sreg::exec, exec);
    w.setPair(sreg::sharedBase, window::shared);
    w.setPair(sreg::sharedLimit, window::shared + window::size - 1);
    w.setPair(sreg::privateBase, window::local);
    w.setPair(sreg::privateLimit, window::local + window::size - 1);
    w.setPair(sreg::flatScratchBase, window::local);

    // User SGPRs, in the order of the descriptor's bits.
    uint32_t s = 0;
    auto put = [&](uint32_t value) {
      if (s < 106)
        w.s[s++] = value;
    };
    auto putPair = [&](uint64_t value) { put(uint32_t(value)), put(uint32_t(value >> 32)); };
    if (on("user_sgpr_private_segment_buffer"))
      putPair(window::local), put(~0u), put(0);
    if (on("user_sgpr_dispatch_ptr"))
      putPair(grid.dispatch->packet);
    if (on("user_sgpr_queue_ptr"))
      putPair(0);
    if (on("user_sgpr_kernarg_segment_ptr"))
      putPair(grid.dispatch->kernarg);
    if (on("user_sgpr_dispatch_id"))
      putPair(grid.number);
    if (on("user_sgpr_flat_scratch_init"))
      putPair(0);
    if (on("user_sgpr_private_segment_size"))
      put(k.scratchBytes);
    if (auto length = k.source->directive("user_sgpr_kernarg_preload_length")) {
      uint64_t from = grid.dispatch->kernarg + 4 * uint64_t(k.source->directive("user_sgpr_kernarg_preload_offset"));
      for (int64_t i = 0; i < std::min<int64_t>(length, 64); ++i) {
        uint32_t v = 0;
        Span span = engine.memory.find(from + 4 * uint64_t(i), 4);
        if (span.host)
          std::memcpy(&v, span.at(from + 4 * uint64_t(i)), 4);
        put(v);
      }
    }
    s = uint32_t(std::clamp<int64_t>(k.source->directive("user_sgpr_count", s), 0, 64));
    // System SGPRs; from gfx12 on workgroup ids lie in trap registers instead.
    if (target.family >= Family::gfx12) {
      const Dim3 &d = c.cluster;
      uint32_t rank = cta.rank, in[3] = {rank % d.x, rank / d.x % d.y, rank / d.x / d.y};
      const auto &id = grid.clusterSize > 1 ? cta.cluster->id : cta.id;
      w.s[sreg::ttmp + 9] = id[0];
      w.s[sreg::ttmp + 7] = id[1] | id[2] << 16;
      w.s[sreg::ttmp + 6] = in[0] | in[1] << 4 | in[2] << 8 | (d.x - 1) << 12 | (d.y - 1) << 16 | (d.z - 1) << 20 |
                            rank << 24 | (grid.clusterSize - 1) << 28;
    } else {
      if (on("system_sgpr_workgroup_id_x"))
        put(cta.id[0]);
      if (on("system_sgpr_workgroup_id_y"))
        put(cta.id[1]);
      if (on("system_sgpr_workgroup_id_z"))
        put(cta.id[2]);
      if (on("system_sgpr_workgroup_info"))
        put(waves);
      put(0); // offset of the wave in scratch memory, which has a base of its own here
    }
    // Work-item ids, packed into one register on all chips that are emulated.
    uint32_t *v0 = w.vector(0);
    for (uint32_t lane = 0; lane < w.threads; ++lane) {
      uint32_t thread = n * k.lanes + lane;
      v0[lane] = thread % c.block.x | (thread / c.block.x % c.block.y) << 10 | (thread / c.block.x / c.block.y) << 20;
    }
    engine.setReady(warp);
  }
}

} // namespace interlock::emu::gcn
