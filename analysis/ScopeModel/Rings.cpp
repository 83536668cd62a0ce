// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rules for slots of a ring in shared memory that bulk copies fill or empty, in programs of which everything is in
// sight (Program::complete). Which slot is meant is not known, so it is asked whether a thread has waited at all: for
// the copy before it reads, for the readers before it copies again, and for its own copies before it ends.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

#include <set>

namespace interlock::scope {
namespace {

/// One piece of shared memory, and by which barriers its users tell each other.
struct Ring {
  uint32_t object;
  std::set<uint32_t> fullBarriers; ///< that the copies into it complete on
  bool genericReads = false, asyncReads = false;
};

/// What is known on every path to a point.
struct Known {
  bool waited = false;          ///< for a copy, since the thread copied or gave the slot back
  bool ready = false;           ///< and that was acquired
  bool readersDone = true;      ///< those through the generic proxy, since the slot was filled
  bool asyncReadersDone = true; ///< the thread's own bulk groups
  bool drained = true;          ///< at the end there is none of those left
  bool filling = false;         ///< more copies into one slot, one behind the other
  bool operator==(const Known &) const = default;
};

Known meet(const Known &a, const Known &b) {
  return {a.waited && b.waited,           a.ready && b.ready,
          a.readersDone && b.readersDone, a.asyncReadersDone && b.asyncReadersDone,
          a.drained && b.drained,         a.filling && b.filling};
}

class RingRules {
public:
  RingRules(Judge &judge, const Ring &ring) : judge(judge), program(judge.program), ring(ring) {}

  void run() {
    std::vector<std::optional<Known>> in(program.blocks.size());
    in[0] = Known();
    std::vector<uint32_t> todo{0};
    while (!todo.empty()) {
      uint32_t b = todo.back();
      todo.pop_back();
      Known out = walk(b, *in[b], /*tell=*/false);
      for (uint32_t s : program.blocks[b].successors) {
        Known arrives = out;
        if (s <= b) // the next round of a loop is about another slot
          arrives.filling = false;
        Known joined = in[s] ? meet(*in[s], arrives) : arrives;
        if (in[s] && *in[s] == joined)
          continue;
        in[s] = joined;
        todo.push_back(s);
      }
    }
    for (uint32_t b = 0; b < program.blocks.size(); ++b)
      if (in[b])
        walk(b, *in[b], /*tell=*/true);
  }

private:
  bool isRing(const Access &access) const { return access.known() && access.object == ring.object && access.indexed; }

  Known walk(uint32_t block, Known known, bool tell) {
    const Block &b = program.blocks[block];
    for (uint32_t i = b.first; i < b.first + b.count; ++i)
      step(i, known, tell);
    return known;
  }

  void step(uint32_t i, Known &known, bool tell) {
    const Event &e = program.events[i];
    switch (e.kind) {
    case EventKind::ctaBarrier:
      known.readersDone = true;
      break;
    case EventKind::barrierWait:
      if (ring.fullBarriers.count(e.barrier.object)) {
        known.waited = true;
        known.ready |= acquires(e.order);
      } else if (e.barrier.known())
        known.readersDone = true;
      break;
    case EventKind::fence:
      known.ready |= known.waited && acquires(e.order);
      break;
    case EventKind::barrierArrive:
      // The slot is given back.
      if (!e.expects && e.barrier.known() && !ring.fullBarriers.count(e.barrier.object))
        known.waited = known.ready = false;
      break;
    case EventKind::asyncWait:
      if (e.completion == Completion::bulkGroup) {
        known.asyncReadersDone = true;
        known.drained |= e.bytes == 0;
      }
      break;
    case EventKind::load:
      if (tell && isRing(e.src) && !known.ready)
        unready(i);
      break;
    case EventKind::asyncCopy:
      copies(i, e, known, tell);
      break;
    case EventKind::exit:
      if (tell && !known.drained)
        judge.report(
            "SL32", Severity::error, i,
            fmt::format("expected the copies out of {} to be done with it before the thread ends, found a path "
                        "without a wait for all of them",
                        judge.program.objects[ring.object].name),
            {"put cp.async.bulk.wait_group 0 before the end", {}});
      break;
    default:
      break;
    }
  }

  void copies(uint32_t i, const Event &e, Known &known, bool tell) {
    if (isRing(e.src)) {
      if (tell && !known.ready)
        unready(i);
      known.drained = false;
    }
    if (!isRing(e.dst))
      return;
    if (tell && !known.filling && ring.genericReads && !known.readersDone)
      overwrites(i, "wait on the barrier at which its readers arrive");
    if (tell && !known.filling && ring.asyncReads && !known.asyncReadersDone)
      overwrites(i, "put cp.async.bulk.wait_group.read before it");
    known = {.waited = false,
             .ready = false,
             .readersDone = false,
             .asyncReadersDone = false,
             .drained = known.drained,
             .filling = true};
  }

  void unready(uint32_t i) {
    judge.report("SL32", Severity::error, i,
                 fmt::format("expected an acquiring wait for the copy into {} on every path to {}, found one without",
                             judge.program.objects[ring.object].name, describe(judge, i)),
                 {"wait on the mbarrier that the copy completes on before it", {}});
  }
  void overwrites(uint32_t i, const char *fix) {
    judge.report(
        "SL32", Severity::error, i,
        fmt::format("expected the readers of {} to be done with the slot before {} fills it again, found a path "
                    "without a wait for them since the copy before",
                    judge.program.objects[ring.object].name, describe(judge, i)),
        {fix, {}});
  }

  Judge &judge;
  const Program &program;
  const Ring &ring;
};

} // namespace

void judgeRings(Judge &judge) {
  const Program &program = judge.program;
  if (!program.complete)
    return;
  std::map<uint32_t, Ring> rings;
  for (const Event &e : program.events)
    if (e.kind == EventKind::asyncCopy && e.completion == Completion::barrier && e.dst.known() && e.dst.indexed &&
        judge.object(e.dst).space == Space::shared && e.barrier.known()) {
      Ring &ring = rings.try_emplace(e.dst.object, Ring{e.dst.object, {}}).first->second;
      ring.fullBarriers.insert(e.barrier.object);
    }
  for (const Event &e : program.events)
    if (auto ring = e.src.known() ? rings.find(e.src.object) : rings.end(); ring != rings.end()) {
      ring->second.genericReads |= e.kind == EventKind::load;
      ring->second.asyncReads |= e.kind == EventKind::asyncCopy;
    }
  for (const auto &[object, ring] : rings)
    RingRules(judge, ring).run();
}

} // namespace interlock::scope
