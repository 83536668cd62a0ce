// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "interlock/interlock.hpp"

namespace interlock {

std::string_view version() { return INTERLOCK_VERSION; }

} // namespace interlock
