// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What each event does to the facts.
#include "analysis/ScopeModel/Flow.h"

#include <algorithm>

namespace interlock::scope {

void Flow::apply(State &state, uint32_t block, uint32_t event) const {
  const Event &e = program.events[event];
  switch (e.kind) {
  case EventKind::fence:
    return applyFence(state, e);
  case EventKind::proxyFence:
    return applyProxyFence(state, block, e);
  case EventKind::call:
    // Whatever may have happened in there: nothing is claimed across it.
    state = State(sites.words);
    return;
  case EventKind::warpBarrier:
    std::fill_n(state[unlaned], sites.words, 0);
    return;
  case EventKind::asyncWait:
    state.drop(pendingRead, completedBy[size_t(e.completion)]);
    if (!e.readsOnly)
      state.drop(pending, completedBy[size_t(e.completion)]);
    return;
  case EventKind::clusterArrive:
    return applyCluster(state, e);
  case EventKind::clusterWait:
    applyCluster(state, e);
    break;
  case EventKind::ctaBarrier:
    applyCtaBarrier(state);
    break;
  default:
    break;
  }
  applyWait(state, event);
  applyAccess(state, event);
  applyLifetime(state, e);
}

void Flow::applyFence(State &state, const Event &e) const {
  // Release side: accesses before it (PTX ISA "Release and Acquire Patterns"). A restricted fence speaks of its memory
  // only.
  const Mask *covered = e.restrict == Restrict::none          ? &accesses
                        : e.restrict == Restrict::sharedCta   ? &ownShared
                        : e.restrict == Restrict::barrierInit ? &inits
                                                              : nullptr;
  for (size_t w = 0; w < sites.words; ++w) {
    if (releases(e.order) && covered) {
      uint64_t closes = (*covered)[w];
      for (size_t l = 0; l <= level(e.scope); ++l) {
        state[fenced + l][w] |= state[reach][w] & closes;
        state[open + l][w] &= ~closes;
        state[joined + l][w] &= ~closes;
        if (e.order == Order::sc)
          state[openSc + l][w] &= ~closes;
      }
      if (e.scope >= Scope::cluster && e.restrict != Restrict::barrierInit)
        state[unrestricted][w] &= ~accesses[w];
    }
    if (acquires(e.order)) {
      // What a restricted fence leaves out depends on what is read later, so it is told apart there.
      for (size_t l = 0; l <= level(e.scope); ++l) {
        state[fenced + l][w] |= state[reach][w] & waits[w];
        if (e.restrict == Restrict::none)
          state[open + l][w] &= ~waits[w];
        if (e.order == Order::sc)
          state[late + l][w] = 0;
      }
      if (e.scope >= Scope::cluster)
        state[unrestricted][w] &= ~waits[w];
    }
  }
}

void Flow::applyWait(State &state, uint32_t event) const {
  const Event &e = program.events[event];
  if (e.kind == EventKind::barrierWait) {
    // The phase that was waited for may be the one that copies complete; an unknown barrier may be any.
    auto over = [&](const Mask &copies) {
      state.drop(pending, copies);
      state.drop(pendingRead, copies);
    };
    over(unknownBarrier);
    if (!e.barrier.known())
      over(completedBy[size_t(Completion::barrier)]);
    else if (auto it = copiesOf.find(e.barrier.object); it != copiesOf.end())
      over(it->second);
    state.drop(pending, completedBy[size_t(Completion::copyGroup)]); // by cp.async.mbarrier.arrive
  }
  Site self = sites.of[event][2];
  if (self == Sites::none)
    return;
  uint32_t g = group(event);
  if (g != Signals::none && e.kind != EventKind::ctaArrive)
    for (size_t w = 0; w < sites.words; ++w) {
      state[heard][w] |= heardAt[g].over[w];
      state[heardUnproxied][w] |= heardAt[g].unproxied[w];
      for (size_t l = 0; l < 4; ++l)
        state[joined + l][w] |= heardAt[g].open[l][w];
    }
  bool acquired = acquires(e.order) || e.kind == EventKind::ctaBarrier;
  // A strong read of a place and then an acquire of the same place are one acquire pattern.
  if (acquired && signalOf(e) && g != Signals::none)
    for (size_t l = 0; l <= level(e.scope); ++l)
      state.drop(open + l, waitsOf[g]);
  for (size_t l = 0; l < 4; ++l) {
    bool covers = acquired && level(e.scope) >= l;
    covers ? state.drop(open + l, self) : state.put(open + l, self);
    state.drop(fenced + l, self);
    state.drop(late + l, self);
  }
  acquired &&e.scope >= Scope::cluster ? state.drop(unrestricted, self) : state.put(unrestricted, self);
  for (Set set : {reach, unjoined, unlaned, unproxied})
    state.put(set, self);
  state.drop(avoided, self);
}

void Flow::applyAccess(State &state, uint32_t event) const {
  const Event &e = program.events[event];
  for (Site s : {sites.of[event][0], sites.of[event][1]}) {
    if (s == Sites::none)
      continue;
    const SiteInfo &info = sites.list[s];
    for (size_t l = 0; l < 4; ++l) {
      state.put(open + l, s);
      state.put(openSc + l, s);
      state.drop(fenced + l, s);
      state.drop(joined + l, s);
    }
    for (Set set : {reach, unrestricted, unjoined, unlaned})
      state.put(set, s);
    for (Set set : {heard, heardUnproxied, stuck, armed})
      state.drop(set, s);
    bool async = e.kind == EventKind::asyncCopy;
    async ? state.drop(unproxied, s) : state.put(unproxied, s);
    if (async && e.completion != Completion::none)
      state.put(info.writes ? pending : pendingRead, s);
    state.has(reach, windowSite) ? state.put(windowed, s) : state.drop(windowed, s);
    if (info.isInit)
      state.put(unpublished, s);
    if (info.isMap) {
      state.put(unmapped, s);
      state.put(unacquiredMap, s);
    }
  }
}

void Flow::applyCtaBarrier(State &state) const {
  for (size_t w = 0; w < sites.words; ++w) {
    for (size_t l = 0; l < 4; ++l) {
      // Other threads' accesses are over now. What they have behind a fence.sc is ordered by the fences themselves.
      state[joined + l][w] |= state[openSc + l][w] & state[reach][w] & accesses[w];
      state[late + l][w] |= state[open + l][w] & state[reach][w] & waits[w];
    }
    state[heard][w] |= state[reach][w] & accesses[w];
    state[heardUnproxied][w] |= state[reach][w] & state[unproxied][w] & accesses[w];
    state[unjoined][w] = 0;
    state[unlaned][w] = 0;
    state[stuck][w] |= state[unproxied][w] & wide[w];
  }
}

void Flow::applyCluster(State &state, const Event &e) const {
  if (e.kind == EventKind::clusterArrive) {
    for (size_t w = 0; w < sites.words; ++w) {
      constexpr size_t l = size_t(Scope::cluster) - 1;
      uint64_t all = releases(e.order) ? ~uint64_t(0) : 0;
      uint64_t published =
          (state[reach][w] & (all | ~state[open + l][w])) | (state[heard][w] & (all | ~state[joined + l][w]));
      state[armed][w] = published & accesses[w];
      state[windowed][w] = 0;
    }
    state.put(reach, windowSite);
    return;
  }
  for (size_t w = 0; w < sites.words; ++w) {
    uint64_t published = state[armed][w];
    state[unpublished][w] &= ~published;
    state[unjoined][w] &= ~(published | waits[w]);
    state[heard][w] |= published;
    state[heardUnproxied][w] |= published & state[unproxied][w];
    for (size_t l = 0; l < 4; ++l)
      state[joined + l][w] |= published & state[openSc + l][w];
    state[stuck][w] |= state[unproxied][w] & wide[w] & published;
    state[armed][w] = 0;
  }
  for (Site s : {windowSite, startSite, remoteSite, publishedSite})
    state.drop(reach, s);
}

void Flow::applyProxyFence(State &state, uint32_t block, const Event &e) const {
  const Actor &actor = program.blocks[block].actor;
  bool narrow = actor.threads != Actor::Threads::all;
  // A fence behind a barrier is surely that of the thread that made the access if every thread has it.
  bool everyones = !narrow && !actor.some && actor.ctas == Actor::Ctas::all;
  for (size_t w = 0; w < sites.words; ++w)
    switch (e.proxyFence) {
    case ProxyFence::async: {
      uint64_t covered = 0;
      if (e.forShared)
        covered |= anyShared[w];
      if (e.forGlobal)
        covered |= globals[w];
      // One thread's fence does nothing for what the others wrote.
      if (narrow)
        covered &= ~wide[w];
      if (everyones)
        state[stuck][w] &= ~covered;
      state[unproxied][w] &= ~(covered & ~state[stuck][w]);
      state[unproxied][w] &= ~waits[w];
      break;
    }
    case ProxyFence::alias:
      break;
    case ProxyFence::tensormapRelease:
      state[unmapped][w] = 0;
      break;
    case ProxyFence::tensormapAcquire:
      state[unacquiredMap][w] &= state[unmapped][w];
      break;
    }
}

void Flow::applyLifetime(State &state, const Event &e) const {
  auto remote = [](const Access &a) { return a.known() && a.remote; };
  if (e.kind == EventKind::barrierArrive && remote(e.barrier)) {
    state.drop(reach, remoteSite); // tells the owner, who waits
    return;
  }
  // One of several barriers may be the one that is answered on.
  if (e.kind == EventKind::barrierWait &&
      (!e.barrier.known() || program.objects[e.barrier.object].computed || answered[e.barrier.object])) {
    state.put(reach, drainedSite);
    return;
  }
  bool sends = e.kind == EventKind::storeAsync ? remote(e.dst) : e.kind == EventKind::asyncCopy && e.multicast;
  if (sends) {
    state.put(reach, publishedSite);
    state.drop(reach, drainedSite);
  } else if (e.kind <= EventKind::reduction && (remote(e.src) || remote(e.dst))) {
    state.put(reach, remoteSite);
  }
}

} // namespace interlock::scope
