// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rules for the life of distributed shared memory: a CTA's shared memory is there from the start of that CTA to its
// end.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

bool touchesPeer(const Event &e) {
  auto remote = [](const Access &a) { return a.known() && a.remote; };
  return remote(e.src) || remote(e.dst) || remote(e.barrier) || e.multicast;
}

} // namespace

void judgeLifetime(Judge &judge) {
  const Program &program = judge.program;
  // What is asked here is whether something has been done, which a path that was left out may have.
  if (program.clusterSize == 1 || !program.kernel || !judge.flow.isComplete())
    return;
  std::vector<bool> waitedOn(program.objects.size()), answered(program.objects.size());
  std::optional<uint32_t> lastSent, unanswered, lastPlain;
  for (uint32_t i = 0; i < program.events.size(); ++i) {
    const Event &e = program.events[i];
    if (e.kind == EventKind::barrierWait && e.barrier.known())
      waitedOn[e.barrier.object] = true;
  }
  bool anyAnswer = false;
  for (uint32_t i = 0; i < program.events.size(); ++i) {
    const Event &e = program.events[i];
    bool remoteArrive = e.kind == EventKind::barrierArrive && e.barrier.known() && e.barrier.remote;
    if (remoteArrive && !waitedOn[e.barrier.object])
      unanswered = i;
    anyAnswer |= remoteArrive;
    if (e.kind == EventKind::storeAsync ? e.dst.remote : e.multicast)
      lastSent = i;
    if (e.kind <= EventKind::reduction && touchesPeer(e))
      lastPlain = i;
  }
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
    const Event &e = program.events[i];
    if (touchesPeer(e) && state.has(reach, startSite) && !judge.reported("SL14", i))
      judge.report("SL23", Severity::error, i,
                   fmt::format("expected a cluster barrier between the start of the kernel and {}, found a path "
                               "without one: the peer CTA may "
                               "not have started",
                               describe(judge, i)),
                   {"put barrier.cluster.arrive and barrier.cluster.wait at the start of the kernel", {}});
    if (e.kind != EventKind::exit)
      return;
    std::optional<uint32_t> culprit;
    bool published = state.has(reach, publishedSite);
    if (state.has(reach, remoteSite))
      culprit = lastPlain;
    else if (published && unanswered)
      culprit = unanswered;
    else if (published && anyAnswer && !state.has(reach, drainedSite))
      culprit = lastSent;
    if (culprit)
      judge.report("SL23", Severity::error, *culprit,
                   fmt::format("expected a cluster barrier, or a wait for the peers' last arrivals, between {} and the "
                               "end of the kernel, found a "
                               "path without one: shared memory is gone when its CTA has ended",
                               describe(judge, *culprit)),
                   {"put barrier.cluster.arrive.relaxed and barrier.cluster.wait before the end of the kernel",
                    {{"the kernel ends here", i}}});
  });
}

} // namespace interlock::scope
