// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Streams, residency, seeds, virtual time and deadlock reports.
#include "tests/unit/emulator/Harness.h"

#include <set>

namespace interlock::emu::test {
namespace {

using testing::HasSubstr;

/// CTA 0 waits for CTA 1's flag.
const std::string waitForNext =
    "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra set;\n"
    "wait: ld.acquire.gpu.global.u32 %r2, [%rd100]; setp.eq.u32 %p2, %r2, 0; @%p2 bra wait; bra end;\n"
    "set: mov.u32 %r3, 1; st.release.gpu.global.u32 [%rd100], %r3; end:";

class Scheduling : public MachineTest {};

TEST_F(Scheduling, SpinBetweenCtas) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    options.seed = seed;
    open();
    run(kernelText(waitForNext, 1), grid(2, 32), {zeros(4)});
  }
}

TEST_F(Scheduling, ResidencyOneDeadlocksOnTheNextCta) {
  options.residency = 1;
  open();
  std::string e = errorOf(kernelText(waitForNext, 1), grid(2, 32), {zeros(4)});
  EXPECT_THAT(e, HasSubstr("deadlock: nothing has changed for 100 seconds"));
  EXPECT_THAT(e, HasSubstr("1 of 2 CTAs have not started, 0 of 1 places are free"));
  EXPECT_THAT(e, HasSubstr("runs in a loop that changes nothing"));
}

TEST_F(Scheduling, ResidencyOneRunsIndependentCtas) {
  options.residency = 1;
  open();
  uint64_t out = zeros(4);
  run(kernelText("red.global.add.u32 [%rd100], 1;", 1), grid(50, 64), {out});
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 3200u);
}

TEST_F(Scheduling, SeedsGiveDifferentOrdersAndAreRepeatable) {
  // Each CTA takes a ticket: the order is the schedule's.
  std::string text = kernelText("mov.u32 %r1, %ctaid.x; atom.global.add.u32 %r2, [%rd100], 1;\n"
                                "mul.wide.u32 %rd1, %r2, 4; add.s64 %rd1, %rd1, %rd101; st.global.u32 [%rd1], %r1;",
                                2);
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed < 6; ++seed)
    for (int repeat = 0; repeat < 2; ++repeat) {
      options.seed = seed;
      open();
      uint64_t ticket = zeros(4), out = zeros(4 * 16);
      run(text, grid(16, 1), {ticket, out});
      orders.insert(download<uint32_t>(out, 16));
    }
  EXPECT_GE(orders.size(), 4u);
  EXPECT_LE(orders.size(), 6u);
}

TEST_F(Scheduling, BoundedWaitRunsOutQuickly) {
  uint64_t out = zeros(8);
  run(kernelText(
          "mov.u64 %rd1, %globaltimer;\nwait: ld.acquire.sys.global.u32 %r1, [%rd100];\n"
          "setp.ne.u32 %p1, %r1, 0; @%p1 bra end; mov.u64 %rd2, %globaltimer; sub.u64 %rd3, %rd2, %rd1;\n"
          "setp.lt.u64 %p2, %rd3, 5000000000; @%p2 bra wait; mov.u32 %r2, 77; st.global.u32 [%rd100+4], %r2; end:",
          1),
      grid(4, 256), {out});
  EXPECT_EQ(download<uint32_t>(out, 2)[1], 77u);
  EXPECT_GE(machine->now(), 5000000000u);
  EXPECT_LT(machine->statistics().warpInstructions, 20000000u);
}

TEST_F(Scheduling, TimeDoesNotLeapWhileSomebodyWorks) {
  // CTA 1 computes for long before it sets the flag; CTA 0's bound of 10 ms must not run out.
  uint64_t out = zeros(8);
  run(kernelText(
          "mov.u32 %r5, %ctaid.x; setp.ne.u32 %p3, %r5, 0; @%p3 bra work; mov.u64 %rd1, %globaltimer;\n"
          "wait: ld.acquire.gpu.global.u32 %r1, [%rd100]; setp.ne.u32 %p1, %r1, 0; @%p1 bra end;\n"
          "mov.u64 %rd2, %globaltimer; sub.u64 %rd3, %rd2, %rd1; setp.lt.u64 %p2, %rd3, 10000000; @%p2 bra wait;\n"
          "mov.u32 %r2, 77; st.global.u32 [%rd100+4], %r2; bra end;\n"
          "work: mov.u32 %r6, 0; more: add.u32 %r6, %r6, 1; setp.lt.u32 %p4, %r6, 300000; @%p4 bra more;\n"
          "st.release.gpu.global.u32 [%rd100], %r6; end:",
          1),
      grid(2, 32), {out});
  EXPECT_EQ(download<uint32_t>(out, 2)[1], 0u);
}

