// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The AMDGCN reader: assembly text in, Module out. It knows the syntax that LLVM writes and reads (User Guide for
// AMDGPU Backend, "Syntax of AMDGPU Instruction Operands" and "Assembler Directives") and no instruction set: an
// unknown mnemonic or directive is never an error.
#pragma once

#include "analysis/AMDGCN/Module.h"

#include <tl/expected.hpp>

#include <string>
#include <string_view>

namespace interlock::amdgcn {

/// Why a text could not be read.
struct ReadError {
  std::string file; ///< as given to read()
  Location at;
  std::string message; ///< one lower-case sentence
  /// `file:line:column: message`.
  std::string str() const;
};

/// Reads an assembly text. `file` is only used in errors. Any bytes may be given; memory and time stay proportional to
/// the size of the text, but for data that it asks for with `.zero` and the like, of which it may have 256 MiB. The
/// result does not refer to `text`.
[[nodiscard]] tl::expected<Module, ReadError> read(std::string_view text, std::string_view file = "<amdgcn>");

} // namespace interlock::amdgcn
