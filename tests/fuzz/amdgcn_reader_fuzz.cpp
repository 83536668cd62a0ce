// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// libFuzzer entry of the AMDGCN reader: any bytes must give a module or an error, and what was read must print.
// Build with clang++ -fsanitize=fuzzer,address; the unit tests call the same function on a mutated corpus.
#include "analysis/AMDGCN/Reader.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto module = interlock::amdgcn::read({reinterpret_cast<const char *>(data), size}, "fuzz");
  if (!module) {
    if (module.error().message.empty() || module.error().at.line == 0)
      std::abort();
    return 0;
  }
  size_t n = module->instructions.size();
  for (const auto &in : module->instructions) {
    if (in.text().empty() || in.at.line == 0)
      std::abort();
    for (const auto &o : in.operands)
      if (o.kind == interlock::amdgcn::OperandKind::label && o.index > n)
        std::abort();
  }
  for (const auto &fn : module->functions)
    if (fn.begin > fn.end || fn.end > n)
      std::abort();
  for (const auto &kernel : module->kernels)
    if (kernel.function && *kernel.function >= module->functions.size())
      std::abort();
  for (const auto &symbol : module->symbols)
    if (symbol.kind == interlock::amdgcn::SymbolKind::data &&
        (symbol.section >= module->sections.size() || symbol.offset > module->sections[symbol.section].size))
      std::abort();
  return 0;
}
