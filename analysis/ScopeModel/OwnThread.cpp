// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rules for what one path shows: a thread and the asynchronous operations that it, or another thread of its CTA before
// a barrier, has started.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

bool disjoint(const Access &x, const Access &y) { return x.remote != y.remote || apart(x, y); }

/// Which of several slots is meant is known of both.
bool exact(const Access &x, const Access &y) { return !x.indexed && !y.indexed; }

class OwnThread {
public:
  explicit OwnThread(Judge &judge) : judge(judge), program(judge.program), sites(judge.sites) {}

  void visit(uint32_t i, const State &state) {
    const Event &e = program.events[i];
    switch (e.kind) {
    case EventKind::asyncCopy:
      startsAsync(i, state);
      break;
    case EventKind::load:
    case EventKind::store:
    case EventKind::atomic:
    case EventKind::reduction:
      touches(i, state);
      break;
    default:
      break;
    }
  }

private:
  /// Calls `then` for each access before `event` to the same memory.
  template <class Then> void earlier(uint32_t event, const Access &access, const State &state, Then then) {
    if (!access.known())
      return;
    for (Site s : sites.byObject[access.object])
      if (state.has(reach, s) && !disjoint(*sites.list[s].access, access))
        then(s);
    (void)event;
  }

  void startsAsync(uint32_t i, const State &state) {
    const Event &e = program.events[i];
    auto fenceName = [&](const Access &access) {
      return judge.object(access).space == Space::shared ? "fence.proxy.async.shared::cta" : "fence.proxy.async.global";
    };
    // Behind a barrier of the CTA it is a matter between threads (Pairs).
    auto unfenced = [&](Site s) {
      return program.events[sites.list[s].event].kind != EventKind::asyncCopy && sites.list[s].isData &&
             state.has(unproxied, s) && state.has(unjoined, s);
    };
    earlier(i, e.src, state, [&](Site s) {
      if (sites.list[s].writes && unfenced(s))
        judge.report(
            "SL10", Severity::error, sites.list[s].event,
            fmt::format("expected a proxy fence between this write of {} through the generic proxy and {}, found none",
                        judge.nameOf(e.src), describe(judge, i)),
            {fmt::format("put {} behind the write", fenceName(e.src)),
             {{"read through the asynchronous proxy here", i}}});
    });
    earlier(i, e.dst, state, [&](Site s) {
      if (unfenced(s) && exact(*sites.list[s].access, e.dst) && !e.dst.remote && !e.reduces)
        judge.report(
            sites.list[s].writes ? "SL10" : "SL11", Severity::error, sites.list[s].event,
            fmt::format("expected a proxy fence between this access to {} through the generic proxy and {}, found none",
                        judge.nameOf(e.dst), describe(judge, i)),
            {fmt::format("put {} behind the access", fenceName(e.dst)),
             {{"overwritten through the asynchronous proxy here", i}}});
      if (e.reduces && judge.eventOf(s).kind != EventKind::asyncCopy && state.has(unproxied, s))
        mixedReduction(i, sites.list[s].event, e.dst);
    });
    if (e.map.known())
      earlier(i, e.map, state, [&](Site s) {
        if (!sites.list[s].isMap || !state.has(unacquiredMap, s))
          return;
        bool released = !state.has(unmapped, s);
        judge.report(
            "SL25", Severity::error, sites.list[s].event,
            fmt::format("expected {} between this write of the tensor map {} and the copy that uses it, found {}",
                        released ? "an acquire fence of the tensormap proxy"
                                 : "a release and an acquire fence of the tensormap proxy",
                        judge.nameOf(e.map), released ? "the release only" : "none"),
            {"use fence.proxy.tensormap::generic.release.gpu behind the write and "
             "fence.proxy.tensormap::generic.acquire.gpu [map], 128 before the copy",
             {{"used here", i}}});
      });
  }

