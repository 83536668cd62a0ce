// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rule SL31: strong accesses whose scope leaves out a thread that shares the word.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

namespace interlock::scope {
namespace {

/// Another rule has said it already, and in the context of what is handed over.
bool blamed(const Judge &judge, uint32_t event) {
  for (std::string_view rule : {"SL01", "SL02", "SL18"})
    if (judge.reported(rule, event))
      return true;
  return false;
}

} // namespace

/// Two strong accesses are one order only if the scope of each includes the other's thread.
void judgeNarrowAccesses(Judge &judge) {
  const Program &program = judge.program;
  if (!program.complete && !program.strict)
    return;
  judge.flow.walk([&](uint32_t block, uint32_t event, const State &) {
    const Event &e = program.events[event];
    if (e.order == Order::weak || e.kind > EventKind::reduction)
      return;
    const Access &access = e.kind == EventKind::load ? e.src : e.dst;
    if (!access.known() || access.perCta)
      return;
    const Object &object = judge.object(access);
    // Of memory that nothing is said of this much is known: a place that is the same for all CTAs is shared by all of
    // them.
    bool shared = e.kind != EventKind::load && access.single && program.blocks[block].actor.ctas == Actor::Ctas::all;
    bool assumed = object.evidence == Evidence::assumed;
    if (object.space != Space::global || (assumed && !shared) || e.scope >= object.reach || blamed(judge, event))
      return;
    bool written = e.kind != EventKind::load;
    for (Site s : judge.sites.byObject[access.object])
      written |= judge.sites.list[s].writes && !apart(*judge.sites.list[s].access, access);
    // How many CTAs a launch has is in no foreign text.
    bool doubtful = assumed && !program.complete;
    if (written)
      judge.report(
          "SL31", doubtful ? Severity::warning : Severity::error, event,
          fmt::format("expected {} to have at least {} scope, since threads that far away access {} too{}, got {}",
                      describe(judge, event), name(object.reach), judge.nameOf(access),
                      doubtful ? " if the grid has more CTAs than one" : "", name(e.scope)),
          {fmt::format("use {}", spell(e, e.order, object.reach)), {}});
  });
}

} // namespace interlock::scope
