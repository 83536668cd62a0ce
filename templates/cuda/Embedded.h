// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The CUDA C++ sources as they were at build time.
#pragma once

#include <span>
#include <string_view>

namespace interlock::templates::cuda {

struct EmbeddedFile {
  std::string_view name; ///< file name, `dispatch.cu`
  std::string_view text;
};

/// All of them, in the order of their names.
std::span<const EmbeddedFile> embedded();

} // namespace interlock::templates::cuda
