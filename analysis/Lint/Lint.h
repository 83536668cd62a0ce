// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The lint: a PTX module in, findings out. Nothing is read or written but the arguments.
#pragma once

#include "analysis/Lint/Contract.h"
#include "analysis/PTX/Module.h"
#include "analysis/ScopeModel/Finding.h"

#include <map>
#include <string>
#include <vector>

namespace interlock::lint {

struct Options {
  /// CTAs per cluster of launches, where the text does not say so (.reqnctapercluster); 0: not known, so anything that
  /// only a cluster can do is taken to happen across CTAs.
  uint32_t clusterSize = 0;
  Contract contract;
  /// The verifier's own rules too, as far as a text shows them for certain.
  bool strict = false;
};

/// A finding that its author has weighed, and by which waiver.
struct WaivedFinding {
  scope::Finding finding;
  Waiver waiver;
};

struct Report {
  std::vector<scope::Finding> findings; ///< by place; without those that a waiver covers
  std::vector<WaivedFinding> waived;
  std::vector<Waiver> unusedWaivers;
  /// Opcodes that the lint knows nothing of, with how often they occur: they were taken to touch any memory.
  std::map<std::string, uint32_t> unknownOpcodes;
  uint32_t functions = 0, instructions = 0;
};

/// Judges every function with a body. Time and memory grow in proportion to the size of the module.
[[nodiscard]] Report check(const ptx::Module &module, const Options &options = {});

} // namespace interlock::lint
