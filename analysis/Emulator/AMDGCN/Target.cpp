// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The table of AMD chips.
#include "analysis/Emulator/AMDGCN/Target.h"

namespace interlock::emu::gcn {
namespace {

constexpr Target targets[] = {
    // name, family, lanes, LDS, clusters, second levels and whether they write back, agent level, OCP fp8
    {"gfx90a", Family::gfx90a, 64, 65536, false, 0, false, true, false},
    {"gfx942", Family::gfx940, 64, 65536, false, 2, true, true, false},
    {"gfx950", Family::gfx940, 64, 163840, false, 2, true, true, true},
    {"gfx1100", Family::gfx11, 32, 65536, false, 2, false, false, false},
    {"gfx1201", Family::gfx12, 32, 65536, false, 2, false, true, true},
    {"gfx1250", Family::gfx1250, 32, 327680, true, 2, true, true, true},
};

} // namespace

const Target *findTarget(std::string_view name) {
  for (const Target &t : targets)
    if (t.name == name)
      return &t;
  return nullptr;
}

} // namespace interlock::emu::gcn