TEST_F(Scheduling, BarrierDeadlockNamesTheMissingWarps) {
  std::string e =
      errorOf(kernelText("mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 63; @%p1 bra other; bar.sync 3, 128; bra end;\n"
                         "other: bar.sync 4, 128; end:",
                         0),
              grid(1, 128), {});
  EXPECT_THAT(e, HasSubstr("waits at barrier 3, 64 of 128 threads are there, missing warps: 2, 3"));
  EXPECT_THAT(e, HasSubstr("waits at barrier 4, 64 of 128 threads are there, missing warps: 0, 1"));
  EXPECT_THAT(e, HasSubstr("bar.sync 3, 128"));
}

TEST_F(Scheduling, EndlessLoopWithoutMemoryIsFound) {
  std::string e = errorOf(kernelText("l: bra l;", 0), grid(1, 1), {});
  EXPECT_THAT(e, HasSubstr("no memory has changed"));
}

TEST_F(Scheduling, DevicesShareMemory) {
  options.devices = 4;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    options.seed = seed;
    open();
    // A ring: device d waits for token d and passes d + 1 on.
    uint64_t flags = zeros(4 * 8);
    std::string text =
        kernelText("add.s64 %rd2, %rd100, %rd101; cvt.u32.u64 %r1, %rd102;\n"
                   "wait: ld.acquire.sys.global.u32 %r2, [%rd2]; setp.ne.u32 %p1, %r2, %r1; @%p1 bra wait;\n"
                   "add.u32 %r3, %r1, 1; st.release.sys.global.u32 [%rd2+4], %r3;",
                   3);
    for (uint32_t d = 4; d-- > 0;) {
      KernelId k = load(text, d);
      ASSERT_TRUE(enqueue(k, grid(1, 1), {flags, 4 * d, d}, d));
    }
    auto ok = machine->synchronizeAll();
    ASSERT_TRUE(ok) << ok.error().message;
    EXPECT_EQ(download<uint32_t>(flags, 5)[4], 4u);
  }
}

TEST_F(Scheduling, StreamsEventsCopiesAndCallbacks) {
  uint64_t a = zeros(64), b = zeros(64);
  uint32_t in[4] = {1, 2, 3, 4}, out[4] = {};
  std::vector<int> order;
  StreamId s = streams[0], t = *machine->createStream(0);
  EventId copied = *machine->createEvent(), done = *machine->createEvent();
  ASSERT_TRUE(machine->copyIn(s, a, in, 16));
  ASSERT_TRUE(machine->callback(s, [&] { order.push_back(1); }));
  ASSERT_TRUE(machine->recordEvent(s, copied));
  ASSERT_TRUE(machine->waitEvent(t, copied));
  ASSERT_TRUE(machine->callback(t, [&] { order.push_back(2); }));
  KernelId k = load(kernelText("ld.global.u32 %r1, [%rd100]; add.u32 %r1, %r1, 41; st.global.u32 [%rd101], %r1;", 2));
  std::vector<uint64_t> params{a, b};
  ASSERT_TRUE(machine->launch(t, k, grid(1, 1), std::as_bytes(std::span(params))));
  ASSERT_TRUE(machine->fill(t, b + 4, 0x11, 4));
  ASSERT_TRUE(machine->copy(t, b + 8, b, 8));
  ASSERT_TRUE(machine->copyOut(t, out, b, 16));
  ASSERT_TRUE(machine->recordEvent(t, done));
  ASSERT_TRUE(machine->synchronize(t));
  EXPECT_EQ(out[0], 42u);
  EXPECT_EQ(out[1], 0x11111111u);
  EXPECT_EQ(out[2], 42u);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_GT(*machine->eventTime(done), *machine->eventTime(copied));
}

