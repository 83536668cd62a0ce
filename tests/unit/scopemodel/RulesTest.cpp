// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Each rule on events alone: one case that it flags and the nearest one that it must not. SL21 is about the text and
// has no events; the grave case of SL26 is about two kernels.
#include "tests/unit/scopemodel/Litmus.h"

namespace interlock::scope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> foundIf(bool faulty, std::vector<std::string> findings) {
  return faulty ? std::move(findings) : std::vector<std::string>{};
}

/// A word in a peer's shared memory and a barrier beside it: the leader writes and arrives, the peer waits and reads.
struct Handoff {
  Order arrive = Order::release;
  Scope arriveScope = Scope::cluster;
  Order wait = Order::acquire;
  Scope waitScope = Scope::cluster;
  std::optional<Restrict> releaseFence, acquireFence;
  bool globalData = false;

  std::vector<std::string> findings(uint32_t clusterSize = 2) const {
    Litmus t;
    t.program.clusterSize = clusterSize;
    Access slot = globalData ? t.global("data") : t.shared("slot"), full = t.shared("full");
    t.first([&](ThreadCode &c) { c.clusterBarrier(); });
    t.thread(inCta(0), [&](ThreadCode &c) {
      c.st(globalData ? slot : remote(slot));
      if (releaseFence)
        c.fence(Order::release, Scope::cluster, *releaseFence);
      c.arrive(remote(full), arrive, arriveScope);
    });
    t.thread(inCta(1), [&](ThreadCode &c) {
      c.wait(full, wait, waitScope);
      if (acquireFence)
        c.fence(Order::acquire, Scope::cluster, *acquireFence);
      c.ld(slot);
    });
    return t.findings();
  }
};

TEST(Rules, SL05FenceOnTheWrongSide) {
  for (bool behind : {true, false}) {
    Litmus t;
    Access x = t.global("x"), flag = t.global("flag");
    t.thread(inCta(0), [&](ThreadCode &c) {
      c.st(x);
      if (!behind)
        c.fence(Order::acqRel, Scope::gpu);
      c.st(flag, Order::relaxed, Scope::gpu);
      if (behind)
        c.fence(Order::acqRel, Scope::gpu);
    });
    t.thread(inCta(1), [&](ThreadCode &c) { c.poll(flag, Order::acquire, Scope::gpu).ld(x); });
    EXPECT_EQ(t.findings(), foundIf(behind, {"SL05"}));
  }
}

TEST(Rules, SL05AcquireFenceBehindTheData) {
  Litmus t;
  Access x = t.global("x"), flag = t.global("flag");
  t.thread(inCta(0), [&](ThreadCode &c) { c.st(x).st(flag, Order::release, Scope::gpu); });
  t.thread(inCta(1),
           [&](ThreadCode &c) { c.poll(flag, Order::relaxed, Scope::gpu).ld(x).fence(Order::acqRel, Scope::gpu); });
  EXPECT_THAT(t.findings(), ElementsAre("SL05"));
}

TEST(Rules, SL06RestrictedFences) {
  Handoff h{Order::release, Scope::cluster, Order::relaxed, Scope::cluster, {}, Restrict::sharedCluster};
  EXPECT_THAT(h.findings(), IsEmpty());
  h.globalData = true;
  EXPECT_THAT(h.findings(), ElementsAre("SL06"));
  // A restricted release covers the own CTA's memory, not what was stored into a peer's.
  Handoff r{Order::relaxed, Scope::cluster, Order::acquire, Scope::cluster, Restrict::sharedCta, {}};
  EXPECT_THAT(r.findings(), ElementsAre("SL06"));
  r.releaseFence = Restrict::none;
  EXPECT_THAT(r.findings(), IsEmpty());
}

TEST(Rules, SL07ArriveAtCtaScope) {
  Handoff h;
  EXPECT_THAT(h.findings(), IsEmpty());
  h.arriveScope = Scope::cta;
  EXPECT_THAT(h.findings(), ElementsAre("SL07"));
  EXPECT_THAT(h.findings(1), IsEmpty()) << "a cluster of one CTA has no other CTA";
}

