// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rule SL18 where one side alone tells: what the contract says of the other one, or what the program itself does
// elsewhere.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::scope {
namespace {

void multicastObjects(Judge &judge) {
  for (uint32_t i = 0; i < judge.program.events.size(); ++i) {
    const Event &e = judge.program.events[i];
    if (!e.multimem || e.order == Order::weak || e.scope == Scope::sys)
      continue;
    const Access &place = e.dst.known() ? e.dst : e.src;
    bool sure =
        place.known() && judge.object(place).evidence == Evidence::contract && judge.object(place).reach == Scope::sys;
    judge.report(
        "SL18", sure ? Severity::error : Severity::warning, i,
        fmt::format("expected sys scope for an access to a multicast object, which is memory of several GPUs, got {}",
                    name(e.scope)),
        {"use .sys", {}});
  }
}

std::string_view whoIsThere(const Object &object) {
  return object.nic ? "a NIC" : object.reach == Scope::sys ? "another device" : "another CTA";
}

class OneSided {
public:
  explicit OneSided(Judge &judge) : judge(judge), program(judge.program), sites(judge.sites) {}

  void visit(uint32_t i, const State &state) {
    const Event &e = program.events[i];
    if (e.kind > EventKind::reduction || e.order == Order::weak || !signalOf(e) || !signalOf(e)->known())
      return;
    const Object &object = judge.object(*signalOf(e));
    if (object.space == Space::shared || object.evidence == Evidence::assumed || object.pairsAcrossKernels)
      return;
    bool said = object.evidence == Evidence::contract;
    if (mayRelease(e))
      if (auto reached = published(e, state); reached && *reached < object.reach)
        report(i, object, "release", "reads", *reached,
               e.kind == EventKind::atomic && acquires(e.order) ? Order::acqRel : Order::release, said);
    // Whoever polls means to learn something, even if the fence that follows is wide enough.
    if (mayAcquire(e) && (acquires(e.order) || (!said && e.poll == Poll::loop)) && e.scope < object.reach)
      report(i, object, "acquire", "writes", e.scope, acquires(e.order) ? Order::acquire : e.order, said);
  }

private:
  /// The scope at which plain stores before the signal are published by it; a relaxed signal counts if a fence stands
  /// before it. Nothing if it publishes nothing.
  std::optional<Scope> published(const Event &e, const State &state) const {
    std::optional<Scope> reached;
    for (Site s = stateSites; s < sites.list.size(); ++s) {
      const SiteInfo &info = sites.list[s];
      if (!info.isData || !info.writes || (!state.has(reach, s) && !state.has(heard, s)) ||
          judge.object(*info.access).space == Space::shared)
        continue;
      if (releases(e.order))
        return e.scope;
      Scope fence = Scope::thread;
      for (size_t l = 0; l < 4; ++l)
        if (state.has(fenced + l, s) && !state.has(open + l, s))
          fence = Scope(l + 1);
      if (fence != Scope::thread)
        reached = std::min({reached.value_or(Scope::sys), fence, e.scope});
    }
    return reached;
  }

  void report(uint32_t i, const Object &object, std::string_view does, std::string_view theyDo, Scope got, Order order,
              bool said) {
    const Event &e = program.events[i];
    std::string why = said ? fmt::format("its contract says that {} {} it", whoIsThere(object), theyDo)
                           : "it is accessed at sys scope elsewhere in the kernel";
    judge.report("SL18", said ? Severity::error : Severity::warning, i,
                 fmt::format("expected {} to {} at {} scope, since {}, got {}", describe(judge, i), does,
                             name(object.reach), why, name(got)),
                 {fmt::format("use {}", spell(e, order, object.reach)), {}});
  }

  Judge &judge;
  const Program &program;
  const Sites &sites;
};

} // namespace

void judgeDeviceScopes(Judge &judge) {
  multicastObjects(judge);
  bool any = std::any_of(judge.program.objects.begin(), judge.program.objects.end(),
                         [](const Object &object) { return object.evidence != Evidence::assumed; });
  if (!any)
    return;
  OneSided rule(judge);
  judge.flow.walk([&](uint32_t, uint32_t i, const State &state) { rule.visit(i, state); });
}

} // namespace interlock::scope
