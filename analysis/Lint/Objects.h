// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which addresses are one object. What has the same root is cut into pieces: a place that is named by a constant is one
// by itself, and an array begins where an address with an index begins.
#pragma once

#include "analysis/Lint/Values.h"

#include <map>

namespace interlock::lint {

/// One use of memory, as far as the cutting is concerned.
struct Use {
  Value place;
  int64_t bytes = 0;                  ///< in all, from the place on; 0: not known
  bool barrier = false;               ///< as an mbarrier: these are never cut together with data
  bool init = false;                  ///< mbarrier.init, which is often unrolled where later uses have an index
  bool signal = false;                ///< a strong access or a poll: a word by itself, if its place is constant
  uint32_t object = ~0u, formula = 0; ///< results
};

/// What an object is made of, for its name and its reach.
struct Piece {
  uint32_t root = 0;
  int64_t begin = 0;
  bool whole = false; ///< the only piece of its root
};

/// Gives each use its object and its formula, and returns the objects.
std::vector<Piece> cutObjects(const Values &values, std::vector<Use> &uses);

} // namespace interlock::lint
