// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The HIP C++ sources as they were at build time.
#pragma once

#include <span>
#include <string_view>

namespace interlock::templates::hip {

struct EmbeddedFile {
  std::string_view name; ///< file name, `machine.cuh`
  std::string_view text;
};

/// All of them, in the order of their names.
std::span<const EmbeddedFile> embedded();

} // namespace interlock::templates::hip
