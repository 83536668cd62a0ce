// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "analysis/Emulator/Alu.h"

#include <algorithm>

namespace interlock::emu::alu {

tl::unexpected<std::string> unknownInstruction(const ptx::Instruction &in) {
  return tl::unexpected("the emulator does not know " + in.mnemonic());
}

bool hasOnly(const ptx::Instruction &in, std::initializer_list<std::string_view> known) {
  return std::all_of(in.mods.begin(), in.mods.end(), [&](std::string_view mod) {
    return ptx::parseType(mod) != ptx::Type::none || std::find(known.begin(), known.end(), mod) != known.end();
  });
}

Rounding roundingOf(const ptx::Instruction &in) {
  return in.has("rz")    ? Rounding::rz
         : in.has("rm")  ? Rounding::rm
         : in.has("rp")  ? Rounding::rp
         : in.has("rna") ? Rounding::rna
                         : Rounding::rn;
}

tl::expected<Op, std::string> resolve(const ptx::Instruction &in) {
  for (auto *family : {resolveInteger, resolveBits, resolveCompare, resolveFloat, resolveConvert}) {
    auto op = family(in);
    if (!op || op->eval)
      return op;
  }
  return unknownInstruction(in);
}

} // namespace interlock::emu::alu
