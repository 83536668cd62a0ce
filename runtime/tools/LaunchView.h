// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// All that a stranger needs to launch a kernel without this library.
#pragma once

#include "runtime/Cache/Artifact.h"

namespace interlock::tool {

/// Entry, arguments with their offsets and types, shared memory, block, cluster and grid, and the window's regions.
nlohmann::json launchView(const Artifact &artifact);

/// The same for people.
std::string launchText(const nlohmann::json &launch);

/// What the launch must grant, in a sentence, and the waits in the kernel that make it so.
std::string launchModeText(const Artifact &artifact);

} // namespace interlock::tool
