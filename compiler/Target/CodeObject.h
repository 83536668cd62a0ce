// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// AMDGCN assembly to a code object that a device loads, and what a code object says of itself.
#pragma once

#include "interlock/spec.hpp"
#include "interlock/status.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace interlock::target {

/// Assembles a module's text to an object file, in memory. The error carries the assembler's messages.
Result<std::string> assembleObject(const std::string &assembly, const TargetInfo &target);

/// Links an object file to a shared object (hsaco) by lld, in this process. lld reads and writes files: they lie in a
/// directory of their own under the system's temporary one, and are gone when this returns. Any thread may call it; one
/// links at a time, because lld can only do one.
Result<std::string> linkCodeObject(const std::string &object);

/// The first kernel of an object file or a code object as its metadata describes it (LLVM, "User Guide for AMDGPU
/// Backend", "Code Object V5 Metadata"): entry, descriptor, shared_bytes, scratch_bytes, vgprs, agprs, sgprs,
/// wave_width, vgpr_spills, sgpr_spills, and kernarg with its bytes, its alignment and each argument's offset and size.
Result<nlohmann::json> describeKernel(const std::string &object);

} // namespace interlock::target
