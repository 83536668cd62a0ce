// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Steps that are never combined, and ranks that begin just when the others stop waiting for them: no row may be written
// over one that is still read, and no rank may be told of rows that were not sent to it.
#include "EndToEnd.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/TestRows.h"
#include "runtime/SourceJit/Nvrtc.h"
#include "tests/peers/Delay.h"

#include <fmt/format.h>

#include <cstring>

using namespace interlock;
using test::expectDone;
using test::take;

namespace {

/// Two ranks, each on its own device, whose tokens all go to both.
struct TwoRanks {
  static constexpr uint32_t tokens = 12;
  LayerSpec layer;
  std::unique_ptr<Driver> driver;
  std::optional<Operation> operation;
  struct Rank {
    StreamId stream{};
    KernelId delay{};
    DeviceBuffer x, ids, weights, read;
    std::vector<std::byte> rows;
  } ranks[2];

  TwoRanks(uint64_t seed, KernelOrigin kernels, uint64_t timeoutNs) {
    layer.ranks = layer.topk = 2;
    layer.experts = 4;
    layer.hidden = 64;
    layer.maxTokens = tokens;
    driver = take(openEmulator({.devices = 2, .seed = seed}));
    OperationOptions options;
    options.dispatch = options.combine = {3, 64, 4};
    options.timeoutNs = timeoutNs;
    options.kernels = kernels;
    operation.emplace(take(Operation::create(*driver, test::sharedCache(), layer, options)));
    for (uint32_t r = 0; r < 2; ++r) {
      Rank &rank = ranks[r];
      rank.stream = take(driver->createStream(r));
      rank.delay = take(driver->load(r, {test::delayPtx, {}, "delay"}));
      rank.rows.resize(tokens * rowBytes(layer));
      std::vector<int32_t> ids;
      std::vector<float> weights(tokens * 2, 0.5f);
      for (uint32_t t = 0; t < tokens; ++t)
        ids.insert(ids.end(), {0, 3});
      rank.x = take(DeviceBuffer::create(*driver, r, rank.rows.size()));
      rank.read = take(DeviceBuffer::create(*driver, r, 2 * rank.rows.size()));
      rank.ids = take(DeviceBuffer::create(*driver, r, ids.size() * 4));
      rank.weights = take(DeviceBuffer::create(*driver, r, weights.size() * 4));
      expectDone(driver->copyIn(rank.stream, rank.ids.address(), ids.data(), ids.size() * 4));
      expectDone(driver->copyIn(rank.stream, rank.weights.address(), weights.data(), weights.size() * 4));
      expectDone(driver->synchronize(rank.stream));
    }
  }
  ~TwoRanks() {
    for (Rank &rank : ranks) {
      (void)driver->unload(rank.delay);
      (void)driver->destroyStream(rank.stream);
    }
  }
  /// New rows for both ranks.
  void fill(uint64_t step) {
    for (uint32_t r = 0; r < 2; ++r) {
      fillTestRows(layer.dtype, 7, step, r, ranks[r].rows);
      expectDone(driver->copyIn(ranks[r].stream, ranks[r].x.address(), ranks[r].rows.data(), ranks[r].rows.size()));
      expectDone(driver->synchronize(ranks[r].stream));
    }
  }
  RoutingHandle dispatch(uint32_t r) {
    Rank &rank = ranks[r];
    return take(
        operation->dispatch(r, rank.stream, {rank.x.address(), 0, rank.ids.address(), rank.weights.address(), tokens}));
  }
  void wait(uint32_t r, uint64_t ns) {
    expectDone(driver->launch(ranks[r].stream, ranks[r].delay, {1, 32, 1, 0},
                              std::as_bytes(std::span<const uint64_t, 1>(&ns, 1))));
  }
  void synchronize() {
    for (Rank &rank : ranks)
      expectDone(driver->synchronize(rank.stream));
  }
  /// The rows of both sources in a rank's buffer.
  std::vector<std::byte> landed(uint32_t r, DeviceAddress from) {
    std::vector<std::byte> rows(2 * ranks[r].rows.size());
    expectDone(driver->copyOut(ranks[r].stream, rows.data(), from, rows.size()));
    expectDone(driver->synchronize(ranks[r].stream));
    return rows;
  }
  std::vector<std::byte> bothRows() const {
    std::vector<std::byte> rows = ranks[0].rows;
    rows.insert(rows.end(), ranks[1].rows.begin(), ranks[1].rows.end());
    return rows;
  }
};

// Step 0 is read after step 1 was dispatched, and then given up: its buffer is the next one's.
TEST(GivenUp, RowsStayUntilTheyAreRead) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    TwoRanks two(seed, KernelOrigin::generated, 1'000'000'000);
    two.fill(0);
    std::vector<std::byte> first = two.bothRows();
    std::vector<RoutingHandle> given;
    for (uint32_t r = 0; r < 2; ++r)
      given.push_back(two.dispatch(r));
    two.synchronize();
    two.fill(1);
    for (uint32_t r = 0; r < 2; ++r) {
      RoutingHandle second = two.dispatch(r);
      // rank 1 is slow to read what step 0 left it
      if (r == 1)
        two.wait(r, 20'000);
      LandedRows at = take(two.operation->landed(given[r]));
      expectDone(two.driver->copy(two.ranks[r].stream, two.ranks[r].read.address(), at.rows, first.size()));
    }
    given.clear();
    for (uint32_t r = 0; r < 2; ++r)
      two.dispatch(r);
    two.synchronize();
    for (uint32_t r = 0; r < 2; ++r)
      EXPECT_EQ(two.landed(r, two.ranks[r].read.address()), first) << "rank " << r;
  }
}

constexpr uint64_t timeout = 20'000;

/// Rank 1 begins its third step `late` nanoseconds after rank 0, who waits for it so that no row is written over one
/// that is still read. Whether rank 1 is told of a loss; if not it must have all rows.
bool isTold(uint64_t seed, KernelOrigin kernels, uint64_t late) {
  TwoRanks two(seed, kernels, timeout);
  for (uint32_t step = 0; step < 2; ++step) {
    two.fill(step);
    for (uint32_t r = 0; r < 2; ++r)
      two.dispatch(r);
    two.synchronize();
  }
  two.fill(2);
  two.wait(1, late);
  for (uint32_t r = 0; r < 2; ++r)
    two.dispatch(r);
  two.synchronize();
  OperationResult result = take(two.operation->result(1, two.ranks[1].stream, KernelKind::dispatch));
  if (result.peerLost) {
    EXPECT_EQ(result.lost, 1u);
    return true;
  }
  EXPECT_EQ(result.received, 2 * TwoRanks::tokens);
  EXPECT_EQ(two.landed(1, take(two.operation->landed(1, 0)).rows), two.bothRows()) << late << " ns late";
  return false;
}

// Just when rank 0's CTAs are about to give up, some of them find rank 1 and others do not.
void expectAllRowsOrALoss(KernelOrigin kernels) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    uint64_t early = 0, late = 2 * timeout;
    EXPECT_FALSE(isTold(seed, kernels, early));
    EXPECT_TRUE(isTold(seed, kernels, late));
    while (late - early > 8)
      (isTold(seed, kernels, (early + late) / 2) ? late : early) = (early + late) / 2;
    for (uint64_t around = early - 400; around < early + 400; around += 8)
      isTold(seed, kernels, around);
  }
}

TEST(GivenUp, ALatePeerGetsAllRowsOrIsTold) { expectAllRowsOrALoss(KernelOrigin::generated); }

TEST(GivenUp, ALatePeerOfKernelsFromSourceToo) {
  if (auto nvrtc = Nvrtc::find({}); !nvrtc)
    GTEST_SKIP() << nvrtc.error().message;
  expectAllRowsOrALoss(KernelOrigin::source);
}

} // namespace
