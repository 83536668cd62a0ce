// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the emulated chips have, and which PTX they refuse.
#pragma once

#include "analysis/Emulator/AMDGCN/Target.h"
#include "analysis/Emulator/Machine.h"
#include "analysis/PTX/Module.h"

namespace interlock::emu {

/// A chip by its name.
struct Chip {
  std::string name;
  uint32_t capability = 0;          ///< 90 for sm_90a
  char suffix = 0;                  ///< 'a', 'f' or 0
  uint32_t sharedLimit = 0;         ///< bytes per CTA that a launch can ask for
  bool clusters = false;            ///< thread-block clusters, mbarrier transactions, bulk copies
  const gcn::Target *amd = nullptr; ///< of an AMD chip, to which the capability means nothing
};

/// Fails for a name that is no chip of sm_70 to sm_121 and no AMD chip that is emulated.
Result<Chip> findChip(std::string_view name);
/// Refuses PTX whose .target the chip does not run, or whose ISA version is none that we read.
Result<void> checkTarget(const Chip &chip, const ptx::Module &module);
/// Why the chip lacks an instruction, or an empty string.
std::string lacks(const Chip &chip, const ptx::Instruction &in);

} // namespace interlock::emu
