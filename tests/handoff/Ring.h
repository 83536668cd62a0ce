// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The ring of ring.mlir as a kernel: its module text, its launch, and what its CTAs saw. Tests and the benchmark share
// it.
#pragma once

#include "interlock/device.hpp"

#include <string>
#include <vector>

namespace interlock::handoff {

struct RingOptions {
  std::string target = "sm_90a";
  uint32_t cluster = 2;
  uint32_t blockThreads = 128;
  uint32_t stages = 1;
  uint32_t packets = 0; ///< 16-byte packets of the payload; 0: one word, or two if `wide`
  bool wide = false;
  std::string wait = "relaxed-fence";       ///< or acquire
  std::string release = "restricted-fence"; ///< or arrive
  std::string label() const;
};

/// The module of one kernel, `handoff_ring`.
std::string ringModule(const RingOptions &options);

struct RingRun {
  uint64_t wrong = 0;          ///< values that were not what they must be, over all threads
  uint64_t handoffs = 0;       ///< iterations, summed over clusters
  uint32_t incompleteCtas = 0; ///< CTAs whose thread 0 did not see every value once
  double nanoseconds = 0;      ///< of the launch; emulated time in the emulator
};

struct RingLaunch {
  uint32_t clusters = 1, iterations = 1;
  uint32_t delayMask = 0; ///< up to this many looks at the clock before a value is published or its slot freed
};

/// Launches on device 0 and waits.
[[nodiscard]] Result<RingRun> runRing(Driver &driver, const KernelImage &image, const RingOptions &options,
                                      const RingLaunch &launch);

} // namespace interlock::handoff
