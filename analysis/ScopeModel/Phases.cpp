// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rule SL22, phases that overtake each other. PTX ISA, "Phase of the mbarrier object": a wait tells the current phase
// from the one before it, and a phase is over as soon as nothing of what it was told of is missing.
#include "analysis/ScopeModel/Judge.h"
#include "analysis/ScopeModel/Ways.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

/// So many arrivals are looked at.
constexpr size_t maxItems = 512;

bool sameBarrier(const Access &a, const Access &b) {
  return a.object == b.object && a.formula == b.formula && a.offset == b.offset;
}

/// Behind this a thread may know of what others did meanwhile.
bool mayHear(const Event &e) {
  switch (e.kind) {
  case EventKind::load:
    return mayAcquire(e);
  case EventKind::atomic:
  case EventKind::barrierWait:
  case EventKind::ctaBarrier:
  case EventKind::clusterWait:
  case EventKind::warpBarrier:
  case EventKind::gridWait:
  case EventKind::call:
  case EventKind::barrierInit:
  case EventKind::barrierInval:
    return true;
  default:
    return false;
  }
}

/// What is known of one barrier.
struct Barrier {
  uint32_t inits = 0;
  std::optional<uint32_t> count;
  bool waitedOn = false, plain = true;
  std::vector<std::pair<uint32_t, uint32_t>> arrives, expects, copies; ///< block and event
};

class Phases {
public:
  explicit Phases(Judge &judge) : judge(judge), program(judge.program) {}

  void run() {
    collect();
    outstanding();
    lateExpectations();
  }

private:
  void collect() {
    for (uint32_t b : judge.flow.blocks())
      for (uint32_t i = program.blocks[b].first; i < program.blocks[b].first + program.blocks[b].count; ++i) {
        const Event &e = program.events[i];
        someWait |= e.kind == EventKind::barrierWait && !e.barrier.known();
        if (!e.barrier.known())
          continue;
        Barrier &barrier = barriers[e.barrier.object];
        barrier.plain &= !e.barrier.remote && e.barrier.single && !e.multicast;
        switch (e.kind) {
        case EventKind::barrierInit:
          barrier.inits++;
          barrier.count = e.count;
          break;
        case EventKind::barrierWait:
          barrier.waitedOn = true;
          break;
        case EventKind::barrierArrive:
          barrier.arrives.push_back({b, i});
          break;
        case EventKind::barrierExpect:
          barrier.expects.push_back({b, i});
          break;
        case EventKind::asyncCopy:
        case EventKind::storeAsync:
          barrier.copies.push_back({b, i});
          break;
        default:
          break;
        }
      }
  }

  /// Arrivals that each complete a phase, one behind the other, and nothing between by which the thread could know that
  /// anybody has seen the first.
  void outstanding() {
    std::vector<uint32_t> itemOf(program.events.size(), ~0u), items;
    for (auto &[object, barrier] : barriers) {
      bool seen = barrier.waitedOn || someWait;
      if (!barrier.plain || barrier.inits != 1 || !barrier.count || !seen || program.objects[object].computed)
        continue;
      for (auto [block, arrive] : barrier.arrives)
        if (items.size() < maxItems && arrivalsMade(program, block, arrive) == barrier.count) {
          itemOf[arrive] = uint32_t(items.size());
          items.push_back(arrive);
        }
    }
    if (items.empty())
      return;
    Ways ways(program, judge.flow.blocks(), itemOf, items.size(), mayHear);
    ways.walk([&](uint32_t i, const Ways::Since &since) {
      if (itemOf[i] == ~0u)
        return;
      for (uint32_t first = 0; first < items.size(); ++first)
        if (sameBarrier(program.events[i].barrier, program.events[items[first]].barrier) && since.neverBetween(first))
          judge.report(
              "SL22", Severity::error, i,
              fmt::format("expected a wait between two arrivals that each complete a phase of {}, found none on "
                          "any path: a waiting thread tells only the current phase from the one before",
                          judge.nameOf(program.events[i].barrier)),
              {"wait until the phase before has been used, as on a second barrier at which its readers arrive",
               {{"the arrival before", items[first]}}});
    });
  }

  /// expect_tx without an arrival, in another thread than the copies, and nothing that lets it come first: the copies
  /// may be over, and the others have arrived, before the barrier is told to wait for the bytes.
  void lateExpectations() {
    std::vector<uint32_t> itemOf(program.events.size(), ~0u), items;
    std::vector<uint32_t> copyOf(program.events.size(), ~0u); // the object whose copy it is
    for (auto &[object, barrier] : barriers)
      if (barrier.plain && !barrier.copies.empty() && !program.objects[object].computed)
        for (auto [block, expect] : barrier.expects)
          if (items.size() < maxItems) {
            itemOf[expect] = uint32_t(items.size());
            items.push_back(expect);
            for (auto [copyBlock, copy] : barrier.copies)
              copyOf[copy] = object;
          }
    if (items.empty())
      return;
    std::vector<bool> told(items.size()); // it may come before a copy
    std::vector<std::optional<uint32_t>> late(items.size());
    std::vector<bool> mayKnow(program.events.size()); // that the copying thread has heard from others
    judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
      if (copyOf[i] == ~0u)
        return;
      for (Site s = stateSites; s < judge.sites.list.size(); ++s) {
        const SiteInfo &info = judge.sites.list[s];
        bool all = judge.eventOf(s).kind == EventKind::ctaBarrier && isEveryone(judge.actorOf(s));
        bool cluster = judge.eventOf(s).kind == EventKind::clusterWait;
        mayKnow[i] = mayKnow[i] || (info.isWait && state.has(reach, s) && !all && !cluster);
      }
    });
    Ways ways(program, judge.flow.blocks(), itemOf, items.size(), [](const Event &) { return false; });
    ways.walk([&](uint32_t i, const Ways::Since &since) {
      if (copyOf[i] == ~0u)
        return;
      for (uint32_t item = 0; item < items.size(); ++item) {
        if (program.events[items[item]].barrier.object != copyOf[i])
          continue;
        told[item] = told[item] || since.any(item) || mayKnow[i];
        late[item] = i;
      }
    });
    for (uint32_t item = 0; item < items.size(); ++item)
      if (late[item] && !told[item])
        reportLate(items[item], *late[item]);
  }

  void reportLate(uint32_t expect, uint32_t copy) {
    const Barrier &barrier = barriers[program.events[expect].barrier.object];
    auto actorOf = [&](const auto &list, uint32_t event) {
      for (auto [block, e] : list)
        if (e == event)
          return program.blocks[block].actor;
      return Actor();
    };
    Actor expecting = actorOf(barrier.expects, expect), copying = actorOf(barrier.copies, copy);
    bool othersArrive = false;
    for (auto [block, arrive] : barrier.arrives)
      othersArrive |= !sameThread(program.blocks[block].actor, expecting);
    if (!othersArrive || !judge.surelyTwo(expecting, copying))
      return;
    judge.report(
        "SL22", Severity::warning, expect,
        fmt::format("expected {} to be told of the bytes before the copies that bring them start, found that in "
                    "another thread with nothing between: the phase may be over before",
                    judge.nameOf(program.events[expect].barrier)),
        {"let the thread that copies expect the bytes too, before it copies", {{"copied here", copy}}});
  }

  Judge &judge;
  const Program &program;
  std::map<uint32_t, Barrier> barriers; ///< by object
  bool someWait = false;                ///< on a barrier that is not known
};

} // namespace

void judgePhases(Judge &judge) { Phases(judge).run(); }

} // namespace interlock::scope
