// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The deadlock report: what waits for what.
#include "analysis/Emulator/AMDGCN/Wave.h"
#include "analysis/Emulator/Exec.h"
#include "analysis/Emulator/Mbarrier.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

constexpr size_t maxLines = 24;

std::string missingWarps(const Cta &cta, uint32_t barrier) {
  std::string out;
  unsigned listed = 0;
  for (const Warp &warp : cta.warps) {
    bool waits = warp.live == 0;
    for (const Group &g : warp.groups)
      waits |= g.wait.kind == WaitKind::barrier && g.wait.a == barrier;
    if (waits)
      continue;
    if (++listed > 8)
      return out + ", …";
    out += fmt::format("{}{}", listed > 1 ? ", " : "", warp.index);
  }
  return out;
}

std::string waitText(const Warp &warp, const Group &g) {
  Cta &cta = *warp.cta;
  switch (g.awake ? WaitKind::none : g.wait.kind) {
  case WaitKind::none:
    return "runs in a loop that changes nothing";
  case WaitKind::warp:
  case WaitKind::warpBarrier:
    return fmt::format("waits for lanes {:#010x} of its warp, of which {:#010x} are elsewhere", g.wait.a,
                       g.wait.a & warp.live & ~g.lanes);
  case WaitKind::barrier: {
    const CtaBarrier &b = cta.barriers[g.wait.a];
    return fmt::format("waits at barrier {}, {} of {} threads are there, missing warps: {}", g.wait.a, b.arrived,
                       b.expected ? b.expected : cta.liveThreads, missingWarps(cta, uint32_t(g.wait.a)));
  }
  case WaitKind::cluster:
    return fmt::format("waits at the cluster barrier, {} of {} threads have arrived", cta.cluster->arrived,
                       cta.cluster->liveThreads);
  case WaitKind::mbarrier: {
    uint64_t offset = g.wait.a & ((1u << sharedRankShift) - 1);
    std::string state;
    if (cta.sharedSpan.holds(offset, 8)) {
      uint64_t word;
      std::memcpy(&word, cta.sharedSpan.at(offset), 8);
      Mbarrier b = Mbarrier::unpack(word);
      state =
          fmt::format(", which is in phase {} with {} arrivals and {} bytes to come", int(b.phase), b.pending, b.tx);
    }
    return fmt::format("waits for the end of phase {} of the mbarrier at shared address {:#x}{}", g.wait.b, g.wait.a,
                       state);
  }
  case WaitKind::sleep:
    return "sleeps";
  case WaitKind::asyncGroup:
    return "waits for its cp.async groups";
  case WaitKind::bulkGroup:
    return "waits for its bulk copy groups";
  case WaitKind::dependency:
    return "waits for the grid before it";
  }
  return {};
}

} // namespace

std::string Engine::report(const std::string &headline) const {
  std::string out = fmt::format("deadlock: {} (seed {}, at {} ns)", headline, options.seed, timeNs);
  size_t lines = 0, more = 0;
  std::string last;
  size_t repeats = 0;
  auto flush = [&] {
    if (repeats)
      out += fmt::format("\n    and {} more that wait in the same way", repeats);
    repeats = 0;
  };
  for (size_t d = 0; d < devices.size(); ++d)
    for (const auto &grid : devices[d].grids) {
      if (grid->nextCluster < grid->endCluster) {
        flush();
        last.clear();
        out += fmt::format("\n  device {}: {}: {} of {} CTAs have not started, {} of {} places are free", d, grid->name,
                           (grid->endCluster - grid->nextCluster) * grid->clusterSize,
                           grid->clusters * grid->clusterSize, devices[d].free, options.residency);
      }
      for (const auto &cluster : grid->running)
        for (const auto &cta : cluster->ctas)
          for (const Warp &warp : cta->warps)
            for (const Group &g : warp.groups) {
              std::string what;
              if (warp.wave) {
                what = gcn::describe(warp, g);
              } else {
                const Code &code = g.frame->fn->code[g.pc];
                what = fmt::format("{} ({})", waitText(warp, g),
                                   code.in ? fmt::format("line {}: {}", code.in->at.line, code.in->text())
                                           : std::string("its end"));
              }
              // Spinning lanes stop at any instruction of their loop: one line for each CTA will do.
              std::string key =
                  g.awake ? fmt::format("{}/{}/{}", d, grid->number, cta->index) : fmt::format("{}/{}", d, what);
              if (key == last) {
                ++repeats;
                continue;
              }
              flush();
              last = key;
              if (++lines > maxLines) {
                ++more;
                continue;
              }
              out += fmt::format("\n  device {}, {}, CTA {}, warp {}, lanes {:#010x}: {}", d, grid->name, cta->index,
                                 warp.index, g.lanes, what);
            }
    }
  flush();
  if (more)
    out += fmt::format("\n  and {} more places", more);
  for (const auto &[id, stream] : streams)
    if (!stream.queue.empty() && stream.running.empty())
      out += fmt::format("\n  a stream of device {} holds {} pieces of work back for an event", stream.device,
                         stream.queue.size());
  return out;
}

} // namespace interlock::emu
