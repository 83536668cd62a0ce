// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Many steps with a random delay before every kernel, so that ranks overtake each other in every way that the protocol
// allows. Every element says which rank, step and token it is of: a row of another step, or of nobody, shows.
#include "tests/gpu/Device.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/Random.h"
#include "tests/peers/Delay.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

using namespace interlock;

namespace {

constexpr uint32_t tokens = 24, topk = 3, hidden = 32;

/// Element j of a row; every value is exact in f32, also summed over the ranks.
float tag(uint32_t rank, uint32_t step, uint32_t token, uint32_t j) {
  switch (j % 4) {
  case 0:
    return float(rank);
  case 1:
    return float(step);
  case 2:
    return float(token);
  default:
    return float(j);
  }
}

/// Mostly short or none, now and then as long as a slow step of an engine.
uint64_t drawDelay(Random &random) {
  uint32_t kind = random.below(64);
  if (kind == 0)
    return random.below(2'000'000);
  if (kind <= 20)
    return random.below(60'000);
  return kind <= 40 ? random.below(5'000) : 0;
}

struct Rank {
  StreamId stream{};
  KernelId delay{};
  DeviceBuffer x, ids, weights, out, landed, counts;
  std::vector<float> hostX, hostOut, hostLanded;
  std::vector<int32_t> hostIds;
  std::vector<uint32_t> hostCounts;
};

class Soak {
public:
  Soak(Driver &driver, Operation operation, uint32_t batch)
      : driver(driver), operation(std::move(operation)), batch(batch), ranks(this->operation.layer().ranks) {}
  ~Soak() {
    for (Rank &rank : ranks) {
      (void)driver.destroyStream(rank.stream);
      (void)driver.unload(rank.delay);
    }
  }

  Status allocate() {
    size_t rows = size_t(batch) * tokens, landedRows = rows * ranks.size();
    for (uint32_t r = 0; r < ranks.size(); ++r) {
      Rank &rank = ranks[r];
      uint32_t device = operation.device(r);
      ILK_ASSIGN_OR_RETURN(rank.stream, driver.createStream(device));
      ILK_ASSIGN_OR_RETURN(rank.delay, driver.load(device, {test::delayPtx, {}, "delay"}));
      rank.hostX.resize(rows * hidden);
      rank.hostOut.resize(rows * hidden);
      rank.hostLanded.resize(landedRows * hidden);
      rank.hostIds.resize(rows * topk);
      rank.hostCounts.resize(batch * ranks.size());
      ILK_ASSIGN_OR_RETURN(rank.x, DeviceBuffer::create(driver, device, rank.hostX.size() * 4));
      ILK_ASSIGN_OR_RETURN(rank.out, DeviceBuffer::create(driver, device, rank.hostOut.size() * 4));
      ILK_ASSIGN_OR_RETURN(rank.landed, DeviceBuffer::create(driver, device, rank.hostLanded.size() * 4));
      ILK_ASSIGN_OR_RETURN(rank.ids, DeviceBuffer::create(driver, device, rank.hostIds.size() * 4));
      ILK_ASSIGN_OR_RETURN(rank.weights, DeviceBuffer::create(driver, device, rank.hostIds.size() * 4));
      ILK_ASSIGN_OR_RETURN(rank.counts, DeviceBuffer::create(driver, device, rank.hostCounts.size() * 4));
      ILK_RETURN_IF_ERROR(driver.fill(rank.stream, rank.weights.address(), 0, rank.hostIds.size() * 4));
    }
    return {};
  }

  /// Steps [first, first + batch), enqueued without a wait in between.
  Status run(uint32_t first, Random &random) {
    for (uint32_t r = 0; r < ranks.size(); ++r)
      ILK_RETURN_IF_ERROR(upload(r, first, random));
    for (uint32_t step = 0; step < batch; ++step)
      for (uint32_t r = 0; r < ranks.size(); ++r)
        ILK_RETURN_IF_ERROR(enqueue(r, step, random));
    for (Rank &rank : ranks) {
      ILK_RETURN_IF_ERROR(download(rank, rank.out, rank.hostOut));
      ILK_RETURN_IF_ERROR(download(rank, rank.landed, rank.hostLanded));
      ILK_RETURN_IF_ERROR(download(rank, rank.counts, rank.hostCounts));
      ILK_RETURN_IF_ERROR(driver.synchronize(rank.stream));
    }
    return {};
  }

  void expectRight(uint32_t first) const {
    for (uint32_t step = 0; step < batch && !testing::Test::HasFailure(); ++step)
      for (uint32_t r = 0; r < ranks.size(); ++r) {
        SCOPED_TRACE("step " + std::to_string(first + step) + ", rank " + std::to_string(r));
        for (uint32_t source = 0; source < ranks.size(); ++source)
          expectLanded(r, source, step, first + step);
        expectCombined(r, step, first + step);
      }
  }

private:
  uint32_t owner(int32_t id) const { return uint32_t(id) / operation.layer().expertsPerRank(); }
  uint64_t destinations(uint32_t r, uint32_t step, uint32_t token) const {
    uint64_t mask = 0;
    for (uint32_t k = 0; k < topk; ++k)
      mask |= uint64_t(1) << owner(ranks[r].hostIds[(size_t(step) * tokens + token) * topk + k]);
    return mask;
  }
  template <typename T> Status download(Rank &rank, const DeviceBuffer &from, std::vector<T> &to) {
    return driver.copyOut(rank.stream, to.data(), from.address(), to.size() * sizeof(T));
  }

  Status upload(uint32_t r, uint32_t first, Random &random) {
    Rank &rank = ranks[r];
    for (size_t row = 0; row < size_t(batch) * tokens; ++row) {
      for (uint32_t j = 0; j < hidden; ++j)
        rank.hostX[row * hidden + j] = tag(r, first + uint32_t(row / tokens), uint32_t(row % tokens), j);
      for (uint32_t k = 0; k < topk; ++k)
        rank.hostIds[row * topk + k] = int32_t(random.below(operation.layer().experts));
    }
    ILK_RETURN_IF_ERROR(driver.copyIn(rank.stream, rank.x.address(), rank.hostX.data(), rank.hostX.size() * 4));
    return driver.copyIn(rank.stream, rank.ids.address(), rank.hostIds.data(), rank.hostIds.size() * 4);
  }

  Status delay(Rank &rank, Random &random) {
    uint64_t ns = drawDelay(random);
    return driver.launch(rank.stream, rank.delay, {}, std::as_bytes(std::span(&ns, 1)));
  }

  Status enqueue(uint32_t r, uint32_t step, Random &random) {
    Rank &rank = ranks[r];
    uint64_t row = uint64_t(step) * tokens, regionBytes = uint64_t(ranks.size()) * tokens * hidden * 4;
    ILK_RETURN_IF_ERROR(delay(rank, random));
    ILK_ASSIGN_OR_RETURN(RoutingHandle handle,
                         operation.dispatch(r, rank.stream,
                                            {rank.x.address() + row * hidden * 4, 0,
                                             rank.ids.address() + row * topk * 4, rank.weights.address(), tokens}));
    ILK_RETURN_IF_ERROR(delay(rank, random));
    ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(handle));
    ILK_RETURN_IF_ERROR(driver.copy(rank.stream, rank.landed.address() + step * regionBytes, landed.rows, regionBytes));
    ILK_RETURN_IF_ERROR(
        driver.copy(rank.stream, rank.counts.address() + step * ranks.size() * 4, landed.counts, ranks.size() * 4));
    ILK_RETURN_IF_ERROR(driver.copy(rank.stream, landed.expertOut, landed.rows, regionBytes));
    ILK_RETURN_IF_ERROR(delay(rank, random));
    return operation.combine(r, rank.stream, handle, {rank.out.address() + row * hidden * 4, 0, 0, tokens});
  }

  void expectRow(const float *row, uint32_t rank, uint32_t step, uint32_t token, float times) const {
    for (uint32_t j = 0; j < hidden; ++j)
      if (row[j] != times * tag(rank, step, token, j)) {
        ADD_FAILURE() << "token " << token << " of rank " << rank << ", element " << j << ": expected "
                      << times * tag(rank, step, token, j) << ", got " << row[j];
        return;
      }
  }

  void expectLanded(uint32_t r, uint32_t source, uint32_t step, uint32_t number) const {
    const Rank &rank = ranks[r];
    const float *rows = &rank.hostLanded[(size_t(step) * ranks.size() + source) * tokens * hidden];
    uint32_t slot = 0;
    for (uint32_t token = 0; token < tokens; ++token)
      if (destinations(source, step, token) >> r & 1)
        expectRow(rows + size_t(slot++) * hidden, source, number, token, 1);
    EXPECT_EQ(rank.hostCounts[step * ranks.size() + source], slot) << "from rank " << source;
  }

  void expectCombined(uint32_t r, uint32_t step, uint32_t number) const {
    for (uint32_t token = 0; token < tokens; ++token)
      expectRow(&ranks[r].hostOut[(size_t(step) * tokens + token) * hidden], r, number, token,
                float(std::popcount(destinations(r, step, token))));
  }

  Driver &driver;
  Operation operation;
  uint32_t batch;
  std::vector<Rank> ranks;
};

class GpuSoak : public test::GpuTest {
protected:
  void run(uint32_t count, uint32_t steps) {
    LayerSpec layer;
    layer.ranks = count;
    layer.experts = 4 * count;
    layer.topk = topk;
    layer.hidden = hidden;
    layer.dtype = layer.combineDType = DType::f32;
    layer.maxTokens = tokens;
    OperationOptions options;
    options.dispatch = options.combine = {2, 64, 4};
    options.timeoutNs = 10'000'000'000;
    auto operation = Operation::create(*test::device(), test::sharedCache(), layer, options);
    ASSERT_TRUE(operation) << operation.error().message;
    uint32_t batch = std::min(steps, 50u);
    Soak soak(*test::device(), std::move(*operation), batch);
    Status made = soak.allocate();
    ASSERT_TRUE(made) << made.error().message;
    Random random(count);
    for (uint32_t first = 0; first < steps && !HasFailure(); first += batch) {
      Status ran = soak.run(first, random);
      ASSERT_TRUE(ran) << ran.error().message;
      soak.expectRight(first);
    }
  }
};

// About ten seconds on a GPU: each step's delays are 20 microseconds in the mean.
TEST_F(GpuSoak, TenThousandStepsOfTwoRanks) { run(2, test::onGpu() ? 10'000 : 12); }
TEST_F(GpuSoak, AThousandStepsOfFourRanks) { run(4, test::onGpu() ? 1'000 : 6); }

// Operations come and go in another order than they came in.
TEST_F(GpuSoak, OperationsGoInAnyOrder) {
  LayerSpec layer;
  layer.ranks = 2;
  layer.experts = 8;
  layer.topk = 2;
  layer.hidden = 256;
  layer.maxTokens = 16;
  for (uint32_t round = 0; round < (test::onGpu() ? 50u : 3u); ++round) {
    std::vector<std::optional<Operation>> operations;
    for (int i = 0; i < 3; ++i) {
      auto made = Operation::create(*test::device(), test::sharedCache(), layer);
      ASSERT_TRUE(made) << made.error().message;
      operations.emplace_back(std::move(*made));
    }
    for (uint32_t i = 0; i < 3; ++i)
      operations[(i * 2 + round) % 3].reset();
  }
}

} // namespace
