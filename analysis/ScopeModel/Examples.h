// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The examples of the rules: rules/SLnn.flag.ptx and rules/SLnn.clean.ptx, rules/AMnn.flag.s and rules/AMnn.clean.s,
// embedded at build.
#pragma once

#include <span>
#include <string_view>

namespace interlock::scope {

struct EmbeddedFile {
  std::string_view name; ///< without the folder
  std::string_view text;
};
std::span<const EmbeddedFile> embedded();

} // namespace interlock::scope
