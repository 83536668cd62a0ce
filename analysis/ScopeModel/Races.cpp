// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rules for programs of which everything is in sight (Program::complete): accesses that nothing orders at all, where
// the other rules only judge what somebody meant to order.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

/// Accesses with nothing behind them, on some path, by which another thread of the CTA, or one of the cluster, would
/// know that they are over.
class Unordered {
public:
  Unordered(const Judge &judge, Scope within)
      : judge(judge), program(judge.program), sites(judge.sites), within(within),
        in(program.blocks.size(), Set(sites.list.size())) {
    std::vector<uint32_t> todo{0};
    std::vector<bool> seen(program.blocks.size());
    while (!todo.empty() && !program.blocks.empty()) {
      uint32_t b = todo.back();
      todo.pop_back();
      seen[b] = true;
      Set set = in[b];
      const Block &block = program.blocks[b];
      for (uint32_t i = block.first; i < block.first + block.count; ++i)
        apply(set, i);
      for (uint32_t s : block.successors)
        if (merge(in[s], set) || !seen[s])
          todo.push_back(s);
    }
  }

  /// By site: no arrival at the cluster's barrier behind it, or one for which nobody has waited yet. What comes between
  /// an arrival and its wait is ordered by neither.
  struct Set {
    explicit Set(size_t sites) : open(sites), arrived(sites) {}
    std::vector<bool> open, arrived;
    bool has(Site site) const { return open[site] || arrived[site]; }
  };
  const Set &atStart(uint32_t block) const { return in[block]; }

  void apply(Set &set, uint32_t event) const {
    const Event &e = program.events[event];
    if ((e.kind == EventKind::ctaBarrier && within == Scope::cta) || e.kind == EventKind::call)
      set = Set(sites.list.size());
    else if (e.kind == EventKind::clusterArrive)
      arrive(set);
    else if (e.kind == EventKind::clusterWait)
      set.arrived.assign(set.arrived.size(), false);
    if (Site w = sites.of[event][2]; w != Sites::none)
      for (Site a = stateSites; a < sites.list.size(); ++a)
        if (set.has(a) && judge.flow.tells(event, a))
          set.open[a] = set.arrived[a] = false;
    for (Site a : {sites.of[event][0], sites.of[event][1]})
      if (a != Sites::none)
        set.open[a] = true;
  }

private:
  static void arrive(Set &set) {
    merge(set.arrived, set.open);
    set.open.assign(set.open.size(), false);
  }
  static bool merge(std::vector<bool> &into, const std::vector<bool> &from) {
    bool fresh = false;
    for (size_t i = 0; i < into.size(); ++i)
      if (from[i] && !into[i])
        fresh = into[i] = true;
    return fresh;
  }
  static bool merge(Set &into, const Set &from) {
    bool open = merge(into.open, from.open);
    return merge(into.arrived, from.arrived) || open;
  }

  const Judge &judge;
  const Program &program;
  const Sites &sites;
  const Scope within;
  std::vector<Set> in;
};

class Races {
public:
  explicit Races(Judge &judge)
      : judge(judge), sites(judge.sites), inCta(judge, Scope::cta), inCluster(judge, Scope::cluster) {}

  void run() {
    uint32_t current = ~0u;
    Unordered::Set ofCta(0), ofCluster(0);
    judge.flow.walk([&](uint32_t block, uint32_t event, const State &state) {
      if (block != current) {
        ofCta = inCta.atStart(block);
        ofCluster = inCluster.atStart(current = block);
      }
      for (Site b : {sites.of[event][0], sites.of[event][1]})
        if (b != Sites::none) {
          sharedMemory(block, event, b, state, ofCta);
          acrossCtas(block, event, b, state, ofCluster);
        }
      inCta.apply(ofCta, event);
      inCluster.apply(ofCluster, event);
    });
  }

private:
  /// The same bytes, from two threads, one of them writing and one of them plain. Of two that only write it is not said
  /// that they write to the same place.
  bool conflict(const SiteInfo &x, const SiteInfo &y) const {
    if (x.isWait || x.isInit || y.isInit || !((x.reads && y.writes) || (x.writes && y.reads)) ||
        (!x.isData && !y.isData))
      return false;
    if (x.access->remote || y.access->remote || apart(*x.access, *y.access))
      return false;
    bool own = x.access->formula == y.access->formula && x.access->perThread && y.access->perThread;
    return !own;
  }

