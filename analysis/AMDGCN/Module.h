// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the AMDGCN reader makes of an assembly text: kernels with their descriptors and arguments, instructions with
// their place in the text, data. Plain values; nothing here interprets an instruction, so a mnemonic that nobody knows
// is as welcome as any other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace interlock::amdgcn {

/// A place in the text, both counted from 1; line 0 is "nowhere".
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// A place in the program that the text was compiled from, from the `.loc` in force.
struct SourceLine {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
};

/// A `.file` directive with a number: what SourceLine::file means.
struct SourceFile {
  std::string_view directory, name; ///< the first may be empty
};

/// Numbered registers. `special` registers have a name instead.
enum class RegisterFile : uint8_t { vgpr, agpr, sgpr, ttmp };

enum class OperandKind : uint8_t {
  reg,        ///< `v1`, `v[2:5]`, `s[0:1]`, `a3`, `ttmp9`, `v1.h`: file, index, count, half
  special,    ///< `vcc`, `exec_lo`, `m0`, `null`, `off`, `src_shared_base`, …: name
  integer,    ///< `0x10`, `-1`, `lit(…)`: bits
  real,       ///< `1.0`, `0.15915494`: value; an inline constant of the width that the instruction has
  label,      ///< a place in the code: name, index of the instruction it stands before
  symbol,     ///< anything else with a name: name, relocation ("rel32@lo"), addend in bits
  call,       ///< `hwreg(HW_REG_MODE, 0, 4)`, `vmcnt(0)`, `instid0(VALU_DEP_1)`: name, arguments in elements
  expression, ///< `(.LBB0_3-.Lpost_getpc0)&4294967295`: name is its text
  list,       ///< `[v0, v1]` (the addresses of an image instruction), `[0x1,0x2]`: elements
};

/// One operand. Names are owned by the Module.
struct Operand {
  OperandKind kind = OperandKind::special;
  RegisterFile file = RegisterFile::vgpr;
  char half = 0;         ///< 'l' or 'h' of a 16-bit half, `v1.l`; 0 for none
  bool negated = false;  ///< `-v1`, `neg(v1)`
  bool absolute = false; ///< `|v1|`, `abs(v1)`
  bool sext = false;     ///< `sext(v1)`
  uint32_t index = 0;    ///< first register, or the instruction of a label
  uint32_t count = 1;    ///< registers: 32 bits each
  Location at;
  uint64_t bits = 0;           ///< value of an integer, addend of a symbol (two's complement)
  double value = 0;            ///< of a real
  std::string_view name;       ///< as written
  std::string_view relocation; ///< of a symbol: what stands behind its first `@`
  std::vector<Operand> elements;

  bool isRegister(RegisterFile wanted) const { return kind == OperandKind::reg && file == wanted; }
  bool is(std::string_view special) const { return kind == OperandKind::special && name == special; }
};

/// What stands behind the operands: `offset:16`, `glc`, `scope:SCOPE_SYS`, `op_sel:[0,1]`.
struct Modifier {
  std::string_view name;        ///< "offset"
  std::string_view value;       ///< "16", "SCOPE_SYS", "[0,1]"; empty for a flag
  std::vector<int64_t> numbers; ///< that the value consists of: {16}, {}, {0, 1}
  Location at;
};

/// One instruction; a word of code that `.long` gives is one too. `v_dual_a … :: v_dual_b …` is one, with the second
/// half in `second`.
struct Instruction {
  std::string_view mnemonic;     ///< as written: "v_add_f32_e32"
  std::string_view opcode;       ///< without the encoding: "v_add_f32"
  std::string_view encoding;     ///< "e32", "e64", "dpp", "e64_dpp", "dpp8", "sdwa"; empty if the mnemonic names none
  std::vector<Operand> operands; ///< destination first, as written; counters and delays are calls
  std::vector<Modifier> modifiers;
  std::vector<Instruction> second;
  Location at;              ///< of the mnemonic
  SourceLine source;        ///< of the `.loc` in force
  std::string_view comment; ///< at the end of its line, without its `;`

