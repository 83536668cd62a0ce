// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the scope-lint command does, after its command line and its environment have been read.
#pragma once

#include "analysis/Lint/Render.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace interlock::lint {

struct RunOptions {
  std::vector<std::string> inputs;
  std::string contractFile; ///< empty: none
  uint32_t clusterSize = 0; ///< as Options::clusterSize
  bool strict = false;      ///< as Options::strict
  scope::Severity failOn = scope::Severity::warning;
  std::string searchPath; ///< where cuobjdump and the interlock command are looked for
};

/// Judges every input, whatever becomes of the others. Sentences about unusable ones go to `errors`. Returns the exit
/// code (Summary::exitCode).
int run(const RunOptions &options, Renderer &renderer, std::ostream &errors);

} // namespace interlock::lint