TEST(Rules, SL07NothingGenericIsHandedOver) {
  Litmus t;
  t.program.clusterSize = 2;
  Access slot = t.shared("slot"), full = t.shared("full"), empty = t.shared("empty"), source = t.global("source");
  t.first([&](ThreadCode &c) { c.clusterBarrier(); });
  t.thread(warp(0), [&](ThreadCode &c) { c.wait(empty).copy(slot, source, full); });
  t.thread(warp(1), [&](ThreadCode &c) {
    c.wait(full).copy({}, slot); // a matrix instruction reads it
    c.arrive(remote(empty));
  });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Rules, SL08WaitAtCtaScope) {
  Handoff h;
  h.waitScope = Scope::cta;
  EXPECT_THAT(h.findings(), ElementsAre("SL08"));
}

TEST(Rules, SL08StAsyncIsAnErrorAndMulticastAWarning) {
  for (bool multicast : {false, true}) {
    Litmus t;
    t.program.clusterSize = 2;
    Access slot = t.shared("slot"), full = t.shared("full"), source = t.global("source");
    t.first([&](ThreadCode &c) { c.clusterBarrier(); });
    t.thread(inCta(0), [&](ThreadCode &c) {
      multicast ? c.copy(slot, source, full) : c.stAsync(remote(slot), remote(full));
      c.last().multicast = multicast;
    });
    t.thread(inCta(1), [&](ThreadCode &c) { c.wait(full).ld(slot); });
    EXPECT_THAT(t.findings(), ElementsAre(multicast ? "SL08 warning" : "SL08"));
  }
}

TEST(Rules, SL08CopyIntoTheOwnCtaNeedsNoMore) {
  Litmus t;
  Access slot = t.shared("slot"), full = t.shared("full"), source = t.global("source");
  t.thread(oneThread(0), [&](ThreadCode &c) { c.copy(slot, source, full); });
  t.thread(warp(1), [&](ThreadCode &c) { c.wait(full).ld(slot); });
  EXPECT_THAT(t.findings(), IsEmpty());
}

TEST(Rules, SL09LocalForm) {
  for (bool local : {true, false}) {
    Litmus t;
    t.program.clusterSize = 2;
    Access full = t.shared("full");
    t.first([&](ThreadCode &c) {
      c.clusterBarrier().arrive(remote(full), Order::release, Scope::cluster).last().localForm = local;
    });
    EXPECT_EQ(t.findings(), foundIf(local, {"SL09"}));
  }
}

/// Everybody stores, the CTA meets, one thread copies it out.
Litmus storeOut(bool writers, bool issuer) {
  Litmus t;
  Access tile = t.shared("tile"), out = t.global("out");
  t.first([&](ThreadCode &c) {
    c.st(tile);
    if (writers)
      c.proxyFence();
    c.barSync();
  });
  t.thread(oneThread(0), [&](ThreadCode &c) {
    if (issuer)
      c.proxyFence();
    c.copy(out, tile).waitGroup();
  });
  return t;
}

TEST(Rules, SL10GenericWriteAsyncRead) {
  EXPECT_THAT(storeOut(false, false).findings(), ElementsAre("SL10"));
  EXPECT_THAT(storeOut(false, true).findings(), ElementsAre("SL10"))
      << "the issuer's fence does nothing for the others";
  EXPECT_THAT(storeOut(true, false).findings(), IsEmpty());
}

TEST(Rules, SL10AThirdThreadThatTellsIsNoFence) {
  for (bool fence : {false, true}) {
    Litmus t;
    Access tile = t.shared("tile"), written = t.shared("written"), told = t.shared("told"), out = t.global("out");
    t.thread(warp(1), [&](ThreadCode &c) {
      c.st(tile);
      if (fence)
        c.proxyFence();
      c.arrive(written);
    });
    t.thread(warp(2), [&](ThreadCode &c) { c.wait(written).arrive(told); });
    t.thread(oneThread(0), [&](ThreadCode &c) { c.wait(told).copy(out, tile).waitGroup(); });
    EXPECT_EQ(t.findings(), foundIf(!fence, {"SL10"}));
  }
}

