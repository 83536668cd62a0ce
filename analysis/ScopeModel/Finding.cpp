// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Names of severities.
#include "analysis/ScopeModel/Finding.h"

namespace interlock::scope {

std::string_view name(Severity severity) {
  static constexpr std::string_view names[] = {"note", "warning", "error"};
  return names[size_t(severity)];
}

} // namespace interlock::scope
