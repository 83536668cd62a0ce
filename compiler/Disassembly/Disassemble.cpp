// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Everything that has an address gets a name: functions and data their symbols, targets of branches and what code or
// data refer to without one a label that is made of the address.
#include "compiler/Disassembly/Disassemble.h"

#include "compiler/Disassembly/Containers.h"
#include "compiler/Disassembly/Descriptor.h"
#include "compiler/Disassembly/Metadata.h"
#include "compiler/Disassembly/References.h"

#include "llvm/Support/Endian.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_set>

namespace interlock::disassembly {
namespace {

tl::unexpected<Error> bad(std::string message) { return makeError(Code::badInput, std::move(message)); }

bool isName(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
         });
}

/// Words that stand behind functions to keep the instruction prefetch from running into anything: s_code_end, s_nop 0
/// and zeros.
bool isFiller(std::string_view bytes) {
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    uint32_t word = llvm::support::endian::read32le(bytes.data());
    if (word != 0xbf9f0000 && word != 0xbf800000 && word != 0)
      return false;
  }
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

/// A piece of code that starts at a function or at the beginning of its section.
struct Piece {
  uint64_t address = 0;
  std::vector<Line> lines;
  std::map<size_t, Reference> references;
};

class Writer {
public:
  explicit Writer(const CodeObject &object) : object(object) {}

  Result<std::string> run() {
    ILK_ASSIGN_OR_RETURN(descriptors, readDescriptors(object));
    ILK_RETURN_IF_ERROR(nameSymbols());
    for (const Section &section : object.sections)
      if (section.kind == SectionKind::code)
        ILK_RETURN_IF_ERROR(decode(section));
    ILK_RETURN_IF_ERROR(nameTargets());
    text = fmt::format("\t.amdgcn_target \"{}\"\n\t.amdhsa_code_object_version {}\n", object.target, object.version);
    for (const auto &[section, pieces] : code)
      writeCode(*section, pieces);
    if (!descriptors.empty())
      text += "\t.section\t.rodata,\"a\",@progbits\n\t.p2align\t6, 0x0\n";
    for (const Descriptor &descriptor : descriptors)
      text += descriptor.directives;
    for (const Section &section : object.sections)
      if (section.kind == SectionKind::data)
        writeData(section);
    if (!object.note.empty()) {
      ILK_ASSIGN_OR_RETURN(std::string metadata, metadataText(object.note));
      text += fmt::format("\t.amdgpu_metadata\n{}\t.end_amdgpu_metadata\n", metadata);
    }
    return std::move(text);
  }

private:
  /// Names by address. A function may have several; data that has none gets one when something refers to it.
  Status nameSymbols() {
    for (const Descriptor &descriptor : descriptors)
      ILK_RETURN_IF_ERROR(addFunction(descriptor.kernel, descriptor.entry, true));
    for (const Symbol &symbol : object.symbols) {
      const Section &section = *object.sectionAt(symbol.address);
      if (section.kind == SectionKind::code) {
        if (symbol.kind == SymbolKind::function && symbol.address % 4 == 0)
          ILK_RETURN_IF_ERROR(addFunction(symbol.name, symbol.address, symbol.global));
        uint64_t &end = endOf[symbol.address];
        end = std::max(end, symbol.address + std::min(symbol.size, section.end() - symbol.address));
      } else if (!isDescriptor(symbol.address)) {
        addData(symbol);
      }
    }
    return {};
  }

  Status addFunction(std::string_view name, uint64_t address, bool global) {
    if (!isName(name))
      return bad(fmt::format("expected names of functions of letters, digits, '_', '.' and '$', found '{}'",
                             name.substr(0, 200)));
    auto &here = functions[address];
    if (std::find(here.begin(), here.end(), name) != here.end())
      return {};
    // Functions of several sources may share a name, if they are local.
    std::string unique =
        used.insert(std::string(name)).second ? std::string(name) : fmt::format("{}.{:x}", name, address);
    used.insert(unique);
    here.push_back(unique);
    names.emplace(address, unique);
    if (global)
      globals.insert(unique);
    return {};
  }