  void sharedMemory(uint32_t block, uint32_t event, Site b, const State &state, const Unordered::Set &set) {
    const SiteInfo &here = sites.list[b];
    // Asynchronous operations are over by their own completion, which other rules ask for.
    auto async = [&](uint32_t e) { return judge.program.events[e].completion != Completion::none; };
    if (judge.object(*here.access).space != Space::shared || async(event))
      return;
    const Actor &actor = judge.program.blocks[block].actor;
    for (Site a : sites.byObject[here.access->object]) {
      const Actor &other = judge.actorOf(a);
      if (!set.has(a) || async(sites.list[a].event) || !conflict(sites.list[a], here) || sameThread(actor, other) ||
          inOtherCtas(actor, other) ||
          ((sameWarp(actor, other) || ownPiece(*sites.list[a].access, *here.access)) && !state.has(unlaned, a)))
        continue;
      judge.report(
          "SL30", Severity::error, event,
          fmt::format("expected a barrier between {} and another thread's access to {}, found a path without one",
                      describe(judge, event), judge.nameOf(*here.access)),
          {"put bar.sync between them (bar.warp.sync if both are of one warp)",
           {{"the other access", sites.list[a].event}}});
    }
  }

  /// The thread has waited for, and acquired at that distance, a signal that CTAs of the grid send behind this access,
  /// or that is this access.
  bool toldByOtherCtas(Site a, const State &state) const {
    for (Site w = stateSites; w < sites.list.size(); ++w) {
      const SiteInfo &wait = sites.list[w];
      if (wait.isWait && wait.access && judge.object(*wait.access).space == Space::global && state.has(reach, w) &&
          !state.has(open + level(Scope::gpu), w) &&
          (judge.flow.tells(wait.event, a) || wait.access->object == sites.list[a].access->object))
        return true;
    }
    return false;
  }

  /// Global memory that a contract speaks of: what other CTAs did to it must be known to be over. A signal vouches for
  /// what all of them have stored.
  void acrossCtas(uint32_t block, uint32_t event, Site b, const State &state, const Unordered::Set &ofCluster) {
    const SiteInfo &here = sites.list[b];
    const Object &object = judge.object(*here.access);
    const Event &e = judge.program.events[event];
    if (object.space != Space::global || object.evidence != Evidence::contract || e.elsewhere || here.access->perCta)
      return;
    for (Site a : sites.byObject[here.access->object]) {
      const SiteInfo &first = sites.list[a];
      if (first.access->perCluster && here.access->perCluster && first.access->formula == here.access->formula) {
        withinCluster(event, b, a, ofCluster.has(a) && !toldByOtherCtas(a, state));
        continue;
      }
      // What the same run of the thread has done is known to it.
      if (!conflict(first, here) || !state.has(reach, a) || judge.eventOf(a).elsewhere || judge.eventOf(a).vouches ||
          first.block == block || toldByOtherCtas(a, state))
        continue;
      std::string what = e.vouches
                             ? fmt::format("expected this signal's thread to have acquired what other CTAs stored to "
                                           "{}, which the signal announces, found nothing that tells it",
                                           judge.nameOf(*here.access))
                             : fmt::format("expected {} to come behind an acquire of what other CTAs did to {}, found "
                                           "nothing that tells that they are through with it",
                                           describe(judge, event), judge.nameOf(*here.access));
      judge.report(e.vouches ? "SL03" : "SL30", Severity::error, event, std::move(what),
                   {"let every CTA do an acq_rel operation at gpu scope behind its accesses, and go on by its result",
                    {{"accessed here", first.event}}});
    }
  }

  /// A place that the cluster has for itself: only its own CTAs can meet there, and its barrier is enough.
  void withinCluster(uint32_t event, Site b, Site a, bool isOpen) {
    if (isOpen && conflict(sites.list[a], sites.list[b]) && !sameThread(judge.actorOf(a), judge.actorOf(b)))
      judge.report("SL30", Severity::error, event,
                   fmt::format("expected the cluster's barrier between {} and the access to {} by another of its "
                               "CTAs, found a path without it",
                               describe(judge, event), judge.nameOf(*sites.list[b].access)),
                   {"arrive behind the one and wait before the other", {{"the other access", sites.list[a].event}}});
  }

  /// Both are of the piece that the warp has for itself, so only its own lanes can meet there.
  static bool ownPiece(const Access &x, const Access &y) { return x.warpStride != 0 && x.warpStride == y.warpStride; }
  bool sameWarp(const Actor &a, const Actor &b) const {
    auto warp = warpOf(a, judge.program.warpWidth);
    return warp && warp == warpOf(b, judge.program.warpWidth);
  }

  Judge &judge;
  const Sites &sites;
  const Unordered inCta, inCluster;
};

} // namespace

void judgeRaces(Judge &judge) {
  if (judge.program.complete)
    Races(judge).run();
}

} // namespace interlock::scope
