// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A function of a PTX module as a program of the scope model.
#pragma once

#include "analysis/Lint/Lint.h"
#include "analysis/ScopeModel/Program.h"

#include <memory>
#include <set>

namespace interlock::lint {

/// What other kernels of a module need to know of one.
struct Boundary {
  bool launchesDependents = false;
  std::set<std::string> writes;                   ///< variables of the module
  std::map<std::string, scope::Place> readsEarly; ///< those that it reads on a path without griddepcontrol.wait
};

struct Extraction {
  scope::Program program;
  Boundary boundary;
  size_t instructions = 0; ///< with those of called functions
};

/// `budget` bounds the instructions of the program, called functions included; `inlined` is as for flatten().
Extraction extract(const ptx::Module &module, const ptx::Function &function, const Options &options, size_t budget,
                   std::vector<bool> &inlined);

/// The place of an instruction.
scope::Place placeOf(const ptx::Module &module, const ptx::Instruction &in);

/// 90 for sm_90, sm_90a, sm_90f; 0 if the module names no target.
unsigned targetOf(const ptx::Module &module);

} // namespace interlock::lint