  void addData(const Symbol &symbol) {
    std::string name(symbol.name);
    if (!isName(name))
      name = fmt::format(".Ldata_{:x}", symbol.address);
    if (!used.insert(name).second) {
      name = fmt::format("{}.{:x}", name, symbol.address);
      if (!used.insert(name).second)
        return; // a second name for the same place
    }
    data[symbol.address].push_back({name, symbol.size});
    names.emplace(symbol.address, name);
    renamed.emplace(symbol.name, name);
    if (symbol.global)
      globals.insert(name);
  }

  bool isDescriptor(uint64_t address) const {
    return std::any_of(descriptors.begin(), descriptors.end(),
                       [&](const Descriptor &descriptor) { return descriptor.address == address; });
  }

  /// Waves of a function that no kernel enters are those of the first kernel.
  unsigned lanesAt(uint64_t address) const {
    for (const Descriptor &descriptor : descriptors)
      if (descriptor.entry == address)
        return descriptor.lanes;
    return descriptors.empty() ? object.processor->generation >= 100 ? 32 : 64 : descriptors[0].lanes;
  }

  Status decode(const Section &section) {
    if (section.bytes.empty())
      return bad(fmt::format("expected code in {}, found none", section.name));
    std::set<uint64_t> starts = {section.address};
    for (const auto &[address, list] : functions)
      if (address > section.address && address < section.end())
        starts.insert(address);
    for (auto at = starts.begin(); at != starts.end(); ++at) {
      uint64_t begin = *at, end = std::next(at) == starts.end() ? section.end() : *std::next(at);
      if (auto known = endOf.find(begin);
          known != endOf.end() && known->second > begin && known->second < end &&
          isFiller(section.bytes.substr(known->second - section.address, end - known->second)))
        end = known->second;
      std::string_view bytes = section.bytes.substr(begin - section.address, end - begin);
      if (!functions.count(begin) && isFiller(bytes))
        continue;
      ILK_ASSIGN_OR_RETURN(const Instructions *instructions, instructionsFor(lanesAt(begin)));
      Piece piece{begin, instructions->decode(bytes, begin), {}};
      piece.references = findReferences(piece.lines);
      code[&section].push_back(std::move(piece));
    }
    return {};
  }

  Result<const Instructions *> instructionsFor(unsigned lanes) {
    auto &made = decoders[lanes];
    if (!made) {
      ILK_ASSIGN_OR_RETURN(made, Instructions::create(*object.processor, lanes));
    }
    return made.get();
  }

  /// Labels for what code and data refer to and no symbol names.
  Status nameTargets() {
    for (const auto &[section, pieces] : code)
      for (const Piece &piece : pieces)
        for (const Line &line : piece.lines)
          lineStarts.insert(line.address);
    for (const auto &[section, pieces] : code)
      for (const Piece &piece : pieces) {
        for (const Line &line : piece.lines)
          if (line.branch) {
            if (!lineStarts.count(*line.branch))
              return bad(fmt::format("expected a branch to an instruction, found {} at {:#x}, which leads to {:#x}",
                                     line.mnemonic(), line.address, *line.branch));
            nameAt(*line.branch);
          }
        for (const auto &[index, reference] : piece.references)
          nameAt(reference.target);
      }
    for (const auto &[place, relocation] : object.relocations)
      if (relocation.symbol.empty())
        nameAt(uint64_t(relocation.addend));
    return {};
  }

  /// Makes a name for an address that can be written, if it has none.
  void nameAt(uint64_t address) {
    const Section *section = object.sectionAt(address);
    if (!section || names.count(address))
      return;
    if (section->kind == SectionKind::code) {
      if (lineStarts.count(address))
        names.emplace(address, fmt::format(".L{:x}", address));
      return;
    }
    std::string name = fmt::format(".Ldata_{:x}", address);
    used.insert(name);
    data[address].push_back({name, 0});
    names.emplace(address, name);
  }

