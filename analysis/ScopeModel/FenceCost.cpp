// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rule SL28, fences of which a part is for nothing: a side that no pattern begins or ends with, sequential consistency
// without a store before and a load behind, a proxy fence with nothing to cross over.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::scope {
namespace {

constexpr size_t scopes = 5;

/// The strong accesses on some path before a point, or behind it.
struct Strong {
  uint8_t toFence = 0; ///< by scope: one that a fence of that scope could make a pattern with, and no other has since
  bool any = false;    ///< at all
  bool meets = false;  ///< a barrier, by which other threads' accesses may count too
  bool operator==(const Strong &) const = default;
};

/// Merges the second into the first; true if that changed it.
bool merge(Strong &into, const Strong &from) {
  Strong old = into;
  into.toFence |= from.toFence;
  into.any |= from.any;
  into.meets |= from.meets;
  return !(old == into);
}

/// The scopes of fences that an operation needs which has an order of its own up to `scope`, or none.
uint8_t wantsFence(bool hasOwn, Scope scope) {
  uint8_t wants = 0;
  for (size_t s = 0; s < scopes; ++s)
    if (!hasOwn || size_t(scope) < s)
      wants |= uint8_t(1 << s);
  return wants;
}

/// The scopes of fences that such a fence makes up for.
uint8_t covered(const Event &e) { return e.restrict == Restrict::none ? uint8_t((2 << size_t(e.scope)) - 1) : 0; }

bool isStrong(const Event &e) { return e.order != Order::weak; }

bool isBarrier(const Event &e) {
  switch (e.kind) {
  case EventKind::ctaBarrier:
  case EventKind::ctaArrive:
  case EventKind::clusterArrive:
  case EventKind::clusterWait:
  case EventKind::barrierArrive:
  case EventKind::barrierWait:
  case EventKind::gridWait:
  case EventKind::call:
    return true;
  default:
    return false;
  }
}

/// A thread goes on: what it has read so far.
void goOn(Strong &strong, const Event &e) {
  bool reads = e.kind == EventKind::load || e.kind == EventKind::atomic || e.kind == EventKind::barrierWait;
  if (e.kind == EventKind::fence && acquires(e.order))
    strong.toFence &= uint8_t(~covered(e));
  else if (e.kind == EventKind::call)
    strong.toFence = 0xff;
  else if (reads && isStrong(e))
    strong.toFence |= wantsFence(acquires(e.order), e.scope);
  strong.any |=
      isStrong(e) && (e.kind == EventKind::store || e.kind == EventKind::reduction || e.kind == EventKind::atomic);
  strong.meets |= isBarrier(e);
}

/// Against the order of the program: what a thread will write.
void goBack(Strong &strong, const Event &e) {
  bool writes = e.kind == EventKind::store || e.kind == EventKind::reduction || e.kind == EventKind::atomic ||
                e.kind == EventKind::barrierArrive || e.kind == EventKind::clusterArrive;
  if (e.kind == EventKind::fence && releases(e.order))
    strong.toFence &= uint8_t(~covered(e));
  else if (e.kind == EventKind::call)
    strong.toFence = 0xff;
  else if (writes && isStrong(e))
    strong.toFence |= wantsFence(releases(e.order), e.scope);
  strong.any |= isStrong(e) && (e.kind == EventKind::load || e.kind == EventKind::atomic);
  strong.meets |= isBarrier(e);
}

class Fences {
public:
  explicit Fences(Judge &judge) : judge(judge), program(judge.program) {}

  void run() {
    bool any = std::any_of(program.events.begin(), program.events.end(), [](const Event &e) { return wanted(e); });
    if (!any || !program.kernel)
      return;
    solve();
    std::vector<Strong> before(program.events.size());
    for (uint32_t b : judge.flow.blocks()) {
      Strong strong = atBegin[b];
      forward(b, strong, [&](uint32_t i, const Strong &s) { before[i] = s; });
      strong = atEnd[b];
      backward(b, strong, [&](uint32_t i, const Strong &behind) { tell(i, before[i], behind); });
    }
  }

private:
  static bool wanted(const Event &e) {
    return e.kind == EventKind::fence && e.spelled && e.restrict == Restrict::none && e.scope >= Scope::cluster &&
           (e.order == Order::acqRel || e.order == Order::sc);
  }

