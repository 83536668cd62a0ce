// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Code objects for AMD GPUs. A static program can load no library, so the disassembler, which is LLVM's in the compiler
// plugin, is asked through the `interlock` command.
#pragma once

#include "analysis/Lint/tool/Inputs.h"

namespace interlock::lint {

/// Whether a file is a code object for AMD GPUs, an offload bundle, or a program that embeds one.
bool holdsAmdCode(std::string_view bytes);

/// The assembly of each code object in the file `name`. The command is looked for in `searchPath`.
[[nodiscard]] tl::expected<std::vector<InputText>, std::string> disassemble(const std::string &name,
                                                                            const std::string &searchPath);

} // namespace interlock::lint
