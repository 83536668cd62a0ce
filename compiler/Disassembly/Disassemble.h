// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A code object for AMD GPUs as assembly: what LLVM would have written for it, and what its assembler and
// analysis/AMDGCN read again.
#pragma once

#include "interlock/status.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace interlock::disassembly {

struct Disassembly {
  std::string target; ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
  std::string text;
};

/// The code objects in an ELF file, an offload bundle or a program with one inside: those for `chip` ("gfx90a"), or all
/// if it is empty. At least one; any bytes may be given, and the error is one sentence. Any thread may call it.
[[nodiscard]] Result<std::vector<Disassembly>> disassemble(std::string_view bytes, std::string_view chip = {});

} // namespace interlock::disassembly
