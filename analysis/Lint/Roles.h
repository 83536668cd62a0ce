// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// By which threads a block is executed, from the conditions that lead to it.
#pragma once

#include "analysis/Lint/Values.h"
#include "analysis/ScopeModel/Event.h"

namespace interlock::lint {

/// The actor of each block.
std::vector<scope::Actor> findActors(const Flat &flat, const Graph &graph, const Values &values);

} // namespace interlock::lint
