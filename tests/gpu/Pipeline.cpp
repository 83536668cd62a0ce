// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Enqueues first, compares last: reading pageable memory back would make the host wait in between.
#include "tests/gpu/Pipeline.h"

#include "runtime/Ops/Reference.h"
#include "runtime/Ops/TestRows.h"

#include <gtest/gtest.h>

namespace interlock::test {

namespace {
void expectDone(const Status &status) { EXPECT_TRUE(status) << status.error().message; }
} // namespace

std::unique_ptr<Pipeline> Pipeline::create(Driver &driver, KernelCache &cache, const PipelineOptions &options) {
  auto operation = Operation::create(driver, cache, options.layer, options.operation);
  EXPECT_TRUE(operation) << operation.error().message;
  if (!operation)
    return nullptr;
  std::unique_ptr<Pipeline> made(new Pipeline(driver, std::move(*operation), options));
  Status status = made->allocate();
  EXPECT_TRUE(status) << status.error().message;
  return status ? std::move(made) : nullptr;
}

Pipeline::~Pipeline() {
  for (StreamId stream : streams)
    (void)driver.destroyStream(stream);
}

Status Pipeline::upload(uint32_t rank, Tensors &mine) {
  StreamId stream = streams[rank];
  size_t entries = mine.routing.ids.size() * sizeof(int32_t);
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, mine.x.address(), mine.hostX.data(), mine.hostX.size()));
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, mine.ids.address(), mine.routing.ids.data(), entries));
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, mine.weights.address(), mine.routing.weights.data(), entries));
  return driver.synchronize(stream);
}

Status Pipeline::allocate() {
  const LayerSpec &layer = options.layer;
  for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
    ILK_ASSIGN_OR_RETURN(StreamId stream, driver.createStream(operation.device(rank)));
    streams.push_back(stream);
    for (uint32_t buffer = 0; buffer < 2; ++buffer) { // the experts copy whole regions, written or not
      ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(rank, buffer));
      ILK_RETURN_IF_ERROR(
          driver.fill(stream, landed.rows, 0, uint64_t(layer.ranks) * layer.rowsPerSource() * landed.rowStride));
    }
  }
  tensors.resize(options.steps);
  for (uint32_t step = 0; step < options.steps; ++step) {
    RoutingOptions routing;
    routing.seed = options.seed;
    ILK_ASSIGN_OR_RETURN(auto made, makeRouting(layer, routing, options.tokens, step));
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      Tensors &mine = tensors[step].emplace_back();
      uint32_t device = operation.device(rank);
      mine.routing = std::move(made[rank]);
      mine.hostX.resize(options.tokens[rank] * rowBytes(layer));
      fillTestRows(layer.dtype, options.seed, step, rank, mine.hostX);
      size_t entries = mine.routing.ids.size() * sizeof(int32_t);
      ILK_ASSIGN_OR_RETURN(mine.x, DeviceBuffer::create(driver, device, mine.hostX.size()));
      ILK_ASSIGN_OR_RETURN(mine.out, DeviceBuffer::create(driver, device, mine.hostX.size()));
      ILK_ASSIGN_OR_RETURN(mine.ids, DeviceBuffer::create(driver, device, entries));
      ILK_ASSIGN_OR_RETURN(mine.weights, DeviceBuffer::create(driver, device, entries));
      ILK_RETURN_IF_ERROR(upload(rank, mine));
    }
  }
  return {};
}

void Pipeline::dispatch(uint32_t rank, uint32_t step) {
  Tensors &mine = tensors[step][rank];
  auto handle = operation.dispatch(
      rank, streams[rank], {mine.x.address(), 0, mine.ids.address(), mine.weights.address(), options.tokens[rank]});
  ASSERT_TRUE(handle) << handle.error().message;
  mine.handle = std::move(*handle);
  auto landed = operation.landed(*mine.handle);
  ASSERT_TRUE(landed) << landed.error().message;
  uint64_t rows = uint64_t(options.layer.ranks) * options.layer.rowsPerSource();
  expectDone(driver.copy(streams[rank], landed->expertOut, landed->rows, rows * landed->rowStride));
}

void Pipeline::combine(uint32_t rank, uint32_t step) {
  Tensors &mine = tensors[step][rank];
  ASSERT_TRUE(mine.handle);
  expectDone(operation.combine(rank, streams[rank], *mine.handle,
                               {mine.out.address(), 0, mine.weights.address(), options.tokens[rank]}));
}

void Pipeline::expectRight() {
  for (StreamId stream : streams)
    expectDone(driver.synchronize(stream));
  const LayerSpec &layer = options.layer;
  uint64_t row = rowBytes(layer);
  for (uint32_t step = 0; step < options.steps; ++step) {
    std::vector<SourceTokens> sources;
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      const Tensors &mine = tensors[step][rank];
      sources.push_back({options.tokens[rank], mine.hostX, {}, mine.routing.ids, mine.routing.weights});
    }
    auto expected = referenceDispatch(layer, sources);
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      std::vector<std::byte> out(tensors[step][rank].hostX.size());
      expectDone(driver.copyOut(streams[rank], out.data(), tensors[step][rank].out.address(), out.size()));
      expectDone(driver.synchronize(streams[rank]));
      auto rows = [&](uint32_t at, uint32_t slot, uint32_t) -> const std::byte * {
        return &tensors[step][rank].hostX[expected[at].landed[rank][slot] * row];
      };
      auto combined = referenceCombine(layer, sources[rank], expected[rank].slots, true, rows);
      EXPECT_TRUE(combined.out == out) << "step " << step << ", rank " << rank;
    }
  }
}

} // namespace interlock::test
