// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The side that hands over: AM01, AM02, AM03, AM06, AM08, AM09.
#include "analysis/LintAMDGCN/Judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::lint::gcn {
namespace {

using scope::Severity;

std::string_view agent(Scope distance) {
  static constexpr std::string_view names[] = {"itself", "another wave of the workgroup",
                                               "another workgroup of the cluster", "another workgroup",
                                               "another device"};
  return names[size_t(distance)];
}

} // namespace

void Judge::judgeStore(uint32_t i, const OrderState &state) {
  Publish publish = publishOf(i, state);
  const Effect &e = code.effects[i];
  if (e.returnForScope)
    judgeReturnBit(i, state, publish);
  if (publish.evidence == Evidence::contract)
    judgeReach(i, publish.distance, false);
  if (publish.evidence != Evidence::none)
    judgeRelease(i, state, publish);
}

/// The scope of a flag's access against the distance that the contract names.
void Judge::judgeReach(uint32_t i, Scope distance, bool wait) {
  const Effect &e = code.effects[i];
  if (e.reach >= distance || (distance == Scope::cta && e.reach == Scope::thread && !demand(distance).waits))
    return;
  bool atomic = e.kind == Kind::atomic;
  if (e.returnForScope && distance == Scope::sys)
    return; // AM08 says more
  bool cluster = code.family == Family::gfx1250 && distance == Scope::cluster;
  std::string_view wanted = spelling(code.family, distance, atomic);
  std::string got;
  for (const amdgcn::Modifier &m : code.instructions[i].modifiers)
    if (m.name == "sc0" || m.name == "sc1" || m.name == "glc" || m.name == "scope")
      got += fmt::format("{}{}{}{}", got.empty() ? "" : " ", m.name, m.value.empty() ? "" : ":", m.value);
  report(cluster ? "AM10" : "AM03", Severity::error, i,
         fmt::format("expected {} to carry {}, since {} {} it, found {}", describe(i), wanted, agent(distance),
                     wait ? "writes" : "waits for", got.empty() ? "no scope" : got),
         fmt::format("put {} on it", wanted), {});
}

/// sc0 of an atomic asks for the old value and says nothing of scope.
void Judge::judgeReturnBit(uint32_t i, const OrderState &state, const Publish &publish) {
  bool far = publish.evidence == Evidence::contract && publish.distance == Scope::sys;
  bool unused = !resultIsRead(i);
  bool writtenBackFar = state.writeBack != nowhere && (code.effects[state.writeBack].parts & 2);
  if (!far && !unused)
    return;
  report("AM08", far || writtenBackFar ? Severity::error : Severity::warning, i,
         fmt::format("expected {} to carry sc1, since {}, found sc0, which only asks an atomic for the old value",
                     describe(i),
                     far ? "another device waits for it"
                         : "nothing reads the value that it returns, so that sc0 was meant for its scope"),
         "put sc1 on it for system scope; without it an atomic reaches the device",
         {{"written back for other devices here", writtenBackFar ? state.writeBack : nowhere}});
}

