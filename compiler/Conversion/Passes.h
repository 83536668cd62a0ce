// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The conversions to targets' dialects, as generated from Passes.td.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace interlock {

#define GEN_PASS_DECL
#include "compiler/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/Passes.h.inc"

} // namespace interlock
