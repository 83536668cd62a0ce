// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The one device of the program, and the runner of its cases.
#include "tests/gpu/Device.h"

#include "tests/peers/Peers.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace interlock::test {

namespace {
/// The program's state: main opens and closes it.
struct Opened {
  DeviceOptions options;
  std::unique_ptr<Driver> driver;
  std::unique_ptr<KernelCache> cache;
  std::string missing;
};
Opened &opened() {
  static Opened state;
  return state;
}
} // namespace

void openDevice(const DeviceOptions &options) {
  // Ranks on one GPU wait for each other's kernels, so no two of their streams may share a hardware queue; the driver
  // reads this when it starts and has eight queues otherwise.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  Opened &state = opened();
  state.options = options;
  EmulatorOptions emulated;
  emulated.devices = 2; // so that what needs two GPUs can be tried too
  auto driver = options.device == "emulator" ? openEmulator(emulated) : openCuda();
  if (driver)
    state.driver = std::move(*driver);
  else
    state.missing = driver.error().message;
  CacheOptions cache;
  cache.compiler = makePluginCompiler({options.compiler, {}});
  state.cache = KernelCache::open(std::move(cache));
}

void closeDevice() {
  opened().driver.reset();
  opened().cache.reset();
}

Driver *device() { return opened().driver.get(); }
const std::string &deviceMissing() { return opened().missing; }
bool onGpu() { return opened().options.device == "cuda"; }
unsigned drawsAskedFor() { return opened().options.draws; }
KernelCache &sharedCache() { return *opened().cache; }

PeerDevice peerDevice() { return {opened().options.device, deviceMissing()}; }

Result<std::map<std::string, std::string>> compileText(const ModuleText &module,
                                                       const std::vector<std::string> &parts) {
  return compileModule({opened().options.compiler, {}}, module, parts);
}

namespace {
char lastAnnounced[512];
} // namespace
void announce(std::string_view what) {
  std::snprintf(lastAnnounced, sizeof lastAnnounced, "%.*s", int(what.size()), what.data());
}
const char *announced() { return lastAnnounced; }

GpuCase::GpuCase() {
  trip.layer.ranks = 4;
  trip.layer.experts = 16;
  trip.layer.topk = 4;
  trip.layer.hidden = 256;
  trip.tokens = {37, 0, 16, 61};
  trip.distinctExperts = true;
  trip.operation.timeoutNs = 5'000'000'000;
}

void expectClean(const Result<StepReport> &report) {
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->mismatches, 0u);
  for (const std::string &finding : report->findings)
    ADD_FAILURE() << finding;
}

std::optional<StepReport> runCase(const GpuCase &each) {
  uint32_t step = 0;
  RoundTripOptions options = each.trip;
  options.progress = [&](std::string_view phase) { announce(fmt::format("{}, step {}, {}", each.label, step, phase)); };
  announce(each.label);
  auto trip = RoundTrip::create(*device(), sharedCache(), options);
  EXPECT_TRUE(trip) << trip.error().message;
  if (!trip)
    return std::nullopt;
  std::optional<StepReport> last;
  for (; step < each.steps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    auto routing = makeRouting(trip->layer(), each.routing, trip->tokens(), step);
    EXPECT_TRUE(routing) << routing.error().message;
    if (!routing)
      return std::nullopt;
    auto report = trip->step(*routing);
    expectClean(report);
    if (testing::Test::HasFailure())
      return std::nullopt; // the later steps of a broken case say nothing new
    last = std::move(*report);
  }
  return last;
}

void expectRight(const GpuCase &each) {
  SCOPED_TRACE(each.label);
  (void)runCase(each);
}

} // namespace interlock::test
