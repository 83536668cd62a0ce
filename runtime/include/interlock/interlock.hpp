// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The C++ API in one include.
#pragma once

#include "interlock/cache.hpp"
#include "interlock/device.hpp"
#include "interlock/group.hpp"
#include "interlock/operation.hpp"
#include "interlock/packing.hpp"
#include "interlock/prepare.hpp"
#include "interlock/source.hpp"
#include "interlock/spec.hpp"
#include "interlock/status.hpp"

#include <string_view>

namespace interlock INTERLOCK_API {

/// The library's version, "0.1.0".
std::string_view version();

} // namespace interlock INTERLOCK_API
