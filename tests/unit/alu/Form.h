// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Runs one PTX instruction through the reader and the arithmetic, the way the machine does.
#pragma once

#include "analysis/Emulator/Alu.h"
#include "analysis/PTX/Reader.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace interlock::emu::alu {

/// What an instruction gave: its result, and its second one (a predicate or a carry).
struct Outcome {
  uint64_t value = 0, second = 0;
};

/// One instruction, such as "add.s32 %d, %a, %b". The sources %a, %b, %c, %e and %f are the arguments of a call, in
/// that order, whatever their place in the text; other sources are literals.
class Form {
public:
  explicit Form(const std::string &text);
  /// Why the instruction is refused; empty if it is not.
  const std::string &error() const { return message; }
  Outcome operator()(uint64_t a, uint64_t b = 0, uint64_t c = 0, uint64_t e = 0, uint64_t f = 0) const;
  /// As the machine calls it: `arguments` has up to five rows with one value a lane.
  void warp(const std::vector<std::vector<uint64_t>> &arguments, std::vector<uint64_t> &out,
            std::vector<uint64_t> &second, uint64_t active) const;
  const Op &op() const { return operation; }

private:
  std::string message;
  Op operation;
  std::vector<int> argument;      ///< of each source: its index, or -1 for a literal
  std::vector<uint64_t> literals; ///< of each source
};

} // namespace interlock::emu::alu
