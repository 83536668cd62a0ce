// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rules for mbarriers: the form of their operations, their initialisation, their phases.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

bool isBarrierUse(const Event &e) {
  return e.barrier.known() && e.kind != EventKind::barrierInit && e.kind != EventKind::barrierInval;
}

void localForms(Judge &judge) {
  for (uint32_t i = 0; i < judge.program.events.size(); ++i) {
    const Event &e = judge.program.events[i];
    bool barrier = e.kind >= EventKind::barrierInit && e.kind <= EventKind::barrierInval;
    const Access &place = barrier ? e.barrier : e.src.known() ? e.src : e.dst;
    if (!e.localForm || !place.remote || judge.program.clusterSize == 1)
      continue;
    bool possible = e.kind == EventKind::barrierArrive || e.kind == EventKind::barrierExpect || !barrier;
    judge.report("SL09", Severity::error, i,
                 fmt::format("expected an address in the own CTA's shared memory for {}, got one that mapa made of {}, "
                             "which is in a peer's",
                             describe(judge, i), judge.nameOf(place)),
                 {possible ? "use the form with .shared::cluster" : "do it in the CTA that owns the barrier", {}});
  }
}

void initialisation(Judge &judge) {
  const Program &program = judge.program;
  judge.flow.walk([&](uint32_t block, uint32_t i, const State &state) {
    const Event &e = program.events[i];
    if (!isBarrierUse(e))
      return;
    bool remote = e.barrier.remote || e.multicast || (e.kind == EventKind::storeAsync && e.dst.remote);
    for (Site s : judge.sites.byObject[e.barrier.object]) {
      const SiteInfo &init = judge.sites.list[s];
      if (!init.isInit || !state.has(reach, s))
        continue;
      if (remote && program.clusterSize != 1 && state.has(unpublished, s)) {
        judge.report("SL14", Severity::error, i,
                     fmt::format("expected the mbarrier.init of {} to be published to the cluster before {}, found no "
                                 "cluster barrier that "
                                 "releases it",
                                 judge.nameOf(e.barrier), describe(judge, i)),
                     {"put fence.mbarrier_init.release.cluster behind the init, then barrier.cluster.arrive and .wait",
                      {{"initialised here", init.event}}});
      } else if (!remote && state.has(unjoined, s) && !judge.wider(judge.actorOf(s), program.blocks[block].actor) &&
                 judge.wider(program.blocks[block].actor, judge.actorOf(s)) && state.has(unpublished, s)) {
        judge.report("SL14", Severity::error, i,
                     fmt::format("expected a barrier of the CTA between the mbarrier.init of {} by one thread and {} "
                                 "by others, found none",
                                 judge.nameOf(e.barrier), describe(judge, i)),
                     {"put bar.sync behind the init", {{"initialised here", init.event}}});
      }
    }
  });
}

void parities(Judge &judge) {
  for (uint32_t i = 0; i < judge.program.events.size(); ++i) {
    const Event &e = judge.program.events[i];
    if (e.kind == EventKind::barrierWait && e.parity == Parity::constant && e.reusesBarrier)
      judge.report("SL22", Severity::error, i,
                   fmt::format("expected the parity of {} to change with each trip of the loop that uses the barrier "
                               "again, got the same in all: "
                               "from the second trip on it waits for a phase that is over, or one that never comes",
                               describe(judge, i)),
                   {"flip the parity once a trip (xor with 1), or take it from the trip count", {}});
  }
}

