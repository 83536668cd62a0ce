// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The operation object: what it refuses, and that a refusal launches and allocates nothing.
#include "interlock/operation.hpp"

#include "FakeKernels.h"
#include "ProtocolDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace interlock;
using test::ProtocolDriver;
using testing::HasSubstr;

namespace {

LayerSpec someLayer(uint32_t ranks = 2) {
  LayerSpec layer;
  layer.ranks = ranks;
  layer.experts = 4 * ranks;
  layer.topk = 2;
  layer.hidden = 8;
  layer.maxTokens = 4;
  return layer;
}

/// An operation of `ranks` ranks with tensors of zeros: every token goes to expert 0.
struct Fixture {
  ProtocolDriver driver{1};
  test::FakeKernels kernels;
  std::optional<Operation> operation;
  std::vector<StreamId> streams;
  DispatchArguments arguments;
  CombineArguments results;

  explicit Fixture(uint32_t ranks = 2) {
    auto created = Operation::create(driver, kernels.cache(), someLayer(ranks));
    EXPECT_TRUE(created) << created.error().message;
    operation.emplace(std::move(*created));
    for (uint32_t rank = 0; rank < ranks; ++rank)
      streams.push_back(*driver.createStream(0));
    arguments = {zeros(), 0, zeros(), zeros(), 3};
    results = {zeros(), zeros(), 0, 3};
  }
  DeviceAddress zeros() {
    DeviceAddress address = *driver.allocate(0, 4096);
    EXPECT_TRUE(driver.fill(streams.empty() ? *driver.createStream(0) : streams[0], address, 0, 4096));
    return address;
  }
  RoutingHandle dispatch(uint32_t rank = 0) {
    auto handle = operation->dispatch(rank, streams[rank], arguments);
    EXPECT_TRUE(handle) << handle.error().message;
    return std::move(*handle);
  }
  std::string combineError(uint32_t rank, RoutingHandle &handle, CombineArguments given) {
    uint64_t before = driver.launches;
    Status status = operation->combine(rank, streams[rank], handle, given);
    EXPECT_EQ(driver.launches, before + (status ? 1 : 0));
    EXPECT_TRUE(status || status.error().code == Code::badInput);
    return status ? "" : status.error().message;
  }
  std::string dispatchError(DispatchArguments given) {
    uint64_t before = driver.launches;
    auto handle = operation->dispatch(0, streams[0], given);
    EXPECT_EQ(driver.launches, before + (handle ? 1 : 0));
    return handle ? "" : handle.error().message;
  }
};

TEST(Operation, AHandleIsTakenOnce) {
  for (uint32_t ranks : {2u, 8u, 16u, 32u, 64u}) {
    Fixture f(ranks);
    RoutingHandle handle = f.dispatch();
    EXPECT_EQ(f.combineError(0, handle, f.results), "");
    EXPECT_THAT(f.combineError(0, handle, f.results), HasSubstr("not combined before"));
  }
}

TEST(Operation, AHandleOfAnotherRankOperationOrCountIsRefused) {
  for (uint32_t ranks : {2u, 8u, 16u, 32u, 64u}) {
    Fixture f(ranks), other(ranks);
    RoutingHandle handle = f.dispatch(0), foreign = other.dispatch(0);
    EXPECT_THAT(f.combineError(1, handle, f.results), HasSubstr("rank 1, got one of rank 0"));
    EXPECT_THAT(f.combineError(0, foreign, f.results), HasSubstr("of this operation"));
    CombineArguments fewer = f.results;
    fewer.tokens = 2;
    EXPECT_THAT(f.combineError(0, handle, fewer), HasSubstr("expected 3 tokens"));
    EXPECT_EQ(f.combineError(0, handle, f.results), "");
  }
}

TEST(Operation, AMovedHandleIsRefused) {
  Fixture f;
  RoutingHandle handle = f.dispatch(), taken = std::move(handle);
  EXPECT_THAT(f.combineError(0, handle, f.results), HasSubstr("moved away"));
  EXPECT_EQ(f.combineError(0, taken, f.results), "");
}

TEST(Operation, TwoStepsMayBeInFlightAndEndInAnyOrder) {
  Fixture f;
  RoutingHandle first = f.dispatch(), second = f.dispatch();
  EXPECT_EQ(first.step(), 0u);
  EXPECT_EQ(second.step(), 1u);
  EXPECT_NE(first.slots(), second.slots());
  EXPECT_THAT(f.dispatchError(f.arguments), HasSubstr("at most 2 steps in flight"));
  EXPECT_EQ(f.combineError(0, second, f.results), "");
  EXPECT_THAT(f.dispatchError(f.arguments), HasSubstr("step 0 of rank 0"));
  EXPECT_EQ(f.combineError(0, first, f.results), "");
  EXPECT_EQ(f.dispatchError(f.arguments), "");
}

TEST(Operation, ADroppedHandleGivesItsStepUp) {
  Fixture f;
  for (int i = 0; i < 5; ++i)
    f.dispatch();
}

TEST(Operation, BadArgumentsLaunchNothing) {
  Fixture f;
  auto with = [&](auto change) {
    DispatchArguments arguments = f.arguments;
    change(arguments);
    return f.dispatchError(arguments);
  };
  EXPECT_THAT(with([](auto &a) { a.tokens = 5; }), HasSubstr("at most 4 tokens"));
  EXPECT_THAT(with([](auto &a) { a.x = 0; }), HasSubstr("device pointer for x"));
  EXPECT_THAT(with([](auto &a) { a.x += 8; }), HasSubstr("multiple of 16"));
  EXPECT_THAT(with([](auto &a) { a.ids += 2; }), HasSubstr("ids at a multiple of 4"));
  EXPECT_THAT(with([](auto &a) { a.weights = 0; }), HasSubstr("weights"));
  EXPECT_FALSE(f.operation->dispatch(2, f.streams[0], f.arguments));
  EXPECT_EQ(f.dispatchError({}), ""); // no tokens, no pointers

  RoutingHandle handle = f.dispatch();
  CombineArguments results = f.results;
  results.out += 4;
  EXPECT_THAT(f.combineError(0, handle, results), HasSubstr("out at a multiple of 16"));
}

TEST(Operation, BadOptionsAreRefusedBeforeMemoryIsTaken) {
  ProtocolDriver driver(1);
  test::FakeKernels kernels;
  auto refused = [&](const LayerSpec &layer, const OperationOptions &options) {
    auto operation = Operation::create(driver, kernels.cache(), layer, options);
    EXPECT_FALSE(operation);
    EXPECT_EQ(driver.allocations(), 0u);
    return operation ? "" : operation.error().message;
  };
  LayerSpec layer = someLayer();
  layer.topk = 33;
  refused(layer, {});
  OperationOptions options;
  options.timeoutNs = 0;
  EXPECT_THAT(refused(someLayer(), options), HasSubstr("time limit"));
  options = {};
  options.cluster = 3;
  refused(someLayer(), options);
  options.cluster = 4;
  options.dispatch.grid = 6;
  EXPECT_THAT(refused(someLayer(), options), HasSubstr("whole clusters of 4 CTAs, got 6"));
}

TEST(Operation, EverythingIsReleased) {
  ProtocolDriver driver(3);
  test::FakeKernels kernels;
  {
    auto operation = Operation::create(driver, kernels.cache(), someLayer(5));
    ASSERT_TRUE(operation) << operation.error().message;
    EXPECT_EQ(operation->device(4), 1u);
    EXPECT_GT(driver.allocations(), 0u);
    Operation moved = std::move(*operation);
  }
  EXPECT_EQ(driver.allocations(), 0u);
}

TEST(Operation, TheKernelsSayWhereTheyCameFrom) {
  ProtocolDriver driver(1);
  test::FakeKernels kernels;
  auto first = Operation::create(driver, kernels.cache(), someLayer());
  auto second = Operation::create(driver, kernels.cache(), someLayer());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->kernel(KernelKind::dispatch).outcome, "miss");
  EXPECT_NE(first->kernel(KernelKind::dispatch).reason, "");
  EXPECT_EQ(second->kernel(KernelKind::combine).outcome, "memory");
}

} // namespace