  /// The modifier of that name, or null.
  const Modifier *find(std::string_view name) const {
    for (const Modifier &m : modifiers)
      if (m.name == name)
        return &m;
    return nullptr;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The number of a modifier such as `offset:16`, or what it is without the modifier.
  int64_t number(std::string_view name, int64_t otherwise = 0) const {
    const Modifier *m = find(name);
    return m && !m->numbers.empty() ? m->numbers[0] : otherwise;
  }
  /// What stands behind the colon of a modifier such as `scope:SCOPE_SYS`, or an empty string.
  std::string_view word(std::string_view name) const {
    const Modifier *m = find(name);
    return m ? m->value : std::string_view();
  }
  /// The number in a call operand such as `vmcnt(0)`, or nothing if there is none of that name.
  std::optional<int64_t> argument(std::string_view name) const;
  /// The whole instruction as text, on one line, for messages.
  std::string text() const;
};

/// A label, and the instruction before which it stands (the number of instructions when it ends the text).
struct Label {
  std::string_view name;
  uint32_t instruction = 0;
  Location at;
};

/// A comment, without its `;` or `//`.
struct Comment {
  Location at;
  std::string_view text;
  bool behindCode = false;  ///< something stands before it on its line
  uint32_t instruction = 0; ///< the first instruction that stands behind it in the text
};

/// One argument of a kernel, from the metadata.
struct Argument {
  std::string_view name;      ///< empty for hidden arguments
  std::string_view valueKind; ///< "by_value", "global_buffer", "hidden_block_count_x", …
  std::string_view addressSpace;
  uint32_t offset = 0, size = 0; ///< in the kernarg segment
  bool hidden() const { return valueKind.substr(0, 7) == "hidden_"; }
};

/// A function of the text: a kernel if it has a descriptor.
struct Function {
  std::string_view name;
  uint32_t begin = 0, end = 0; ///< its instructions in Module::instructions
  Location at;                 ///< of its label
};

/// A kernel: its function, its descriptor (`.amdhsa_kernel`) and its metadata.
struct Kernel {
  std::string_view name;            ///< as in the metadata: what a program asks for
  std::string_view symbol;          ///< of the descriptor: "name.kd"
  std::optional<uint32_t> function; ///< index into Module::functions
  Location at;                      ///< of `.amdhsa_kernel`
  /// Directives between `.amdhsa_kernel` and `.end_amdhsa_kernel`, without `.amdhsa_`.
  std::map<std::string_view, int64_t> descriptor;
  std::vector<Argument> arguments;
  /// Numbers of the metadata, without their dot: "vgpr_count", "max_flat_workgroup_size", "wavefront_size", …
  std::map<std::string_view, int64_t> metadata;

  /// A directive of the descriptor.
  int64_t directive(std::string_view key, int64_t otherwise = 0) const {
    auto it = descriptor.find(key);
    return it == descriptor.end() ? otherwise : it->second;
  }
  /// Bytes of arguments that the launcher gives: up to the end of the last argument that is not hidden.
  uint32_t explicitBytes() const;
};

/// A symbol's address, plus `addend`, stored in a section's bytes at `offset`.
struct Relocation {
  uint64_t offset = 0;
  std::string_view symbol;
  int64_t addend = 0;
  uint8_t width = 8;
};

/// A section that is loaded and holds no code.
struct Section {
  std::string_view name;
  uint64_t size = 0;
  uint64_t align = 1;
  std::vector<uint8_t> bytes; ///< the first ones; those behind them are zero
  std::vector<Relocation> relocations;
};

enum class SymbolKind : uint8_t { data, local };

/// A name for a place in a section, or (`local`) for a piece of a workgroup's LDS (`.amdgpu_lds`).
struct Symbol {
  std::string_view name;
  SymbolKind kind = SymbolKind::data;
  uint32_t section = 0; ///< index into Module::sections
  uint64_t offset = 0;  ///< in its section
  uint64_t size = 0;
  uint64_t align = 1; ///< of a local one
};

/// A whole assembly text. Move-only: every name in it points into its own copy of the text, which moves along.
struct Module {
  Module() = default;
  Module(Module &&) = default;
  Module &operator=(Module &&) = default;
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  std::string_view target; ///< of `.amdgcn_target`: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"; may be empty
  uint32_t codeObjectVersion = 0;
  std::vector<Instruction> instructions; ///< of all functions, in the order of the text
  std::vector<Function> functions;
  std::vector<Kernel> kernels;
  std::vector<Label> labels; ///< in the code, function names included, in the order of the text
  std::vector<Comment> comments;
  std::map<uint32_t, SourceFile> files; ///< by their number
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
  /// Values that `.set` gave, and absolute symbols.
  std::map<std::string_view, int64_t> values;
  /// Directives that nothing here reads, with how often they occur: they were skipped.
  std::map<std::string_view, uint32_t> unknownDirectives;

  /// "gfx90a", from the target.
  std::string_view processor() const;
  const Kernel *findKernel(std::string_view name) const;
  /// The function that an instruction belongs to, or null.
  const Function *functionOf(uint32_t instruction) const;
  /// Its part of `instructions`.
  std::span<const Instruction> code(const Function &fn) const {
    return {instructions.data() + fn.begin, instructions.data() + fn.end};
  }
  const Symbol *findSymbol(std::string_view name) const;
  /// Makes a copy of the text, which names may point into for as long as the module lives.
  std::string_view own(std::string_view text);

private:
  std::unique_ptr<char[]> text;
};

} // namespace interlock::amdgcn
