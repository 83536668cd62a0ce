// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Disassembly/Descriptor.h"

#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include "llvm/Support/Endian.h"

#include <fmt/format.h>

namespace interlock::disassembly {
namespace {

namespace hsa = llvm::amdhsa;

/// The words of a descriptor that fields lie in.
struct Words {
  uint32_t resource1, resource2, resource3, properties, preload;
};

enum class Of : uint8_t { all, unified, absoluteScratch, architectedScratch };

bool holds(Of chips, const Processor &chip) {
  switch (chips) {
  case Of::all:
    return true;
  case Of::unified:
    return chip.unifiedVgprs;
  case Of::absoluteScratch:
    return !chip.architectedFlatScratch;
  case Of::architectedScratch:
    return chip.architectedFlatScratch;
  }
  return false;
}

struct Field {
  uint32_t Words::*word;
  unsigned shift, width;
  std::string_view directive;
  unsigned first, last;
  Of chips;
};
constexpr Field fields[] = {
#define ILK_FIELD(word, shift, width, directive, first, last, chips)                                                   \
  {&Words::word, shift, width, directive, first, last, chips},
#include "compiler/Disassembly/DescriptorFields.inc"
#undef ILK_FIELD
};

unsigned bits(uint32_t word, unsigned shift, unsigned width) { return word >> shift & ((1u << width) - 1); }

/// SGPRs that the assembler adds to those that a directive names (VCC is counted as one of the latter here).
unsigned addedSgprs(const CodeObject &object) {
  const Processor &chip = *object.processor;
  return chip.generation != 90 ? 0 : chip.architectedFlatScratch ? 6 : object.xnack ? 4 : 0;
}

} // namespace

Result<std::vector<Descriptor>> readDescriptors(const CodeObject &object) {
  const Processor &chip = *object.processor;
  std::vector<Descriptor> found;
  for (const Symbol &symbol : object.symbols) {
    if (symbol.kind != SymbolKind::object || symbol.size != Descriptor::size || !symbol.name.ends_with(".kd"))
      continue;
    auto refuse = [&](std::string message) {
      return makeError(Code::badInput, fmt::format("{} of kernel descriptor {}", message, symbol.name));
    };
    if (!found.empty() && found.back().address == symbol.address)
      continue; // another name for it
    const Section &section = *object.sectionAt(symbol.address);
    uint64_t offset = symbol.address - section.address;
    if (section.bytes.size() < Descriptor::size || offset > section.bytes.size() - Descriptor::size)
      return refuse("expected 64 bytes in a section");
    const char *at = section.bytes.data() + offset;
    auto word = [&](unsigned field) { return llvm::support::endian::read32le(at + field); };
    auto half = [&](unsigned field) { return uint32_t(llvm::support::endian::read16le(at + field)); };
    Words words{word(hsa::COMPUTE_PGM_RSRC1_OFFSET), word(hsa::COMPUTE_PGM_RSRC2_OFFSET),
                word(hsa::COMPUTE_PGM_RSRC3_OFFSET), half(hsa::KERNEL_CODE_PROPERTIES_OFFSET),
                half(hsa::KERNARG_PRELOAD_OFFSET)};

    Descriptor made;
    made.kernel = symbol.name.substr(0, symbol.name.size() - 3);
    made.address = symbol.address;
    made.entry = symbol.address + llvm::support::endian::read64le(at + hsa::KERNEL_CODE_ENTRY_BYTE_OFFSET_OFFSET);
    const Section *code = object.sectionAt(made.entry);
    if (!code || code->kind != SectionKind::code || made.entry % 4)
      return refuse(fmt::format("expected an entry in the code, found {:#x}", made.entry));
    made.lanes = chip.generation >= 100 && bits(words.properties, 10, 1) ? 32 : 64;

    std::string &text = made.directives;
    auto line = [&](std::string_view name, uint64_t value) { text += fmt::format("\t\t.amdhsa_{} {}\n", name, value); };
    text = fmt::format("\t.amdhsa_kernel {}\n", made.kernel);
    line("group_segment_fixed_size", word(hsa::GROUP_SEGMENT_FIXED_SIZE_OFFSET));
    line("private_segment_fixed_size", word(hsa::PRIVATE_SEGMENT_FIXED_SIZE_OFFSET));
    line("kernarg_size", word(hsa::KERNARG_SIZE_OFFSET));
    for (const Field &field : fields)
      if (chip.generation >= field.first && chip.generation <= field.last && holds(field.chips, chip))
        line(field.directive, bits(words.*field.word, field.shift, field.width));
    if (object.version >= 5)
      line("uses_dynamic_stack", bits(words.properties, 11, 1));
    if (chip.generation == 125)
      line("named_barrier_count", 4 * bits(words.resource3, 14, 3));
    unsigned granule = chip.generation >= 100 && made.lanes == 64 ? chip.vgprGranule / 2 : chip.vgprGranule;
    line("next_free_vgpr", (bits(words.resource1, 0, 6) + 1) * granule);
    if (chip.unifiedVgprs)
      line("accum_offset", (bits(words.resource3, 0, 6) + 1) * 4);
    unsigned sgprs = (bits(words.resource1, 6, 4) + 1) * 8;
    line("next_free_sgpr", sgprs - std::min(sgprs, addedSgprs(object)));
    line("reserve_vcc", 0);
    if (!chip.architectedFlatScratch)
      line("reserve_flat_scratch", 0);
    text += "\t.end_amdhsa_kernel\n";
    found.push_back(std::move(made));
  }
  return found;
}

} // namespace interlock::disassembly
