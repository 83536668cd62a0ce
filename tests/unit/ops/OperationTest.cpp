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
using testing::AllOf;
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

  explicit Fixture(uint32_t ranks = 2, bool ownInPlace = false) {
    LayerSpec layer = someLayer(ranks);
    layer.ownInPlace = ownInPlace;
    auto created = Operation::create(driver, kernels.cache(), layer);
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

TEST(Operation, OwnRowsInPlaceMustBeInTheirPlace) {
  Fixture copied;
  auto none = copied.operation->ownRows(0, 0);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("a layer with ownInPlace"));

  Fixture f(2, true);
  ASSERT_TRUE(f.operation);
  EXPECT_FALSE(f.operation->ownRows(2, 0));
  EXPECT_FALSE(f.operation->ownRows(0, 2));
  EXPECT_THAT(f.dispatchError(f.arguments), HasSubstr("to be its ownRows for buffer 0"));
  EXPECT_EQ(f.dispatchError({}), ""); // no tokens: they lie nowhere
  DispatchArguments arguments = f.arguments;
  arguments.x = *f.operation->ownRows(0, 0); // the first step's, but this is the second one
  EXPECT_THAT(f.dispatchError(arguments), HasSubstr("to be its ownRows for buffer 1"));
  arguments.x = *f.operation->ownRows(0, 1);
  EXPECT_EQ(f.dispatchError(arguments), "");
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
  layer = someLayer();
  layer.ranks = 65; // a bit each in 64
  EXPECT_THAT(refused(layer, {}), HasSubstr("ranks from 1 to 64, got 65"));
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

// Ranks on one device wait for each other; a rank alone on its device waits for nobody there.
TEST(Operation, RanksThatShareADeviceMustFitIt) {
  test::FakeKernels kernels;
  OperationOptions options;
  options.dispatch.grid = 3;
  options.combine.grid = 6;
  auto create = [&](uint32_t devices, uint32_t room) {
    ProtocolDriver driver(devices);
    driver.room = room;
    auto operation = Operation::create(driver, kernels.cache(), someLayer(2), options);
    return operation ? std::string() : operation.error().message;
  };
  EXPECT_EQ(create(1, 12), "");
  EXPECT_THAT(create(1, 11), AllOf(HasSubstr("2 ranks that share device 0"), HasSubstr("a combine grid"),
                                   HasSubstr("got 6 CTAs each, and it holds 11 in all: at most 5 each would do")));
  EXPECT_THAT(create(1, 5), AllOf(HasSubstr("a dispatch grid"), HasSubstr("at most 2 each would do")));
  EXPECT_THAT(create(1, 1), HasSubstr("fewer ranks on it would do"));
  EXPECT_EQ(create(2, 1), "");
}

// What a template asks of its launch is derived, and granted.
TEST(Operation, AKernelThatNeedsItsWholeGridIsLaunchedCooperatively) {
  for (LaunchMode mode : {LaunchMode::peers, LaunchMode::cooperative}) {
    ProtocolDriver driver(2);
    test::FakeKernels kernels(mode);
    auto operation = Operation::create(driver, kernels.cache(), someLayer(2));
    ASSERT_TRUE(operation) << operation.error().message;
    StreamId stream = *driver.createStream(0);
    auto handle = operation->dispatch(0, stream, {});
    ASSERT_TRUE(handle) << handle.error().message;
    EXPECT_EQ(driver.last.cooperative, mode == LaunchMode::cooperative);
    ASSERT_TRUE(operation->combine(0, stream, *handle, {}));
    EXPECT_EQ(driver.last.cooperative, mode == LaunchMode::cooperative);
  }
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
