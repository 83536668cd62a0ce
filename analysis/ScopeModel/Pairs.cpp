// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Finds the pairs: for each release and each wait that it may end, the accesses before the one and behind the other
// that touch the same memory from different threads. Where one of several ways orders the two accesses, all is well.
#include "analysis/ScopeModel/Pairs.h"

#include <algorithm>
#include <unordered_map>

namespace interlock::scope {
namespace {

/// More steps than that are not taken: what is beyond is not judged.
constexpr size_t maxSteps = 4'000'000;
constexpr size_t maxReleases = 1024;
constexpr size_t maxPairs = 8; ///< kept of one couple of accesses

class Finder {
public:
  explicit Finder(Judge &judge) : judge(judge), program(judge.program), sites(judge.sites) {}
  void run();

private:
  struct Couple {
    std::vector<Pair> ways;
  };

  void collect();
  void collectWaits();
  std::vector<Site> waitsBehind(uint32_t arrive, uint32_t block) const;
  void meet(size_t release, const std::vector<Site> &waits, uint32_t group);
  bool conflict(const Pair &pair) const;
  Scope distance(uint32_t release, Site wait) const;
  bool meant(const Pair &pair, const State &atRelease, const State &atB) const;
  bool likelier(const Pair &way, const Pair &than) const;
  void keep(std::vector<Pair> &ways, const Pair &way) const;
  void settle();

