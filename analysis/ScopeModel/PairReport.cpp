// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What is said of a pair that does not order its accesses: which rule, at which of its places, and what would do.
#include "analysis/ScopeModel/Pairs.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

std::string_view agent(Scope distance) {
  static constexpr std::string_view names[] = {"the same thread", "another thread of the CTA",
                                               "another CTA of the cluster", "another CTA", "another device"};
  return names[size_t(distance)];
}

/// What is found in the place of a scope that should reach further.
std::string found(const Event &e) {
  return e.order == Order::weak ? "a weak access" : fmt::format("{}.{}", name(e.order), name(e.scope));
}

class Reporter {
public:
  Reporter(Judge &judge, const Pair &pair)
      : judge(judge), pair(pair), signalEvent(pair.release), waitEvent(judge.sites.list[pair.wait].event),
        firstEvent(judge.sites.list[pair.a].event), secondEvent(judge.sites.list[pair.b].event),
        signal(judge.program.events[signalEvent]), wait(judge.program.events[waitEvent]) {
    const Access *place = signalOf(signal);
    if (place && place->known())
      evidence = judge.object(*place).evidence;
    data = judge.nameOf(*judge.sites.list[pair.a].access);
  }

  void run() {
    release();
    acquire();
    proxy();
  }

private:
  void release();
  void acquire();
  void proxy();
  void atRelease(std::string_view rule, Severity severity, std::string message, std::string fix) {
    judge.report(rule, soften(severity), signalEvent, std::move(message) + explainSoft(),
                 {std::move(fix),
                  {{"the access that must come first", firstEvent},
                   {"waited for here", waitEvent},
                   {"the access that must come second", secondEvent}}});
  }
  void atAcquire(std::string_view rule, Severity severity, std::string message, std::string fix) {
    judge.report(rule, soften(severity), waitEvent, std::move(message) + explainSoft(),
                 {std::move(fix),
                  {{"the access that must come second", secondEvent},
                   {"signalled here", signalEvent},
                   {"the access that must come first", firstEvent}}});
  }
  /// In-switch reductions read past the caches of this device, so what they miss is a promise, not a value.
  bool soft() const { return judge.eventOf(pair.b).multimem; }
  Severity soften(Severity severity) const { return soft() ? std::min(severity, Severity::warning) : severity; }
  std::string explainSoft() const {
    return soft() ? ", though only in-switch reductions read behind it, which do not look into this device's caches"
                  : "";
  }
  /// The rule and the severity for a scope that does not reach: of another device only as far as that is known.
  std::pair<std::string_view, Severity> tooNarrow(std::string_view plain) const {
    if (pair.distance < Scope::sys)
      return {plain, Severity::error};
    return {"SL18", evidence == Evidence::contract ? Severity::error : Severity::warning};
  }
  std::string fenceText(std::string_view side) const { return fmt::format("fence.{}.{}", side, name(pair.distance)); }

  Judge &judge;
  const Pair &pair;
  uint32_t signalEvent, waitEvent, firstEvent, secondEvent;
  const Event &signal, &wait;
  Evidence evidence = Evidence::assumed;
  std::string data;
};

