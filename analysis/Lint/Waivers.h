// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Takes the findings that their author has weighed out of a report.
#pragma once

#include "analysis/Lint/Lint.h"

namespace interlock::lint {

/// Moves the findings that a waiver of `contract` covers to `report.waived`, and lists the waivers that cover none.
void applyWaivers(Report &report, const Contract &contract);

} // namespace interlock::lint