TEST(Rules, SL10WaiterSideFenceAcrossCtasIsAWarning) {
  Litmus t;
  t.program.clusterSize = 2;
  Access tile = t.shared("tile"), full = t.shared("full"), out = t.global("out");
  t.first([&](ThreadCode &c) { c.clusterBarrier(); });
  t.thread(inCta(0), [&](ThreadCode &c) { c.st(remote(tile)).arrive(remote(full), Order::release, Scope::cluster); });
  t.thread(inCta(1), [&](ThreadCode &c) {
    c.wait(full, Order::acquire, Scope::cluster).proxyFence().copy(out, tile).waitGroup();
  });
  EXPECT_THAT(t.findings(), ElementsAre("SL10 warning"));
}

TEST(Rules, SL11GenericReadAsyncOverwrite) {
  for (bool fence : {false, true}) {
    Litmus t;
    Access slot = t.shared("slot"), full = t.shared("full"), empty = t.shared("empty"), source = t.global("source");
    t.thread(oneThread(0), [&](ThreadCode &c) { c.wait(empty).copy(slot, source, full); });
    t.thread(warp(1), [&](ThreadCode &c) {
      c.wait(full).ld(slot);
      if (fence)
        c.proxyFence();
      c.arrive(empty);
    });
    EXPECT_EQ(t.findings(), foundIf(!fence, {"SL11"}));
  }
}

TEST(Rules, SL12NotWaitedFor) {
  for (bool wait : {false, true}) {
    Litmus t;
    Access slot = t.shared("slot"), full = t.shared("full"), source = t.global("source");
    t.first([&](ThreadCode &c) {
      c.copy(slot, source, full);
      wait ? c.wait(full) : c.barSync();
      c.ld(slot);
    });
    EXPECT_EQ(t.findings(), foundIf(!wait, {"SL12"}));
  }
}

TEST(Rules, SL12ReadOnlyWaitIsNoCompletion) {
  for (bool readsOnly : {true, false}) {
    Litmus t;
    Access tile = t.shared("tile"), out = t.global("out"), flag = t.global("flag");
    t.thread(inCta(0),
             [&](ThreadCode &c) { c.copy(out, tile).waitGroup(readsOnly).st(flag, Order::release, Scope::gpu); });
    t.thread(inCta(1), [&](ThreadCode &c) { c.poll(flag, Order::acquire, Scope::gpu).ld(out); });
    EXPECT_EQ(t.findings(), foundIf(readsOnly, {"SL12"}));
  }
}

TEST(Rules, SL13TransactionIsNoRelease) {
  for (bool before : {false, true}) {
    Litmus t;
    Access header = t.shared("header"), slot = t.shared("slot"), full = t.shared("full"), source = t.global("source");
    t.thread(oneThread(0), [&](ThreadCode &c) {
      if (before)
        c.st(header);
      c.arriveExpect(full, 512);
      if (!before)
        c.st(header);
      c.copy(slot, source, full);
      c.last().bytes = 512;
    });
    t.thread(warp(1), [&](ThreadCode &c) { c.wait(full).ld(slot).ld(header); });
    EXPECT_EQ(t.findings(), foundIf(!before, {"SL13"}));
  }
}

/// One thread initialises, the cluster meets, a peer arrives.
std::vector<std::string> initialised(bool fence, Order arrive) {
  Litmus t;
  t.program.clusterSize = 2;
  Access full = t.shared("full");
  t.first([&](ThreadCode &c) {
    c.init(full);
    if (fence)
      c.fence(Order::release, Scope::cluster, Restrict::barrierInit);
    c.clusterBarrier(arrive).arrive(remote(full), Order::relaxed, Scope::cluster).wait(full);
  });
  return t.findings();
}

TEST(Rules, SL14InitialisationIsPublished) {
  EXPECT_THAT(initialised(false, Order::relaxed), ElementsAre("SL14"));
  EXPECT_THAT(initialised(true, Order::relaxed), IsEmpty());
  EXPECT_THAT(initialised(false, Order::release), IsEmpty());
}

/// Rank 0 stores, the cluster meets, the other rank reads it there.
std::vector<std::string> distributed(Order arrive, bool fence, bool inside) {
  Litmus t;
  t.program.clusterSize = 2;
  Access word = t.shared("word");
  t.first([&](ThreadCode &c) {
    c.clusterBarrier();
    if (!inside)
      c.st(word);
    if (fence)
      c.fence(Order::acqRel, Scope::cluster);
    c.clusterArrive(arrive);
    if (inside)
      c.st(word);
    c.clusterWait().ld(remote(word)).clusterBarrier();
  });
  return t.findings();
}