void Reporter::release() {
  std::string here = describe(judge, signalEvent);
  bool barrier = signal.kind == EventKind::barrierArrive;
  bool cluster = signal.kind == EventKind::clusterArrive;
  std::string strong = spell(signal, signal.order == Order::acquire ? Order::acqRel : Order::release, pair.distance);
  switch (pair.releaseFault) {
  case ReleaseFault::none:
    return;
  case ReleaseFault::narrow: {
    auto [rule, severity] = tooNarrow(barrier ? "SL07" : "SL01");
    return atRelease(
        rule, severity,
        fmt::format("expected {} to have at least {} scope, since {} waits for it and then touches {}, got {}", here,
                    name(pair.distance), agent(pair.distance), data, found(signal)),
        fmt::format("use {}", strong));
  }
  case ReleaseFault::narrowFence: {
    auto [rule, severity] = tooNarrow("SL01");
    return atRelease(rule, severity,
                     fmt::format("expected a release fence of at least {} scope before {}, got a narrower one",
                                 name(pair.distance), here),
                     fmt::format("use {} before it, or {}", fenceText("acq_rel"), strong));
  }
  case ReleaseFault::weak:
    return atRelease("SL17", Severity::error,
                     fmt::format("expected {} to release {}, got {}, which orders nothing", here, data, found(signal)),
                     fmt::format("use {}", strong));
  case ReleaseFault::relaxed:
    if (cluster)
      return atRelease("SL15", Severity::error,
                       fmt::format("expected the arrival at the cluster barrier to release {}, which is touched by {} "
                                   "behind the barrier, got .relaxed",
                                   data, agent(pair.distance)),
                       "use barrier.cluster.arrive without .relaxed, or fence.acq_rel.cluster before it");
    return atRelease("SL03", Severity::error,
                     fmt::format("expected {} to release {}, or a release fence between them, got {} and no fence",
                                 here, data, found(signal)),
                     fmt::format("use {}, or {} before it", strong, fenceText("acq_rel")));
  case ReleaseFault::restricted:
    return atRelease(
        "SL06", Severity::error,
        fmt::format(
            "expected the fence before {} to cover {}, got one that is restricted to the shared memory of the own CTA",
            here, data),
        fmt::format("use {} before it, or {}", fenceText("acq_rel"), strong));
  case ReleaseFault::somePath:
    if (cluster)
      return atRelease("SL15", Severity::error,
                       fmt::format("expected a release fence on every path between the accesses to {} and the relaxed "
                                   "arrival at the cluster barrier, found one on some paths only",
                                   data),
                       "use barrier.cluster.arrive without .relaxed");
    return atRelease(
        "SL05", Severity::error,
        fmt::format(
            "expected a release fence on every path between the accesses to {} and {}, found one on some paths only",
            data, here),
        fmt::format("use {}, or move the fence right before it", strong));
  case ReleaseFault::behind:
    return atRelease(
        cluster ? "SL15" : "SL05", Severity::error,
        fmt::format("expected the release fence before {}, found it behind: a fence orders only what stands before it",
                    here),
        fmt::format("move the fence before it, or use {}", strong));
  case ReleaseFault::otherThreads:
    return atRelease(
        "SL03", Severity::error,
        fmt::format("expected a barrier between the other threads' accesses to {} and {} by one thread, found none",
                    data, here),
        "put bar.sync before it: a release orders what its own thread did or has waited for");
  case ReleaseFault::lateJoin:
    return atRelease("SL05", Severity::warning,
                     fmt::format("expected a release by the thread that signals, behind the barrier that joins the "
                                 "other threads' accesses to {}, "
                                 "found their fences before that barrier only",
                                 data),
                     fmt::format("use {}", strong));
  case ReleaseFault::unfinished:
    return judge.report(
        "SL12", Severity::error, signalEvent,
        fmt::format("expected the asynchronous copy to {} to be complete before {} announces it, found no wait for its "
                    "completion",
                    data, here),
        {"wait with cp.async.bulk.wait_group 0 (not .read, which only waits until the source has been read) before it",
         {{"copied here", firstEvent}, {"read here", secondEvent}}});
  case ReleaseFault::transaction:
    return judge.report(
        "SL13", Severity::error, signalEvent,
        fmt::format(
            "expected an arrival that releases the store to {} before the wait on {} can cover it, got only the "
            "transaction of {}, which tells of its own bytes",
            data, judge.nameOf(wait.barrier), here),
        {fmt::format("arrive with mbarrier.arrive.release.{} behind the store", name(pair.distance)),
         {{"stored here", firstEvent}, {"read here", secondEvent}, {"waited for here", waitEvent}}});
  case ReleaseFault::acrossCtas:
    return atRelease("SL24", Severity::error,
                     fmt::format("expected {} and its reader to be of one CTA, found them in different ones: bar.sync "
                                 "joins the threads of a CTA",
                                 data),
                     "use barrier.cluster, or a flag with release and acquire at gpu scope");
  }
}