  void mixedReduction(uint32_t async, uint32_t generic, const Access &access) {
    judge.report("SL29", Severity::warning, std::min(async, generic),
                 fmt::format("expected a wait and a proxy fence between an asynchronous reduction to {} and an access "
                             "through the generic "
                             "proxy, found them unordered: atomicity holds inside one proxy only",
                             judge.nameOf(access)),
                 {"wait with cp.async.bulk.wait_group 0 and put fence.proxy.async between them",
                  {{"through the other proxy here", std::max(async, generic)}}});
  }

  void touches(uint32_t i, const State &state) {
    const Event &e = program.events[i];
    for (const Access *access : {&e.src, &e.dst})
      earlier(i, *access, state, [&](Site s) {
        const Event &copy = judge.eventOf(s);
        const SiteInfo &info = sites.list[s];
        if (copy.kind == EventKind::asyncCopy) {
          if (copy.reduces && info.writes) {
            if (state.has(pending, s))
              mixedReduction(info.event, i, *access);
          } else if (info.writes && state.has(pending, s) && !copy.multicast && surelyPending(copy, i, s, state)) {
            unfinished(i, info.event, *access, copy);
          } else if (!info.writes && e.kind != EventKind::load && state.has(pendingRead, s) &&
                     exact(*info.access, *access)) {
            judge.report(
                "SL12", Severity::error, i,
                fmt::format(
                    "expected the asynchronous copy that reads {} to be done with it before {}, found no wait for it",
                    judge.nameOf(*access), describe(judge, i)),
                {"put cp.async.bulk.wait_group.read 0 before it", {{"read by the copy here", info.event}}});
          }
        }
      });
    // One CTA wrote its own memory or a peer's, and the other one of the two reads it.
    if (e.src.known() && !state.has(reach, windowSite))
      for (Site s : sites.byObject[e.src.object])
        if (const SiteInfo &info = sites.list[s]; state.has(reach, s) && state.has(windowed, s) && info.isData &&
                                                  info.writes && info.access->remote != e.src.remote)
          inWindow(i, info.event, e.src);
  }

  /// The copy is surely not over: of a slot that was chosen at run time that is only known if nobody ever waits.
  bool surelyPending(const Event &copy, uint32_t i, Site s, const State &state) {
    const Access &access = program.events[i].src.known() ? program.events[i].src : program.events[i].dst;
    if (exact(*sites.list[s].access, access))
      return true;
    for (Site w = stateSites; w < sites.list.size(); ++w)
      if (sites.list[w].isWait && state.has(reach, w) && judge.eventOf(w).kind == EventKind::barrierWait)
        return false;
    for (const Event &e : program.events)
      if (e.kind == EventKind::asyncWait && e.completion == copy.completion)
        return false;
    return true;
  }

  void unfinished(uint32_t i, uint32_t copyEvent, const Access &access, const Event &copy) {
    std::string_view fix =
        copy.completion == Completion::barrier     ? "wait on its mbarrier with mbarrier.try_wait before it"
        : copy.completion == Completion::copyGroup ? "put cp.async.wait_group before it"
                                                   : "put cp.async.bulk.wait_group 0 (not .read) before it";
    judge.report("SL12", Severity::error, i,
                 fmt::format("expected the asynchronous copy to {} to be complete before {}, found no wait for it: "
                             "neither a barrier nor a "
                             "fence waits for an asynchronous operation",
                             judge.nameOf(access), describe(judge, i)),
                 {std::string(fix), {{"copied here", copyEvent}}});
  }

  void inWindow(uint32_t i, uint32_t write, const Access &access) {
    judge.report("SL16", Severity::warning, write,
                 fmt::format("expected the store to {} before barrier.cluster.arrive, found it between the arrive and "
                             "the wait, where it is "
                             "not ordered for the peer that reads it behind its own wait",
                             judge.nameOf(access)),
                 {"move the store before barrier.cluster.arrive", {{"read by a peer here", i}}});
  }

  Judge &judge;
  const Program &program;
  const Sites &sites;
};

} // namespace

void judgeOwnThread(Judge &judge) {
  OwnThread rules(judge);
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) { rules.visit(i, state); });
}

} // namespace interlock::scope
