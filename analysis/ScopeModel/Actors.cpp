// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Actor::which is a number and 1. The elected thread of a warp has a number beyond those of all threads.
#include "analysis/ScopeModel/Actors.h"

namespace interlock::scope {
namespace {

using Threads = Actor::Threads;

/// A CTA has fewer threads than that, on every target.
constexpr uint32_t firstElected = 4096;

std::optional<uint32_t> numberOf(const Actor &actor, Threads threads) {
  return actor.threads == threads && actor.which ? std::optional(actor.which - 1) : std::nullopt;
}

} // namespace

void narrow(Actor &actor, Threads threads, uint32_t number, uint32_t warpWidth) {
  if (actor.threads == Threads::one)
    return;
  bool both = (actor.threads == Threads::warp && threads == Threads::lanes) ||
              (actor.threads == Threads::lanes && threads == Threads::warp);
  if (both) {
    uint32_t warp = threads == Threads::warp ? number : actor.which - 1,
             lane = threads == Threads::warp ? actor.which - 1 : number;
    actor.threads = Threads::one;
    actor.which = (lane == electedLane ? firstElected + warp : warp * warpWidth + lane) + 1;
  } else if (threads == Threads::one || actor.threads == Threads::all) {
    actor.threads = threads;
    actor.which = number + 1;
  }
}

void narrowCta(Actor &actor, CtaNumber by, uint32_t number, bool equal) {
  if (actor.ctas != Actor::Ctas::all && !equal)
    return;
  actor.ctas = equal ? Actor::Ctas::only : Actor::Ctas::except;
  actor.cta = number << 2 | uint32_t(by);
}

std::optional<uint32_t> threadOf(const Actor &actor) {
  auto number = numberOf(actor, Threads::one);
  return number && *number < firstElected ? number : std::nullopt;
}

std::optional<uint32_t> warpOf(const Actor &actor, uint32_t warpWidth) {
  auto thread = numberOf(actor, Threads::one);
  if (!thread)
    return numberOf(actor, Threads::warp);
  return *thread < firstElected ? *thread / warpWidth : *thread - firstElected;
}

std::optional<uint32_t> laneOf(const Actor &actor, uint32_t warpWidth) {
  if (auto thread = threadOf(actor))
    return *thread % warpWidth;
  auto lane = numberOf(actor, Threads::lanes);
  return lane && *lane != electedLane ? lane : std::nullopt;
}

bool wider(const Actor &a, const Actor &b, uint32_t warpWidth) {
  if (a.some || b.threads == Threads::all)
    return false;
  if (a.threads == Threads::all)
    return true;
  // A warp and one of its lanes are only told apart where both are known by name.
  return b.threads == Threads::one && a.threads == Threads::warp && warpOf(a, warpWidth) &&
         warpOf(a, warpWidth) == warpOf(b, warpWidth);
}

bool inOtherCtas(const Actor &a, const Actor &b) {
  using Ctas = Actor::Ctas;
  if (a.ctas == Ctas::only && b.ctas == Ctas::only)
    return a.cta != b.cta;
  return a.ctas != b.ctas && a.ctas != Ctas::all && b.ctas != Ctas::all && a.cta == b.cta;
}

bool sameThread(const Actor &a, const Actor &b) {
  return a.threads == Threads::one && a.threads == b.threads && a.which != 0 && a.which == b.which &&
         !inOtherCtas(a, b);
}

bool isEveryone(const Actor &actor) { return actor.threads == Threads::all && !actor.some; }

bool surelyTwo(const Actor &a, const Actor &b, uint32_t warpWidth) {
  if (a.some || b.some || inOtherCtas(a, b))
    return false;
  auto warpA = warpOf(a, warpWidth), warpB = warpOf(b, warpWidth);
  auto threadA = threadOf(a), threadB = threadOf(b);
  return (warpA && warpB && *warpA != *warpB) || (threadA && threadB && *threadA != *threadB) ||
         (b.threads == Threads::one && wider(a, b, warpWidth)) || (a.threads == Threads::one && wider(b, a, warpWidth));
}

} // namespace interlock::scope
