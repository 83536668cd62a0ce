// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rules for waits as such: what is read behind one whose other half is not in sight, halves that stand alone, and waits
// for threads that may not run.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

bool isMemoryPoll(const Event &e) {
  return e.kind == EventKind::load && e.poll == Poll::loop && e.proxy == Proxy::generic;
}

/// A loop that ends by a plain or relaxed load of global memory, and reads behind it that only it can have made valid:
/// who writes there is not in sight, so it is a warning.
void unacquiredPolls(Judge &judge) {
  const Program &program = judge.program;
  const Sites &sites = judge.sites;
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
    const Event &read = program.events[i];
    if (read.kind != EventKind::load || read.order != Order::weak || read.proxy != Proxy::generic ||
        !read.src.known() || read.poll != Poll::no)
      return;
    const Object &data = judge.object(read.src);
    if (data.space != Space::global || data.readOnly)
      return;
    for (Site w = stateSites; w < sites.list.size(); ++w) {
      if (!sites.list[w].isWait || !state.has(reach, w))
        continue;
      // Some get here without having waited; but if one thread waits for all, the others go round it.
      bool forAll = judge.actorOf(w).threads != Actor::Threads::all;
      if (state.has(avoided, w) && !forAll)
        continue;
      uint32_t waitEvent = sites.list[w].event;
      const Event &wait = program.events[waitEvent];
      if (!isMemoryPoll(wait) || acquires(wait.order) || wait.src.object == read.src.object)
        continue;
      const Object &flag = judge.object(wait.src);
      if (flag.space != Space::global || !state.has(open + level(flag.reach), w))
        continue;
      bool weak = wait.order != Order::relaxed;
      if (judge.reported(weak ? "SL17" : "SL04", waitEvent) || judge.reported("SL05", waitEvent) ||
          judge.reported("SL06", waitEvent) || judge.reported("SL02", waitEvent))
        continue;
      judge.report(weak ? "SL17" : "SL04", Severity::warning, waitEvent,
                   fmt::format("expected {} to acquire what its writer has published, or an acquire fence behind it, "
                               "got {}.{} and a plain load of {}",
                               describe(judge, waitEvent), name(wait.order), name(wait.scope), data.name),
                   {fmt::format("use {}", spell(wait, Order::acquire, flag.reach)), {{"read here", i}}});
    }
  });
}

/// Flag and data in one vector access are separate accesses to the model, though hardware moves them together.
void vectorFlags(Judge &judge) {
  for (uint32_t i = 0; i < judge.program.events.size(); ++i) {
    const Event &e = judge.program.events[i];
    if (isMemoryPoll(e) && e.src.elements > 1)
      judge.report("SL17", Severity::note, i,
                   fmt::format("expected flag and data of {} in one scalar access, got {} elements: the model orders "
                               "them in any way, that they "
                               "travel together is a property of the hardware",
                               describe(judge, i), e.src.elements),
                   {"pack both into one 64- or 128-bit scalar, or give each element a flag", {}});
  }
}

void aloneAtTheBoundary(Judge &judge) {
  const Program &program = judge.program;
  std::vector<bool> waitedOn(program.objects.size());
  for (const Event &e : program.events)
    if (mayAcquire(e) && signalOf(e) && signalOf(e)->known())
      waitedOn[signalOf(e)->object] = true;
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
    const Event &e = program.events[i];
    if (e.kind != EventKind::store && e.kind != EventKind::reduction)
      return;
    if (!releases(e.order) || !e.dst.known() || waitedOn[e.dst.object])
      return;
    const Object &object = judge.object(e.dst);
    if (object.space != Space::global || object.pairsAcrossKernels || object.evidence == Evidence::contract)
      return;
    (void)state;
    judge.report("SL26", Severity::note, i,
                 fmt::format("expected an acquire of {} in this kernel, found none: the end of the kernel orders it "
                             "for later ones on the "
                             "stream, a kernel that runs meanwhile has to acquire it",
                             object.name),
                 {"say `pairs-across-kernels` of the parameter in the contract if another kernel waits for it", {}});
  });
}

/// Each CTA arrives at a counter and then waits for the others': all of them must run at once.
void gridBarriers(Judge &judge) {
  const Program &program = judge.program;
  const Sites &sites = judge.sites;
  if (!program.kernel)
    return;
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
    const Event &wait = program.events[i];
    bool poll = wait.poll == Poll::loop && (wait.kind == EventKind::load || wait.kind == EventKind::atomic);
    if (!poll || !signalOf(wait)->known())
      return;
    const Access &place = *signalOf(wait);
    const Object &object = judge.object(place);
    if (object.space != Space::global || object.residentPeers || object.reach != Scope::gpu || place.perCta)
      return;
    for (Site s : sites.byObject[place.object]) {
      const Event &arrive = judge.eventOf(s);
      bool counts = arrive.kind == EventKind::atomic || arrive.kind == EventKind::reduction;
      if (!counts || sites.list[s].event == i || arrive.poll == Poll::loop || !state.has(reach, s) ||
          sites.list[s].access->formula != place.formula)
        continue;
      judge.report(
          "SL27", Severity::warning, i,
          fmt::format("expected a launch that keeps all CTAs resident, found nothing that says so: {} waits for "
                      "arrivals of CTAs that "
                      "may not have been started",
                      describe(judge, i)),
          {"launch it cooperatively and waive this with that reason, or let the CTA that arrives last go on alone",
           {{"arrives here", sites.list[s].event}}});
    }
  });
}

} // namespace

void judgeProgress(Judge &judge) {
  unacquiredPolls(judge);
  vectorFlags(judge);
  aloneAtTheBoundary(judge);
  gridBarriers(judge);
}

} // namespace interlock::scope
