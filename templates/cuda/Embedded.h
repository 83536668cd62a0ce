// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The CUDA C++ sources as they were at build time.
#pragma once

#include "templates/EmbeddedFile.h"

#include <span>

namespace interlock::templates::cuda {

/// All of them, in the order of their names.
std::span<const EmbeddedFile> embedded();

} // namespace interlock::templates::cuda
