// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The parameters of the stage templates: type and attribute aliases made from a KernelSpec.
#pragma once

#include "interlock/spec.hpp"

#include <string>

namespace interlock {

/// Every alias that a template may use (`!elem`, `!acc`, `#hidden`, …), on one line so that the template's own line
/// numbers stay true when it follows.
std::string templatePreamble(const KernelSpec &spec, const TargetInfo &target);

} // namespace interlock
