// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of dispatch and combine are asked on the command line.
#pragma once

#include "bench/common/Options.h"
#include "bench/gpu/Case.h"

#include <string>
#include <vector>

namespace interlock::bench {

using Numbers = std::vector<uint32_t>;

struct CaseFlags : RepeatOptions, ReportOptions {
  std::string model = "deepseek-v3", schedule = "grid_stride";
  uint32_t hidden = 0, timeoutMs = 2'000;
  Numbers tokens, block = {0}, tile = {0}, ctas; ///< every combination is a case
  Numbers ownInPlace = {0};                      ///< 1: LayerSpec::ownInPlace

  /// One of them, with the layer's dtype and what else is measured left as they are by default.
  [[nodiscard]] Result<CaseOptions> caseOf(uint32_t ranks, uint32_t tokens, bool ownInPlace,
                                           const LaunchGeometry &geometry) const;
};
/// All but `--ctas`, which each benchmark calls by what it is there.
void addOptions(CLI::App &app, CaseFlags &flags);

} // namespace interlock::bench