  void writeCode(const Section &section, const std::vector<Piece> &pieces) {
    text += section.name == ".text" || !isName(section.name)
                ? "\t.text\n"
                : fmt::format("\t.section\t{},\"ax\",@progbits\n", section.name);
    for (const Piece &piece : pieces) {
      if (auto here = functions.find(piece.address); here != functions.end()) {
        // Functions lie at multiples of 256, which is what their entries need.
        text += "\t.p2align\t8\n";
        for (const std::string &name : here->second)
          text += fmt::format("{}\t.type\t{},@function\n",
                              globals.count(name) ? fmt::format("\t.globl\t{}\n", name) : "", name);
      }
      for (size_t i = 0; i < piece.lines.size(); ++i) {
        const Line &line = piece.lines[i];
        if (auto here = functions.find(line.address); here != functions.end())
          for (const std::string &name : here->second)
            text += name + ":\n";
        else if (auto label = names.find(line.address); label != names.end())
          text += label->second + ":\n";
        text += fmt::format("\t{:<58} ; {:#x}\n", textOf(piece, i), line.address);
      }
      if (auto here = functions.find(piece.address); here != functions.end())
        for (const std::string &name : here->second)
          text += fmt::format("\t.size\t{}, .-{}\n", name, name);
    }
  }

  std::string textOf(const Piece &piece, size_t index) const {
    const Line &line = piece.lines[index];
    if (line.branch)
      return fmt::format("{} {}", std::string_view(line.text).substr(0, line.text.rfind(' ')), names.at(*line.branch));
    auto found = piece.references.find(index);
    if (found == piece.references.end())
      return line.text;
    const Reference &reference = found->second;
    auto [name, offset] = placeOf(reference.target);
    if (name.empty())
      return line.text;
    // The assembler counts from the literal, which is behind the instruction's first four bytes.
    int64_t addend = int64_t(offset + (line.address + 4 - reference.base));
    return fmt::format("{} {}@{}{:+}", std::string_view(line.text).substr(0, line.text.rfind(' ')), name,
                       reference.relocation, addend);
  }

  /// An address as a name and what is behind it; an empty name where it lies nowhere.
  std::pair<std::string, uint64_t> placeOf(uint64_t address) const {
    if (auto named = names.find(address); named != names.end())
      return {named->second, 0};
    const Section *section = object.sectionAt(address);
    auto before = names.upper_bound(address);
    if (!section || before == names.begin())
      return {};
    --before;
    return before->first < section->address ? std::pair<std::string, uint64_t>{}
                                            : std::pair{before->second, address - before->first};
  }

  void writeData(const Section &section) {
    bool used = std::any_of(names.begin(), names.end(), [&](const auto &name) {
      return name.first >= section.address && name.first < section.end();
    });
    if (!used)
      return;
    text += fmt::format("\t.section\t{},\"a{}\",{}\n", isName(section.name) ? section.name : ".data",
                        section.writable ? "w" : "", section.bytes.empty() ? "@nobits" : "@progbits");
    text += fmt::format("\t.balign\t{}\n", section.align);
    // Up to the next label, stored address or descriptor, piece by piece.
    std::set<uint64_t> cuts = {section.end()};
    auto cut = [&](uint64_t address) {
      if (address > section.address && address < section.end())
        cuts.insert(address);
    };
    for (const auto &[address, list] : data)
      cut(address);
    for (const auto &[address, relocation] : object.relocations)
      cut(address), cut(address + 8);
    for (const Descriptor &descriptor : descriptors)
      cut(descriptor.address), cut(descriptor.address + Descriptor::size);
    uint64_t at = section.address;
    for (uint64_t next : cuts) {
      if (auto here = data.find(at); here != data.end())
        for (const Datum &datum : here->second) {
          if (globals.count(datum.name))
            text += fmt::format("\t.globl\t{}\n", datum.name);
          if (datum.size)
            text += fmt::format("\t.type\t{0},@object\n\t.size\t{0}, {1}\n", datum.name, datum.size);
          text += datum.name + ":\n";
        }
      auto stored = object.relocations.find(at);
      if (stored != object.relocations.end() && next - at == 8)
        text += fmt::format("\t.quad\t{}\n", addressText(stored->second));
      else if (isDescriptor(at) || section.bytes.empty())
        text += fmt::format("\t.zero\t{}\n", next - at);
      else
        writeBytes(section.bytes.substr(at - section.address, next - at));
      at = next;
    }
  }