void Judge::judgeRelease(uint32_t i, const OrderState &state, const Publish &publish) {
  const Effect &e = code.effects[i];
  uint32_t notDrained = nowhere, barrier = nowhere, waiting = nowhere, flushing = nowhere, dirty = nowhere,
           narrow = nowhere, lds = nowhere;
  Demand asked;
  for (uint32_t s = 0; s < order.stores.size(); ++s) {
    const StoreSite &site = order.stores[s];
    const StoreState &store = state.stores[s];
    // LDS is the workgroup's own, so only a flag within it announces that.
    if (site.memory == Memory::lds && publish.distance == Scope::cta && store.younger != StoreState::done)
      lds = std::min(lds, site.instruction);
    if (!store.happened || !isData(site) || order.storeSite[i] == s)
      continue;
    Scope distance = publish.distance;
    if (auto said = factsOf(site.base).distance)
      distance = std::min(distance, *said);
    Demand needs = demand(distance);
    if (!needs.waits)
      continue;
    if (asked.writeBackText.empty())
      asked = needs;
    auto note = [&](uint32_t &which) { which = which == nowhere ? site.instruction : which; };
    if (store.undrained != nowhere && distance > Scope::cta && actsForOthers(store.undrained, i) &&
        notDrained == nowhere) {
      notDrained = site.instruction;
      barrier = store.undrained;
    }
    if (store.dirty & needs.writeBack) {
      asked = needs;
      note(dirty);
      if ((~store.dirty & needs.writeBack) != 0)
        note(narrow);
    } else if (store.flushing & needs.writeBack) {
      note(flushing);
    } else if (store.younger != StoreState::done) {
      note(waiting);
    }
  }
  bool signals = publish.evidence == Evidence::contract || publish.evidence == Evidence::polled ||
                 (publish.evidence == Evidence::scoped && !pointers.storesZero(i));
  if (e.kind == Kind::atomic && publish.evidence == Evidence::contract && !polledPlace(i) &&
      !factsOf(pointers.place(i).base).signal)
    signals = false; // a counter in memory that others see too
  if (e.kind == Kind::atomic && !signals && publish.evidence != Evidence::released &&
      publish.evidence != Evidence::ticket && flushing == nowhere)
    return;
  // Right behind a write-back anything may be stored; what stands in the way of that is a fault all the same.
  Severity severity =
      signals || flushing != nowhere || (publish.evidence == Evidence::released && notDrained != nowhere)
          ? Severity::error
          : Severity::warning;
  if (notDrained != nowhere)
    report(
        "AM06", severity, barrier,
        fmt::format("expected {} before this barrier, since behind it one wave announces what the others have stored "
                    "to {}, found stores that may still be on their way",
                    storeWait(code.family), nameOf(notDrained)),
        fmt::format("put {} before the barrier: the wave that announces waits for its own stores only",
                    storeWait(code.family)),
        {{"stored here", notDrained}, {"announced here", i}});
  std::string fence =
      fmt::format("{}{}{}", asked.writeBackText, asked.writeBackText.empty() ? "" : " and ", storeWait(code.family));
  if (dirty != nowhere) {
    bool mistaken = narrow == nowhere && looksVolatile(i);
    if (mistaken)
      return report("AM09", severity, i,
                    fmt::format("expected {} between the data and {}, found none: a volatile or non-temporal store "
                                "goes past the caches by itself and takes nothing along",
                                fence, describe(i)),
                    fmt::format("put {} before it", fence), {{"stored here", dirty}});
    return report("AM01", severity, i,
                  fmt::format("expected {} between the data and {}, which announces it to {}, found {}", fence,
                              describe(i), agent(publish.distance),
                              narrow != nowhere ? "a write-back that reaches less far" : "no write-back"),
                  fmt::format("put {} before it", fence), {{"stored here", narrow != nowhere ? narrow : dirty}});
  }
  if (flushing != nowhere)
    return report("AM02", severity, i,
                  fmt::format("expected {} between the write-back and {}, found none: the write-back may not be done "
                              "when the flag is seen",
                              storeWait(code.family), describe(i)),
                  fmt::format("put {} behind the write-back", storeWait(code.family)),
                  {{"stored here", flushing}, {"written back here", state.writeBack}});
  if (lds != nowhere)
    return report(
        "AM02", severity, i,
        fmt::format("expected {} between the stores to LDS and {}, found none: they may still be on their way "
                    "when the flag is seen",
                    ldsWait(code.family), describe(i)),
        fmt::format("put {} before it", ldsWait(code.family)), {{"stored here", lds}});
  if (waiting != nowhere)
    report(
        "AM02", severity, i,
        fmt::format("expected {} between the data and {}, found none: the data may still be on its way when the flag "
                    "is seen",
                    storeWait(code.family), describe(i)),
        fmt::format("put {} before it", storeWait(code.family)), {{"stored here", waiting}});
}

} // namespace interlock::lint::gcn
