// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The runner of the end-to-end tests.
#include "EndToEnd.h"

#include "tests/peers/Peers.h"

namespace interlock::test {

PeerDevice peerDevice() { return {"emulator", ""}; }

EndToEndCase::EndToEndCase() {
  trip.layer.ranks = 4;
  trip.layer.experts = 16;
  trip.layer.topk = 4;
  trip.layer.hidden = 64;
  trip.tokens = {13, 0, 8, 21};
  trip.distinctExperts = true;
  trip.operation.dispatch = trip.operation.combine = {3, 64, 4};
  machine.devices = 0;
}

KernelCache &sharedCache() {
  static std::unique_ptr<KernelCache> cache = [] {
    CacheOptions options;
    options.compiler = makePluginCompiler({INTERLOCK_COMPILER_PLUGIN, {}});
    return KernelCache::open(std::move(options));
  }();
  return *cache;
}

Machine open(const EndToEndCase &each) {
  Machine result;
  EmulatorOptions options = each.machine;
  options.devices = options.devices ? options.devices : each.trip.layer.ranks;
  auto driver = openEmulator(options);
  EXPECT_TRUE(driver) << driver.error().message;
  if (!driver)
    return result;
  result.driver = std::move(*driver);
  auto trip = RoundTrip::create(*result.driver, sharedCache(), each.trip);
  EXPECT_TRUE(trip) << each.label << ": " << trip.error().message;
  if (trip)
    result.trip = std::make_unique<RoundTrip>(std::move(*trip));
  return result;
}

void expectClean(const Result<StepReport> &report) {
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->mismatches, 0u);
  for (const std::string &finding : report->findings)
    ADD_FAILURE() << finding;
}

void expectRight(const EndToEndCase &each) {
  SCOPED_TRACE(each.label);
  Machine machine = open(each);
  if (!machine.trip)
    return;
  for (uint32_t step = 0; step < each.steps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    auto routing = makeRouting(machine.trip->layer(), each.routing, machine.trip->tokens(), step);
    ASSERT_TRUE(routing) << routing.error().message;
    expectClean(machine.trip->step(*routing));
    if (testing::Test::HasFailure())
      return; // the later steps of a broken case say nothing new
  }
}

} // namespace interlock::test
