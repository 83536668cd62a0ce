// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "interlock/interlock.hpp"

#include "interlock/interlock.h"

namespace interlock {

std::string_view version() { return INTERLOCK_VERSION; }

} // namespace interlock

extern "C" const char *ilk_version(void) { return INTERLOCK_VERSION; }
