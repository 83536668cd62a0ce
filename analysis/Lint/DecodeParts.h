// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the decoders of the instruction families share. Each family is one function, named in the table of Decode.cpp.
#pragma once

#include "analysis/Lint/Decode.h"

#include <optional>

namespace interlock::lint::decoders {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using scope::Completion;
using scope::Event;
using scope::EventKind;
using scope::Order;
using scope::Proxy;
using scope::Restrict;
using scope::Scope;

using Out = std::vector<Decoded>;

std::optional<Scope> scopeOf(const Instruction &in);
std::optional<Order> orderOf(const Instruction &in);
/// The state space that a modifier names, with or without `::cta` or `::cluster`.
ptx::Space spaceOf(const Instruction &in);
const Operand *operand(const Instruction &in, size_t i);
/// The n-th operand in brackets.
const Operand *address(const Instruction &in, size_t n);
std::optional<int64_t> immediate(const Operand *o);
Decoded &add(Out &out, EventKind kind);

// Memory (DecodeMemory.cpp)
void load(const Instruction &in, Out &out);
void store(const Instruction &in, Out &out);
void atomic(const Instruction &in, Out &out);
void multimem(const Instruction &in, Out &out);
void fence(const Instruction &in, Out &out);

// Threads that meet, and what goes on beside them (DecodeSync.cpp)
void mbarrier(const Instruction &in, Out &out);
void copy(const Instruction &in, Out &out);
void barrier(const Instruction &in, Out &out);
void tensorMap(const Instruction &in, Out &out);
void matrix(const Instruction &in, Out &out);
void launchControl(const Instruction &in, Out &out);
void single(const Instruction &in, Out &out);

} // namespace interlock::lint::decoders
