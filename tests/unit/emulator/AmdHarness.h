// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the tests of AMD chips share: assembly that LLVM made, from tests/emulator/amdgcn, and kernels written by hand.
#pragma once

#include "tests/unit/emulator/Harness.h"

#include <fstream>
#include <sstream>

namespace interlock::emu::test {

inline constexpr const char *amdChips[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"};

/// A file of tests/emulator/amdgcn.
inline std::string amdText(const std::string &name) {
  std::ifstream file(std::string(ILK_AMDGCN_INPUTS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

inline unsigned waveLanes(const std::string &chip) { return chip.starts_with("gfx9") ? 64 : 32; }

/// A module with one kernel `k` of that body: s[0:1] points to its arguments, 64-bit values; `lds` bytes of LDS.
inline std::string amdKernel(const std::string &chip, const std::string &body, unsigned params, unsigned lds = 0,
                             unsigned scratch = 0) {
  std::string text = ".amdgcn_target \"amdgcn-amd-amdhsa--" + chip + "\"\n.text\n.type k,@function\nk:\n" + body +
                     "\ns_endpgm\n.rodata\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
                     ".amdhsa_user_sgpr_count 2\n.amdhsa_system_sgpr_workgroup_id_x 1\n"
                     ".amdhsa_group_segment_fixed_size " +
                     std::to_string(lds) + "\n.amdhsa_private_segment_fixed_size " + std::to_string(scratch) +
                     "\n.amdhsa_next_free_vgpr 64\n.end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.kernels:\n"
                     "  - .args:\n";
  for (unsigned i = 0; i < params; ++i)
    text += "      - .offset: " + std::to_string(8 * i) + "\n        .size: 8\n        .value_kind: by_value\n";
  return text + "    .name: k\n    .symbol: k.kd\n...\n.end_amdgpu_metadata\n";
}

} // namespace interlock::emu::test
