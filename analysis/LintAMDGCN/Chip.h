// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the generations of AMD's chips ask of a hand-off between two waves, by how far apart these are.
#pragma once

#include "analysis/ScopeModel/Event.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace interlock::lint::gcn {

using scope::Scope;

enum class Family : uint8_t { gfx90a, gfx940, gfx11, gfx12, gfx1250 };

/// What has to be done so that a store is seen over a distance.
struct Demand {
  bool waits = false;     ///< the stores, and the write-back, must be waited for
  uint8_t writeBack = 0;  ///< parts of the caches that must have been written back behind the stores; see Chips.inc
  uint8_t invalidate = 0; ///< parts of the caches that must have been invalidated behind the polling load
  std::string_view writeBackText, invalidateText;
};

/// The family of "gfx942"; nothing for a processor that the rules do not know.
std::optional<Family> familyOf(std::string_view processor);
/// "gfx90a, gfx942, …".
std::string knownProcessors();
const Demand &demandOf(Family family, Scope distance);

/// True if a load or store says how far it reaches: with scope bits (gfx940) or scope: (gfx12). Where it does not, a
/// store of a flag looks like any other.
inline bool spellsScope(Family family) { return family != Family::gfx90a && family != Family::gfx11; }
/// "s_waitcnt vmcnt(0)": what waits for stores and write-backs, and what for loads.
std::string_view storeWait(Family family);
std::string_view loadWait(Family family);
/// What waits for LDS.
std::string_view ldsWait(Family family);
/// "sc0 sc1", "scope:SCOPE_SYS": what a store, load or (`atomic`) read-modify-write of that scope carries.
std::string_view spelling(Family family, Scope scope, bool atomic);

} // namespace interlock::lint::gcn
