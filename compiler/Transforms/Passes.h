// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace interlock {

#define GEN_PASS_DECL
#include "compiler/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Transforms/Passes.h.inc"

} // namespace interlock
