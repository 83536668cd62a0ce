// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The templates as they were at build time.
#pragma once

#include <span>
#include <string_view>

namespace interlock::templates {

struct EmbeddedFile {
  std::string_view name; ///< file name, `dispatch.mlir`
  std::string_view text;
};

/// All templates, in the order of their names.
std::span<const EmbeddedFile> embedded();

} // namespace interlock::templates
