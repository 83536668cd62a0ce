// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What identifies a compiler plugin in cache keys: content, never paths or times. The plugin states it when it is
// loaded, and its file tells the same to who has no other need to load it: that takes longer than all the rest of a
// lookup.
#pragma once

#include "runtime/Spec/VendorLibrary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace interlock {

/// The note that a plugin carries: `abi` (its ILK_COMPILER_ABI), `llvm` and `templates` as a JSON object, ended by a
/// zero byte.
inline constexpr char pluginNoteOwner[] = "Interlock";
inline constexpr uint32_t pluginNoteType = 1;

/// The identity that CompilerPlugin.h describes; none if the note is not one of this version's plugins.
std::optional<std::string> pluginIdentity(const std::string &note, const std::string &buildId,
                                          const std::string &assembler);

/// The nvJitLink that a plugin in this process would load.
std::optional<VendorLibrary> findNvJitLink();

/// How an identity names an assembler by its file: "none" without one, and nothing if the linker left it no build id.
std::optional<std::string> assemblerBuild(const std::optional<VendorLibrary> &file);

/// What the plugin in a file would state here; nothing if its notes do not tell.
std::optional<std::string> identityOfPluginFile(const std::string &path);

} // namespace interlock
