// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A code object as its ELF file describes it: chip, sections, symbols, addresses that a loader fills in, metadata.
#pragma once

#include "interlock/status.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace interlock::disassembly {

/// A chip whose code objects are read.
struct Processor {
  std::string_view name;
  unsigned generation; ///< 90 (gfx9), 100, 110, 120, 125
  bool unifiedVgprs;   ///< VGPRs and AGPRs share a register file
  bool architectedFlatScratch;
  unsigned vgprGranule; ///< registers that the descriptor counts at once, in waves of 32
};

enum class SectionKind : uint8_t { code, data };

struct Section {
  std::string_view name;
  SectionKind kind = SectionKind::data;
  uint64_t address = 0, size = 0, align = 1;
  bool writable = false;
  std::string_view bytes; ///< empty where all of it is zero
  uint64_t end() const { return address + size; }
};

enum class SymbolKind : uint8_t { function, object };

struct Symbol {
  std::string_view name;
  SymbolKind kind = SymbolKind::object;
  uint64_t address = 0, size = 0;
  bool global = false;
};

/// An address that the loader stores: of `symbol` if that is not empty, else of the code object's own `addend`.
struct Relocation {
  std::string_view symbol;
  int64_t addend = 0;
};

/// Names and bytes point into the bytes that were read.
struct CodeObject {
  const Processor *processor = nullptr;
  std::string target;            ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
  unsigned version = 0;          ///< of its format: 3 to 6
  bool xnack = false;            ///< may run with XNACK on
  std::vector<Section> sections; ///< that are loaded and that a kernel can reach, by address
  std::vector<Symbol> symbols;   ///< that are defined in them, by address
  std::map<uint64_t, Relocation> relocations;
  std::string_view note; ///< the metadata, in MessagePack

  /// The section that has this address in it, or null.
  const Section *sectionAt(uint64_t address) const;
};

/// Reads the file's tables. Any bytes may be given.
[[nodiscard]] Result<CodeObject> readCodeObject(std::string_view bytes);

} // namespace interlock::disassembly
