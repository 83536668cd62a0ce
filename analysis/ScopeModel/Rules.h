// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The rule table: the one place that knows what rules there are. docs/rules/ has a page a rule, made from it.
#pragma once

#include "analysis/ScopeModel/Finding.h"

#include <span>

namespace interlock::scope {

/// One rule of the PTX judgement (SLnn).
struct Rule {
  std::string_view id;          ///< "SL01"
  Severity severity;            ///< of the plain case; a finding may be graver or milder and then says why
  std::string_view title;       ///< "release too narrow"
  std::string_view section;     ///< title of the section of the PTX ISA that demands it
  std::string_view explanation; ///< some sentences: what is ordered by what, and why the flagged form is not
  std::string_view flagged;     ///< a whole PTX text that this rule flags
  std::string_view clean;       ///< its nearest twin that is right
};

/// All rules, by id.
std::span<const Rule> rules();
/// The rule of that id, or null.
const Rule *findRule(std::string_view id);

} // namespace interlock::scope
