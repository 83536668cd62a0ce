// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the rules over one program and gathers what they find.
#include "analysis/ScopeModel/Judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::scope {

Judge::Judge(const Program &program) : program(program), sites(program), flow(program, sites) {}

void Judge::report(std::string_view rule, Severity severity, uint32_t event, std::string message, Advice advice) {
  uint32_t origin = program.events[event].origin;
  auto [it, fresh] = at.try_emplace({rule, origin}, findings.size());
  if (!fresh && findings[it->second].severity >= severity)
    return;
  Finding finding{rule, severity, program.function, program.place(origin), std::move(message), std::move(advice.fix),
                  {}};
  for (auto &[says, where] : advice.related)
    if (program.events[where].origin != origin)
      finding.related.push_back({std::move(says), program.place(program.events[where].origin)});
  if (fresh)
    findings.push_back(std::move(finding));
  else
    findings[it->second] = std::move(finding);
}

std::string Judge::nameOf(const Access &access) const {
  return access.known() && !object(access).name.empty() ? object(access).name : "memory";
}

bool apart(const Access &x, const Access &y) {
  if (!x.single || !x.offset || !y.offset || x.formula != y.formula || !x.bytes || !y.bytes)
    return false;
  int64_t xEnd = *x.offset + int64_t(x.bytes) * x.elements, yEnd = *y.offset + int64_t(y.bytes) * y.elements;
  return xEnd <= *y.offset || yEnd <= *x.offset;
}

std::string spell(const Event &e, Order order, Scope scope) {
  auto with = [&](std::string_view opcode) { return fmt::format("{}.{}.{}", opcode, name(order), name(scope)); };
  switch (e.kind) {
  case EventKind::load:
    return with("ld");
  case EventKind::store:
    return with("st");
  case EventKind::atomic:
    return with("atom");
  case EventKind::reduction:
    return with("red");
  case EventKind::barrierArrive:
    return with(e.expects ? "mbarrier.arrive.expect_tx" : "mbarrier.arrive");
  case EventKind::barrierWait:
    return with("mbarrier.try_wait");
  case EventKind::clusterArrive:
    return "barrier.cluster.arrive.release";
  default:
    return with("fence");
  }
}

std::string describe(const Judge &judge, uint32_t event) {
  const Event &e = judge.program.events[event];
  auto of = [&](std::string_view what, const Access &access) {
    return fmt::format("this {} of {}", what, judge.nameOf(access));
  };
  switch (e.kind) {
  case EventKind::load:
    return of(e.poll == Poll::loop ? "poll" : "load", e.src);
  case EventKind::store:
    return of("store", e.dst);
  case EventKind::atomic:
    return of(e.poll == Poll::loop ? "poll" : "atomic", e.dst);
  case EventKind::reduction:
    return of("reduction", e.dst);
  case EventKind::storeAsync:
    return of("asynchronous store", e.dst);
  case EventKind::asyncCopy:
    return e.dst.known() ? of("asynchronous copy", e.dst) : of("asynchronous read", e.src);
  case EventKind::barrierArrive:
    return of(e.barrier.remote ? "remote arrive" : "arrive", e.barrier);
  case EventKind::barrierWait:
    return of("wait", e.barrier);
  case EventKind::ctaBarrier:
  case EventKind::ctaArrive:
    return "this barrier of the CTA";
  case EventKind::clusterArrive:
  case EventKind::clusterWait:
    return "this cluster barrier";
  default:
    return "this operation";
  }
}

namespace {

/// Nothing but plain accesses and barriers of the CTA that all threads pass: most kernels, and no rule speaks of them.
bool isPlain(const Program &program) {
  auto plain = [](const Event &e) {
    switch (e.kind) {
    case EventKind::load:
    case EventKind::store:
      return e.order == Order::weak && e.proxy == Proxy::generic && e.poll != Poll::loop && !e.multimem &&
             !e.src.remote && !e.dst.remote;
    case EventKind::ctaBarrier:
    case EventKind::warpBarrier:
    case EventKind::exit:
    case EventKind::call:
    case EventKind::gridWait:
    case EventKind::gridLaunch:
      return true;
    default:
      return false;
    }
  };
  auto oneCta = [](const Block &block) { return block.actor.ctas != Actor::Ctas::all; };
  return std::all_of(program.events.begin(), program.events.end(), plain) &&
         std::none_of(program.blocks.begin(), program.blocks.end(), oneCta);
}

} // namespace

std::vector<Finding> judge(const Program &program) {
  if (program.blocks.empty() || (!program.complete && !program.strict && isPlain(program)))
    return {};
  Judge judge(program);
  judgePairs(judge);
  judgeOwnThread(judge);
  judgeBarriers(judge);
  judgeLifetime(judge);
  judgeDeviceScopes(judge);
  judgeAccesses(judge);
  judgeProgress(judge);
  judgeCost(judge);
  judgeRaces(judge);
  judgeRings(judge);
  judgeNarrowAccesses(judge);
  judgeCertain(judge);
  std::stable_sort(judge.findings.begin(), judge.findings.end(), [](const Finding &a, const Finding &b) {
    return std::tuple(a.place.line, a.place.column, b.severity) < std::tuple(b.place.line, b.place.column, a.severity);
  });
  return std::move(judge.findings);
}

} // namespace interlock::scope