TEST_F(Scheduling, GraphsReplay) {
  uint64_t a = zeros(4);
  KernelId k = load(kernelText("red.global.add.u32 [%rd100], 1;", 1));
  ASSERT_TRUE(machine->beginCapture(streams[0]));
  ASSERT_TRUE(enqueue(k, grid(2, 32), {a}));
  ASSERT_TRUE(enqueue(k, grid(1, 1), {a}));
  GraphId g = *machine->endCapture(streams[0]);
  ASSERT_TRUE(machine->synchronizeAll());
  EXPECT_EQ(download<uint32_t>(a, 1)[0], 0u);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(machine->launchGraph(streams[0], g));
  ASSERT_TRUE(machine->synchronizeAll());
  EXPECT_EQ(download<uint32_t>(a, 1)[0], 195u);
}

TEST_F(Scheduling, ProgrammaticDependentLaunch) {
  // The second grid starts early, and its wait holds it until the first has ended.
  for (uint64_t seed = 0; seed < 5; ++seed) {
    options.seed = seed;
    open();
    uint64_t a = zeros(16);
    KernelId first =
        load(kernelText("griddepcontrol.launch_dependents;\nwait: ld.relaxed.gpu.global.u32 %r1, [%rd100];\n"
                        "setp.eq.u32 %p1, %r1, 0; @%p1 bra wait; mov.u32 %r2, 5; st.global.u32 [%rd100+4], %r2;",
                        1));
    KernelId second = load(kernelText("mov.u32 %r1, 1; st.relaxed.gpu.global.u32 [%rd100], %r1; griddepcontrol.wait;\n"
                                      "ld.global.u32 %r2, [%rd100+4]; st.global.u32 [%rd100+8], %r2;",
                                      1));
    ASSERT_TRUE(enqueue(first, grid(2, 1), {a}));
    LaunchConfig c = grid(1, 1);
    c.programmatic = true;
    ASSERT_TRUE(enqueue(second, c, {a}));
    auto ok = machine->synchronizeAll();
    ASSERT_TRUE(ok) << ok.error().message;
    EXPECT_EQ(download<uint32_t>(a, 3)[2], 5u);
  }
}

TEST_F(Scheduling, NanosleepTakesItsTime) {
  uint64_t out = zeros(16);
  run(kernelText(
          "mov.u64 %rd1, %globaltimer; nanosleep.u32 50000; mov.u64 %rd2, %globaltimer; sub.u64 %rd3, %rd2, %rd1;\n"
          "st.global.u64 [%rd100], %rd3;",
          1),
      grid(1, 1), {out});
  EXPECT_GE(download<uint64_t>(out, 1)[0], 50000u);
}

TEST_F(Scheduling, ObserverSeesAccessesAndSynchronisation) {
  struct Recorder : MemoryObserver {
    std::vector<Access> accesses;
    std::vector<Sync> syncs;
    void access(const Access &a) override { accesses.push_back(a); }
    void sync(const Sync &s) override { syncs.push_back(s); }
  } recorder;
  machine->setObserver(&recorder);
  uint64_t out = zeros(64);
  run(kernelText(
          "st.global.u32 [%rd100], 1; fence.acq_rel.gpu; st.release.sys.global.u64 [%rd100+8], %rd100; bar.sync 0;", 1),
      grid(1, 2), {out});
  size_t stores = 0;
  for (const Access &a : recorder.accesses)
    if (a.kind == AccessKind::store) {
      ++stores;
      if (a.size == 8) {
        EXPECT_EQ(a.sem, Sem::release);
        EXPECT_EQ(a.scope, Scope::sys);
        EXPECT_EQ(a.address, out + 8);
        EXPECT_EQ(a.instruction->opcode, "st");
      }
    }
  EXPECT_EQ(stores, 4u);
  size_t fences = 0, arrives = 0, leaves = 0;
  for (const Sync &s : recorder.syncs) {
    fences += s.kind == SyncKind::fence && s.sem == Sem::acqRel && s.scope == Scope::gpu;
    arrives += s.kind == SyncKind::barrierArrive;
    leaves += s.kind == SyncKind::barrierLeave;
  }
  EXPECT_EQ(fences, 2u);
  EXPECT_EQ(arrives, 2u);
  EXPECT_EQ(leaves, 2u);
}

} // namespace
} // namespace interlock::emu::test
