// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// CTA barriers, warp barriers and cluster barriers (PTX ISA "bar, barrier", "bar.warp.sync", "barrier.cluster").
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

using ptx::OperandKind;

enum BarrierSub : uint8_t { sync, arrive, redPopc, redAnd, redOr };

/// Threads that a group counts for: a whole warp counts in full even if the block does not fill it.
uint32_t threadsOf(const Warp &warp, LaneMask lanes, bool explicitCount) {
  return explicitCount && lanes == warp.live ? warpLanes : uint32_t(std::popcount(lanes));
}

Flow runBarrier(Exec &x, const Code &c, LaneMask lanes) {
  unsigned first = unsigned(std::countr_zero(lanes));
  Cta &cta = x.cta();
  uint64_t number = x.src(c.src[0])[first];
  if (number > 15)
    return x.fault(c, first, fmt::format("expected a barrier number of 0 to 15, found {}", number));
  CtaBarrier &b = cta.barriers[number];
  if (x.group->wait.kind == WaitKind::barrier && x.group->wait.b != b.generation) {
    // Released; a reduction's result was left in the group.
    if (c.sub >= redPopc) {
      uint64_t *d = x.dst(c.dst[0]);
      for (LaneMask m = lanes; m; m &= m - 1)
        d[std::countr_zero(m)] = x.group->result;
    }
    x.group->wait = {};
    x.observeSyncs(c, SyncKind::barrierLeave, lanes, number);
    return Flow::next;
  }
  uint32_t expected = 0;
  if (c.flags & 1) {
    expected = uint32_t(x.src(c.src[1])[first]);
    if (expected == 0 || expected % warpLanes)
      return x.fault(c, first, fmt::format("expected a thread count that is a multiple of 32, found {}", expected));
  }
  if (b.arrived && b.expected != expected)
    return x.fault(c, first,
                   fmt::format("expected barrier {} to be used with one thread count, found {} and {}", number,
                               b.expected, expected));
  b.expected = expected;
  b.arrived += threadsOf(x.warp, lanes, expected != 0);
  if (expected && b.arrived > expected)
    return x.fault(c, first, fmt::format("expected {} threads at barrier {}, found {}", expected, number, b.arrived));
  x.observeSyncs(c, SyncKind::barrierArrive, lanes, number);
  if (c.sub >= redPopc) {
    const uint64_t *p = x.src(c.src[2]);
    for (LaneMask m = lanes; m; m &= m - 1) {
      bool v = p[std::countr_zero(m)] & 1;
      b.count += v;
      b.any |= v;
      b.all &= v;
    }
  }
  x.engine.progress();
  if (c.sub == arrive) {
    x.engine.checkBarrier(cta, uint32_t(number));
    return Flow::next;
  }
  x.group->wait = {WaitKind::barrier, number, b.generation, uint64_t(c.sub)};
  b.waiting += uint32_t(std::popcount(lanes));
  x.engine.checkBarrier(cta, uint32_t(number));
  x.refresh();
  // If it was the last one it has been let go already and runs the instruction again.
  return x.group->wait.b != b.generation ? Flow::jumped : Flow::blocked;
}

Flow runWarpBarrier(Exec &x, const Code &c, LaneMask lanes) {
  unsigned first = unsigned(std::countr_zero(lanes));
  LaneMask members = LaneMask(x.src(c.src[0])[first]);
  if (!(members >> first & 1))
    return x.fault(c, first, fmt::format("expected the executing lane in the member mask, found {:#010x}", members));
  if (x.group->wait.kind == WaitKind::warpBarrier && x.group->wait.b == 1) {
    x.group->wait = {};
    x.observeSyncs(c, SyncKind::warpSync, lanes, members);
    return Flow::next;
  }
  if (((members & x.warp.live) & ~lanes) == 0) {
    x.group->wait = {};
    x.observeSyncs(c, SyncKind::warpSync, lanes, members);
    return Flow::next;
  }
  x.group->wait = {WaitKind::warpBarrier, members, 0, 0};
  x.engine.checkWarpBarriers(x.warp);
  x.refresh();
  return x.group->wait.b == 1 ? Flow::jumped : Flow::blocked;
}

Flow runClusterArrive(Exec &x, const Code &c, LaneMask lanes) {
  Cluster &cluster = *x.cta().cluster;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    if (x.warp.clusterPhase[lane])
      return x.fault(c, lane, "expected barrier.cluster.wait between two barrier.cluster.arrive");
    x.warp.clusterPhase[lane] = cluster.phase;
  }
  x.observeSyncs(c, SyncKind::clusterArrive, lanes);
  cluster.arrived += uint32_t(std::popcount(lanes));
  x.engine.progress();
  x.engine.checkClusterBarrier(cluster);
  return Flow::next;
}