  /// A fact is a few bits, so each block changes a few times.
  void solve() {
    const auto &order = judge.flow.blocks();
    atBegin.resize(program.blocks.size());
    atEnd.resize(program.blocks.size());
    auto nothing = [](uint32_t, const Strong &) {};
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b : order) {
        Strong out = atBegin[b];
        forward(b, out, nothing);
        for (uint32_t s : program.blocks[b].successors)
          changed |= merge(atBegin[s], out);
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (auto b = order.rbegin(); b != order.rend(); ++b)
        for (uint32_t s : program.blocks[*b].successors) {
          Strong out = atEnd[s];
          backward(s, out, nothing);
          changed |= merge(atEnd[*b], out);
        }
    }
  }

  template <class Visit> void forward(uint32_t b, Strong &strong, Visit visit) const {
    for (uint32_t i = program.blocks[b].first; i < program.blocks[b].first + program.blocks[b].count; ++i) {
      if (wanted(program.events[i]))
        visit(i, strong);
      goOn(strong, program.events[i]);
    }
  }
  template <class Visit> void backward(uint32_t b, Strong &strong, Visit visit) const {
    for (uint32_t i = program.blocks[b].first + program.blocks[b].count; i-- > program.blocks[b].first;) {
      if (wanted(program.events[i]))
        visit(i, strong);
      goBack(strong, program.events[i]);
    }
  }

  void tell(uint32_t i, const Strong &before, const Strong &behind) {
    const Event &e = program.events[i];
    if (e.order == Order::sc) {
      // A barrier between may make the fences of two threads a pair, which acq_rel fences are not.
      if (before.meets || behind.meets || (before.any && behind.any))
        return;
      judge.report(
          "SL28", Severity::note, i,
          fmt::format("expected fence.acq_rel, since {}, got fence.sc, which orders stores with later loads too",
                      behind.any ? "nothing strong is written before it" : "nothing strong is read behind it"),
          {fmt::format("use fence.acq_rel.{}", name(e.scope)), {}});
      return;
    }
    uint8_t bit = uint8_t(1 << size_t(e.scope));
    bool acquiring = before.toFence & bit, releasing = behind.toFence & bit;
    if (!program.oneSidedFences || acquiring == releasing)
      return;
    std::string_view side = acquiring ? "acquire" : "release";
    judge.report("SL28", Severity::note, i,
                 fmt::format("expected fence.{}, since no strong {} it that it could make a pattern with, got "
                             "fence.acq_rel, which orders the other way too",
                             side, acquiring ? "write follows" : "read precedes"),
                 {fmt::format("use fence.{}.{}", side, name(e.scope)), {}});
  }

  Judge &judge;
  const Program &program;
  std::vector<Strong> atBegin, atEnd; ///< by block
};

/// What a proxy fence is for is an access through the generic proxy before it.
void proxyFences(Judge &judge) {
  const Program &program = judge.program;
  for (const Event &e : program.events)
    if (e.kind == EventKind::call || (e.kind <= EventKind::storeAsync && !e.src.known() && !e.dst.known()))
      return; // it may be for that
  if (!program.kernel || !judge.flow.isComplete())
    return;
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) {
    const Event &e = program.events[i];
    if (e.kind != EventKind::proxyFence || e.proxyFence != ProxyFence::async)
      return;
    bool copies = false;
    for (Site s = stateSites; s < judge.sites.list.size(); ++s) {
      const SiteInfo &info = judge.sites.list[s];
      // Copies reach their mbarrier through the generic proxy.
      bool before = !info.isWait && !info.isInit && (state.has(reach, s) || state.has(heard, s));
      if (before && judge.eventOf(s).kind != EventKind::asyncCopy)
        return;
      copies |= before;
    }
    if (copies)
      judge.report("SL28", Severity::note, i,
                   "expected an access through the generic proxy before the proxy fence, found asynchronous operations "
                   "only, which wait for each other by their completion",
                   {"drop it", {}});
  });
}

} // namespace

void judgeFences(Judge &judge) {
  // What is too strong is worth saying of an order that is right.
  if (std::any_of(judge.findings.begin(), judge.findings.end(),
                  [](const Finding &f) { return f.severity > Severity::note; }))
    return;
  Fences(judge).run();
  proxyFences(judge);
}

} // namespace interlock::scope
