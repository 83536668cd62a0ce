// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Places that code computes from its own address: s_getpc_b64, and additions of literals behind it. The linker had put
// a distance there; here it becomes an address again, so that a symbol can be written for it.
#pragma once

#include "compiler/Disassembly/Instructions.h"

#include <map>

namespace interlock::disassembly {

/// What stands for a literal, the last operand of an instruction.
struct Reference {
  uint64_t target = 0;         ///< the address that is made
  uint64_t base = 0;           ///< what s_getpc_b64 gives, from which the distance counts
  std::string_view relocation; ///< "rel32@lo", "rel32@hi" or "rel64"
};

/// By the index of the line whose literal it is.
std::map<size_t, Reference> findReferences(const std::vector<Line> &lines);

} // namespace interlock::disassembly
