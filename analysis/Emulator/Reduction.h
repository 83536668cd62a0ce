// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Read-modify-write operations on values in memory: atom, red, red.async, cp.reduce.async.bulk and redux share them.
#pragma once

#include "analysis/PTX/Module.h"

#include <optional>

namespace interlock::emu {

enum class Reduction : uint8_t { add, min, max, inc, dec, bitAnd, bitOr, bitXor, exch, cas };

/// The operation among an instruction's modifiers.
std::optional<Reduction> reductionOf(const ptx::Instruction &in);
/// True if the pair is one that PTX has (for atom in general; the caller narrows).
bool reductionKnows(Reduction op, ptx::Type type);
/// New value of `old` op `operand`, raw bits. `flush` flushes f32 subnormals, as global memory does (PTX ISA "atom":
/// atom.add.f32 on global memory). cas has its own path.
uint64_t reduce(Reduction op, ptx::Type type, uint64_t old, uint64_t operand, bool flush);

} // namespace interlock::emu
