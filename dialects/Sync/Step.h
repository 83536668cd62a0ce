// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Names of protocol steps.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace interlock::sync {

/// Name of the string attribute that says which step of the protocol an operation is: `started.await`. On a call it is
/// the first part of what the callee's operations are called.
inline constexpr llvm::StringLiteral stepAttrName = "sync.step";

} // namespace interlock::sync
