// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The side that waits: AM03, AM04, AM05, AM07, AM10, AM11, and what is read behind a barrier (AM06).
#include "analysis/LintAMDGCN/Judge.h"
#include "analysis/LintAMDGCN/Taint.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::lint::gcn {
namespace {

using scope::Severity;

} // namespace

/// How far away the one is that is waited for: by contract, else by the scope of the load itself. A plain load that no
/// contract speaks of waits for nobody.
std::optional<Scope> Judge::distanceOf(const WaitSite &site) const {
  if (site.clusterBarrier)
    return Scope::cluster;
  const Effect &e = code.effects[site.instruction];
  if (auto said = factsOf(pointers.place(site.instruction).base).distance)
    return said;
  if (e.kind == Kind::load && !e.scoped)
    return std::nullopt;
  return spellsScope(code.family) ? e.reach : Scope::gpu;
}

void Judge::judgePolls() {
  std::vector<std::vector<uint32_t>> blocks(graph.loops.size()); // whose innermost loop it is
  for (uint32_t b : graph.order)
    if (graph.loopOf[b] != Loop::none)
      blocks[graph.loopOf[b]].push_back(b);
  for (const Poll &poll : polls) {
    if (!poll.loop)
      continue;
    uint32_t i = poll.instruction;
    const Base &base = pointers.base(pointers.place(i).base);
    auto said = factsOf(pointers.place(i).base).distance;
    if (poll.scalar) {
      bool drops = false;
      for (uint32_t b : blocks[*poll.loop])
        for (uint32_t k = code.blocks[b].first; k < code.blocks[b].first + code.blocks[b].count; ++k)
          drops |= code.effects[k].kind == Kind::scalarInvalidate;
      if (!drops && base.kind != BaseKind::arguments && base.kind != BaseKind::unknown)
        report(
            "AM07", said ? Severity::error : Severity::warning, i,
            fmt::format("expected a vector load in the loop that waits for {}, found a scalar load, whose cache need "
                        "never see what another wave stores",
                        base.str()),
            "wait with a vector load of the flag's scope", {});
      continue;
    }
    if (said && code.effects[i].kind == Kind::load)
      judgeReach(i, *said, true);
    judgeLoopCost(poll, blocks[*poll.loop]);
  }
}

void Judge::judgeLoopCost(const Poll &poll, const std::vector<uint32_t> &blocks) {
  for (uint32_t b : blocks) {
    for (uint32_t i = code.blocks[b].first; i < code.blocks[b].first + code.blocks[b].count; ++i) {
      const Effect &e = code.effects[i];
      bool invalidates = e.kind == Kind::invalidate, writesBack = e.kind == Kind::writeBack;
      if ((!invalidates && !writesBack) || !e.parts)
        continue;
      report("AM11", Severity::note, i,
             fmt::format("expected {} outside the loop that waits, found it in each trip",
                         invalidates ? "the invalidate" : "the write-back"),
             invalidates ? "wait relaxed, and invalidate once behind the loop" : "write back once before the loop",
             {{"waits here", poll.instruction}});
    }
  }
}

void Judge::judgeLoad(uint32_t i, const OrderState &state) {
  for (uint32_t w = 0; w < order.waits.size(); ++w) {
    const WaitSite &site = order.waits[w];
    if (state.waits[w].happened && !site.scalar && order.waitSite[i] == nowhere &&
        !(site.loop && graph.inside(code.blockOf[i], *site.loop)) && (!site.ticket || sumsUp(w, i)))
      judgeWaitOf(i, site, state.waits[w], state);
  }
  judgeClusterDrain(i, state);
}

/// The load is of what all have stored before they took their tickets: on the one side of a branch that the ticket
/// decides, of memory that this kernel stores to before it, and not at a place that the ticket chooses.
bool Judge::sumsUp(uint32_t wait, uint32_t load) const {
  const Ticket &ticket = tickets.at(wait);
  uint32_t base = pointers.place(load).base;
  return base != 0 && ticket.stored.count(base) && ticket.elsewhere[load] &&
         std::any_of(ticket.sides.begin(), ticket.sides.end(),
                     [&](uint32_t side) { return graph.dominates(side, code.blockOf[load]); });
}

/// The branches that a ticket decides, and the loads whose address is not made of it.
void Judge::followTickets() {
  for (uint32_t w = 0; w < order.waits.size(); ++w)
    if (order.waits[w].ticket) {
      Ticket &ticket = tickets[w];
      ticket.elsewhere.assign(code.instructions.size(), false);
      Taint address(code, graph, order.waits[w].instruction, /*choices=*/false);
      address.walk([&](uint32_t i, const std::vector<bool> &here) {
        const Effect &e = code.effects[i];
        if (e.kind == Kind::load && e.shared())
          ticket.elsewhere[i] = !address.any(code.read(code.instructions[i], e), here);
      });
      for (uint32_t b : decidedBy(order.waits[w].instruction))
        for (uint32_t side : code.blocks[b].successors)
          if (code.blocks[side].predecessors.size() == 1)
            ticket.sides.push_back(side);
    }
  if (!tickets.empty())
    order.walk([&](uint32_t i, const OrderState &state) {
      if (order.waitSite[i] == nowhere || !order.waits[order.waitSite[i]].ticket)
        return;
      for (uint32_t s = 0; s < order.stores.size(); ++s)
        if (state.stores[s].happened && isData(order.stores[s]))
          tickets[order.waitSite[i]].stored.insert(order.stores[s].base);
    });
}

