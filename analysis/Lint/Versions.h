// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Rule SL21: forms that the module's .version or .target does not have.
#pragma once

#include "analysis/PTX/Module.h"
#include "analysis/ScopeModel/Finding.h"

#include <vector>

namespace interlock::lint {

void checkVersions(const ptx::Module &module, std::vector<scope::Finding> &findings);

} // namespace interlock::lint
