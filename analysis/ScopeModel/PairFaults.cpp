// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Is one pair good? PTX ISA "Morally strong operations", "Release and Acquire Patterns", "Synchronizes-With" and
// "Proxies" are what is asked here, sentence by sentence.
#include "analysis/ScopeModel/Pairs.h"

namespace interlock::scope {
namespace {

/// The state says, of threads `of` that are more than `by`, that they did `site` and have not met `by` since.
bool notMet(const State &state, Site site, const Actor &of, const Actor &by) {
  bool oneWarp = by.threads == Actor::Threads::lanes || of.threads == Actor::Threads::warp;
  return state.has(oneWarp ? unlaned : unjoined, site);
}

bool fencedBelow(const State &state, Site site, size_t upTo) {
  for (size_t l = 0; l < upTo; ++l)
    if (state.has(fenced + l, site))
      return true;
  return false;
}

/// A release operation on the same signal earlier in the block heads a release pattern with this strong write.
bool continuesPattern(const Judge &judge, const Pair &pair, uint32_t block) {
  uint32_t group = judge.flow.group(pair.release);
  for (uint32_t i = pair.release; group != Signals::none && i-- > judge.program.blocks[block].first;) {
    const Event &e = judge.program.events[i];
    if (judge.sites.of[i][0] == pair.a || judge.sites.of[i][1] == pair.a)
      return false;
    if (mayRelease(e) && releases(e.order) && e.scope >= pair.distance && signalOf(e) && judge.flow.group(i) == group)
      return true;
  }
  return false;
}

/// A fence of `side` that would reach far enough stands among the events [from, to).
bool fenceAmong(const Judge &judge, uint32_t from, uint32_t to, bool (*side)(Order), Scope distance) {
  for (uint32_t i = from; i < to; ++i) {
    const Event &e = judge.program.events[i];
    if (e.kind == EventKind::fence && side(e.order) && e.scope >= distance && e.restrict == Restrict::none)
      return true;
  }
  return false;
}

uint32_t endOf(const Block &block) { return block.first + block.count; }

ReleaseFault faultOfRelease(const Judge &judge, const Pair &pair, uint32_t blockIndex, const State &state) {
  const Event &signal = judge.program.events[pair.release];
  const Block &block = judge.program.blocks[blockIndex];
  const Event &access = judge.eventOf(pair.a);
  if (pair.completion)
    return judge.sites.of[pair.release][1] == pair.a ? ReleaseFault::none : ReleaseFault::transaction;
  if (access.kind == EventKind::asyncCopy) {
    // A phase that expects the copy's bytes is over only when they are there.
    const Access *place = signalOf(signal);
    bool same = place && access.barrier.known() && access.barrier.object == place->object;
    return state.has(pending, pair.a) && !same ? ReleaseFault::unfinished : ReleaseFault::none;
  }
  bool own = state.has(reach, pair.a);
  bool more = judge.wider(judge.actorOf(pair.a), block.actor);
  if (signal.kind == EventKind::ctaBarrier || signal.kind == EventKind::ctaArrive) {
    bool peers = judge.sites.list[pair.a].access->remote != judge.sites.list[pair.b].access->remote;
    return peers || inOtherCtas(block.actor, judge.actorOf(pair.wait)) ? ReleaseFault::acrossCtas : ReleaseFault::none;
  }
  if (own && more && notMet(state, pair.a, judge.actorOf(pair.a), block.actor))
    return ReleaseFault::otherThreads;
  if (signal.order == Order::weak)
    return ReleaseFault::weak;
  if (signal.scope < pair.distance)
    return ReleaseFault::narrow;
  if (releases(signal.order))
    return ReleaseFault::none;
  size_t l = level(pair.distance);
  bool ownOpen = own && state.has(open + l, pair.a);
  bool othersOpen = (!own || more) && state.has(joined + l, pair.a);
  if ((!ownOpen && !othersOpen) || continuesPattern(judge, pair, blockIndex))
    return ReleaseFault::none;
  if (own && !ownOpen)
    return ReleaseFault::lateJoin;
  if (ownOpen && pair.distance <= Scope::cluster && !state.has(unrestricted, pair.a))
    return ReleaseFault::restricted;
  if (state.has(fenced + l, pair.a))
    return ReleaseFault::somePath;
  if (fencedBelow(state, pair.a, l))
    return ReleaseFault::narrowFence;
  if (fenceAmong(judge, pair.release + 1, endOf(block), releases, pair.distance))
    return ReleaseFault::behind;
  return signal.order == Order::isVolatile ? ReleaseFault::weak : ReleaseFault::relaxed;
}

AcquireFault faultOfAcquire(const Judge &judge, const Pair &pair, const State &state) {
  const SiteInfo &waitInfo = judge.sites.list[pair.wait];
  const Event &wait = judge.eventOf(pair.wait);
  const Actor &waiter = judge.actorOf(pair.wait);
  if (wait.kind == EventKind::ctaBarrier || wait.kind == EventKind::clusterWait)
    return AcquireFault::none;
  if (wait.kind == EventKind::ctaArrive)
    return AcquireFault::arriveOnly;
  bool more = judge.wider(judge.actorOf(pair.b), waiter);
  if (more && notMet(state, pair.wait, judge.actorOf(pair.b), waiter))
    return AcquireFault::otherThreads;
  if (wait.order == Order::weak)
    return AcquireFault::weak;
  if (wait.scope < pair.distance)
    return AcquireFault::narrow;
  size_t l = level(pair.distance);
  const Access &read = *judge.sites.list[pair.b].access;
  bool restrictedWillDo = judge.object(read).space == Space::shared && pair.distance <= Scope::cluster;
  bool restrictedOnly = pair.distance <= Scope::cluster && !state.has(unrestricted, pair.wait);
  if (state.has(open + l, pair.wait) && !(restrictedWillDo && restrictedOnly)) {
    if (restrictedOnly)
      return AcquireFault::restricted;
    if (state.has(fenced + l, pair.wait))
      return AcquireFault::somePath;
    if (fencedBelow(state, pair.wait, l))
      return AcquireFault::narrowFence;
    const Block &block = judge.program.blocks[waitInfo.block];
    if (wait.kind != EventKind::atomic && fenceAmong(judge, block.first, waitInfo.event, acquires, pair.distance))
      return AcquireFault::before;
    const SiteInfo &b = judge.sites.list[pair.b];
    if (fenceAmong(judge, b.event + 1, endOf(judge.program.blocks[b.block]), acquires, pair.distance))
      return AcquireFault::behind;
    return wait.order == Order::isVolatile ? AcquireFault::weak : AcquireFault::relaxed;
  }
  return more && state.has(late + l, pair.wait) ? AcquireFault::lateJoin : AcquireFault::none;
}

} // namespace

void judgePair(const Judge &judge, Pair &pair, uint32_t releaseBlock, const State &atRelease, const State &atB) {
  pair.releaseFault = faultOfRelease(judge, pair, releaseBlock, atRelease);
  pair.acquireFault = faultOfAcquire(judge, pair, atB);
  bool toAsync =
      judge.eventOf(pair.a).kind != EventKind::asyncCopy && judge.eventOf(pair.b).kind == EventKind::asyncCopy;
  pair.direct = atRelease.has(reach, pair.a);
  if (toAsync && (pair.direct ? atRelease.has(unproxied, pair.a) : atRelease.has(heardUnproxied, pair.a)))
    pair.proxyFault = atB.has(unproxied, pair.wait) ? ProxyFault::missing : ProxyFault::waiterSide;
}

} // namespace interlock::scope
