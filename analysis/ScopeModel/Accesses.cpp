// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rules for single accesses and for how the accesses of one object go together.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::scope {
namespace {

/// Strong accesses to one word that are not to the same bytes.
void mixedSizes(Judge &judge) {
  struct Use {
    uint32_t event;
    const Access *access;
    bool writes, polls;
  };
  std::vector<std::vector<Use>> uses(judge.program.objects.size());
  constexpr size_t maxUses = 64;
  for (uint32_t i = 0; i < judge.program.events.size(); ++i) {
    const Event &e = judge.program.events[i];
    if (e.order == Order::weak || e.kind > EventKind::reduction)
      continue;
    for (const Access *access : {&e.src, &e.dst})
      if (access->known() && access->bytes && uses[access->object].size() < maxUses)
        uses[access->object].push_back({i, access, access == &e.dst, mayAcquire(e)});
  }
  for (const auto &list : uses)
    for (size_t x = 0; x < list.size(); ++x)
      for (size_t y = 0; y < x; ++y) {
        const Access &p = *list[x].access, &q = *list[y].access;
        if ((!list[x].writes && !list[y].writes) || (!list[x].polls && !list[y].polls))
          continue;
        bool comparable = p.formula == q.formula && p.offset && q.offset;
        // With different formulas the same object is meant, but not which part of it: only the widths can be compared.
        if (comparable) {
          int64_t pEnd = *p.offset + int64_t(p.bytes) * p.elements, qEnd = *q.offset + int64_t(q.bytes) * q.elements;
          bool overlap = *p.offset < qEnd && *q.offset < pEnd;
          bool aligned = p.bytes == q.bytes && (*p.offset - *q.offset) % int64_t(p.bytes) == 0;
          if (!overlap || aligned)
            continue;
        } else if (p.bytes == q.bytes) {
          continue;
        }
        uint32_t first = std::min(list[x].event, list[y].event), second = std::max(list[x].event, list[y].event);
        judge.report(
            "SL19", Severity::error, first,
            fmt::format("expected all strong accesses to {} to have one size and place, got {} and {} bytes that "
                        "overlap: they race, "
                        "and no other promise of the memory model holds",
                        judge.nameOf(p),
                        judge.program.events[first].kind == judge.program.events[list[x].event].kind &&
                                first == list[x].event
                            ? p.bytes
                            : q.bytes,
                        first == list[x].event ? q.bytes : p.bytes),
            {"give each writer a word of its own, as wide as the one that is read", {{"the other access", second}}});
      }
}

void nonCoherent(Judge &judge) {
  const Program &program = judge.program;
  std::vector<uint32_t> writer(program.objects.size(), ~0u);
  for (uint32_t i = 0; i < program.events.size(); ++i) {
    const Event &e = program.events[i];
    if (e.dst.known() && writer[e.dst.object] == ~0u)
      writer[e.dst.object] = i;
  }
  for (uint32_t i = 0; i < program.events.size(); ++i) {
    const Event &e = program.events[i];
    if (e.proxy != Proxy::nonCoherent || !e.src.known())
      continue;
    const Object &object = judge.object(e.src);
    uint32_t by = writer[e.src.object];
    bool byPeers = object.evidence == Evidence::contract && object.reach > Scope::cta && !object.readOnly;
    // A thread that reads its own element and then writes it races with nobody.
    if (by != ~0u && program.events[by].dst.formula == e.src.formula && e.src.perThread)
      by = ~0u;
    if (by == ~0u && !byPeers)
      continue;
    Advice advice{"use ld.global without .nc", {}};
    if (by != ~0u)
      advice.related.push_back({"written here", by});
    judge.report("SL20", Severity::error, i,
                 fmt::format("expected a coherent load of {}, which is written while the kernel runs, got a "
                             "non-coherent one, which the memory model does not cover",
                             judge.nameOf(e.src)),
                 std::move(advice));
  }
}

} // namespace

void judgeAccesses(Judge &judge) {
  mixedSizes(judge);
  nonCoherent(judge);
}

} // namespace interlock::scope
