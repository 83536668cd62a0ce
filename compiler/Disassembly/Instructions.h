// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Machine code as LLVM's disassembler prints it, one instruction after the other.
#pragma once

#include "compiler/Disassembly/CodeObject.h"

#include <memory>
#include <optional>

namespace interlock::disassembly {

struct Line {
  uint64_t address = 0;
  unsigned size = 0;
  std::string text;               ///< "s_cbranch_scc1 12"
  std::optional<uint64_t> branch; ///< where its last operand leads
  uint64_t end() const { return address + size; }
  std::string_view mnemonic() const { return std::string_view(text).substr(0, text.find(' ')); }
};

class Instructions {
public:
  /// For waves of 32 or 64 lanes, which decides how masks and their registers print.
  [[nodiscard]] static Result<std::unique_ptr<Instructions>> create(const Processor &chip, unsigned lanes);
  ~Instructions();

  /// The instructions of `bytes`, which lie at `address`. What is none comes as `.long` with its bits, so that nothing
  /// is left out.
  std::vector<Line> decode(std::string_view bytes, uint64_t address) const;

private:
  struct Parts;
  explicit Instructions(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts;
};

} // namespace interlock::disassembly