void Judge::judgeWaitOf(uint32_t load, const WaitSite &site, const WaitState &state, const OrderState &all) {
  auto distance = distanceOf(site);
  const Facts facts = factsOf(pointers.place(load).base);
  if (!distance || facts.readOnly)
    return;
  Scope needed = facts.distance ? std::min(*distance, *facts.distance) : *distance;
  const Demand asked = demand(needed);
  uint8_t missing = asked.invalidate & uint8_t(~demandOf(code.family, code.effects[load].past).invalidate);
  uint8_t open = state.open & missing;
  if (!open)
    return;
  uint32_t base = pointers.place(load).base;
  bool same = base != 0 && base == pointers.place(site.instruction).base && !site.clusterBarrier;
  bool crossed = false;
  for (uint32_t s = 0; s < order.stores.size(); ++s)
    crossed |= base != 0 && order.stores[s].base == base && all.stores[s].crossed;
  // What this kernel stores itself may be the wave's own.
  bool evidence = facts.distance || same || (site.clusterBarrier && crossed), own = storedHere(base);
  if ((state.early & open) == open)
    return report(
        "AM05", Severity::error, state.invalidate,
        fmt::format("expected this invalidate behind {}, which ends the wait for {}, found it before: what is "
                    "cached between the two may be old",
                    loadWait(code.family), nameOf(site.instruction)),
        fmt::format("put {} between the load and the invalidate", loadWait(code.family)),
        {{"waits here", site.instruction}, {"the first load of data", load}});
  bool narrower = (state.open & asked.invalidate) != asked.invalidate;
  if (narrower && !site.clusterBarrier && !spellsScope(code.family) &&
      !factsOf(pointers.place(site.instruction).base).distance)
    return; // glc does not tell a wait for the own workgroup from one for others: the invalidate does
  bool indirect = site.ticket || site.before; // where paths may exclude each other
  if (((!evidence && !narrower && !own) || indirect) && invalidatesLater(site))
    return; // the wait is completed further down; what is read before need not be what it waits for
  std::string found = narrower ? "one that reaches less far" : "none";
  std::string doubt = evidence || narrower ? "" : ", if another wave writes that while the kernel runs";
  if (site.clusterBarrier)
    return report("AM10", evidence ? Severity::error : Severity::warning, site.instruction,
                  fmt::format("expected {} between the barrier of the cluster and the load of {} behind it{}, found {}",
                              asked.invalidateText, nameOf(load), doubt, found),
                  fmt::format("put {} behind the barrier", asked.invalidateText), {{"read here", load}});
  report("AM04", evidence || narrower ? Severity::error : Severity::warning, site.instruction,
         fmt::format("expected {} between this {} {} and the load of {} behind it{}, found {}", asked.invalidateText,
                     site.ticket ? "ticket of" : "wait for", nameOf(site.instruction), nameOf(load), doubt, found),
         fmt::format("put {} behind {}", asked.invalidateText, site.loop ? "the loop" : "it, and what waits for it"),
         {{"the first load of data", load}, {"invalidated here", narrower ? state.invalidate : nowhere}});
}

void Judge::judgeScalarLoad(uint32_t i, const OrderState &state) {
  const Place &place = pointers.place(i);
  const Base &base = pointers.base(place.base);
  const Facts facts = factsOf(place.base);
  if (!place.known() || base.kind == BaseKind::arguments || facts.readOnly || order.waitSite[i] != nowhere)
    return;
  for (uint32_t w = 0; w < order.waits.size(); ++w) {
    const WaitSite &site = order.waits[w];
    if (!state.waits[w].happened || !state.waits[w].scalarOpen || !distanceOf(site))
      continue;
    bool same = place.base == pointers.place(site.instruction).base && !site.clusterBarrier;
    if (!facts.distance && !same)
      continue;
    report("AM07", facts.distance ? Severity::error : Severity::warning, i,
           fmt::format("expected a vector load of {} behind the wait, found a scalar load, whose cache no acquire "
                       "invalidates",
                       base.str()),
           "read it with a vector load, or put s_dcache_inv before it; ro-during-kernel says that nobody writes it",
           {{"waited for here", site.instruction}});
  }
}

/// LDS that is written before a barrier and read behind it.
void Judge::judgeLds(uint32_t i, const OrderState &state) {
  for (uint32_t s = 0; s < order.stores.size(); ++s) {
    const StoreState &store = state.stores[s];
    if (order.stores[s].memory != Memory::lds || !store.happened || store.undrained == nowhere)
      continue;
    report("AM06", Severity::error, store.undrained,
           fmt::format("expected {} before this barrier, since LDS is read behind it, found stores to LDS that may "
                       "still be on their way",
                       ldsWait(code.family)),
           fmt::format("put {} before the barrier", ldsWait(code.family)),
           {{"stored here", order.stores[s].instruction}, {"read here", i}});
  }
}

/// Global memory that is written before a barrier of the cluster and read behind it.
void Judge::judgeClusterDrain(uint32_t load, const OrderState &state) {
  uint32_t base = pointers.place(load).base;
  for (uint32_t s = 0; s < order.stores.size(); ++s) {
    const StoreState &store = state.stores[s];
    if (base == 0 || order.stores[s].base != base || store.undrainedCluster == nowhere || factsOf(base).readOnly)
      continue;
    report(
        "AM06", Severity::error, store.undrainedCluster,
        fmt::format("expected {} before this barrier of the cluster, since {} is read behind it, found stores that may "
                    "still be on their way",
                    storeWait(code.family), nameOf(load)),
        fmt::format("put {} before the barrier", storeWait(code.family)),
        {{"stored here", order.stores[s].instruction}, {"read here", load}});
  }
}

} // namespace interlock::lint::gcn
