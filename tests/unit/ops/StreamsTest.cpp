// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which driver calls an operation makes, and on which streams: a step is what a capture can take and no more, and no
// work runs on a stream that the caller cannot order.
#include "interlock/operation.hpp"

#include "FakeKernels.h"
#include "ProtocolDriver.h"
#include "runtime/Driver/ForwardingDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace interlock;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Remembers what else was asked than to enqueue, and the streams that work was enqueued on.
class Watching final : public ForwardingDriver {
public:
  Watching() : ForwardingDriver(std::make_shared<test::ProtocolDriver>(2)) {}

  std::vector<std::string> others;
  std::set<StreamId> enqueuedOn; ///< and not waited for since

  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override {
    others.push_back("allocate");
    return below->allocate(device, bytes);
  }
  Status release(DeviceAddress address) override {
    others.push_back("release");
    return below->release(address);
  }
  Result<WindowId> createWindow(uint32_t device, size_t bytes, WindowSharing sharing) override {
    others.push_back("createWindow");
    return below->createWindow(device, bytes, sharing);
  }
  Result<DeviceAddress> mapWindows(std::span<const WindowId> windows) override {
    others.push_back("mapWindows");
    return below->mapWindows(windows);
  }
  Result<StreamId> createStream(uint32_t device) override {
    others.push_back("createStream");
    return below->createStream(device);
  }
  Result<StreamId> createUrgentStream(uint32_t device) override {
    others.push_back("createUrgentStream");
    return below->createUrgentStream(device);
  }
  Status destroyStream(StreamId stream) override {
    others.push_back("destroyStream");
    enqueuedOn.erase(stream);
    return below->destroyStream(stream);
  }
  Status synchronize(StreamId stream) override {
    others.push_back("synchronize");
    enqueuedOn.erase(stream);
    return below->synchronize(stream);
  }
  Result<bool> isIdle(StreamId stream) override {
    others.push_back("isIdle");
    return below->isIdle(stream);
  }
  Result<KernelId> load(uint32_t device, const KernelImage &image) override {
    others.push_back("load");
    return below->load(device, image);
  }
  Status unload(KernelId kernel) override {
    others.push_back("unload");
    return below->unload(kernel);
  }
  Result<uint32_t> residentCtas(KernelId kernel, const LaunchConfig &config) override {
    others.push_back("residentCtas");
    return below->residentCtas(kernel, config);
  }

  Status copyIn(StreamId stream, DeviceAddress to, const void *from, size_t bytes) override {
    enqueuedOn.insert(stream);
    return below->copyIn(stream, to, from, bytes);
  }
  Status copyOut(StreamId stream, void *to, DeviceAddress from, size_t bytes) override {
    enqueuedOn.insert(stream);
    return below->copyOut(stream, to, from, bytes);
  }
  Status copy(StreamId stream, DeviceAddress to, DeviceAddress from, size_t bytes) override {
    enqueuedOn.insert(stream);
    return below->copy(stream, to, from, bytes);
  }
  Status fill(StreamId stream, DeviceAddress to, uint8_t value, size_t bytes) override {
    enqueuedOn.insert(stream);
    return below->fill(stream, to, value, bytes);
  }
  Status launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                std::span<const std::byte> params) override {
    enqueuedOn.insert(stream);
    return below->launch(stream, kernel, config, params);
  }
};

/// An operation with packing, and what its steps take; rank r runs on device r.
class Streams : public testing::Test {
protected:
  void SetUp() override {
    layer.ranks = 2;
    layer.experts = 8;
    layer.topk = 2;
    layer.hidden = 8;
    layer.maxTokens = 4;
    OperationOptions options;
    options.packing = PackingOptions{.alignment = 1, .capacity = 64};
    auto created = Operation::create(driver, kernels.cache(), layer, options);
    ASSERT_TRUE(created) << created.error().message;
    operation.emplace(std::move(*created));
  }
  /// Everything that a step consists of, on one stream.
  void step(uint32_t rank, StreamId stream, DeviceAddress tensor) {
    auto done = [](const Status &status) { EXPECT_TRUE(status) << status.error().message; };
    done(operation->leaveOut(rank, stream, 0));
    done(operation->forgetLost(rank, stream));
    auto handle = operation->dispatch(rank, stream, {tensor, 0, tensor, tensor, 3});
    ASSERT_TRUE(handle) << handle.error().message;
    EXPECT_TRUE(operation->landed(*handle));
    EXPECT_TRUE(operation->packed(*handle));
    done(operation->convertDispatchOutput(rank, stream, *handle, {.rows = tensor}));
    done(operation->convertCombineInput(rank, stream, *handle, {.rows = tensor}));
    done(operation->combine(rank, stream, *handle, {tensor, tensor, 0, 3}));
  }

  LayerSpec layer;
  Watching driver;
  test::FakeKernels kernels;
  std::optional<Operation> operation;
};

// What creating it enqueued has run when it returns: nothing of it is left that could come behind a caller's work.
TEST_F(Streams, B11CreatingAnOperationLeavesNothingUnderWay) {
  EXPECT_THAT(driver.others, Contains("createWindow"));
  EXPECT_THAT(driver.others, Contains("synchronize"));
  EXPECT_THAT(driver.enqueuedOn, IsEmpty());
}

// Whatever the caller has enqueued on the stream before precedes all of a step, and the step precedes what comes after.
TEST_F(Streams, B11AStepIsEnqueuedOnTheCallersStreamAlone) {
  DeviceAddress tensor = *driver.allocate(0, 4096);
  for (uint32_t rank : {0u, 1u})
    for (int again = 0; again < 3; ++again) {
      StreamId stream = *driver.createStream(rank);
      step(rank, stream, tensor);
      EXPECT_THAT(driver.enqueuedOn, ElementsAre(stream));
      ASSERT_TRUE(driver.destroyStream(stream));
    }
}

// B08: the first step ever is captured like any other, since nothing is left to be made for it.
TEST_F(Streams, B08ACapturedStepOnlyEnqueues) {
  DeviceAddress tensor = *driver.allocate(0, 4096);
  for (uint32_t rank : {0u, 1u}) {
    StreamId stream = *driver.createStream(rank);
    driver.others.clear();
    ASSERT_TRUE(driver.beginCapture(stream));
    step(rank, stream, tensor);
    EXPECT_THAT(driver.others, IsEmpty());
    auto graph = driver.endCapture(stream);
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_TRUE(driver.destroyGraph(*graph));
  }
}

} // namespace
