// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What is kept of the CTA that an actor is known by.
#include "analysis/ScopeModel/Actors.h"

#include <gtest/gtest.h>

#include <map>

namespace interlock::scope {
namespace {

TEST(Actors, NoTwoNumbersOfCtasAreTakenForOne) {
  std::map<uint32_t, std::pair<CtaNumber, uint32_t>> seen;
  for (CtaNumber by : {CtaNumber::clusterCtarank, CtaNumber::ctaid, CtaNumber::clusterCtaid, CtaNumber::clusterid})
    for (uint32_t number = 0; number < 2000; ++number) {
      Actor actor;
      narrowCta(actor, by, number, true);
      EXPECT_EQ(actor.ctas, Actor::Ctas::only);
      EXPECT_TRUE(seen.emplace(actor.cta, std::pair(by, number)).second) << number;
    }
}

TEST(Actors, WhatACtaIsSaysMoreThanWhatItIsNot) {
  Actor actor;
  narrowCta(actor, CtaNumber::ctaid, 3, false);
  EXPECT_EQ(actor.ctas, Actor::Ctas::except);
  Actor three;
  narrowCta(three, CtaNumber::ctaid, 3, true);
  EXPECT_TRUE(inOtherCtas(actor, three));
  narrowCta(actor, CtaNumber::ctaid, 4, false); // one number is kept, the first
  EXPECT_TRUE(inOtherCtas(actor, three));
  narrowCta(actor, CtaNumber::ctaid, 5, true);
  EXPECT_EQ(actor.ctas, Actor::Ctas::only);
  narrowCta(actor, CtaNumber::ctaid, 3, false);
  EXPECT_EQ(actor.ctas, Actor::Ctas::only);
  EXPECT_TRUE(inOtherCtas(actor, three));
  narrowCta(actor, CtaNumber::ctaid, 3, true);
  EXPECT_FALSE(inOtherCtas(actor, three));
}

} // namespace
} // namespace interlock::scope
