// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One run of a local kernel on made-up rows, compared with the scalar reference: `interlock run --kernel …` and the
// wave test.
#pragma once

#include "runtime/Ops/LocalKernel.h"
#include "runtime/Ops/LocalWork.h"

#include <string>

namespace interlock {

struct LocalRunOptions {
  KernelSpec spec;
  uint32_t groups = 0;
  uint32_t grid = 0; ///< 0: LocalKernel::defaultGrid
  uint32_t device = 0;
  uint64_t seed = 0;
  bool weighted = true; ///< of combine_prologue
  bool check = true;
  bool forceCooperative = false;
};

struct LocalRunReport {
  KernelReport kernel;
  LaunchMode launchMode = LaunchMode::any;
  uint32_t residentCtas = 0;
  double nanoseconds = 0; ///< of the launch, and of its predecessor where it is programmatic
  uint32_t status = 0;    ///< LocalStatus bits
  uint64_t rows = 0;      ///< rows that were compared: all of the destination, those that nobody writes too
  uint64_t wrongRows = 0;
  std::string firstWrong; ///< where and what
};

/// Destinations are filled with a sentinel before. A programmatic kernel gets its input from a programmatic kernel
/// before it on the stream, so that one that would not wait for it reads the sentinel.
[[nodiscard]] Result<LocalRunReport> runLocal(Driver &driver, KernelCache &cache, const LocalRunOptions &options);

} // namespace interlock
