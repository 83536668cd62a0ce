// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What one operation of the sync and ep dialects is as events.
#pragma once

#include "compiler/Transforms/ScopeAddresses.h"

namespace interlock {

struct ScopeEvent {
  scope::Event event;
  bool oneThread = false; ///< only one thread of the CTA does it, though all of them execute the operation
};
/// The events of one operation, in order; none if it touches no memory and no other thread.
std::vector<ScopeEvent> scopeEventsOf(mlir::Operation *op, ScopeAddresses &addresses);

} // namespace interlock