  std::string addressText(const Relocation &relocation) const {
    auto sum = [](std::string_view name, int64_t offset) {
      return offset ? fmt::format("{}{:+}", name, offset) : std::string(name);
    };
    if (!relocation.symbol.empty()) {
      auto local = renamed.find(relocation.symbol);
      std::string_view name = local == renamed.end() ? relocation.symbol : std::string_view(local->second);
      return isName(name) ? sum(name, relocation.addend) : "0";
    }
    auto [name, offset] = placeOf(uint64_t(relocation.addend));
    return name.empty() ? fmt::format("{:#x}", uint64_t(relocation.addend)) : sum(name, int64_t(offset));
  }

  void writeBytes(std::string_view bytes) {
    while (!bytes.empty()) {
      size_t zeros = std::min(bytes.find_first_not_of('\0'), bytes.size());
      if (zeros >= 32 || zeros == bytes.size()) {
        text += fmt::format("\t.zero\t{}\n", zeros);
        bytes.remove_prefix(zeros);
        continue;
      }
      bool words = bytes.size() >= 4;
      size_t row = words ? std::min<size_t>(bytes.size() & ~size_t(3), 32) : bytes.size();
      text += words ? "\t.long\t" : "\t.byte\t";
      for (size_t i = 0; i < row; i += words ? 4 : 1)
        text += fmt::format("{}{:#x}", i ? ", " : "",
                            words ? llvm::support::endian::read32le(bytes.data() + i) : uint8_t(bytes[i]));
      text += '\n';
      bytes.remove_prefix(row);
    }
  }

  struct Datum {
    std::string name;
    uint64_t size = 0; ///< 0 for a label that was made up
  };

  const CodeObject &object;
  std::string text;
  std::vector<Descriptor> descriptors;
  std::map<uint64_t, std::vector<std::string>> functions;
  std::map<uint64_t, std::vector<Datum>> data;
  std::map<uint64_t, std::string> names; ///< the one that operands and data use
  std::map<uint64_t, uint64_t> endOf;    ///< of functions whose size a symbol states
  std::set<std::string> used, globals;
  std::map<std::string_view, std::string> renamed; ///< names of data in the file, and here
  std::unordered_set<uint64_t> lineStarts;
  std::map<const Section *, std::vector<Piece>> code;
  std::map<unsigned, std::unique_ptr<Instructions>> decoders;
};

/// What a terminal can show, on one line, of a sentence with names in it that anybody wrote.
std::string printable(std::string sentence) {
  std::replace_if(sentence.begin(), sentence.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return sentence;
}

Result<std::vector<Disassembly>> disassembleAll(std::string_view bytes, std::string_view chip) {
  ILK_ASSIGN_OR_RETURN(std::vector<std::string_view> found, findCodeObjects(bytes));
  std::vector<Disassembly> made;
  std::string others;
  for (std::string_view one : found) {
    auto object = readCodeObject(one);
    // Beside the one that is asked for there may be any.
    if (!object && (chip.empty() || found.size() == 1))
      return tl::unexpected(object.error());
    if (!chip.empty() && (!object || object->processor->name != chip)) {
      others += fmt::format("{}{}", others.empty() ? "" : ", ", object ? object->processor->name : "an unknown one");
      continue;
    }
    Disassembly &out = made.emplace_back();
    out.target = object->target;
    ILK_ASSIGN_OR_RETURN(out.text, Writer(*object).run());
  }
  if (made.empty())
    return bad(fmt::format("expected a code object for {}, found {}", chip, others));
  return made;
}

} // namespace

Result<std::vector<Disassembly>> disassemble(std::string_view bytes, std::string_view chip) {
  auto made = disassembleAll(bytes, chip);
  if (!made)
    return makeError(made.error().code, printable(std::move(made.error().message)));
  return made;
}

} // namespace interlock::disassembly
