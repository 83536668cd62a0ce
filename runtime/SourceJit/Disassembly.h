// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The text of a code object, which the gate judges and the emulator runs.
#pragma once

#include "interlock/source.hpp"

#include <string>

namespace interlock {

/// Assembly of the form that analysis/AMDGCN reads. `notFound` if there is nothing here to make it with.
Result<std::string> disassemble(const std::string &object, const SourceOptions &options);

/// What disassembles, for cache keys: what was not judged must not be found by who can judge it.
std::string disassemblerIdentity(const SourceOptions &options);

} // namespace interlock
