// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What cmake/EmbedText.cmake makes of a file.
#pragma once

#include <string_view>

namespace interlock::templates {

struct EmbeddedFile {
  std::string_view name; ///< file name, `dispatch.mlir`
  std::string_view text;
};

} // namespace interlock::templates
