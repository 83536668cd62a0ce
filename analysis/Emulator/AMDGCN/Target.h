// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What sets the emulated AMD chips apart.
#pragma once

#include <cstdint>
#include <string_view>

namespace interlock::emu::gcn {

/// Chips that run the same instructions under the same memory model (User Guide for AMDGPU Backend, "Memory Model").
enum class Family : uint8_t { gfx90a, gfx940, gfx11, gfx12, gfx1250 };

struct Target {
  std::string_view name;
  Family family;
  uint8_t waveLanes;     ///< of a kernel whose descriptor does not say
  uint32_t ldsBytes;     ///< per workgroup
  bool clusters;         ///< of workgroups
  uint8_t seconds;       ///< caches between those of workgroups and the device's (MemoryModel.h); 0: none
  bool secondsWriteBack; ///< they hold stores back
  bool agentLevel;       ///< a device's own cache holds stores back
  bool fp8Ocp;           ///< fp8 conversions speak OCP's e4m3 and e5m2, not the fnuz formats
};

/// Null for a chip that is not emulated.
const Target *findTarget(std::string_view name);

} // namespace interlock::emu::gcn
