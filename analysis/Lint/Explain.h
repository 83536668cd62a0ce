// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What there is to say of a rule: the pages of docs/rules, and what `scope-lint --explain` prints.
#pragma once

#include "analysis/ScopeModel/Rules.h"

#include <string>

namespace interlock::lint {

/// The page of a rule, in Markdown.
std::string rulePage(const scope::Rule &rule);

} // namespace interlock::lint
