// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Solves the dataflow: a worklist in reverse postorder, then what threads tell each other, until nothing is new.
#include "analysis/ScopeModel/Flow.h"

#include "analysis/ScopeModel/Worklist.h"

#include <algorithm>
#include <unordered_map>

namespace interlock::scope {
namespace {

/// A chain of hand-offs is followed this far.
constexpr int maxHops = 4;

std::vector<uint32_t> reversePostorder(const Program &program) {
  std::vector<uint32_t> order;
  if (program.blocks.empty())
    return order;
  std::vector<uint32_t> nextChild(program.blocks.size(), 0);
  std::vector<bool> seen(program.blocks.size());
  std::vector<uint32_t> stack{0};
  seen[0] = true;
  while (!stack.empty()) {
    uint32_t b = stack.back();
    const auto &successors = program.blocks[b].successors;
    if (nextChild[b] == successors.size()) {
      order.push_back(b);
      stack.pop_back();
      continue;
    }
    uint32_t s = successors[nextChild[b]++];
    if (!seen[s]) {
      seen[s] = true;
      stack.push_back(s);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

} // namespace

bool State::merge(const State &other) {
  uint64_t fresh = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    fresh |= other.bits[i] & ~bits[i];
    bits[i] |= other.bits[i];
  }
  return fresh != 0;
}

Flow::Mask Flow::mask(bool (*wanted)(const Program &, const SiteInfo &)) const {
  Mask out(sites.words);
  for (Site s = stateSites; s < sites.list.size(); ++s)
    if (wanted(program, sites.list[s]))
      out[s / 64] |= uint64_t(1) << (s % 64);
  return out;
}

Flow::Flow(const Program &program, const Sites &sites)
    : program(program), sites(sites), order(reversePostorder(program)), signals(groupSignals(program, order)),
      in(program.blocks.size(), State(sites.words)) {
  waits = mask([](const Program &, const SiteInfo &s) { return s.isWait; });
  accesses = mask([](const Program &, const SiteInfo &s) { return !s.isWait; });
  ownShared = mask([](const Program &p, const SiteInfo &s) {
    return !s.isWait && p.objects[s.access->object].space == Space::shared && !s.access->remote;
  });
  anyShared = mask([](const Program &p, const SiteInfo &s) {
    return !s.isWait && p.objects[s.access->object].space == Space::shared;
  });
  globals = mask([](const Program &p, const SiteInfo &s) {
    return !s.isWait && p.objects[s.access->object].space != Space::shared;
  });
  inits = mask([](const Program &, const SiteInfo &s) { return s.isInit; });
  maps = mask([](const Program &, const SiteInfo &s) { return s.isMap; });
  wide = mask([](const Program &p, const SiteInfo &s) {
    return p.blocks[s.block].actor.threads == Actor::Threads::all && !p.blocks[s.block].actor.some;
  });

  Mask none(sites.words);
  completedBy.fill(none);
  waitsOf.assign(signals.count, none);
  unknownBarrier = none;
  auto put = [](Mask &mask, Site s) { mask[s / 64] |= uint64_t(1) << (s % 64); };
  for (Site s = stateSites; s < sites.list.size(); ++s) {
    const SiteInfo &info = sites.list[s];
    const Event &e = program.events[info.event];
    if (info.isWait) {
      if (uint32_t g = group(info.event); g != Signals::none)
        put(waitsOf[g], s);
      continue;
    }
    put(completedBy[size_t(e.completion)], s);
    if (e.completion == Completion::barrier)
      put(e.barrier.known() ? copiesOf.try_emplace(e.barrier.object, none).first->second : unknownBarrier, s);
  }

  answered.resize(program.objects.size());
  for (const Event &e : program.events)
    if (e.kind == EventKind::barrierArrive && e.barrier.known() && e.barrier.remote)
      answered[e.barrier.object] = true;

  heardAt.assign(signals.count, {none, none, {none, none, none, none}});
  for (int hop = 0; hop < maxHops; ++hop) {
    solve();
    if (!exchange())
      break;
  }
}

void Flow::solve() {
  if (order.empty())
    return;
  State &start = in[order[0]];
  start.put(reach, startSite);
  for (size_t w = 0; w < sites.words; ++w)
    start[avoided][w] = waits[w];
  if (!visitUntilNothingChanges(program, order, [&](uint32_t b, auto changed) {
        const Block &block = program.blocks[b];
        State after;
        if (block.count)
          after = in[b];
        State &state = block.count ? after : in[b];
        for (uint32_t e = block.first; e < block.first + block.count; ++e)
          apply(state, b, e);
        for (uint32_t s : block.successors)
          if (&in[s] != &state && in[s].merge(state))
            changed(s);
      }))
    complete = false; // all facts are of the kind "there is a path", so that less is found and nothing wrong
}

bool Flow::exchange() {
  bool news = false;
  walk([&](uint32_t, uint32_t i, const State &state) {
    const Event &e = program.events[i];
    if (signals.groupOf[i] == ~0u || !mayRelease(e) || e.kind == EventKind::asyncCopy ||
        e.kind == EventKind::storeAsync)
      return;
    bool all = releases(e.order) || e.kind == EventKind::ctaBarrier || e.kind == EventKind::ctaArrive;
    News &here = heardAt[signals.groupOf[i]];
    for (size_t w = 0; w < sites.words; ++w) {
      uint64_t told =
          (state[reach][w] & ~(all ? 0 : state[open][w])) | (state[heard][w] & ~(all ? 0 : state[joined][w]));
      told &= accesses[w];
      news |= (told & ~here.over[w]) != 0;
      here.over[w] |= told;
      uint64_t unfenced =
          told & ((state[reach][w] & state[unproxied][w]) | (state[heard][w] & state[heardUnproxied][w]));
      news |= (unfenced & ~here.unproxied[w]) != 0;
      here.unproxied[w] |= unfenced;
      for (size_t l = 0; l < 4; ++l) {
        uint64_t stillOpen = told & ((state[reach][w] & state[openSc + l][w]) | state[joined + l][w]);
        news |= (stillOpen & ~here.open[l][w]) != 0;
        here.open[l][w] |= stillOpen;
      }
    }
  });
  return news;
}

} // namespace interlock::scope
