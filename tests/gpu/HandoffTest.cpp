// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The hand-off on a GPU: ten million hand-offs through a ring of one slot for each cluster size, wait strategy and
// release form, with random delays on both sides.
#include "tests/gpu/Device.h"
#include "tests/handoff/Ring.h"

#include <fmt/format.h>

using namespace interlock;
using handoff::RingOptions;

namespace {

struct GpuHandoff : test::GpuTest {
  void expectEveryValueOnce(RingOptions options, uint64_t handoffs) {
    auto info = test::device()->info(0);
    ASSERT_TRUE(info) << info.error().message;
    options.target = info->target;
    SCOPED_TRACE(options.label());
    auto parts = test::compileText({handoff::ringModule(options), "ring.mlir"}, {"ptx"});
    ASSERT_TRUE(parts) << parts.error().message;
    // Rings side by side, so that one cluster's traffic disturbs the other's; in the emulator fewer and shorter ones.
    uint32_t clusters = test::onGpu() ? 12 : 2;
    uint64_t wanted = test::onGpu() ? handoffs : 60;
    handoff::RingLaunch launch{clusters, uint32_t((wanted + clusters - 1) / clusters), 15};
    auto run = handoff::runRing(*test::device(), {(*parts)["ptx"], {}, "handoff_ring"}, options, launch);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->wrong, 0u);
    EXPECT_EQ(run->incompleteCtas, 0u);
    EXPECT_GE(run->handoffs, wanted);
  }
};

constexpr uint64_t tenMillion = 10'000'000;

TEST_F(GpuHandoff, TenMillionThroughOneSlot) {
  for (uint32_t cluster : {1u, 2u, 4u, 8u})
    for (const char *wait : {"relaxed-fence", "acquire"})
      for (const char *release : {"restricted-fence", "arrive"})
        if (std::string_view(wait) == "relaxed-fence" || std::string_view(release) == "arrive")
          expectEveryValueOnce({.cluster = cluster, .wait = wait, .release = release}, tenMillion);
}

TEST_F(GpuHandoff, PayloadsWiderThanOneStore) {
  for (uint32_t cluster : {1u, 2u, 4u, 8u})
    for (uint32_t packets : {1u, 4u, 16u})
      expectEveryValueOnce({.cluster = cluster, .packets = packets}, 2'000'000);
  expectEveryValueOnce({.cluster = 4, .wide = true}, 2'000'000);
}

TEST_F(GpuHandoff, RingsOfSeveralSlots) {
  for (uint32_t stages : {2u, 4u})
    expectEveryValueOnce({.cluster = 4, .stages = stages, .packets = 2}, 2'000'000);
}

} // namespace
