// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What one operation of the sync and ep dialects is as events.
#pragma once

#include "compiler/Transforms/ScopeAddresses.h"

namespace interlock {

/// The events of one operation, in order; none if it touches no memory and no other thread. `threads` says whether only
/// one thread of the CTA executes an event that all threads' operation stands for.
struct ScopeEvent {
  scope::Event event;
  bool oneThread = false;
};
std::vector<ScopeEvent> scopeEventsOf(mlir::Operation *op, ScopeAddresses &addresses);

} // namespace interlock