Flow runClusterWait(Exec &x, const Code &c, LaneMask lanes) {
  Cluster &cluster = *x.cta().cluster;
  bool wait = false;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    if (!x.warp.clusterPhase[lane])
      return x.fault(c, lane, "expected barrier.cluster.arrive before barrier.cluster.wait");
    wait |= x.warp.clusterPhase[lane] == cluster.phase;
  }
  if (wait)
    return x.block(WaitKind::cluster, cluster.phase);
  for (LaneMask m = lanes; m; m &= m - 1)
    x.warp.clusterPhase[std::countr_zero(m)] = 0;
  x.group->wait = {};
  x.observeSyncs(c, SyncKind::clusterLeave, lanes);
  return Flow::next;
}

} // namespace

void Engine::checkBarrier(Cta &cta, uint32_t number) {
  CtaBarrier &b = cta.barriers[number];
  if (b.arrived == 0)
    return;
  uint32_t need = b.expected ? b.expected : cta.liveThreads;
  if (b.arrived < need)
    return;
  ++b.generation;
  uint32_t count = b.count;
  bool any = b.any, all = b.all;
  b.arrived = b.expected = b.waiting = b.count = 0;
  b.any = false;
  b.all = true;
  progress();
  for (Warp &warp : cta.warps)
    for (Group &g : warp.groups)
      if (g.wait.kind == WaitKind::barrier && g.wait.a == number && g.wait.b != b.generation) {
        g.result = g.wait.until == redPopc ? count : g.wait.until == redAnd ? all : any;
        g.awake = true;
        setReady(warp);
      }
}

void Engine::checkClusterBarrier(Cluster &cluster) {
  if (cluster.arrived == 0 || cluster.arrived < cluster.liveThreads)
    return;
  cluster.arrived = 0;
  ++cluster.phase;
  progress();
  for (auto &cta : cluster.ctas)
    wake(*cta, WaitKind::cluster);
}

void Engine::checkWarpBarriers(Warp &warp) {
  for (Group &g : warp.groups) {
    if (g.wait.kind != WaitKind::warpBarrier || g.wait.b == 1)
      continue;
    LaneMask members = LaneMask(g.wait.a), come = 0;
    for (const Group &other : warp.groups)
      if (other.wait.kind == WaitKind::warpBarrier && other.wait.b == 0 && other.wait.a == members)
        come |= other.lanes;
    if ((members & warp.live & ~come) != 0)
      continue;
    for (Group &other : warp.groups)
      if (other.wait.kind == WaitKind::warpBarrier && other.wait.a == members) {
        other.wait.b = 1;
        other.awake = true;
      }
    setReady(warp);
  }
}

bool decodeBarrier(Decoder &d, const ptx::Instruction &in) {
  if (in.has("cluster")) {
    Code &c = d.emit(in, in.has("wait") ? runClusterWait : runClusterArrive);
    c.sem = in.has("relaxed") ? Sem::relaxed : in.has("wait") ? Sem::acquire : Sem::release;
    c.scope = Scope::cluster;
    return true;
  }
  if (in.has("warp")) {
    if (in.operands.size() != 1)
      return d.fail("expected bar.warp.sync to have a member mask");
    Slot members = d.value(in.operands[0], 32u);
    Code &c = d.emit(in, runWarpBarrier);
    c.src[0] = members;
    c.sem = Sem::acqRel;
    c.scope = Scope::cta;
    return true;
  }
  uint8_t sub = in.has("arrive") ? arrive
                : in.has("red")  ? (in.has("popc")  ? redPopc
                                    : in.has("and") ? redAnd
                                                    : redOr)
                                 : sync;
  // sync a{, b}; arrive a, b; red d, a{, b}, p
  size_t at = sub >= redPopc ? 1 : 0, n = in.operands.size(), tail = at;
  if (n < at + 1 + tail || n > at + 2 + tail)
    return d.fail(fmt::format("expected another number of operands on {}", in.mnemonic()));
  bool explicitCount = n == at + 2 + tail;
  Slot number = d.value(in.operands[at], 32u);
  Slot count = explicitCount ? d.value(in.operands[at + 1], 32u) : 0;
  Slot predicate = tail ? d.value(in.operands[n - 1], 1u) : 0;
  Slot to = at ? d.dest(in.operands[0]) : sinkSlot;
  Code &c = d.emit(in, runBarrier);
  c.src = {number, count, predicate};
  c.dst[0] = to;
  c.sub = sub;
  c.flags = explicitCount;
  c.sem = sub == arrive ? Sem::release : Sem::acqRel;
  c.scope = Scope::cta;
  return true;
}

} // namespace interlock::emu
