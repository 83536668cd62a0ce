// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The hand-off ring in the emulator: every cluster size, both wait strategies, both release forms, payloads of one word
// to several packets, under several schedules.
#include "runtime/Cache/Compiler.h"
#include "tests/handoff/Ring.h"

#include <gtest/gtest.h>

using namespace interlock;
using handoff::RingOptions;

namespace {

Result<KernelImage> compile(const RingOptions &options) {
  ILK_ASSIGN_OR_RETURN(auto parts, compileModule({.path = INTERLOCK_COMPILER_PLUGIN},
                                                 {handoff::ringModule(options), "ring.mlir"}, {"ptx"}));
  return KernelImage{parts["ptx"], {}, "handoff_ring"};
}

void expectEveryValueOnce(const RingOptions &options, uint64_t seed) {
  SCOPED_TRACE(options.label() + ", seed " + std::to_string(seed));
  auto image = compile(options);
  ASSERT_TRUE(image) << image.error().message;
  auto driver = openEmulator({.target = options.target, .residency = 2 * options.cluster, .seed = seed});
  ASSERT_TRUE(driver) << driver.error().message;
  auto run = handoff::runRing(**driver, *image, options, {.clusters = 3, .iterations = 23, .delayMask = 7});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->wrong, 0u);
  EXPECT_EQ(run->incompleteCtas, 0u);
  EXPECT_EQ(run->handoffs, 3u * 23u);
}

TEST(Handoff, EveryClusterSizeWaitAndRelease) {
  for (uint32_t cluster : {1u, 2u, 4u, 8u})
    for (const char *wait : {"relaxed-fence", "acquire"})
      for (const char *release : {"restricted-fence", "arrive"})
        for (uint64_t seed : {1u, 2u})
          expectEveryValueOnce({.cluster = cluster, .blockThreads = 64, .wait = wait, .release = release}, seed);
}

TEST(Handoff, PayloadsWiderThanOneStore) {
  for (uint32_t cluster : {1u, 2u, 4u}) {
    expectEveryValueOnce({.cluster = cluster, .blockThreads = 64, .wide = true}, 3);
    for (uint32_t packets : {1u, 4u, 16u})
      expectEveryValueOnce({.cluster = cluster, .blockThreads = 64, .packets = packets}, 3);
  }
}

TEST(Handoff, RingsOfSeveralSlots) {
  for (uint32_t stages : {2u, 3u, 5u})
    expectEveryValueOnce({.cluster = 4, .blockThreads = 96, .stages = stages, .packets = 2}, 4);
}

TEST(Handoff, OtherChips) {
  for (const char *target : {"sm_100a", "sm_103a", "sm_120a"})
    expectEveryValueOnce({.target = target, .cluster = 2, .blockThreads = 64}, 5);
  expectEveryValueOnce({.target = "sm_80", .cluster = 1, .blockThreads = 64}, 5);
}

// Without the tail the leader's CTA may be gone when a consumer arrives on its barrier. The verifier refuses the
// module.
TEST(Handoff, WithoutATailItIsRefused) {
  RingOptions options{.cluster = 2, .blockThreads = 64};
  std::string text = handoff::ringModule(options),
              tail = "sync.producer_tail %h[%iterations] : !sync.handoff<!payload>";
  size_t at = text.find(tail);
  ASSERT_NE(at, std::string::npos);
  text.erase(at, tail.size());
  auto parts = compileModule({.path = INTERLOCK_COMPILER_PLUGIN}, {text, "ring.mlir"}, {"ptx"});
  ASSERT_FALSE(parts);
  EXPECT_NE(parts.error().message.find("expected a producer_tail"), std::string::npos) << parts.error().message;
}

} // namespace
