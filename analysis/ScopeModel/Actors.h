// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which threads an actor is, and how two of them relate. Threads, warps and lanes are counted from 0, in one way
// whatever language the program comes from.
#pragma once

#include "analysis/ScopeModel/Event.h"

namespace interlock::scope {

/// One lane of each warp, of which it is not known which, but it is the same one each time.
constexpr uint32_t electedLane = 0xe0;

/// What is known of the actor already and that it is this thread, of this warp, or on this lane.
void narrow(Actor &actor, Actor::Threads threads, uint32_t number, uint32_t warpWidth);
/// What numbers CTAs: PTX's special registers, whose numbers do not compare with each other.
enum class CtaNumber : uint8_t { clusterCtarank, ctaid, clusterCtaid, clusterid };
/// What is known of the actor already and that its CTA has this number, or has not. One number is all that is kept.
void narrowCta(Actor &actor, CtaNumber by, uint32_t number, bool equal);
/// The number of the one thread in its CTA, where it is known.
std::optional<uint32_t> threadOf(const Actor &actor);
/// The one warp that all of the actor's threads are in, where it is known.
std::optional<uint32_t> warpOf(const Actor &actor, uint32_t warpWidth);
/// The lane that all of the actor's threads are on, where it is known.
std::optional<uint32_t> laneOf(const Actor &actor, uint32_t warpWidth);

/// The threads of `a` are more than those of `b` in one CTA, as far as is known.
bool wider(const Actor &a, const Actor &b, uint32_t warpWidth);
/// No thread of `a` is in the CTA of one of `b`.
bool inOtherCtas(const Actor &a, const Actor &b);
/// Both are one and the same thread of a CTA.
bool sameThread(const Actor &a, const Actor &b);
/// All threads of a CTA, as far as is known.
bool isEveryone(const Actor &actor);
/// Some thread of the one is surely not the thread of the other.
bool surelyTwo(const Actor &a, const Actor &b, uint32_t warpWidth);

} // namespace interlock::scope