TEST(Rules, SL15RelaxedClusterBarrier) {
  EXPECT_THAT(distributed(Order::relaxed, false, false), ElementsAre("SL15"));
  EXPECT_THAT(distributed(Order::relaxed, true, false), IsEmpty());
  EXPECT_THAT(distributed(Order::release, false, false), IsEmpty());
}

TEST(Rules, SL16InsideTheClusterBarrier) {
  EXPECT_THAT(distributed(Order::release, false, true), ElementsAre("SL16 warning"));
}

TEST(Rules, SL17VolatileFlag) {
  for (bool fences : {false, true}) {
    Litmus t;
    Access x = t.global("x"), flag = t.global("flag");
    t.thread(inCta(0), [&](ThreadCode &c) {
      c.st(x);
      if (fences)
        c.fence(Order::acqRel, Scope::sys);
      c.st(flag, Order::isVolatile, Scope::sys);
    });
    t.thread(inCta(1), [&](ThreadCode &c) {
      c.poll(flag, Order::isVolatile, Scope::sys);
      if (fences)
        c.fence(Order::acqRel, Scope::sys);
      c.ld(x);
    });
    EXPECT_EQ(t.findings(), foundIf(!fences, {"SL17", "SL17"}));
  }
}

TEST(Rules, SL18SeverityFollowsTheEvidence) {
  for (auto [evidence, wanted] : {std::pair(Evidence::contract, "SL18"), std::pair(Evidence::seen, "SL18 warning")}) {
    Litmus t;
    Access x = t.global("x"), flag = t.object("flag", Space::global, Scope::sys, evidence);
    t.thread(inCta(0), [&](ThreadCode &c) { c.st(x).st(flag, Order::release, Scope::gpu); });
    t.thread(inCta(1), [&](ThreadCode &c) { c.poll(flag, Order::acquire, Scope::sys).ld(x); });
    EXPECT_THAT(t.findings(), ElementsAre(wanted));
  }
}

TEST(Rules, SL19MixedSizes) {
  for (uint32_t bytes : {1u, 8u}) {
    Litmus t;
    Access word = t.global("word"), part = word;
    word.bytes = 8;
    part.bytes = bytes;
    t.thread(inCta(0), [&](ThreadCode &c) { c.st(part, Order::release, Scope::gpu); });
    t.thread(inCta(1), [&](ThreadCode &c) { c.poll(word, Order::acquire, Scope::gpu); });
    EXPECT_EQ(t.findings(), foundIf(bytes == 1, {"SL19"}));
  }
}

TEST(Rules, SL20NonCoherent) {
  for (bool written : {true, false}) {
    Litmus t;
    Access x = t.global("x"), y = t.global("y");
    t.first([&](ThreadCode &c) {
      c.ld(x).last().proxy = Proxy::nonCoherent;
      c.st(written ? x : y);
    });
    EXPECT_EQ(t.findings(), foundIf(written, {"SL20"}));
  }
}

TEST(Rules, SL22ParityAndBytesAndCount) {
  Litmus parity;
  Access b = parity.shared("b");
  parity.first([&](ThreadCode &c) {
    c.wait(b).last().parity = Parity::constant;
    c.last().reusesBarrier = true;
  });
  EXPECT_THAT(parity.findings(), ElementsAre("SL22"));

  for (int64_t sent : {256, 512}) {
    Litmus bytes;
    Access full = bytes.shared("full"), slot = bytes.shared("slot"), source = bytes.global("source");
    bytes.first([&](ThreadCode &c) { c.arriveExpect(full, 512).copy(slot, source, full).last().bytes = sent; });
    EXPECT_EQ(bytes.findings(), foundIf(sent == 256, {"SL22"}));
  }

  for (uint32_t count : {1u, 128u}) {
    Litmus arrivals;
    arrivals.program.threads = 128;
    Access bar = arrivals.shared("bar");
    arrivals.first([&](ThreadCode &c) { c.init(bar, count).barSync().arrive(bar).wait(bar); });
    EXPECT_EQ(arrivals.findings(), foundIf(count == 1, {"SL22"}));
  }
}

