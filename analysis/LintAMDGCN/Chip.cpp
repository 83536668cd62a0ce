// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The table of chips, and how each spells what it needs.
#include "analysis/LintAMDGCN/Chip.h"

namespace interlock::lint::gcn {
namespace {

struct Row {
  std::string_view processor;
  Family family;
};
constexpr Row chips[] = {
#define CHIP(processor, family) {processor, Family::family},
#include "analysis/LintAMDGCN/Chips.inc"
};

struct DemandRow {
  Family family;
  Scope distance;
  Demand demand;
};
constexpr DemandRow demands[] = {
#define DEMAND(family, distance, waits, writeBack, invalidate, writeBackText, invalidateText)                          \
  {Family::family, Scope::distance, {waits, writeBack, invalidate, writeBackText, invalidateText}},
#include "analysis/LintAMDGCN/Chips.inc"
};

} // namespace

std::optional<Family> familyOf(std::string_view processor) {
  for (const Row &row : chips)
    if (row.processor == processor)
      return row.family;
  return std::nullopt;
}

std::string knownProcessors() {
  std::string names;
  for (const Row &row : chips)
    (names += names.empty() ? "" : ", ") += row.processor;
  return names;
}

const Demand &demandOf(Family family, Scope distance) {
  static constexpr Demand nothing;
  for (const DemandRow &row : demands)
    if (row.family == family && row.distance == distance)
      return row.demand;
  return nothing;
}

std::string_view storeWait(Family family) {
  switch (family) {
  case Family::gfx90a:
  case Family::gfx940:
    return "s_waitcnt vmcnt(0)";
  case Family::gfx11:
    return "s_waitcnt_vscnt null, 0x0";
  case Family::gfx12:
  case Family::gfx1250:
    break;
  }
  return "s_wait_storecnt 0x0";
}

std::string_view loadWait(Family family) {
  return family == Family::gfx12 || family == Family::gfx1250 ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)";
}

std::string_view ldsWait(Family family) {
  return family == Family::gfx12 || family == Family::gfx1250 ? "s_wait_dscnt 0x0" : "s_waitcnt lgkmcnt(0)";
}

std::string_view spelling(Family family, Scope scope, bool atomic) {
  switch (family) {
  case Family::gfx90a:
  case Family::gfx11:
    return "glc";
  case Family::gfx940:
    if (atomic)
      return scope == Scope::sys ? "sc1" : "no sc1";
    return scope == Scope::sys ? "sc0 sc1" : scope >= Scope::cluster ? "sc1" : "sc0";
  case Family::gfx12:
  case Family::gfx1250:
    break;
  }
  if (scope == Scope::sys)
    return "scope:SCOPE_SYS";
  if (scope == Scope::gpu || (scope == Scope::cluster && family == Family::gfx12))
    return "scope:SCOPE_DEV";
  return scope == Scope::cluster || family == Family::gfx12 ? "scope:SCOPE_SE" : "scope:SCOPE_CU";
}

} // namespace interlock::lint::gcn
