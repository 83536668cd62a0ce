// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What is stronger than it has to be. Notes only: each says what it costs, and none is wrong.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

/// An acquire at cluster scope after every try, for data in shared memory.
void acquiringPolls(Judge &judge) {
  const Program &program = judge.program;
  bool touchesGlobal = false;
  for (const Event &e : program.events)
    for (const Access *a : {&e.src, &e.dst})
      touchesGlobal |= a->known() && e.kind <= EventKind::storeAsync && judge.object(*a).space != Space::shared;
  for (uint32_t i = 0; i < program.events.size(); ++i) {
    const Event &e = program.events[i];
    if (e.kind != EventKind::barrierWait || e.poll != Poll::loop || !acquires(e.order) || e.scope < Scope::cluster)
      continue;
    judge.report(
        "SL28", Severity::note, i,
        fmt::format("expected {} to acquire once, behind the loop, got an acquire at cluster scope after every try, "
                    "which invalidates "
                    "the L1 cache each time",
                    describe(judge, i)),
        {touchesGlobal
             ? "use .relaxed.cluster in the loop and fence.acquire.cluster behind it"
             : "use .relaxed.cluster in the loop and fence.acquire.sync_restrict::shared::cluster.cluster behind it",
         {}});
  }
}

void uselessFences(Judge &judge) {
  const Program &program = judge.program;
  for (const Block &block : program.blocks)
    for (uint32_t i = block.first; i < block.first + block.count; ++i) {
      const Event &e = program.events[i];
      if (e.kind != EventKind::fence || i + 1 >= block.first + block.count)
        continue;
      const Event &next = program.events[i + 1];
      if (next.kind == EventKind::fence && next.restrict == e.restrict && next.scope >= e.scope &&
          (next.order == e.order || next.order == Order::sc || (next.order == Order::acqRel && e.order != Order::sc)))
        judge.report("SL28", Severity::note, i,
                     "expected one fence, got two in a row of which the second does all that the first does",
                     {"drop the first", {{"the second", i + 1}}});
    }
}

/// A release at cluster scope that hands over nothing which travels through the generic proxy.
void emptyReleases(Judge &judge) {
  const Program &program = judge.program;
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
    const Event &e = program.events[i];
    if (e.kind != EventKind::barrierArrive || !e.barrier.known() || !releases(e.order) || e.scope < Scope::cluster)
      return;
    for (Site s = stateSites; s < judge.sites.list.size(); ++s)
      if (judge.sites.list[s].isData && judge.eventOf(s).kind != EventKind::asyncCopy &&
          (state.has(reach, s) || state.has(heard, s)))
        return;
    judge.report("SL28", Severity::note, i,
                 fmt::format("expected {} to be relaxed, since nothing that it could release comes before it, got a "
                             "release at cluster scope, "
                             "which waits for all outstanding stores",
                             describe(judge, i)),
                 {"use mbarrier.arrive.relaxed.cluster", {}});
  });
}

} // namespace

void judgeCost(Judge &judge) {
  acquiringPolls(judge);
  uselessFences(judge);
  emptyReleases(judge);
  judgeFences(judge);
}

} // namespace interlock::scope
