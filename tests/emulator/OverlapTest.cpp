// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Many steps enqueued at once: nothing but the kernels' own signals keeps a fast rank from writing over what a slow one
// still reads. Every step has its own rows, so that a row of another step shows.
#include "EndToEnd.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/Reference.h"
#include "runtime/Ops/TestRows.h"

#include <cstring>

using namespace interlock;
using test::expectDone;
using test::take;

namespace {

/// One rank's tensors of one step.
struct StepTensors {
  std::vector<std::byte> hostX, hostOut;
  TokenRouting routing;
  DeviceBuffer x, ids, weights, out;
};

/// Runs all steps without a wait on the host; with `twoInFlight`, step n+1 is dispatched before step n is combined.
void runOverlapped(uint64_t seed, bool twoInFlight, uint32_t devices) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  LayerSpec layer;
  layer.ranks = 3;
  layer.experts = 12;
  layer.topk = 3;
  layer.hidden = 32;
  layer.maxTokens = 9;
  constexpr uint32_t steps = 6;
  EmulatorOptions machine;
  machine.devices = devices;
  machine.seed = seed;
  auto driver = take(openEmulator(machine));
  OperationOptions options;
  options.dispatch = options.combine = {2, 64, 2};
  Operation operation = take(Operation::create(*driver, test::sharedCache(), layer, options));
  std::vector<uint32_t> tokens = {9, 4, 7};
  std::vector<StreamId> streams;
  std::vector<std::vector<StepTensors>> tensors(steps);
  uint64_t row = rowBytes(layer);

  for (uint32_t rank = 0; rank < layer.ranks; ++rank)
    streams.push_back(take(driver->createStream(operation.device(rank))));
  for (uint32_t step = 0; step < steps; ++step) {
    RoutingOptions routing;
    routing.seed = seed;
    auto ids = take(makeRouting(layer, routing, tokens, step));
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      StepTensors &mine = tensors[step].emplace_back();
      uint32_t device = operation.device(rank);
      mine.routing = ids[rank];
      mine.hostX.resize(tokens[rank] * row);
      mine.hostOut.resize(tokens[rank] * row);
      fillTestRows(layer.dtype, seed, step, rank, mine.hostX);
      size_t entries = mine.routing.ids.size() * sizeof(int32_t);
      mine.x = take(DeviceBuffer::create(*driver, device, mine.hostX.size()));
      mine.out = take(DeviceBuffer::create(*driver, device, mine.hostX.size()));
      mine.ids = take(DeviceBuffer::create(*driver, device, entries));
      mine.weights = take(DeviceBuffer::create(*driver, device, entries));
      expectDone(driver->copyIn(streams[rank], mine.x.address(), mine.hostX.data(), mine.hostX.size()));
      expectDone(driver->copyIn(streams[rank], mine.ids.address(), mine.routing.ids.data(), entries));
      expectDone(driver->copyIn(streams[rank], mine.weights.address(), mine.routing.weights.data(), entries));
    }
  }
  for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
    for (uint32_t buffer = 0; buffer < 2; ++buffer) { // what is copied below is whole regions, written or not
      LandedRows landed = take(operation.landed(rank, buffer));
      expectDone(driver->fill(streams[rank], landed.rows, 0, layer.ranks * layer.maxTokens * landed.rowStride));
    }
    expectDone(driver->synchronize(streams[rank]));
  }

  // The order of calls is the same on every rank; ranks are enqueued one after the other, so they start far apart.
  for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
    std::vector<std::optional<RoutingHandle>> handles(steps);
    auto dispatch = [&](uint32_t step) {
      StepTensors &mine = tensors[step][rank];
      handles[step] = take(operation.dispatch(
          rank, streams[rank], {mine.x.address(), 0, mine.ids.address(), mine.weights.address(), tokens[rank]}));
      LandedRows landed = take(operation.landed(*handles[step]));
      expectDone(
          driver->copy(streams[rank], landed.expertOut, landed.rows, layer.ranks * layer.maxTokens * landed.rowStride));
    };
    auto combine = [&](uint32_t step) {
      StepTensors &mine = tensors[step][rank];
      expectDone(operation.combine(rank, streams[rank], *handles[step],
                                   {mine.out.address(), 0, mine.weights.address(), tokens[rank]}));
      expectDone(driver->copyOut(streams[rank], mine.hostOut.data(), mine.out.address(), mine.hostOut.size()));
    };
    for (uint32_t step = 0; step < steps; ++step) {
      dispatch(step);
      if (!twoInFlight)
        combine(step);
      else if (step > 0)
        combine(step - 1);
    }
    if (twoInFlight)
      combine(steps - 1);
  }
  for (StreamId stream : streams)
    expectDone(driver->synchronize(stream));

  for (uint32_t step = 0; step < steps; ++step) {
    std::vector<SourceTokens> sources;
    for (uint32_t rank = 0; rank < layer.ranks; ++rank)
      sources.push_back({tokens[rank],
                         tensors[step][rank].hostX,
                         {},
                         tensors[step][rank].routing.ids,
                         tensors[step][rank].routing.weights});
    auto expected = referenceDispatch(layer, sources);
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      auto rows = [&](uint32_t at, uint32_t slot, uint32_t) -> const std::byte * {
        return &tensors[step][rank].hostX[expected[at].landed[rank][slot] * row];
      };
      auto combined = referenceCombine(layer, sources[rank], expected[rank].slots, true, rows);
      EXPECT_EQ(combined.out, tensors[step][rank].hostOut) << "step " << step << ", rank " << rank;
    }
  }
  for (StreamId stream : streams)
    expectDone(driver->destroyStream(stream));
}

TEST(Overlap, StepsFollowEachOtherWithoutTheHost) {
  for (uint64_t seed = 0; seed < 6; ++seed)
    runOverlapped(seed, false, 3);
}

TEST(Overlap, TwoStepsInFlight) {
  for (uint64_t seed = 0; seed < 6; ++seed)
    runOverlapped(seed, true, 3);
}

TEST(Overlap, RanksThatShareADevice) {
  for (uint64_t seed = 0; seed < 3; ++seed)
    runOverlapped(seed, seed % 2, 1);
}

} // namespace