/// What a barrier is told to expect, against what is sent to it, where both are plain to see: in one block, all of it.
void transactions(Judge &judge) {
  const Program &program = judge.program;
  struct Sum {
    int64_t expected = 0, sent = 0;
    uint32_t expects = 0, copies = 0, firstExpect = 0, firstCopy = 0, block = ~0u;
    bool plain = true;
  };
  std::vector<Sum> sums(program.objects.size());
  for (uint32_t b = 0; b < program.blocks.size(); ++b)
    for (uint32_t i = program.blocks[b].first; i < program.blocks[b].first + program.blocks[b].count; ++i) {
      const Event &e = program.events[i];
      bool expects = e.expects;
      bool sends =
          (e.kind == EventKind::asyncCopy || e.kind == EventKind::storeAsync) && e.completion == Completion::barrier;
      if (!e.barrier.known() || (!expects && !sends))
        continue;
      Sum &sum = sums[e.barrier.object];
      sum.plain &= e.bytes && !e.multicast && !e.barrier.remote && (sum.block == ~0u || sum.block == b);
      sum.block = b;
      if (!e.bytes)
        continue;
      if (expects) {
        sum.expected += *e.bytes;
        if (sum.expects++ == 0)
          sum.firstExpect = i;
      } else {
        sum.sent += *e.bytes;
        if (sum.copies++ == 0)
          sum.firstCopy = i;
      }
    }
  for (const Sum &sum : sums)
    if (sum.plain && sum.expects && sum.copies && sum.expected != sum.sent)
      judge.report("SL22", Severity::error, sum.firstExpect,
                   fmt::format("expected as many bytes as the copies bring, {}, got {}: the phase {}", sum.sent,
                               sum.expected,
                               sum.expected > sum.sent ? "never completes" : "completes before the data is there"),
                   {fmt::format("expect {} bytes", sum.sent), {{"the first copy", sum.firstCopy}}});
}

} // namespace

std::optional<uint32_t> arrivalsMade(const Program &program, uint32_t block, uint32_t arrive) {
  const Actor &actor = program.blocks[block].actor;
  auto each = program.events[arrive].count;
  if (!each || actor.some || actor.ctas != Actor::Ctas::all)
    return std::nullopt;
  switch (actor.threads) {
  case Actor::Threads::one:
    return *each;
  case Actor::Threads::warp:
    return *each * program.warpWidth;
  case Actor::Threads::lanes:
    return program.threads % program.warpWidth == 0 && program.threads
               ? std::optional(*each * (program.threads / program.warpWidth))
               : std::nullopt;
  case Actor::Threads::all:
    return program.threads ? std::optional(*each * program.threads) : std::nullopt;
  }
  return std::nullopt;
}

namespace {

/// The arrivals that complete a phase, against the count of the init, where one site makes all of them.
void arrivals(Judge &judge) {
  const Program &program = judge.program;
  struct Count {
    uint32_t inits = 0, arrives = 0, initEvent = 0, arriveEvent = 0, arriveBlock = 0;
    bool plain = true;
  };
  std::vector<Count> counts(program.objects.size());
  for (uint32_t b = 0; b < program.blocks.size(); ++b)
    for (uint32_t i = program.blocks[b].first; i < program.blocks[b].first + program.blocks[b].count; ++i) {
      const Event &e = program.events[i];
      if (!e.barrier.known())
        continue;
      Count &count = counts[e.barrier.object];
      count.plain &= !e.barrier.remote && !e.barrier.indexed && e.kind != EventKind::barrierDone &&
                     e.kind != EventKind::storeAsync;
      if (e.kind == EventKind::barrierInit) {
        count.inits++;
        count.initEvent = i;
        count.plain &= e.count.has_value();
      } else if (e.kind == EventKind::barrierArrive) {
        count.arrives++;
        count.arriveEvent = i;
        count.arriveBlock = b;
        count.plain &= e.count.has_value();
      }
    }
  for (const Count &count : counts) {
    if (!count.plain || count.inits != 1 || count.arrives != 1)
      continue;
    uint32_t wanted = *program.events[count.initEvent].count;
    std::optional<uint32_t> made = arrivalsMade(program, count.arriveBlock, count.arriveEvent);
    if (made && *made != wanted)
      judge.report(
          "SL22", Severity::error, count.initEvent,
          fmt::format("expected the count of the barrier to be the number of its arrivals a phase, {}, got {}: {}",
                      *made, wanted, *made < wanted ? "the phase never completes" : "phases complete early"),
          {fmt::format("initialise it with {}", *made), {{"the arrival", count.arriveEvent}}});
  }
}

} // namespace

void judgeBarriers(Judge &judge) {
  localForms(judge);
  initialisation(judge);
  parities(judge);
  transactions(judge);
  arrivals(judge);
  judgePhases(judge);
}

} // namespace interlock::scope