void Reporter::acquire() {
  std::string here = describe(judge, waitEvent);
  bool barrier = wait.kind == EventKind::barrierWait;
  std::string strong = spell(wait, Order::acquire, pair.distance);
  switch (pair.acquireFault) {
  case AcquireFault::none:
    return;
  case AcquireFault::narrow: {
    auto [rule, severity] = tooNarrow(barrier ? "SL08" : "SL02");
    // Whose thread a bulk copy's transaction counts as is not said by the ISA.
    if (pair.completion && (signal.kind == EventKind::asyncCopy || signal.reduces))
      severity = Severity::warning;
    std::string cheap =
        barrier && judge.object(*judge.sites.list[pair.b].access).space == Space::shared &&
                pair.distance == Scope::cluster
            ? ", or .relaxed.cluster and fence.acquire.sync_restrict::shared::cluster.cluster behind the loop"
            : "";
    return atAcquire(
        rule, severity,
        fmt::format("expected {} to have at least {} scope, since {} completes it and {} is touched behind it, got {}",
                    here, name(pair.distance), agent(pair.distance), data, found(wait)),
        fmt::format("use {}{}", strong, cheap));
  }
  case AcquireFault::narrowFence: {
    auto [rule, severity] = tooNarrow("SL02");
    return atAcquire(rule, severity,
                     fmt::format("expected an acquire fence of at least {} scope behind {}, got a narrower one",
                                 name(pair.distance), here),
                     fmt::format("use {} behind it, or {}", fenceText("acq_rel"), strong));
  }
  case AcquireFault::weak:
    return atAcquire("SL17", Severity::error,
                     fmt::format("expected {} to acquire {}, got {}, which orders nothing", here, data, found(wait)),
                     fmt::format("use {}", strong));
  case AcquireFault::relaxed:
    return atAcquire("SL04", Severity::error,
                     fmt::format("expected {} to acquire {}, or an acquire fence between them, got {} and no fence",
                                 here, data, found(wait)),
                     fmt::format("use {}, or {} behind the loop", strong, fenceText("acq_rel")));
  case AcquireFault::restricted:
    return atAcquire(
        "SL06", Severity::error,
        fmt::format("expected the fence behind {} to cover {}, got one that is restricted to shared memory", here,
                    data),
        fmt::format("use {} behind it", fenceText("acquire")));
  case AcquireFault::somePath:
    return atAcquire(
        "SL05", Severity::error,
        fmt::format(
            "expected an acquire fence on every path between {} and the access to {}, found one on some paths only",
            here, data),
        fmt::format("use {}, or move the fence right behind it", strong));
  case AcquireFault::before:
    return atAcquire(
        "SL05", Severity::error,
        fmt::format("expected the acquire fence behind {}, found it before: a fence orders only what stands behind it",
                    here),
        fmt::format("move the fence behind it, or use {}", strong));
  case AcquireFault::behind:
    return atAcquire("SL05", Severity::error,
                     fmt::format("expected the acquire fence before the access to {}, found it behind that", data),
                     fmt::format("move the fence right behind the wait, or use {}", strong));
  case AcquireFault::otherThreads:
    return atAcquire(
        "SL04", Severity::error,
        fmt::format("expected a barrier between {} by one thread and the other threads' accesses to {}, found none",
                    here, data),
        "put bar.sync behind it: a wait orders what its own thread does, or others do behind a barrier");
  case AcquireFault::lateJoin:
    return atAcquire("SL05", Severity::warning,
                     fmt::format("expected the thread that waits to acquire before the barrier, found fences of the "
                                 "threads that access {} behind it only",
                                 data),
                     fmt::format("use {}", strong));
  case AcquireFault::arriveOnly:
    return judge.report(
        "SL24", Severity::error, waitEvent,
        fmt::format("expected bar.sync before the access to {}, got bar.arrive, which waits for nobody", data),
        {"use bar.sync", {{"accessed here", secondEvent}, {"written here", firstEvent}}});
  }
}

void Reporter::proxy() {
  if (pair.proxyFault == ProxyFault::none)
    return;
  const SiteInfo &a = judge.sites.list[pair.a];
  bool global = judge.object(*a.access).space == Space::global;
  std::string fence = global ? "fence.proxy.async.global" : "fence.proxy.async.shared::cta";
  std::string_view rule = a.writes ? "SL10" : "SL11";
  bool waiterSide = pair.proxyFault == ProxyFault::waiterSide;
  // Where the two threads are in different CTAs the ISA does not say whose proxy fence counts.
  Severity severity = waiterSide && pair.distance > Scope::cta ? Severity::warning : Severity::error;
  std::string message = fmt::format("expected a proxy fence by the thread that {} {} before {}, since the asynchronous "
                                    "proxy {} it behind that, found {}",
                                    a.writes ? "writes" : "reads", data, describe(judge, signalEvent),
                                    judge.sites.list[pair.b].writes ? "overwrites" : "reads",
                                    waiterSide ? "one by the thread that waits only" : "none");
  judge.report(rule, severity, a.writes ? firstEvent : signalEvent, std::move(message),
               {fmt::format("put {} between the access and the {}", fence, signalOf(signal) ? "arrive" : "barrier"),
                {{"accessed through the generic proxy here", firstEvent},
                 {"through the asynchronous proxy here", secondEvent},
                 {"handed over here", signalEvent}}});
}

} // namespace

void reportPair(Judge &judge, const Pair &pair) { Reporter(judge, pair).run(); }

} // namespace interlock::scope
