// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Every kernel that a deployment can ask for is enumerated: after a prewarm nothing is ever missing (corpus A18).
#include "interlock/prepare.hpp"

#include "FakeKernels.h"
#include "ProtocolDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace interlock;
using test::ProtocolDriver;
using testing::HasSubstr;

namespace {

LayerSpec layerOf(uint32_t ranks, uint32_t tokens, DType dtype = DType::bf16) {
  LayerSpec layer;
  layer.ranks = ranks;
  layer.experts = 4 * ranks;
  layer.topk = 2;
  layer.hidden = 64;
  layer.maxTokens = tokens;
  layer.dtype = dtype;
  layer.combineDType = dtype == DType::f8e4m3fn ? DType::bf16 : dtype;
  return layer;
}

Deployment deploymentOf(const DeviceInfo &device) {
  Deployment deployment;
  for (uint32_t ranks : {2, 4, 8})
    for (uint32_t tokens : {1, 16, 300})
      for (DType dtype : {DType::bf16, DType::f8e4m3fn})
        deployment.layers.push_back(layerOf(ranks, tokens, dtype));
  deployment.devices.clear();
  for (uint32_t sharing : {1, 2, 4, 8})
    deployment.devices.push_back({device.target, device.multiprocessors, sharing});
  OperationOptions claimed, clusters;
  claimed.schedule = Schedule::claimed;
  clusters.cluster = 4;
  deployment.options = {{}, claimed, clusters};
  return deployment;
}

TEST(Enumerate, A18NothingIsMissingAfterAPrewarm) {
  ProtocolDriver driver(2);
  Deployment deployment = deploymentOf(*driver.info(0));
  auto kernels = enumerateKernels(deployment);
  ASSERT_TRUE(kernels) << kernels.error().message;
  test::FakeKernels fake;
  KernelCache &cache = fake.cache();
  PrewarmReport report = prewarm(cache, *kernels);
  EXPECT_EQ(report.compiled, kernels->size());
  EXPECT_TRUE(report.failures.empty());
  freeze(cache);
  for (const LayerSpec &layer : deployment.layers)
    for (const OperationOptions &options : deployment.options) {
      auto operation = Operation::create(driver, cache, layer, options);
      ASSERT_TRUE(operation) << operation.error().message;
      EXPECT_EQ(operation->kernel(KernelKind::dispatch).outcome, "memory");
    }
  EXPECT_EQ(interlock::report(cache).counters.refused, 0u);
  // And a layer that is no part of it is refused, so the test can fail.
  auto other = Operation::create(driver, cache, layerOf(2, 17));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::notPrepared);
}

// A kernel serves every number of tokens up to the layer's: a trace of steps asks for nothing more.
TEST(Enumerate, A18AStepAsksForNoKernel) {
  ProtocolDriver driver(1);
  test::FakeKernels fake;
  KernelCache &cache = fake.cache();
  auto operation = Operation::create(driver, cache, layerOf(2, 16));
  ASSERT_TRUE(operation) << operation.error().message;
  freeze(cache);
  StreamId stream = *driver.createStream(0);
  DeviceAddress zeros = *driver.allocate(0, 1 << 16);
  ASSERT_TRUE(driver.fill(stream, zeros, 0, 1 << 16));
  CacheCounters before = report(cache).counters;
  for (uint32_t step = 0; step < 10'000; ++step) {
    uint32_t tokens = step % 17;
    auto handle = operation->dispatch(0, stream, {zeros, 0, zeros, zeros, tokens});
    ASSERT_TRUE(handle) << handle.error().message;
    ASSERT_TRUE(operation->combine(0, stream, *handle, {zeros, 0, 0, tokens}));
  }
  CacheCounters after = report(cache).counters;
  EXPECT_EQ(after.misses, before.misses);
  EXPECT_EQ(after.memoryHits, before.memoryHits) << "not even a lookup";
}

TEST(Enumerate, EachKernelOnce) {
  Deployment deployment;
  deployment.layers = {layerOf(2, 16), layerOf(2, 16)};
  deployment.devices = {{"sm_90a", 132, 1}, {"sm_90a", 132, 1}, {"sm_100a", 148, 1}};
  auto kernels = enumerateKernels(deployment);
  ASSERT_TRUE(kernels);
  std::set<std::string> forms;
  for (const KernelSpec &kernel : *kernels)
    forms.insert(canonicalForm(kernel));
  EXPECT_EQ(forms.size(), kernels->size());
  EXPECT_EQ(kernels->size(), 4u) << "dispatch and combine for two chips";
}

TEST(Enumerate, PackingBringsItsKernels) {
  Deployment deployment;
  deployment.layers = {layerOf(2, 16)};
  deployment.options[0].packing = PackingOptions{};
  auto kernels = enumerateKernels(deployment);
  ASSERT_TRUE(kernels) << kernels.error().message;
  std::set<KernelKind> kinds;
  for (const KernelSpec &kernel : *kernels)
    kinds.insert(kernel.kernel);
  EXPECT_EQ(kinds.size(), 5u);
  deployment.options[0].packing->alignment = 0;
  EXPECT_THAT(enumerateKernels(deployment).error().message, HasSubstr("a multiple of 1 to 65536, got 0"));
}

TEST(Enumerate, WhatCannotBeIsRefused) {
  Deployment deployment;
  deployment.layers = {layerOf(2, 16)};
  deployment.devices = {{"sm_70", 80, 1}};
  EXPECT_THAT(enumerateKernels(deployment).error().message, HasSubstr("sm_70"));
  deployment.devices = {{"sm_80", 108, 1}};
  deployment.options[0].cluster = 2;
  EXPECT_THAT(enumerateKernels(deployment).error().message, HasSubstr("sm_80"));
  deployment.layers[0].topk = 33;
  EXPECT_THAT(enumerateKernels(deployment).error().message, HasSubstr("33"));
  EXPECT_TRUE(enumerateKernels({})->empty());
}

} // namespace
