// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "analysis/Emulator/Alu.h"

namespace interlock::emu::alu {

tl::expected<Op, std::string> resolve(const ptx::Instruction &in) {
  for (auto *family : {resolveInteger, resolveBits, resolveCompare, resolveFloat, resolveConvert}) {
    auto op = family(in);
    if (!op || op->eval)
      return op;
  }
  return tl::unexpected("the emulator does not know " + in.mnemonic());
}

} // namespace interlock::emu::alu