TEST(Rules, SL23Lifetime) {
  for (bool atEnd : {true, false})
    for (bool atStart : {true, false}) {
      Litmus t;
      t.program.clusterSize = 2;
      Access word = t.shared("word");
      t.first([&](ThreadCode &c) {
        if (atStart)
          c.clusterBarrier();
        c.ld(remote(word));
        if (atEnd)
          c.clusterBarrier(Order::relaxed);
        c.exit();
      });
      EXPECT_EQ(t.findings(), foundIf(!atEnd || !atStart, {"SL23"}));
    }
}

TEST(Rules, SL23ProducerTail) {
  for (bool tail : {true, false}) {
    Litmus t;
    t.program.clusterSize = 2;
    Access slot = t.shared("slot"), full = t.shared("full"), empty = t.shared("empty");
    t.first([&](ThreadCode &c) { c.clusterBarrier(); });
    t.thread(inCta(0), [&](ThreadCode &c) {
      c.wait(empty, Order::acquire, Scope::cluster).stAsync(remote(slot), remote(full));
      if (tail)
        c.wait(empty, Order::relaxed, Scope::cluster);
      c.exit();
    });
    t.thread(inCta(1), [&](ThreadCode &c) {
      c.wait(full, Order::acquire, Scope::cluster)
          .ld(slot)
          .arrive(remote(empty), Order::release, Scope::cluster)
          .exit();
    });
    EXPECT_EQ(t.findings(), foundIf(!tail, {"SL23"}));
  }
}

TEST(Rules, SL25TensorMap) {
  for (int fences : {0, 1, 2}) {
    Litmus t;
    Access map = t.global("map"), slot = t.shared("slot"), full = t.shared("full");
    t.first([&](ThreadCode &c) {
      c.st(map);
      if (fences > 0)
        c.proxyFence(ProxyFence::tensormapRelease);
      if (fences > 1)
        c.proxyFence(ProxyFence::tensormapAcquire);
      c.copy(slot, {}, full).last().map = map;
    });
    EXPECT_EQ(t.findings(), foundIf(!(fences == 2), {"SL25"}));
  }
}

TEST(Rules, SL26HalfAPairIsANote) {
  Litmus t;
  Access x = t.global("x"), flag = t.global("flag");
  t.first([&](ThreadCode &c) { c.st(x).st(flag, Order::release, Scope::gpu); });
  EXPECT_THAT(t.findings(Severity::note), ElementsAre("SL26 note"));
  t.program.objects[flag.object].pairsAcrossKernels = true;
  EXPECT_THAT(t.findings(Severity::note), IsEmpty());
}

TEST(Rules, SL27GridBarrier) {
  for (bool resident : {false, true}) {
    Litmus t;
    Access count = t.global("count");
    t.program.objects[count.object].residentPeers = resident;
    t.thread(oneThread(0),
             [&](ThreadCode &c) { c.red(count, Order::release, Scope::gpu).poll(count, Order::acquire, Scope::gpu); });
    EXPECT_EQ(t.findings(), foundIf(!resident, {"SL27 warning"}));
  }
}

TEST(Rules, SL28StrongerThanNeeded) {
  Litmus t;
  t.program.clusterSize = 2;
  Access empty = t.shared("empty");
  t.first([&](ThreadCode &c) { c.clusterBarrier().arrive(remote(empty), Order::release, Scope::cluster).wait(empty); });
  EXPECT_THAT(t.findings(Severity::note), ElementsAre("SL28 note"));

  Litmus twice;
  Access x = twice.global("x");
  twice.first([&](ThreadCode &c) { c.st(x).fence(Order::acqRel, Scope::gpu).fence(Order::acqRel, Scope::sys); });
  EXPECT_THAT(twice.findings(Severity::note), ElementsAre("SL28 note"));
}

TEST(Rules, SL29TwoProxies) {
  for (bool apart : {true, false}) {
    Litmus t;
    Access sum = t.global("sum"), tile = t.shared("tile");
    t.first([&](ThreadCode &c) {
      c.copy(sum, tile).last().reduces = true;
      if (apart)
        c.waitGroup().proxyFence();
      c.red(sum, Order::relaxed, Scope::gpu);
    });
    EXPECT_EQ(t.findings(), foundIf(!apart, {"SL29 warning"}));
  }
}

