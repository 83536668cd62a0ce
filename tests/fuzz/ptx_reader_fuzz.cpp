// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// libFuzzer entry of the PTX reader: any bytes must give a module or an error, and what was read must print.
// Build with clang++ -fsanitize=fuzzer,address; the unit tests call the same function on a mutated corpus.
#include "analysis/PTX/Reader.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto module = interlock::ptx::read({reinterpret_cast<const char *>(data), size}, "fuzz");
  if (!module) {
    if (module.error().message.empty() || module.error().at.line == 0)
      std::abort();
    return 0;
  }
  for (const auto &fn : module->functions)
    for (const auto &in : fn.instructions) {
      if (in.text().empty() || in.at.line == 0)
        std::abort();
      for (const auto &o : in.operands)
        if ((o.kind == interlock::ptx::OperandKind::reg && o.index >= fn.registers.size()) ||
            (o.kind == interlock::ptx::OperandKind::label && o.index > fn.instructions.size()))
          std::abort();
    }
  return 0;
}
