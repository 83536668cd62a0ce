// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The parser behind read(): one statement a line. The first error stops it.
#pragma once

#include "analysis/AMDGCN/Expression.h"
#include "analysis/AMDGCN/Reader.h"

#include <optional>
#include <unordered_map>

namespace interlock::amdgcn {

class Parser {
public:
  Parser(std::string_view text, std::string_view file) : file(file), text(module.own(text)) {}
  tl::expected<Module, ReadError> run();

private:
  // Lines (Reader.cpp)
  bool nextLine(Cursor &line);
  void comment(Location at, std::string_view text, bool behindCode);
  void statement(Cursor c);
  void label(std::string_view name, Location at);
  void finish();
  void resolve(Operand &operand);
  void fail(const Location &at, std::string message);
  void failHere(const Cursor &c, std::string_view expected);
  bool failed() const { return error.has_value(); }

  // Directives (Directives.cpp)
  void directive(std::string_view name, Cursor c, Location at);
  void section(std::string_view name, Cursor c);
  void data(Cursor c, uint8_t width);
  void string(Cursor c, bool terminated);
  void space(Cursor c, const Location &at, bool fill);
  void alignTo(uint64_t align, const Location &at);
  void setValue(std::string_view name, Cursor c);
  void kernelDirective(std::string_view name, Cursor c, const Location &at);
  void metadataLine(const Cursor &line);
  void append(const void *bytes, uint64_t size, const Location &at);
  std::optional<int64_t> valueOf(Cursor c);
  Section *current() { return inData ? &module.sections[sectionIndex] : nullptr; }

  // Instructions (Operands.cpp)
  void instruction(std::string_view mnemonic, Cursor c, const Location &at);
  bool half(Cursor &c, Instruction &in, bool &second);
  bool operand(Cursor &c, Operand &out, unsigned depth);
  bool named(Cursor &c, std::string_view name, Operand &out, unsigned depth);
  bool list(Cursor &c, char close, std::vector<Operand> &out, unsigned depth);
  bool modifier(Cursor &c, std::string_view name, const Location &at, Instruction &in);

  std::string file;
  Module module;
  std::string_view text;
  size_t pos = 0;
  uint32_t line = 0;
  bool inBlockComment = false;
  std::optional<ReadError> error;

  std::unordered_map<std::string_view, uint32_t> labelIndex; ///< into Module::labels
  std::unordered_map<std::string_view, uint32_t> symbolIndex;
  std::unordered_map<std::string_view, uint32_t> sectionByName;
  std::unordered_map<std::string_view, bool> isFunction; ///< `.type name,@function`
  std::vector<std::pair<uint32_t, bool>> sectionStack;
  bool inCode = true, inData = false; ///< the section in force; neither for one that is not loaded
  uint32_t sectionIndex = 0;
  uint64_t dataBytes = 0;
  SourceLine source;
  std::string_view lineComment;
  Kernel *kernel = nullptr; ///< between `.amdhsa_kernel` and its end
  struct Late {             ///< a directive of a descriptor whose value is only known at the end
    size_t kernel;
    std::string_view name;
    Cursor value;
  };
  std::vector<Late> late;
  std::vector<std::pair<std::string_view, Cursor>> lateValues;

  struct Metadata {
    bool on = false, kernels = false;
    uint32_t itemIndent = 0;
    std::string_view list;
    std::vector<Kernel> found;
  } metadata;
};

/// True for a register that has a name and no number.
bool isSpecialRegister(std::string_view name);

} // namespace interlock::amdgcn
