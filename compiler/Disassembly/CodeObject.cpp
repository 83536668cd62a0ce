// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Source: LLVM, "User Guide for AMDGPU Backend", "ELF Code Object".
#include "compiler/Disassembly/CodeObject.h"

#include "llvm/Object/ELF.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::disassembly {
namespace {

using llvm::object::ELF64LE;
using File = llvm::object::ELFFile<ELF64LE>;
namespace ELF = llvm::ELF;

/// Far beyond any code object, and what keeps the text of one within memory.
constexpr uint64_t largestSection = uint64_t(1) << 28;

struct Machine {
  unsigned number;
  Processor processor;
};
constexpr Machine machines[] = {
#define ILK_PROCESSOR(machine, name, generation, unified, architected, granule)                                        \
  {ELF::EF_AMDGPU_MACH_AMDGCN_##machine, {name, generation, unified, architected, granule}},
#include "compiler/Disassembly/Processors.inc"
#undef ILK_PROCESSOR
};

tl::unexpected<Error> bad(std::string message) { return makeError(Code::badInput, std::move(message)); }

std::string said(llvm::Error error) { return llvm::toString(std::move(error)); }

std::string_view view(llvm::StringRef text) { return {text.data(), text.size()}; }

/// The suffix of a target id: on, off, or nothing for "any".
std::string feature(const char *name, unsigned bits) {
  return bits == 2 ? fmt::format(":{}-", name) : bits == 3 ? fmt::format(":{}+", name) : "";
}

class Reader {
public:
  explicit Reader(const File &file) : file(file) {}

  Result<CodeObject> run() {
    ILK_RETURN_IF_ERROR(header());
    auto table = file.sections();
    if (!table)
      return bad(fmt::format("expected the sections of a code object, found: {}", said(table.takeError())));
    for (const auto &section : *table)
      ILK_RETURN_IF_ERROR(visit(section));
    if (symbolTable)
      ILK_RETURN_IF_ERROR(symbols(*symbolTable));
    for (const auto *section : relocationTables)
      ILK_RETURN_IF_ERROR(relocations(*section));
    auto byAddress = [](const auto &a, const auto &b) { return a.address < b.address; };
    std::stable_sort(object.sections.begin(), object.sections.end(), byAddress);
    std::stable_sort(object.symbols.begin(), object.symbols.end(), byAddress);
    for (size_t i = 1; i < object.sections.size(); ++i)
      if (object.sections[i].address < object.sections[i - 1].end())
        return bad(fmt::format("expected sections side by side, found {} within {}", object.sections[i].name,
                               object.sections[i - 1].name));
    return std::move(object);
  }

private:
  Status header() {
    const auto &head = file.getHeader();
    unsigned flags = head.e_flags, abi = head.e_ident[ELF::EI_ABIVERSION];
    if (head.e_machine != ELF::EM_AMDGPU || head.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
      return bad("expected a code object for amdhsa, found an ELF file for something else");
    if (head.e_type != ELF::ET_DYN)
      return bad("expected a code object that is linked, found one that is not; ld.lld -shared would do");
    if (abi < ELF::ELFABIVERSION_AMDGPU_HSA_V3 || abi > ELF::ELFABIVERSION_AMDGPU_HSA_V6)
      return bad(fmt::format("expected a code object of version 3 to 6, found ABI version {} in its header", abi));
    object.version = abi - ELF::ELFABIVERSION_AMDGPU_HSA_V3 + 3;
    const Machine *machine = std::find_if(std::begin(machines), std::end(machines), [&](const Machine &known) {
      return known.number == (flags & ELF::EF_AMDGPU_MACH);
    });
    if (machine == std::end(machines)) {
      std::string names;
      for (const Machine &known : machines)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", known.processor.name);
      return bad(fmt::format("expected a code object for one of {}, found machine {:#x} in its header", names,
                             flags & ELF::EF_AMDGPU_MACH));
    }
    object.processor = &machine->processor;
    object.target = fmt::format("amdgcn-amd-amdhsa--{}", object.processor->name);
    if (object.version == 3) { // both are on or off
      object.xnack = flags & ELF::EF_AMDGPU_FEATURE_XNACK_V3;
      object.target +=
          std::string(flags & ELF::EF_AMDGPU_FEATURE_SRAMECC_V3 ? ":sramecc+" : "") + (object.xnack ? ":xnack+" : "");
      return {};
    }
    unsigned xnack = (flags & ELF::EF_AMDGPU_FEATURE_XNACK_V4) >> 8;
    object.xnack = xnack & 1; // any or on
    object.target += feature("sramecc", (flags & ELF::EF_AMDGPU_FEATURE_SRAMECC_V4) >> 10) + feature("xnack", xnack);
    return {};
  }

  Status visit(const File::Elf_Shdr &section) {
    auto name = file.getSectionName(section);
    if (!name)
      return bad(fmt::format("expected a name of each section, found: {}", said(name.takeError())));
    switch (section.sh_type) {
    case ELF::SHT_NOTE:
      return notes(section);
    case ELF::SHT_RELA:
      relocationTables.push_back(&section);
      return {};
    case ELF::SHT_SYMTAB:
      symbolTable = &section;
      return {};
    case ELF::SHT_DYNSYM: // a part of .symtab, where that was not stripped
      dynamicTable = &section;
      if (!symbolTable)
        symbolTable = &section;
      return {};
    case ELF::SHT_PROGBITS:
    case ELF::SHT_NOBITS:
      break;
    default:
      return {};
    }
    // What fills up a page behind the read-only data is never reached, and as large as a page.
    if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_size == 0 || *name == ".relro_padding")
      return {};
    if (section.sh_size > largestSection || section.sh_addr > (uint64_t(1) << 48))
      return bad(fmt::format("expected sections of at most {} MiB below 2^48, found {} with {} bytes at {:#x}",
                             largestSection >> 20, view(*name), uint64_t(section.sh_size), uint64_t(section.sh_addr)));
    Section made{.name = view(*name)};
    made.kind = section.sh_flags & ELF::SHF_EXECINSTR ? SectionKind::code : SectionKind::data;
    made.address = section.sh_addr;
    made.size = section.sh_size;
    made.align = std::clamp<uint64_t>(section.sh_addralign, 1, 1 << 16);
    if (made.align & (made.align - 1))
      return bad(fmt::format("expected alignments that are powers of two, found {} of {}", made.align, made.name));
    made.writable = section.sh_flags & ELF::SHF_WRITE;
    if (section.sh_type == ELF::SHT_PROGBITS) {
      auto content = file.getSectionContents(section);
      if (!content)
        return bad(fmt::format("expected the content of {}, found: {}", made.name, said(content.takeError())));
      made.bytes = {reinterpret_cast<const char *>(content->data()), content->size()};
    }
    object.sections.push_back(made);
    return {};
  }

  Status notes(const File::Elf_Shdr &section) {
    unsigned align = section.sh_addralign == 8 ? 8 : 4; // LLVM takes 0 for 4, but not everywhere
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file.notes(section, error))
      if (note.getName() == "AMDGPU" && note.getType() == ELF::NT_AMDGPU_METADATA)
        object.note = view(note.getDescAsStringRef(align));
    if (error)
      return bad(fmt::format("expected the notes of a code object, found: {}", said(std::move(error))));
    return {};
  }

  Status symbols(const File::Elf_Shdr &section) {
    auto table = file.symbols(&section);
    auto strings = file.getStringTableForSymtab(section);
    if (!table || !strings)
      return bad(fmt::format("expected the symbols of a code object, found: {}",
                             said(llvm::joinErrors(table.takeError(), strings.takeError()))));
    for (const auto &symbol : *table) {
      uint8_t type = symbol.getType();
      if (symbol.st_shndx == ELF::SHN_UNDEF || symbol.st_shndx == ELF::SHN_ABS ||
          (type != ELF::STT_FUNC && type != ELF::STT_OBJECT))
        continue;
      auto name = symbol.getName(*strings);
      if (!name)
        return bad(fmt::format("expected a name of each symbol, found: {}", said(name.takeError())));
      if (name->empty() || !object.sectionAt(symbol.st_value))
        continue;
      object.symbols.push_back({view(*name), type == ELF::STT_FUNC ? SymbolKind::function : SymbolKind::object,
                                symbol.st_value, symbol.st_size, symbol.getBinding() != ELF::STB_LOCAL});
    }
    return {};
  }

  Status relocations(const File::Elf_Shdr &section) {
    auto entries = file.relas(section);
    if (!entries)
      return bad(fmt::format("expected the relocations of a code object, found: {}", said(entries.takeError())));
    for (const auto &entry : *entries) {
      Relocation made{{}, int64_t(entry.r_addend)};
      unsigned type = entry.getType(/*isMips64EL=*/false);
      if (type == ELF::R_AMDGPU_ABS64) {
        ILK_ASSIGN_OR_RETURN(made.symbol, symbolOf(entry));
      } else if (type != ELF::R_AMDGPU_RELATIVE64) {
        return bad(fmt::format("expected relocations R_AMDGPU_RELATIVE64 and R_AMDGPU_ABS64 in a code object that is "
                               "linked, found type {}",
                               type));
      }
      object.relocations.emplace(entry.r_offset, made);
    }
    return {};
  }

  /// Relocations for the loader name symbols of the dynamic table.
  Result<std::string_view> symbolOf(const File::Elf_Rela &entry) {
    auto broken = [](llvm::Error error) {
      return bad(fmt::format("expected a symbol of each relocation, found: {}", said(std::move(error))));
    };
    if (!dynamicTable)
      return bad("expected a table of dynamic symbols beside relocations, found none");
    auto table = file.symbols(dynamicTable);
    auto strings = file.getStringTableForSymtab(*dynamicTable);
    if (!table || !strings)
      return broken(llvm::joinErrors(table.takeError(), strings.takeError()));
    uint32_t index = entry.getSymbol(/*isMips64EL=*/false);
    if (index >= table->size())
      return bad(fmt::format("expected a symbol below {} of each relocation, found {}", table->size(), index));
    auto name = (*table)[index].getName(*strings);
    if (!name)
      return broken(name.takeError());
    return view(*name);
  }

  const File &file;
  CodeObject object;
  const File::Elf_Shdr *symbolTable = nullptr, *dynamicTable = nullptr;
  std::vector<const File::Elf_Shdr *> relocationTables;
};

} // namespace

const Section *CodeObject::sectionAt(uint64_t address) const {
  for (const Section &section : sections)
    if (address >= section.address && address < section.end())
      return &section;
  return nullptr;
}

Result<CodeObject> readCodeObject(std::string_view bytes) {
  auto file = File::create(llvm::StringRef(bytes.data(), bytes.size()));
  if (!file)
    return bad(fmt::format("expected a code object, found: {}", said(file.takeError())));
  return Reader(*file).run();
}

} // namespace interlock::disassembly