  Judge &judge;
  const Program &program;
  const Sites &sites;
  PairFacts facts;
  std::vector<std::vector<Site>> waitsOf; ///< by group
  std::unordered_map<uint64_t, Couple> couples;
  size_t steps = 0;
};

/// A weak store is a signal only if nothing else is: where others are strong it resets.
bool isReset(const Event &e, bool otherwiseStrong) {
  return e.kind == EventKind::store && e.order == Order::weak && otherwiseStrong;
}

bool isBarrierGroup(const Event &e) { return signalOf(e) == nullptr; }

void Finder::collect() {
  std::vector<bool> strongGroup(judge.flow.groups());
  for (uint32_t i = 0; i < program.events.size(); ++i)
    if (uint32_t g = judge.flow.group(i);
        g != ~0u && mayRelease(program.events[i]) && program.events[i].order != Order::weak)
      strongGroup[g] = true;
  facts.atAccess.assign(sites.list.size(), State(sites.words));
  judge.flow.walk([&](uint32_t block, uint32_t i, const State &state) {
    for (Site s : {sites.of[i][0], sites.of[i][1]})
      if (s != Sites::none)
        facts.atAccess[s].merge(state);
    const Event &e = program.events[i];
    if (!mayRelease(e) || facts.releases.size() >= maxReleases)
      return;
    uint32_t group = judge.flow.group(i);
    if (group != ~0u ? waitsOf[group].empty() || isReset(e, strongGroup[group]) : !isBarrierGroup(e))
      return;
    facts.releases.push_back(i);
    facts.blockOf.push_back(block);
    facts.before.push_back(state);
  });
}

void Finder::collectWaits() {
  waitsOf.resize(judge.flow.groups());
  for (Site s = stateSites; s < sites.list.size(); ++s) {
    if (!sites.list[s].isWait)
      continue;
    uint32_t event = sites.list[s].event;
    if (uint32_t g = judge.flow.group(event); g != ~0u)
      waitsOf[g].push_back(s);
  }
}

/// The waits of the cluster barrier that come next behind an arrival at it.
std::vector<Site> Finder::waitsBehind(uint32_t arrive, uint32_t block) const {
  std::vector<Site> waits;
  std::vector<std::pair<uint32_t, uint32_t>> todo{{block, arrive + 1}};
  std::vector<bool> seen(program.blocks.size());
  while (!todo.empty()) {
    auto [b, from] = todo.back();
    todo.pop_back();
    const Block &here = program.blocks[b];
    uint32_t i = from, end = here.first + here.count;
    while (i < end && program.events[i].kind != EventKind::clusterWait)
      ++i;
    if (i < end) {
      if (Site s = sites.of[i][2]; s != Sites::none && std::find(waits.begin(), waits.end(), s) == waits.end())
        waits.push_back(s);
      continue;
    }
    for (uint32_t next : here.successors)
      if (!seen[next]) {
        seen[next] = true;
        todo.push_back({next, program.blocks[next].first});
      }
  }
  return waits;
}

/// How far the thread that signals is from the one that waits.
Scope Finder::distance(uint32_t release, Site wait) const {
  const Event &r = program.events[release];
  const Event &w = judge.eventOf(wait);
  if (r.kind == EventKind::clusterArrive)
    return judge.clusterDistance();
  const Access *signal = signalOf(r);
  if (!signal)
    return Scope::cta;
  const Object &object = judge.object(*signal);
  if (object.space == Space::shared || object.space == Space::unknown) {
    bool crosses = signal->remote || signalOf(w)->remote || r.multicast || (r.dst.known() && r.dst.remote);
    return crosses ? judge.clusterDistance() : Scope::cta;
  }
  const Access &read = *signalOf(w);
  return signal->perCta && read.perCta && signal->formula == read.formula ? Scope::cta : object.reach;
}

/// The two accesses can touch the same bytes, from different threads, one of them writing.
bool Finder::conflict(const Pair &pair) const {
  const SiteInfo &a = sites.list[pair.a], &b = sites.list[pair.b];
  // Two writes need an order too, but which of two is meant to last is seldom plain: only reads tell.
  if (!a.isData || !b.isData || a.writes == b.writes)
    return false;
  const Event &first = judge.eventOf(pair.a), &second = judge.eventOf(pair.b), &r = program.events[pair.release];
  bool firstAsync = first.kind == EventKind::asyncCopy, secondAsync = second.kind == EventKind::asyncCopy;
  if (firstAsync && (secondAsync || !a.writes))
    return false; // asynchronous reads are over by their own completion, and async after async is one proxy
  const Access &x = *a.access, &y = *b.access;
  if (apart(x, y))
    return false;
  if (const Access *signal = signalOf(r); signal && signal->object == x.object && !apart(*signal, x))
    return false;
  bool crosses = pair.distance > Scope::cta,
       own = x.formula == y.formula && x.perThread && y.perThread && x.offset == y.offset;
  if (judge.object(x).space == Space::shared) {
    bool local = !x.remote && !y.remote;
    bool clusterBarrier = r.kind == EventKind::clusterArrive;
    if (local && (own || sameThread(judge.actorOf(pair.a), judge.actorOf(pair.b))))
      return false;
    if (clusterBarrier)
      return true;
    if (crosses && r.multicast && local)
      return true; // the copy writes the peers' memory too
    // A barrier of the CTA between a store into a peer's memory and the peer's own read is no order between the two.
    if (r.kind == EventKind::ctaBarrier && x.remote != y.remote && judge.clusterDistance() > Scope::cta)
      return true;
    if (crosses ? local || (x.remote && y.remote) : !local)
      return false;
    return !(local && inOtherCtas(judge.actorOf(pair.a), judge.actorOf(pair.b)));
  }
  // A place that is read first and written later is one place only if it is addressed alike: most memory that a kernel
  // reads and writes is cut up by indices that are not understood.
  if (!a.writes && crosses && x.formula != y.formula && !judge.program.complete)
    return false;
  bool sameCta = x.formula == y.formula && x.perCta && y.perCta;
  if (own && (sameCta || !crosses))
    return false;
  if (sameCta && crosses)
    return false;
  return crosses || !sameThread(judge.actorOf(pair.a), judge.actorOf(pair.b));
}

/// A relaxed value that a branch depends on is a signal only where somebody meant to publish by it: else every counter
/// that hands out work would be one.
bool Finder::meant(const Pair &pair, const State &atRelease, const State &atB) const {
  const Event &wait = judge.eventOf(pair.wait), &signal = program.events[pair.release];
  if (wait.kind != EventKind::load && wait.kind != EventKind::atomic)
    return true;
  if (wait.poll == Poll::loop || acquires(wait.order) || releases(signal.order))
    return true;
  for (size_t l = 0; l < 4; ++l)
    if (atRelease.has(fenced + l, pair.a))
      return true;
  return !atB.has(open + level(pair.distance), pair.wait);
}

void Finder::meet(size_t index, const std::vector<Site> &waits, uint32_t group) {
  uint32_t release = facts.releases[index];
  const Event &r = program.events[release];
  const State &before = facts.before[index];
  const Actor &speaker = program.blocks[facts.blockOf[index]].actor;
  bool completion = r.kind == EventKind::asyncCopy || r.kind == EventKind::storeAsync;
  for (Site a = stateSites; a < sites.list.size(); ++a) {
    bool transaction = completion && sites.of[release][1] == a;
    if (sites.list[a].isWait || !sites.list[a].isData)
      continue;
    if (!transaction && !before.has(reach, a) && !before.has(heard, a))
      continue;
    // Of what came before a transaction only the issuer's own plain writes could be thought to travel with it.
    if (completion && !transaction &&
        (!sites.list[a].writes || judge.eventOf(a).kind != EventKind::store || !before.has(reach, a)))
      continue;
    for (Site b : sites.byObject[sites.list[a].access->object])
      for (Site wait : waits) {
        if (++steps > maxSteps)
          return;
        if (!facts.atAccess[b].has(reach, wait))
          continue;
        if (signalOf(r) && apart(*signalOf(r), *signalOf(judge.eventOf(wait))))
          continue;
        Pair pair{a, b, release, wait, group, distance(release, wait), completion};
        if (pair.distance == Scope::cta && sameThread(speaker, judge.actorOf(wait)) && !isBarrierGroup(r))
          continue;
        if (!conflict(pair) || !meant(pair, before, facts.atAccess[b]))
          continue;
        // A thread of one CTA says nothing of what the threads of all the others do in their own shared memory.
        if (pair.distance > Scope::cta && speaker.ctas == Actor::Ctas::only &&
            judge.actorOf(a).ctas == Actor::Ctas::all && !sites.list[a].access->remote &&
            judge.object(*sites.list[a].access).space == Space::shared)
          continue;
        // The cluster barrier is a barrier of the CTA too, for what is in its own shared memory.
        if (r.kind == EventKind::clusterArrive && !sites.list[a].access->remote && !sites.list[b].access->remote &&
            judge.object(*sites.list[a].access).space == Space::shared)
          pair.distance = Scope::cta;
        judgePair(judge, pair, facts.blockOf[index], before, facts.atAccess[b]);
        // On one path that is seen where the access is.
        if (pair.releaseFault == ReleaseFault::unfinished && judge.flow.group(release) == ~0u)
          continue;
        keep(couples[uint64_t(a) << 32 | b].ways, pair);
      }
  }
}

/// Of two ways that do not order, the one that was rather meant to.
bool Finder::likelier(const Pair &way, const Pair &than) const {
  if (way.faults() != than.faults())
    return way.faults() < than.faults();
  if (way.completion != than.completion)
    return than.completion;
  if (way.direct != than.direct)
    return way.direct;
  bool loop = judge.eventOf(way.wait).poll == Poll::loop, otherLoop = judge.eventOf(than.wait).poll == Poll::loop;
  if (loop != otherLoop)
    return loop;
  // In the text the last wait before the access is the nearest.
  auto nearness = [&](const Pair &pair) {
    uint32_t wait = judge.eventOf(pair.wait).origin;
    return std::pair(wait < judge.eventOf(pair.b).origin, wait);
  };
  return way.group != than.group && nearness(way) > nearness(than);
}

void Finder::keep(std::vector<Pair> &ways, const Pair &way) const {
  if (ways.size() < maxPairs || way.orders()) {
    ways.push_back(way);
    return;
  }
  auto worst = std::min_element(ways.begin(), ways.end(),
                                [&](const Pair &x, const Pair &y) { return !x.orders() && likelier(y, x); });
  if (!worst->orders() && likelier(way, *worst))
    *worst = way;
}

void Finder::settle() {
  // In the order of the text, so that reports do not depend on hashing.
  std::vector<uint64_t> keys;
  for (auto &[key, couple] : couples)
    keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (uint64_t key : keys) {
    std::vector<Pair> &ways = couples[key].ways;
    // What an asynchronous operation brings is told by its own transaction, if there is one.
    auto itsOwn = [&](const Pair &way) { return way.completion && sites.of[way.release][1] == way.a; };
    bool transaction = std::any_of(ways.begin(), ways.end(), itsOwn);
    const Pair *best = nullptr;
    std::vector<const Pair *> faulty;
    for (const Pair &way : ways) {
      if (way.orders())
        continue;
      // Another mechanism that reaches as far does what this one does not.
      bool done = std::any_of(ways.begin(), ways.end(), [&](const Pair &other) {
        bool another = other.group != way.group || (way.completion && !other.completion);
        return other.orders() && another && other.distance >= way.distance;
      });
      // That a barrier of the CTA was meant for two of them is the last thing to think of.
      bool unlikely =
          way.releaseFault == ReleaseFault::acrossCtas &&
          std::any_of(ways.begin(), ways.end(), [&](const Pair &other) { return other.group != way.group; });
      if (done || unlikely || (transaction && !itsOwn(way)))
        continue;
      faulty.push_back(&way);
      if (!best || likelier(way, *best))
        best = &way;
    }
    for (const Pair *way : faulty)
      if (way->group == best->group && (best->completion || !way->completion))
        reportPair(judge, *way);
  }
}

void Finder::run() {
  collectWaits();
  collect();
  for (size_t i = 0; i < facts.releases.size(); ++i) {
    uint32_t event = facts.releases[i];
    const Event &e = program.events[event];
    if (uint32_t g = judge.flow.group(event); g != ~0u)
      meet(i, waitsOf[g], g);
    else if (e.kind == EventKind::clusterArrive)
      meet(i, waitsBehind(event, facts.blockOf[i]), ~0u);
    else if (e.kind == EventKind::ctaBarrier && sites.of[event][2] != Sites::none)
      meet(i, {sites.of[event][2]}, ~1u - uint32_t(i));
  }
  settle();
}

} // namespace

void judgePairs(Judge &judge) { Finder(judge).run(); }

} // namespace interlock::scope
