// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rule SL27, waits for what comes behind them: a flag that nobody sets who has not waited for it, and a lock whose
// taker meets its warp, or its CTA, before it gives the lock back.
#include "analysis/ScopeModel/Judge.h"
#include "analysis/ScopeModel/Ways.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::scope {
namespace {

constexpr size_t maxItems = 512; ///< waits that are looked at

bool isMemoryWait(const Event &e) {
  return e.poll == Poll::loop && e.proxy == Proxy::generic &&
         (e.kind == EventKind::load || e.kind == EventKind::atomic) && signalOf(e)->known();
}

bool writes(const Event &e) {
  return e.kind == EventKind::store || e.kind == EventKind::atomic || e.kind == EventKind::reduction ||
         e.kind == EventKind::storeAsync || e.kind == EventKind::asyncCopy;
}

/// A store to a place that is not known, or in a peer's memory, where the same flag may be meant.
bool mayBeAnyFlag(const Judge &judge, const Event &e) {
  if (e.kind == EventKind::call || e.multicast)
    return true;
  if (!writes(e))
    return false;
  return e.dst.known() ? e.dst.remote || judge.object(e.dst).computed : e.kind != EventKind::asyncCopy;
}

/// A flag in the CTA's own shared memory is set by this kernel or by nobody.
void flagsSetBehind(Judge &judge) {
  const Program &program = judge.program;
  auto polls = [&](const Event &e) {
    return e.kind == EventKind::load && isMemoryWait(e) && !e.src.remote && judge.object(e.src).space == Space::shared;
  };
  std::vector<std::vector<Site>> waits(program.objects.size());
  bool any = false;
  for (Site s = stateSites; s < judge.sites.list.size(); ++s)
    if (judge.sites.list[s].isWait && polls(judge.eventOf(s))) {
      waits[judge.eventOf(s).src.object].push_back(s);
      any = true;
    }
  if (!any || !program.kernel || !judge.flow.isComplete() ||
      std::any_of(program.events.begin(), program.events.end(), [&](const Event &e) { return mayBeAnyFlag(judge, e); }))
    return;
  std::vector<std::optional<uint32_t>> behind(program.objects.size());
  std::vector<bool> elsewhere(program.objects.size()); // there is a way to a store round the wait
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
    const Event &e = program.events[i];
    if (!writes(e) || !e.dst.known())
      return;
    for (Site w : waits[e.dst.object])
      if (state.has(avoided, w))
        elsewhere[e.dst.object] = true;
      else
        behind[e.dst.object] = i;
  });
  for (uint32_t object = 0; object < program.objects.size(); ++object)
    if (behind[object] && !elsewhere[object])
      for (Site w : waits[object])
        judge.report(
            "SL27", Severity::warning, judge.sites.list[w].event,
            fmt::format("expected a thread that sets {} without waiting for it first, found none: every store to "
                        "it is behind this wait",
                        program.objects[object].name),
            {"let one warp set it and the others wait", {{"set here", *behind[object]}}});
}

/// Every lane tries to take the lock; one gets it, and waits for the others, who wait for the lock.
void locksHeldAcrossBarriers(Judge &judge) {
  const Program &program = judge.program;
  std::vector<uint32_t> itemOf(program.events.size(), ~0u), items;
  for (uint32_t b : judge.flow.blocks()) {
    const Actor &actor = program.blocks[b].actor;
    bool several = !actor.some && (actor.threads == Actor::Threads::all || actor.threads == Actor::Threads::warp);
    for (uint32_t i = program.blocks[b].first; i < program.blocks[b].first + program.blocks[b].count; ++i) {
      const Event &e = program.events[i];
      if (!several || e.kind != EventKind::atomic || !isMemoryWait(e) || !e.dst.single || items.size() == maxItems ||
          judge.flow.group(i) == Signals::none)
        continue;
      itemOf[i] = uint32_t(items.size());
      items.push_back(i);
    }
  }
  if (items.empty() || program.threads == 1)
    return;
  auto meets = [](const Event &e) {
    return (e.kind == EventKind::warpBarrier && e.allLanes) || e.kind == EventKind::ctaBarrier ||
           e.kind == EventKind::clusterWait;
  };
  std::vector<std::optional<uint32_t>> givenBack(items.size());
  std::vector<bool> atOnce(items.size()); // on some path
  Ways(program, judge.flow.blocks(), itemOf, items.size(), meets).walk([&](uint32_t i, const Ways::Since &since) {
    if (itemOf[i] != ~0u || !writes(program.events[i]) || judge.flow.group(i) == Signals::none)
      return;
    for (uint32_t item = 0; item < items.size(); ++item) {
      if (judge.flow.group(i) != judge.flow.group(items[item]) || !since.any(item))
        continue;
      givenBack[item] = i;
      atOnce[item] = atOnce[item] || !since.alwaysBetween(item);
    }
  });
  for (uint32_t item = 0; item < items.size(); ++item) {
    if (!givenBack[item] || (atOnce[item] && !program.lockstep))
      continue;
    judge.report(
        "SL27", Severity::warning, items[item],
        fmt::format("expected one thread of a warp to take the lock, or its taker to give it back by itself, got all "
                    "threads at {}, of which those that wait keep the one that has it: {}",
                    describe(judge, items[item]),
                    atOnce[item] ? "the lanes of a warp go on together on this target"
                                 : "it meets them before it gives back"),
        {"let one lane take it for its warp", {{"given back here", *givenBack[item]}}});
  }
}

} // namespace

void judgeSpins(Judge &judge) {
  flagsSetBehind(judge);
  locksHeldAcrossBarriers(judge);
}

} // namespace interlock::scope
