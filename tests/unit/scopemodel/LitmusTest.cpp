// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The litmus tests of the PTX memory model that concern one flag and the data behind it, by the names that Dat3M gives
// them, and those that guard nothing.
#include "tests/unit/scopemodel/Litmus.h"

namespace interlock::scope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// st x; signal flag || wait flag; ld x, with the two threads `distance` apart.
Litmus messagePassing(Scope distance, const std::function<void(ThreadCode &, Access)> &signal,
                      const std::function<void(ThreadCode &, Access)> &wait) {
  Litmus t;
  Access x = t.global("x", distance), flag = t.global("flag", distance);
  bool oneCta = distance == Scope::cta;
  t.thread(oneCta ? oneThread(0) : inCta(0), [&](ThreadCode &c) { signal(c.st(x), flag); });
  t.thread(oneCta ? oneThread(1) : inCta(1), [&](ThreadCode &c) {
    wait(c, flag);
    c.ld(x);
  });
  return t;
}

TEST(Litmus, MPctaBothSidesAreTooNarrowForTwoCtas) {
  Litmus t = messagePassing(
      Scope::gpu, [](ThreadCode &c, Access f) { c.st(f, Order::release, Scope::cta); },
      [](ThreadCode &c, Access f) { c.poll(f, Order::acquire, Scope::cta); });
  EXPECT_THAT(t.findings(), ElementsAre("SL01", "SL02"));
}

