// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Names of scopes and orders.
#include "analysis/ScopeModel/Event.h"

namespace interlock::scope {

std::string_view name(Scope scope) {
  static constexpr std::string_view names[] = {"thread", "cta", "cluster", "gpu", "sys"};
  return names[size_t(scope)];
}

std::string_view name(Order order) {
  static constexpr std::string_view names[] = {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc"};
  return names[size_t(order)];
}

bool acquires(Order order) { return order == Order::acquire || order == Order::acqRel || order == Order::sc; }
bool releases(Order order) { return order == Order::release || order == Order::acqRel || order == Order::sc; }

} // namespace interlock::scope
