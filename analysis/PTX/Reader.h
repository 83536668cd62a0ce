// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The PTX reader: text in, Module out. It knows the grammar of PTX ISA 6.0 to 9.x and no instruction set: modifiers
// are kept in the order in which they stand, and an unknown opcode is never an error.
#pragma once

#include "analysis/PTX/Module.h"

#include <tl/expected.hpp>

#include <string>
#include <string_view>

namespace interlock::ptx {

/// Why a text could not be read.
struct ReadError {
  std::string file; ///< as given to read()
  Location at;
  std::string message; ///< one lower-case sentence
  /// `file:line:column: message`.
  std::string str() const;
};

/// Reads a PTX text. `file` is only used in errors. Any bytes may be given; memory and time stay proportional to
/// the size of the text. The result does not refer to `text`.
[[nodiscard]] tl::expected<Module, ReadError> read(std::string_view text, std::string_view file = "<ptx>");

} // namespace interlock::ptx