TEST(Litmus, MPctaGpuUnequalScopesAreRightInsideOneCta) {
  Litmus t = messagePassing(
      Scope::cta, [](ThreadCode &c, Access f) { c.st(f, Order::release, Scope::cta); },
      [](ThreadCode &c, Access f) { c.poll(f, Order::acquire, Scope::gpu); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Litmus, MPgpuIsRight) {
  Litmus t = messagePassing(
      Scope::gpu, [](ThreadCode &c, Access f) { c.st(f, Order::release, Scope::gpu); },
      [](ThreadCode &c, Access f) { c.poll(f, Order::acquire, Scope::gpu); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Litmus, MICRO24Fig4aReaderFenceIsTooNarrow) {
  Litmus t = messagePassing(
      Scope::gpu, [](ThreadCode &c, Access f) { c.fence(Order::sc, Scope::gpu).st(f, Order::relaxed, Scope::gpu); },
      [](ThreadCode &c, Access f) { c.poll(f, Order::relaxed, Scope::gpu).fence(Order::sc, Scope::cta); });
  EXPECT_THAT(t.findings(), ElementsAre("SL02"));
}

TEST(Litmus, MICRO24Fig4aCorrect) {
  Litmus t = messagePassing(
      Scope::gpu, [](ThreadCode &c, Access f) { c.fence(Order::sc, Scope::gpu).st(f, Order::relaxed, Scope::gpu); },
      [](ThreadCode &c, Access f) { c.poll(f, Order::relaxed, Scope::gpu).fence(Order::sc, Scope::gpu); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Litmus, AFlagOfNarrowScopeIsNotMendedByAWideFence) {
  Litmus t = messagePassing(
      Scope::gpu, [](ThreadCode &c, Access f) { c.fence(Order::acqRel, Scope::gpu).st(f, Order::relaxed, Scope::cta); },
      [](ThreadCode &c, Access f) { c.poll(f, Order::acquire, Scope::gpu); });
  EXPECT_THAT(t.findings(), ElementsAre("SL01"));
}

TEST(Litmus, ReleaseAcquirePatternGoesOnOverALaterRelaxedStore) {
  Litmus t = messagePassing(
      Scope::gpu,
      [](ThreadCode &c, Access f) { c.st(f, Order::release, Scope::gpu).st(f, Order::relaxed, Scope::gpu); },
      [](ThreadCode &c, Access f) { c.poll(f, Order::acquire, Scope::gpu); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Litmus, ReleaseAcquirePatternDoesNotCoverWhatStandsBehindItsFirstInstruction) {
  Litmus t;
  Access x = t.global("x"), y = t.global("y"), flag = t.global("flag");
  t.thread(inCta(0), [&](ThreadCode &c) {
    c.st(x).st(flag, Order::release, Scope::gpu).st(y).st(flag, Order::relaxed, Scope::gpu);
  });
  t.thread(inCta(1), [&](ThreadCode &c) { c.poll(flag, Order::acquire, Scope::gpu).ld(x).ld(y); });
  EXPECT_THAT(t.findings(), ElementsAre("SL03"));
}

/// take a ticket; wait for one's turn; count; let the next one in.
Litmus ticketLock(Scope reach, Scope scope, Order take, Order turn, Order leave) {
  Litmus t;
  Access next = t.global("next", reach), serving = t.global("serving", reach), count = t.global("count", reach);
  for (uint32_t cta : {0, 1})
    t.thread(inCta(cta), [&](ThreadCode &c) {
      c.atom(next, take, scope).poll(serving, turn, scope).ld(count).st(count).st(serving, leave, scope);
    });
  return t;
}

TEST(Litmus, TicketlockSameGpu) {
  EXPECT_THAT(ticketLock(Scope::gpu, Scope::gpu, Order::acquire, Order::acquire, Order::release).findings(), IsEmpty());
}

TEST(Litmus, TicketlockDiffGpu) {
  Litmus t = ticketLock(Scope::sys, Scope::gpu, Order::relaxed, Order::acquire, Order::release);
  EXPECT_THAT(t.findings(), ElementsAre("SL18", "SL18", "SL18", "SL18"));
}

TEST(Litmus, TicketlockDiffGpuAtSystemScope) {
  EXPECT_THAT(ticketLock(Scope::sys, Scope::sys, Order::relaxed, Order::acquire, Order::release).findings(), IsEmpty());
}

TEST(Litmus, TicketlockRel2rlx) {
  EXPECT_THAT(ticketLock(Scope::gpu, Scope::gpu, Order::acquire, Order::acquire, Order::relaxed).findings(),
              ElementsAre("SL03", "SL03"));
}

TEST(Litmus, TicketlockAcq2rlx1TheTakeMayBeRelaxed) {
  EXPECT_THAT(ticketLock(Scope::gpu, Scope::gpu, Order::relaxed, Order::acquire, Order::release).findings(), IsEmpty());
}

TEST(Litmus, TicketlockAcq2rlx2TheTurnMayNot) {
  EXPECT_THAT(ticketLock(Scope::gpu, Scope::gpu, Order::acquire, Order::relaxed, Order::release).findings(),
              ElementsAre("SL04", "SL04"));
}

TEST(Litmus, PCbarSyncArrive) {
  Litmus t;
  Access x = t.shared("x"), out = t.global("out");
  t.thread(warp(0), [&](ThreadCode &c) { c.st(x).barSync(1); });
  t.thread(warp(1), [&](ThreadCode &c) { c.barArrive(1).ld(x).st(out); });
  EXPECT_THAT(t.findings(), ElementsAre("SL24"));
}

TEST(Litmus, PCbarSyncSync1) {
  Litmus t;
  Access x = t.shared("x"), out = t.global("out");
  t.thread(warp(0), [&](ThreadCode &c) { c.st(x).barSync(1); });
  t.thread(warp(1), [&](ThreadCode &c) { c.barSync(1).ld(x).st(out); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Litmus, PCbarArriveMayRelease) {
  Litmus t;
  Access x = t.shared("x");
  t.thread(warp(0), [&](ThreadCode &c) { c.st(x).barArrive(1); });
  t.thread(warp(1), [&](ThreadCode &c) { c.barSync(1).ld(x); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Litmus, BarrierNotInscope) {
  Litmus t;
  Access x = t.global("x");
  t.thread(inCta(0), [&](ThreadCode &c) { c.st(x).barSync(); });
  t.thread(inCta(1), [&](ThreadCode &c) { c.barSync().ld(x); });
  EXPECT_THAT(t.findings(), ElementsAre("SL24"));
}

/// st x; release y at cta scope || acquire y; release z || acquire z; ld x, where the first two are in one CTA.
Litmus isa2(Scope second) {
  Litmus t;
  Access x = t.global("x"), y = t.object("y", Space::global, Scope::cta), z = t.global("z");
  t.thread({Actor::Threads::one, 1, false, Actor::Ctas::only, 0},
           [&](ThreadCode &c) { c.st(x).st(y, Order::release, Scope::cta); });
  t.thread({Actor::Threads::one, 2, false, Actor::Ctas::only, 0},
           [&](ThreadCode &c) { c.poll(y, Order::acquire, Scope::cta).st(z, Order::release, second); });
  t.thread(inCta(1), [&](ThreadCode &c) { c.poll(z, Order::acquire, Scope::gpu).ld(x); });
  return t;
}

TEST(Litmus, ISA2CausalityIsTransitive) { EXPECT_THAT(isa2(Scope::gpu).findings(), IsEmpty()); }
TEST(Litmus, ISA2EachHopHasItsOwnDistance) { EXPECT_THAT(isa2(Scope::cta).findings(), ElementsAre("SL01")); }

TEST(Litmus, SB) {
  Litmus t;
  Access x = t.global("x"), y = t.global("y");
  t.thread(inCta(0), [&](ThreadCode &c) {
    c.st(x, Order::relaxed, Scope::gpu).fence(Order::sc, Scope::gpu).ld(y, Order::relaxed, Scope::gpu);
  });
  t.thread(inCta(1), [&](ThreadCode &c) {
    c.st(y, Order::relaxed, Scope::gpu).fence(Order::sc, Scope::gpu).ld(x, Order::relaxed, Scope::gpu);
  });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Litmus, LB) {
  Litmus t;
  Access x = t.global("x"), y = t.global("y");
  t.thread(inCta(0), [&](ThreadCode &c) { c.ld(x, Order::relaxed, Scope::gpu).st(y, Order::relaxed, Scope::gpu); });
  t.thread(inCta(1), [&](ThreadCode &c) { c.ld(y, Order::relaxed, Scope::gpu).st(x, Order::relaxed, Scope::gpu); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Litmus, IRIW) {
  Litmus t;
  Access x = t.global("x"), y = t.global("y");
  t.thread(inCta(0), [&](ThreadCode &c) { c.st(x, Order::relaxed, Scope::gpu); });
  t.thread(inCta(1), [&](ThreadCode &c) { c.st(y, Order::relaxed, Scope::gpu); });
  t.thread(inCta(2), [&](ThreadCode &c) { c.ld(x, Order::acquire, Scope::gpu).ld(y, Order::acquire, Scope::gpu); });
  t.thread(inCta(3), [&](ThreadCode &c) { c.ld(y, Order::acquire, Scope::gpu).ld(x, Order::acquire, Scope::gpu); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

/// Coherence of one location: nothing is guarded.
TEST(Litmus, CoRR_CoWW_CoRW_CoWR) {
  using Step = std::function<void(ThreadCode &, Access)>;
  Step read = [](ThreadCode &c, Access x) { c.ld(x, Order::relaxed, Scope::gpu); };
  Step write = [](ThreadCode &c, Access x) { c.st(x, Order::relaxed, Scope::gpu); };
  for (const Step &a : {read, write})
    for (const Step &b : {read, write}) {
      Litmus t;
      Access x = t.global("x");
      t.thread(inCta(0), [&](ThreadCode &c) { a(c, x), b(c, x); });
      t.thread(inCta(1), [&](ThreadCode &c) { write(c, x); });
      EXPECT_THAT(t.findings(), IsEmpty());
    }
}

} // namespace
} // namespace interlock::scope
