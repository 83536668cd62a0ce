// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Accesses share a site only where nothing tells them apart: by whom is one of the things.
#include "analysis/ScopeModel/Sites.h"
#include "analysis/ScopeModel/Actors.h"

#include <gtest/gtest.h>

#include <set>

namespace interlock::scope {
namespace {

/// The same store to one object, by each of the actors.
Program storesBy(const std::vector<Actor> &actors) {
  Program program;
  program.objects.resize(1);
  for (const Actor &actor : actors) {
    Event store;
    store.kind = EventKind::store;
    store.dst.object = 0;
    program.blocks.push_back({uint32_t(program.events.size()), 1, {}, actor});
    program.events.push_back(store);
  }
  return program;
}

size_t sitesOf(const std::vector<Actor> &actors) {
  Program program = storesBy(actors);
  Sites sites(program);
  std::set<Site> different;
  for (const auto &of : sites.of)
    different.insert(of[1]);
  return different.size();
}

TEST(Sites, CtasAreToldApartWhateverTheirNumber) {
  std::vector<Actor> actors;
  for (uint32_t number : {0u, 1u, 63u, 64u, 128u, 1u << 20}) {
    Actor actor;
    narrowCta(actor, CtaNumber::ctaid, number, true);
    actors.push_back(actor);
  }
  EXPECT_EQ(sitesOf(actors), actors.size());
}

TEST(Sites, ThreadsAreToldApartAndTheSameOnesAreNot) {
  std::vector<Actor> actors;
  for (uint32_t warp : {0u, 1u, 0xffffu, 0x10000u}) {
    Actor actor;
    narrow(actor, Actor::Threads::warp, warp, 32);
    actors.push_back(actor);
  }
  EXPECT_EQ(sitesOf(actors), actors.size());
  actors.push_back(actors.front());
  EXPECT_EQ(sitesOf(actors), actors.size() - 1);
}

} // namespace
} // namespace interlock::scope
