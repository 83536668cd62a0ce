// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/SourceJit/Disassembly.h"

namespace interlock {

Result<std::string> disassemble(const std::string &, const SourceOptions &) {
  return makeError(Code::notFound, "there is no disassembler of code objects here");
}

std::string disassemblerIdentity(const SourceOptions &) { return "none"; }

} // namespace interlock
