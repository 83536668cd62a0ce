// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One PTX instruction in the words of the scope model: what it does, and which of its operands name the memory.
#pragma once

#include "analysis/PTX/Module.h"
#include "analysis/ScopeModel/Event.h"

#include <vector>

namespace interlock::lint {

struct Decoded {
  scope::Event event;
  const ptx::Operand *dst = nullptr, *src = nullptr, *barrier = nullptr, *map = nullptr; ///< addresses
  const ptx::Operand *result = nullptr; ///< a register that a wait may depend on
  const ptx::Operand *parity = nullptr;
  const ptx::Operand *bytes = nullptr, *count = nullptr; ///< that fill in those of the event, if they are constant
  std::vector<const ptx::Operand *> mustStay;            ///< of a polling atomic: operands that a wait does not change
  bool loopsAsPoll = false;                              ///< if it is in a loop that its result ends, that loop waits
  ptx::Space space = ptx::Space::none;                   ///< that the form names for its one address
};

/// Appends what the instruction does; most do nothing that matters here.
void decode(const ptx::Instruction &in, std::vector<Decoded> &out);

/// False for an opcode that this version knows nothing of.
bool isKnownOpcode(std::string_view opcode);

} // namespace interlock::lint
