// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rules for waits as such: what is read behind one whose other half is not in sight, halves that stand alone, and waits
// for threads that may not run.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::scope {
namespace {

bool isMemoryPoll(const Event &e) {
  return e.kind == EventKind::load && e.poll == Poll::loop && e.proxy == Proxy::generic;
}

/// A loop that ends by a plain or relaxed load of global memory, and reads behind it that only it can have made valid:
/// who writes there is not in sight, so it is a warning.
class UnacquiredPolls {
public:
  explicit UnacquiredPolls(Judge &judge) : judge(judge), program(judge.program), sites(judge.sites) {}

  void run() {
    for (Site w = stateSites; w < sites.list.size(); ++w)
      if (sites.list[w].isWait && suspicious(judge.eventOf(w)) && !blamed(sites.list[w].event))
        polls.push_back(w);
    if (polls.empty())
      return;
    laterAcquires.resize(sites.list.size());
    judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
      Site self = sites.of[i][2];
      if (self != Sites::none && acquires(program.events[i].order))
        for (Site w : polls)
          if (state.has(reach, w))
            laterAcquires[w].push_back(self);
    });
    judge.flow.walk([&](uint32_t, uint32_t i, const State &state) { visit(i, state); });
  }

private:
  bool suspicious(const Event &e) const {
    return isMemoryPoll(e) && !acquires(e.order) && !e.carriesData && e.src.elements == 1 &&
           judge.object(e.src).space == Space::global;
  }
  bool blamed(uint32_t event) const {
    for (std::string_view rule : {"SL02", "SL04", "SL05", "SL06", "SL17"})
      if (judge.reported(rule, event))
        return true;
    return false;
  }
  /// The poll is on the way to here, for this thread or for one that told it by a barrier.
  bool guards(Site w, const State &state) const {
    const Actor &waiter = judge.actorOf(w);
    bool someForAll = waiter.threads != Actor::Threads::all || waiter.some;
    bool met = !state.has(unjoined, w) || (waiter.threads == Actor::Threads::lanes && !state.has(unlaned, w));
    return state.has(reach, w) && (!state.has(avoided, w) || (someForAll && met));
  }
  void visit(uint32_t i, const State &state) {
    const Event &read = program.events[i];
    if (read.kind != EventKind::load || read.order != Order::weak || read.proxy != Proxy::generic ||
        !read.src.known() || read.poll == Poll::loop)
      return;
    const Object &data = judge.object(read.src);
    if (data.space != Space::global || data.readOnly)
      return;
    for (Site w : polls) {
      const Event &wait = judge.eventOf(w);
      Scope reach = judge.object(wait.src).reach;
      if (wait.src.object == read.src.object || !guards(w, state) || !state.has(open + level(reach), w))
        continue;
      // Another wait behind the poll may be the one that counts.
      bool other = std::any_of(laterAcquires[w].begin(), laterAcquires[w].end(), [&](Site later) {
        return later != w && !state.has(avoided, later) && judge.eventOf(later).scope >= reach;
      });
      if (other)
        continue;
      bool weak = wait.order != Order::relaxed;
      uint32_t waitEvent = sites.list[w].event;
      judge.report(
          weak ? "SL17" : "SL04", Severity::warning, waitEvent,
          fmt::format(
              "expected {} to acquire what its writer has published, or an acquire fence behind it, got {}.{} and a "
              "plain load of {}",
              describe(judge, waitEvent), name(wait.order), name(wait.scope), data.name),
          {fmt::format("use {}", spell(wait, Order::acquire, reach)), {{"read here", i}}});
    }
  }

  Judge &judge;
  const Program &program;
  const Sites &sites;
  std::vector<Site> polls;
  std::vector<std::vector<Site>> laterAcquires; ///< by poll
};

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
  UnacquiredPolls(judge).run();
  vectorFlags(judge);
  aloneAtTheBoundary(judge);
  gridBarriers(judge);
  judgeSpins(judge);
}

} // namespace interlock::scope