TEST(Rules, WhereSeveralMechanismsOrderOneIsEnough) {
  Litmus t;
  Access x = t.global("x"), progress = t.global("progress"), flag = t.global("flag");
  t.thread(inCta(0), [&](ThreadCode &c) {
    c.st(x).st(progress, Order::relaxed, Scope::gpu).st(flag, Order::release, Scope::gpu);
  });
  t.thread(inCta(1), [&](ThreadCode &c) {
    c.poll(progress, Order::relaxed, Scope::gpu).poll(flag, Order::acquire, Scope::gpu).ld(x);
  });
  EXPECT_THAT(t.findings(), IsEmpty());
}

Access word(Access object, int64_t index) {
  object.offset = index * object.bytes;
  return object;
}

TEST(Rules, WordsOfOneObjectAreDifferentSignals) {
  for (bool reset : {false, true}) {
    Litmus t;
    Access x = t.global("x"), control = t.global("control"), all = control;
    all.elements = 2;
    t.thread(inCta(0), [&](ThreadCode &c) {
      c.st(x).fence(Order::acqRel, Scope::cta).atom(word(control, 0), Order::relaxed, Scope::gpu, Poll::test);
      c.atom(word(control, 1), Order::acqRel, Scope::gpu, Poll::test);
    });
    t.thread(inCta(1), [&](ThreadCode &c) {
      c.atom(word(control, 0), Order::relaxed, Scope::gpu, Poll::test);
      c.atom(word(control, 1), Order::acqRel, Scope::gpu, Poll::test).ld(x);
      if (reset)
        c.st(all);
    });
    EXPECT_THAT(t.findings(), IsEmpty());
  }
}

TEST(Rules, AnAcquireOfAnotherWordIsNoAcquirePattern) {
  for (int64_t polled : {0, 1}) {
    Litmus t;
    Access x = t.global("x"), flags = t.global("flags");
    t.thread(inCta(0), [&](ThreadCode &c) { c.st(x).st(word(flags, polled), Order::release, Scope::gpu); });
    t.thread(inCta(1), [&](ThreadCode &c) {
      c.poll(word(flags, polled), Order::relaxed, Scope::gpu).ld(word(flags, 1), Order::acquire, Scope::gpu).ld(x);
    });
    EXPECT_EQ(t.findings(), foundIf(polled == 0, {"SL04"}));
  }
}

TEST(Rules, DataBesideItsSignalIsData) {
  for (Order order : {Order::relaxed, Order::release}) {
    Litmus t;
    Access slot = t.global("slot");
    t.thread(inCta(0), [&](ThreadCode &c) { c.st(word(slot, 0)).st(word(slot, 1), order, Scope::gpu); });
    t.thread(inCta(1), [&](ThreadCode &c) { c.poll(word(slot, 1), Order::acquire, Scope::gpu).ld(word(slot, 0)); });
    EXPECT_EQ(t.findings(), foundIf(order == Order::relaxed, {"SL03"}));
  }
}

TEST(Rules, FindingsSayWhereAndWhatWouldDo) {
  Litmus t;
  Access x = t.global("x"), flag = t.global("flag");
  t.thread(inCta(0), [&](ThreadCode &c) { c.st(x).st(flag, Order::release, Scope::cta); });
  t.thread(inCta(1), [&](ThreadCode &c) { c.poll(flag, Order::acquire, Scope::gpu).ld(x); });
  std::vector<Finding> findings = t.judged();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].place.text, "event 1");
  EXPECT_EQ(findings[0].fix, "use st.release.gpu");
  EXPECT_EQ(findings[0].message,
            "expected this store of flag to have at least gpu scope, since another CTA waits for it and then "
            "touches x, got release.cta");
  std::vector<std::string> related;
  for (const RelatedPlace &r : findings[0].related)
    related.push_back(r.place.text);
  EXPECT_THAT(related, ElementsAre("event 0", "event 2", "event 3"));
}

} // namespace
} // namespace interlock::scope
