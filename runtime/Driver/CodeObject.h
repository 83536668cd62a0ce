// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a code object says of its kernels: LLVM, "User Guide for AMDGPU Backend", "Code Object Metadata".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace interlock {

struct ObjectKernel {
  uint32_t parameterBytes = 0;  ///< what its launch has to give: the arguments that are not hidden
  uint32_t kernargBytes = 0;    ///< with the hidden ones, which a runtime adds
  uint32_t sharedBytes = 0;     ///< LDS per workgroup
  uint32_t scratchBytes = 0;    ///< per work item
  uint32_t requiredThreads = 0; ///< per workgroup; 0: the launch decides
  uint32_t maxThreads = 0;      ///< most of them
  uint32_t waveWidth = 0;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
};

/// The kernel of that name in the bytes of a code object; nothing if they are none, or have no such kernel.
std::optional<ObjectKernel> kernelOfObject(std::string_view object, std::string_view name);

} // namespace interlock
