// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// SL30 and SL32 for programs of which not everything is in sight (Program::strict). Only what holds whatever else is
// true is said: two threads surely touch the same bytes, and on no path is there anything between that could order
// them.
#include "analysis/ScopeModel/Judge.h"
#include "analysis/ScopeModel/Ways.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

/// A CTA whose size is not known has at least so many threads.
constexpr int64_t fewestThreads = 32;
constexpr size_t maxItems = 512; ///< what is beyond is not judged

int64_t endOf(const Access &a) { return *a.offset + int64_t(a.bytes) * a.elements; }

/// Thread `t` of a CTA touches `x`, for the least t from `first` on whose place overlaps [begin, end).
int64_t threadAt(const Access &x, int64_t begin, int64_t end, int64_t first) {
  int64_t stride = x.threadStride, width = endOf(x) - *x.offset;
  int64_t t = std::max(first, (begin - *x.offset - width) / stride);
  while (*x.offset + t * stride + width <= begin)
    ++t;
  return *x.offset + t * stride < end ? t : -1;
}

class CertainRaces {
public:
  explicit CertainRaces(Judge &judge)
      : judge(judge), program(judge.program), threads(program.threads ? program.threads : fewestThreads) {}

  void run() {
    if (program.threads == 1)
      return;
    std::vector<uint32_t> itemOf = collect();
    if (items.empty())
      return;
    Ways ways(program, judge.flow.blocks(), itemOf, items.size(), [this](const Event &e) { return mayOrder(e); });
    ways.walk([&](uint32_t i, const Ways::Since &since) {
      if (uint32_t second = itemOf[i]; second != ~0u)
        for (uint32_t first = 0; first < items.size(); ++first)
          if (since.neverBetween(first) && meet(items[first], items[second]))
            report(items[first], items[second]);
    });
  }

private:
  /// An access to shared memory of the own CTA, at a place that is known.
  struct Item {
    uint32_t event, block;
    const Access *access;
    bool writes;
  };

  std::vector<uint32_t> collect() {
    std::vector<uint32_t> itemOf(program.events.size(), ~0u);
    for (uint32_t b = 0; b < program.blocks.size(); ++b)
      for (uint32_t i = program.blocks[b].first; i < program.blocks[b].first + program.blocks[b].count; ++i) {
        const Event &e = program.events[i];
        bool plain = (e.kind == EventKind::load || e.kind == EventKind::store) && e.order == Order::weak &&
                     e.proxy == Proxy::generic;
        const Access &access = e.kind == EventKind::load ? e.src : e.dst;
        if (!plain || items.size() == maxItems || !access.known() || access.remote || !access.offset || !access.bytes ||
            judge.object(access).space != Space::shared || !(access.single || access.threadStride))
          continue;
        itemOf[i] = uint32_t(items.size());
        items.push_back({i, b, &access, e.kind == EventKind::store});
      }
    return itemOf;
  }

  /// Whatever may tell a thread of another one, or let it wait.
  bool mayOrder(const Event &e) const {
    switch (e.kind) {
    case EventKind::warpBarrier:
      return program.threads <= program.warpWidth;
    case EventKind::store:
    case EventKind::reduction:
    case EventKind::fence:
    case EventKind::proxyFence:
      return false;
    case EventKind::load:
      return mayAcquire(e);
    default:
      return true;
    }
  }

  /// Two threads surely touch the same bytes, one of them writing.
  bool meet(const Item &x, const Item &y) const {
    const Access &p = *x.access, &q = *y.access;
    const Actor &a = program.blocks[x.block].actor, &b = program.blocks[y.block].actor;
    if (x.writes == y.writes || p.object != q.object)
      return false;
    if (p.single && q.single)
      return p.formula == q.formula && *p.offset < endOf(q) && *q.offset < endOf(p) && judge.surelyTwo(a, b);
    if (p.threadStride && q.threadStride) {
      // What thread 0 touches in the one, another touches in the other. Or the other way round.
      auto neighbour = [&](const Access &mine, const Access &theirs) {
        int64_t t = threadAt(theirs, *mine.offset, endOf(mine), 1);
        return t > 0 && t < threads;
      };
      return p.threadStride == q.threadStride && isEveryone(a) && isEveryone(b) && !inOtherCtas(a, b) &&
             (neighbour(p, q) || neighbour(q, p));
    }
    const Access &each = p.threadStride ? p : q, &fixed = p.threadStride ? q : p;
    const Actor &all = p.threadStride ? a : b, &other = p.threadStride ? b : a;
    if (!fixed.fixed || !isEveryone(all) || inOtherCtas(a, b))
      return false;
    int64_t t = threadAt(each, *fixed.offset, endOf(fixed), 0);
    return t >= 0 && t < threads &&
           (isEveryone(other) ||
            (other.threads == Actor::Threads::one && !other.some && other.which && int64_t(other.which) - 1 != t));
  }

  void report(const Item &first, const Item &second) {
    judge.report(
        "SL30", Severity::error, second.event,
        fmt::format("expected a barrier between {} and another thread's access to the same bytes of {}, found "
                    "none on any path",
                    describe(judge, second.event), judge.nameOf(*second.access)),
        {"put bar.sync between them (bar.warp.sync if both are of one warp)", {{"the other access", first.event}}});
  }

  Judge &judge;
  const Program &program;
  int64_t threads;
  std::vector<Item> items;
};

/// Bulk copies out of shared memory that nothing waits for on any path to the end of their thread: the memory may be
/// gone before they have read it.
void abandonedCopies(Judge &judge) {
  const Program &program = judge.program;
  std::vector<uint32_t> copies, copyOf(program.events.size(), ~0u);
  for (uint32_t i = 0; i < program.events.size() && copies.size() < maxItems; ++i) {
    const Event &e = program.events[i];
    if (e.kind == EventKind::asyncCopy && e.completion == Completion::bulkGroup && e.src.known() && !e.src.remote &&
        judge.object(e.src).space == Space::shared) {
      copyOf[i] = uint32_t(copies.size());
      copies.push_back(i);
    }
  }
  if (copies.empty() || !program.kernel)
    return;
  auto waits = [](const Event &e) {
    return e.kind == EventKind::call || (e.kind == EventKind::asyncWait && e.completion == Completion::bulkGroup);
  };
  Ways(program, judge.flow.blocks(), copyOf, copies.size(), waits).walk([&](uint32_t i, const Ways::Since &since) {
    if (program.events[i].kind != EventKind::exit)
      return;
    for (uint32_t copy = 0; copy < copies.size(); ++copy)
      if (since.neverBetween(copy))
        judge.report(
            "SL32", Severity::error, copies[copy],
            fmt::format("expected a wait for the asynchronous copy out of {} before the thread ends, found none "
                        "on any path: what it reads may be gone",
                        judge.nameOf(program.events[copies[copy]].src)),
            {"put cp.async.bulk.wait_group.read 0 before the end", {{"the thread ends here", i}}});
  });
}

} // namespace

void judgeCertain(Judge &judge) {
  if (!judge.program.strict)
    return;
  CertainRaces(judge).run();
  abandonedCopies(judge);
}

} // namespace interlock::scope
