// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The templates as they were at build time.
#pragma once

#include "templates/EmbeddedFile.h"

#include <span>

namespace interlock::templates {

/// All templates, in the order of their names.
std::span<const EmbeddedFile> embedded();

} // namespace interlock::templates
