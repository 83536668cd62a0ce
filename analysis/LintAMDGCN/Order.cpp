// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What each instruction does to the facts. The waves of a workgroup run the same code, so what is on its way here at a
// barrier may be on its way in the others, where no wait of this wave drains it any more.
#include "analysis/LintAMDGCN/Order.h"

#include <algorithm>

namespace interlock::lint::gcn {
namespace {

/// Stores and waits beyond that are left out, so that the cost stays linear.
constexpr size_t mostStores = 256, mostWaits = 64;
constexpr uint8_t allParts = 7;

} // namespace

Order::Order(const Code &code, const Graph &graph, const Pointers &pointers, const std::vector<Poll> &polls,
             bool oneWave)
    : storeSite(code.instructions.size(), nowhere), waitSite(code.instructions.size(), nowhere), code(code),
      graph(graph), oneWave(oneWave) {
  collect(pointers, polls);
  solve();
}

void Order::collect(const Pointers &pointers, const std::vector<Poll> &polls) {
  for (const Poll &poll : polls)
    if (waits.size() < mostWaits) {
      waitSite[poll.instruction] = uint32_t(waits.size());
      waits.push_back({poll.instruction, poll.loop, poll.scalar, false, poll.before, poll.ticket});
    }
  for (const FlatBlock &block : code.blocks) {
    size_t parted = stores.size(); // sites from here on may still grow
    for (uint32_t i = block.first; i < block.first + block.count; ++i) {
      const Effect &e = code.effects[i];
      if (e.kind == Kind::barrierWait && e.cluster && waits.size() < mostWaits) {
        waitSite[i] = uint32_t(waits.size());
        waits.push_back({i, {}, false, true});
      }
      bool counts = e.writes() && (e.shared() || e.memory == Memory::lds);
      if (!counts) {
        if (e.kind != Kind::none && e.kind != Kind::load && e.kind != Kind::scalarLoad)
          parted = stores.size();
        continue;
      }
      StoreSite site{i, pointers.place(i).base, e.past, e.counter, e.memory, false};
      auto same = std::find_if(stores.begin() + ptrdiff_t(parted), stores.end(), [&](const StoreSite &other) {
        return other.base == site.base && other.past == site.past && other.counter == site.counter &&
               other.memory == site.memory && code.effects[other.instruction].kind == e.kind;
      });
      if (same != stores.end()) {
        same->merged = true;
        storeSite[i] = uint32_t(same - stores.begin());
      } else if (stores.size() < mostStores) {
        storeSite[i] = uint32_t(stores.size());
        stores.push_back(site);
      }
    }
  }
}

bool Order::merge(OrderState &into, const OrderState &from) {
  OrderState before = into;
  for (size_t s = 0; s < into.stores.size(); ++s) {
    StoreState &a = into.stores[s];
    const StoreState &b = from.stores[s];
    a.younger = std::min(a.younger, b.younger);
    a.dirty |= b.dirty;
    a.flushing |= b.flushing;
    a.happened |= b.happened;
    a.undrained = std::min(a.undrained, b.undrained);
    a.undrainedCluster = std::min(a.undrainedCluster, b.undrainedCluster);
    a.crossed |= b.crossed;
  }
  for (size_t w = 0; w < into.waits.size(); ++w) {
    WaitState &a = into.waits[w];
    const WaitState &b = from.waits[w];
    a.happened |= b.happened;
    a.younger = std::min(a.younger, b.younger);
    a.open |= b.open;
    a.early |= b.early;
    a.invalidate = std::min(a.invalidate, b.invalidate);
    a.scalarOpen |= b.scalarOpen;
  }
  into.writeBackYounger = std::min(into.writeBackYounger, from.writeBackYounger);
  if (into.writeBack != from.writeBack)
    into.writeBack = nowhere;
  return !(into == before);
}

void Order::solve() {
  OrderState start;
  start.stores.resize(stores.size());
  start.waits.resize(waits.size());
  in.assign(code.blocks.size(), start);
  std::vector<bool> dirty(code.blocks.size()), seen(code.blocks.size());
  dirty[0] = seen[0] = true;
  size_t steps = 0, limit = 200 * code.blocks.size() + 1000;
  for (bool again = true; again && steps < limit;) {
    again = false;
    for (uint32_t b : graph.order) {
      if (!dirty[b] || ++steps > limit)
        continue;
      dirty[b] = false;
      OrderState state = in[b];
      for (uint32_t i = code.blocks[b].first; i < code.blocks[b].first + code.blocks[b].count; ++i)
        apply(state, i);
      for (uint32_t next : code.blocks[b].successors) {
        bool changed = !seen[next];
        if (changed)
          in[next] = state;
        else
          changed = merge(in[next], state);
        seen[next] = true;
        if (changed)
          again = dirty[next] = true;
      }
    }
  }
}

/// An operation of that counter is issued.
void Order::age(OrderState &state, Counter counter) const {
  auto older = [](uint8_t &younger) {
    if (younger < StoreState::done - 1)
      ++younger;
  };
  for (size_t s = 0; s < stores.size(); ++s)
    if (stores[s].counter == counter)
      older(state.stores[s].younger);
  if (counter == Counter::loads)
    for (WaitState &wait : state.waits)
      older(wait.younger);
  bool oneCounter = code.family == Family::gfx90a || code.family == Family::gfx940;
  if (counter == (oneCounter ? Counter::loads : Counter::stores))
    older(state.writeBackYounger);
}

void Order::applyWait(OrderState &state, const Effect &e) const {
  auto done = [&](uint8_t &younger, Counter counter) {
    if (younger != StoreState::done && younger >= e.atMost[size_t(counter)])
      younger = StoreState::done;
  };
  for (size_t s = 0; s < stores.size(); ++s)
    done(state.stores[s].younger, stores[s].counter);
  for (WaitState &wait : state.waits)
    done(wait.younger, Counter::loads);
  bool oneCounter = code.family == Family::gfx90a || code.family == Family::gfx940;
  done(state.writeBackYounger, oneCounter ? Counter::loads : Counter::stores);
  if (state.writeBackYounger == StoreState::done)
    for (StoreState &store : state.stores)
      store.flushing = 0;
}

void Order::applyBarrier(OrderState &state, uint32_t instruction, const Effect &e) const {
  for (size_t s = 0; s < stores.size(); ++s) {
    StoreState &store = state.stores[s];
    bool pending = store.happened && store.younger != StoreState::done;
    if (e.cluster) {
      store.undrainedCluster = pending && stores[s].memory != Memory::lds ? instruction : nowhere;
      store.crossed |= store.happened;
    } else if (!oneWave) {
      store.undrained = pending ? instruction : nowhere;
    }
  }
}

void Order::applyInvalidate(OrderState &state, uint32_t instruction, const Effect &e) const {
  for (WaitState &wait : state.waits) {
    if (!wait.happened)
      continue;
    wait.invalidate = std::min(wait.invalidate, instruction); // the first
    if (wait.younger == WaitState::done)
      wait.open &= uint8_t(~e.parts);
    else
      wait.early |= e.parts;
  }
}

void Order::apply(OrderState &state, uint32_t i) const {
  const Effect &e = code.effects[i];
  switch (e.kind) {
  case Kind::wait:
    return applyWait(state, e);
  case Kind::barrier:
  case Kind::barrierSignal:
    return applyBarrier(state, i, e);
  case Kind::invalidate:
    return applyInvalidate(state, i, e);
  case Kind::scalarInvalidate:
    for (WaitState &wait : state.waits)
      wait.scalarOpen = false;
    return;
  case Kind::barrierWait:
    if (waitSite[i] != nowhere) {
      WaitState &wait = state.waits[waitSite[i]];
      wait = {};
      wait.happened = wait.scalarOpen = true;
      wait.open = allParts;
    }
    return;
  case Kind::writeBack:
  case Kind::writeBackInvalidate:
    age(state, e.counter);
    for (StoreState &store : state.stores) {
      store.flushing |= store.dirty & e.parts;
      store.dirty &= uint8_t(~e.parts);
    }
    state.writeBackYounger = 0;
    state.writeBack = i;
    if (e.kind == Kind::writeBackInvalidate)
      applyInvalidate(state, i, e);
    return;
  case Kind::call: // what it does is not in sight: nothing is said of what came before
    for (StoreState &store : state.stores)
      store = {};
    for (WaitState &wait : state.waits)
      wait = {};
    state.writeBackYounger = StoreState::done;
    state.writeBack = nowhere;
    return;
  default:
    break;
  }
  if (e.counter != Counter::none)
    age(state, e.counter);
  if (e.writes() && e.shared())
    state.writeBack = nowhere;
  if (storeSite[i] != nowhere) {
    StoreState &store = state.stores[storeSite[i]];
    store.younger = 0;
    store.happened = true;
    store.flushing = 0;
    // What goes past a cache by itself needs no write-back of it.
    const Demand &beyond = demandOf(code.family, e.past);
    store.dirty = e.memory == Memory::lds ? 0 : uint8_t(allParts & ~beyond.writeBack);
    store.undrained = nowhere;
    store.undrainedCluster = nowhere;
    store.crossed = false;
  }
  if (waitSite[i] != nowhere) {
    WaitState &wait = state.waits[waitSite[i]];
    wait = {};
    wait.happened = wait.scalarOpen = true;
    wait.open = allParts;
    wait.younger = e.kind == Kind::scalarLoad ? WaitState::done : 0; // one that returns counts as a load everywhere
  }
}

} // namespace interlock::lint::gcn
