// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Collects the sites of a program.
#include "analysis/ScopeModel/Sites.h"

#include <map>
#include <tuple>
#include <unordered_map>

namespace interlock::scope {
namespace {

/// What makes two accesses different for the rules, packed into two words.
struct Key {
  uint64_t what, how;
  bool operator==(const Key &) const = default;
};
struct Hash {
  size_t operator()(const Key &k) const { return k.what * 0x9e3779b97f4a7c15u ^ (k.how * 0xc2b2ae3d27d4eb4fu >> 7); }
};

bool isGenericAccess(const Event &e) { return e.kind <= EventKind::storeAsync; }

} // namespace

bool mayRelease(const Event &e) {
  switch (e.kind) {
  case EventKind::store:
  case EventKind::reduction:
  case EventKind::storeAsync:
  case EventKind::asyncCopy:
  case EventKind::barrierArrive:
  case EventKind::ctaBarrier:
  case EventKind::ctaArrive:
  case EventKind::clusterArrive:
    return true;
  case EventKind::atomic: // one that is tried until it succeeds takes and gives nothing, unless it says so
    return releases(e.order) || (e.poll != Poll::loop && !(e.conditional && acquires(e.order)));
  default:
    return false;
  }
}

bool mayAcquire(const Event &e) {
  switch (e.kind) {
  case EventKind::load:
    return e.proxy == Proxy::generic &&
           (acquires(e.order) || e.poll == Poll::loop || (e.poll == Poll::test && e.order != Order::weak));
  case EventKind::atomic:
    // One that releases tells of the others' accesses too: its value says who was the last.
    return acquires(e.order) || releases(e.order) || e.poll != Poll::no;
  case EventKind::barrierWait:
  case EventKind::ctaBarrier:
  case EventKind::ctaArrive: // acquires nothing, which is what is to be found
  case EventKind::clusterWait:
    return true;
  default:
    return false;
  }
}

const Access *signalOf(const Event &e) {
  switch (e.kind) {
  case EventKind::load:
    return &e.src;
  case EventKind::store:
  case EventKind::atomic:
  case EventKind::reduction:
    return &e.dst;
  case EventKind::storeAsync:
  case EventKind::asyncCopy:
  case EventKind::barrierArrive:
  case EventKind::barrierWait:
    return &e.barrier;
  default:
    return nullptr;
  }
}

Sites::Sites(const Program &program) {
  // Only memory that somebody writes, or that others may write while a thread waits for them, can be out of order.
  std::vector<bool> matters(program.objects.size());
  bool waitsForMemory = false;
  for (const Event &e : program.events) {
    for (const Access *written : {&e.dst, &e.barrier})
      if (written->known())
        matters[written->object] = true;
    waitsForMemory |= e.kind == EventKind::load && e.poll == Poll::loop;
  }
  if (waitsForMemory)
    for (size_t o = 0; o < matters.size(); ++o)
      if (program.objects[o].space == Space::global && !program.objects[o].readOnly)
        matters[o] = true;
  // If there are too many, accesses that differ by their address in one object become one.
  if (!collect(program, matters, true))
    collect(program, matters, false);
  words = (list.size() + 63) / 64;
}

bool Sites::collect(const Program &program, const std::vector<bool> &matters, bool fine) {
  list.assign(stateSites, {});
  of.assign(program.events.size(), {none, none, none});
  byObject.assign(program.objects.size(), {});
  std::unordered_map<Key, Site, Hash> known;
  std::map<std::tuple<Actor::Threads, uint32_t, bool, Actor::Ctas, uint32_t>, uint64_t>
      actors; ///< numbered as they come
  bool complete = true;
  auto add = [&](const SiteInfo &info, Key key) {
    auto [it, fresh] = known.try_emplace(key, Site(list.size()));
    if (!fresh)
      return it->second;
    if (list.size() >= limit + stateSites) {
      complete = false;
      return it->second = none;
    }
    list.push_back(info);
    if (!info.isWait)
      byObject[info.access->object].push_back(it->second);
    return it->second;
  };
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    const Block &block = program.blocks[b];
    const Actor &actor = block.actor;
    auto all = std::tuple(actor.threads, actor.which, actor.some, actor.ctas, actor.cta);
    uint64_t who = actors.try_emplace(all, actors.size()).first->second;
    for (uint32_t i = block.first; i < block.first + block.count; ++i) {
      const Event &e = program.events[i];
      auto access = [&](const Access &a, bool reads, bool writes) {
        if (!a.known() || !matters[a.object])
          return none;
        bool strong = e.order != Order::weak && isGenericAccess(e) && e.kind != EventKind::storeAsync;
        SiteInfo info{i, b, &a, false, reads, writes};
        info.isInit = e.kind == EventKind::barrierInit;
        info.isData = !strong && !info.isInit && e.proxy != Proxy::nonCoherent;
        info.isMap = writes && e.proxy == Proxy::generic;
        uint64_t how = uint64_t(reads) | uint64_t(writes) << 1 | uint64_t(strong) << 2 | uint64_t(e.kind) << 3 |
                       uint64_t(e.proxy) << 8 | uint64_t(a.remote) << 10 | uint64_t(e.completion) << 11 |
                       uint64_t(e.multicast) << 13 | uint64_t(a.indexed) << 14 | uint64_t(e.multimem) << 15 |
                       uint64_t(e.reduces) << 16;
        // Work that other events complete or publish is told apart by where it is completed.
        uint64_t where = e.barrier.known() ? e.barrier.object + 1 : 0;
        return add(info, {uint64_t(a.object) << 32 | (fine ? a.formula : 0), how | who << 17 | where << 46});
      };
      auto &own = of[i];
      switch (e.kind) {
      case EventKind::load:
        own[0] = access(e.src, true, false);
        break;
      case EventKind::store:
      case EventKind::storeAsync:
      case EventKind::barrierInit:
        own[1] = access(e.kind == EventKind::barrierInit ? e.barrier : e.dst, false, true);
        break;
      case EventKind::atomic:
      case EventKind::reduction:
        own[1] = access(e.dst, true, true);
        break;
      case EventKind::asyncCopy:
        own[0] = access(e.src, true, false);
        own[1] = access(e.dst, false, true);
        break;
      default:
        break;
      }
      if (mayAcquire(e) && (!signalOf(e) || signalOf(e)->known())) {
        SiteInfo info{i, b, signalOf(e), true};
        own[2] = add(info, {~uint64_t(0), i}); // each wait for itself
      }
    }
  }
  return complete;
}

} // namespace interlock::scope
