// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One function as the judgement walks over it: decoded instructions in blocks, the graph of these, and the registers
// that each instruction reads and writes.
#pragma once

#include "analysis/Lint/Graph.h"
#include "analysis/LintAMDGCN/Decode.h"

#include <span>

namespace interlock::lint::gcn {

/// Registers of a function, counted from 0: 128 scalar ones (vcc is 106 and 107), then exec, m0 and scc, then the
/// vector ones, then the accumulation ones.
using Register = uint32_t;
inline constexpr Register execLow = 128, execHigh = 129, m0 = 130, scc = 131, firstVector = 132;

struct Code {
  const amdgcn::Module *module = nullptr;
  const amdgcn::Function *function = nullptr;
  Family family = Family::gfx940;
  std::span<const amdgcn::Instruction> instructions;
  std::vector<Effect> effects;
  std::vector<FlatBlock> blocks; ///< first and count are of `instructions`
  std::vector<uint32_t> blockOf; ///< by instruction
  uint32_t registers = 0;
  bool hasCalls = false;

  Code(const amdgcn::Module &module, const amdgcn::Function &function, Family family);

  /// What an operand reads or writes; nothing for numbers and the rest.
  std::vector<Register> expand(const amdgcn::Operand &operand) const;
  /// All that an instruction writes, those that no operand names included.
  std::vector<Register> written(const amdgcn::Instruction &in, const Effect &effect) const;
  /// All that it reads: the operands that it does not write, and what no operand names.
  std::vector<Register> read(const amdgcn::Instruction &in, const Effect &effect) const;

private:
  void split();
  uint32_t vectors = 0;
};

} // namespace interlock::lint::gcn
