// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the PTX reader makes of a text: declarations, functions and instructions with their place in the text. Plain
// values; nothing here interprets an instruction, so an opcode that nobody knows is as welcome as any other.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock::ptx {

/// A place in the PTX text, both counted from 1; line 0 is "nowhere".
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// A place in the program that the PTX was compiled from, from the `.loc` in force; file is the number of a `.file`.
/// For inlined code it is the innermost place in the file of the function that it was inlined into.
struct SourceLine {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  auto operator<=>(const SourceLine &) const = default;
};

/// The fundamental types, and the packed and alternate ones that appear as instruction modifiers (PTX ISA "Types").
enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f32x2,
  f64,
  tf32,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  u16x2,
  s16x2,
  opaque, ///< .texref, .samplerref, .surfref
};

/// The type that a modifier names ("u32", without its dot), or Type::none.
Type parseType(std::string_view modifier);
/// As parseType reads it.
std::string_view name(Type type);
/// Bits of one value; 1 for a predicate, 0 for none and opaque.
unsigned bitWidth(Type type);
/// Two's complement types .s8 to .s64 and .s16x2.
bool isSigned(Type type);
/// Any floating-point format, packed or not.
bool isFloat(Type type);

/// State spaces of declarations (PTX ISA "State Spaces").
enum class Space : uint8_t { none, reg, sreg, constant, global, local, param, shared, tex };
std::string_view name(Space space);

enum class OperandKind : uint8_t {
  reg,     ///< `%r1`, `%v.x`: reg, component, negated (`!%p`, `-%r` is not PTX)
  special, ///< `%tid.x`, `%laneid`, `WARP_SZ`: name ("tid"), component
  integer, ///< bits: two's complement, 64 bits
  float32, ///< `0f3F800000`: bits, the low 32
  float64, ///< `0d…` and decimal literals such as `1.5`: bits
  symbol,  ///< a variable or function by its name (its address): name, variable/function index, offset in bits
  label,   ///< a branch target: name, index of the instruction it stands before
  table,   ///< a `.branchtargets`, `.calltargets` or `.callprototype` list: name, index into Function::tables
  address, ///< `[base+offset]`: elements[0] is the base, offset in bits; tensor operands have the rest as elements[1…]
  vector,  ///< `{a, b, c, d}`: elements
  pair,    ///< `p|q`, `d|p`: elements, two of them
  arguments, ///< `(a, b)` of a call: elements
  sink,      ///< `_`
  name,      ///< an identifier that nothing declares: name
};

/// Which list a symbol operand's `index` points into.
enum class SymbolScope : uint8_t { module, function, parameter, returns, callee };

/// One operand. Names are owned by the Module.
struct Operand {
  OperandKind kind = OperandKind::sink;
  bool negated = false; ///< `!%p`
  char component = 0;   ///< 'x', 'y', 'z' or 'w' of a vector register or special register; 0 for none
  SymbolScope symbolScope = SymbolScope::module;
  uint32_t index = 0; ///< see OperandKind: register, variable, instruction or table
  Location at;
  uint64_t bits = 0;     ///< value of a literal, byte offset of a symbol or address (two's complement)
  std::string_view name; ///< as written, without the `%` of special registers
  std::vector<Operand> elements;

  bool isImmediate() const {
    return kind == OperandKind::integer || kind == OperandKind::float32 || kind == OperandKind::float64;
  }
};

/// One instruction, its modifiers in the order in which they were written. `::` belongs to its modifier:
/// `fence.acquire.sync_restrict::shared::cluster.cluster` has the modifiers "acquire",
/// "sync_restrict::shared::cluster" and "cluster".
struct Instruction {
  static constexpr uint32_t noGuard = ~0u;

  std::string_view opcode;            ///< "ld"
  std::vector<std::string_view> mods; ///< "global", "v4", "f32", without dots
  std::vector<Operand> operands;      ///< destination first, as written
  uint32_t guard = noGuard;           ///< register of `@%p`
  bool guardNegated = false;          ///< `@!%p`
  Location at;                        ///< of the opcode
  SourceLine source;                  ///< of the `.loc` in force

  /// True if the modifier was written, wherever.
  bool has(std::string_view mod) const {
    for (std::string_view m : mods)
      if (m == mod)
        return true;
    return false;
  }
  /// The n-th modifier that names a type (0 is the first), or Type::none: cvt.rn.f16.f32 has f16, then f32.
  Type type(unsigned n = 0) const;
  /// 2, 4 or 8 for .v2, .v4, .v8; else 1.
  unsigned vectorLength() const;
  /// The opcode with its modifiers: "ld.global.v4.f32".
  std::string mnemonic() const;
  /// The whole instruction as PTX, on one line, for messages.
  std::string text() const;
};

/// A register of a function. Families such as `%r<100>` have an entry only for the members that are used.
struct Register {
  std::string_view name;
  Type type = Type::none;
  uint8_t lanes = 1; ///< 2 or 4 for `.reg .v4 .f32 v`
  Location at;
};

/// A symbol inside an initialiser: its address, plus `addend`, is stored at `offset`, in `width` bytes.
struct Relocation {
  uint64_t offset = 0;
  std::string_view symbol;
  int64_t addend = 0;
  uint8_t width = 8;
  uint8_t shift = 0;    ///< for `0xff(sym)`, `0xff00(sym)`, …: which byte of the address, in bits
  bool generic = false; ///< written `generic(sym)`
};

enum class Linkage : uint8_t { none, visible, external, weak, common };

/// A variable of a state space, a parameter, or a returned value.
struct Variable {
  std::string_view name;
  Space space = Space::none;
  Type type = Type::none;
  Linkage linkage = Linkage::none;
  uint32_t vector = 1;          ///< 2, 4 for .v2, .v4
  uint32_t align = 1;           ///< bytes: as written, else natural
  bool unsized = false;         ///< `.extern .shared .b8 s[]`: dynamic shared memory
  uint64_t size = 0;            ///< bytes
  uint64_t offset = 0;          ///< parameters: bytes from the start of the parameter buffer
  std::vector<uint64_t> dims;   ///< as written, outermost first; 0 for `[]`
  std::vector<uint8_t> initial; ///< the first bytes; those behind it are zero
  std::vector<Relocation> relocations;
  Location at;
};

/// A label, and the instruction before which it stands (the number of instructions when it ends the body).
struct Label {
  std::string_view name;
  uint32_t instruction = 0;
  Location at;
};

/// `.branchtargets`, `.calltargets` (names) or `.callprototype` (no entries).
struct Table {
  std::string_view name;
  std::string_view directive;
  std::vector<Operand> entries; ///< labels or symbols
  Location at;
};

/// Performance-tuning and cluster directives of an entry; unset where absent.
struct LaunchBounds {
  std::optional<std::array<uint32_t, 3>> maxThreads;      ///< .maxntid
  std::optional<std::array<uint32_t, 3>> requiredThreads; ///< .reqntid
  std::optional<std::array<uint32_t, 3>> requiredCluster; ///< .reqnctapercluster
  std::optional<uint32_t> minCtasPerSm;                   ///< .minnctapersm
  std::optional<uint32_t> maxCluster;                     ///< .maxclusterrank
  std::optional<uint32_t> maxRegisters;                   ///< .maxnreg
  bool explicitCluster = false;                           ///< .explicitcluster
};

/// A kernel or a device function. A prototype has `defined` false and no body.
struct Function {
  std::string_view name;
  bool entry = false;
  bool defined = false;
  bool noReturn = false;
  Linkage linkage = Linkage::none;
  std::vector<Variable> returns;
  std::vector<Variable> params;
  uint64_t paramBytes = 0; ///< size of the parameter buffer
  LaunchBounds bounds;
  std::vector<Register> registers;
  std::vector<Variable> variables;       ///< of the body: .shared, .local, .param, .const, .global
  std::vector<Instruction> instructions; ///< in the order of the text; nested scopes are flattened
  std::vector<Label> labels;
  std::vector<Table> tables;
  Location begin; ///< of the first directive: `.visible`, `.entry`, …
  Location at;    ///< of the name
  Location body;  ///< of the opening brace
  Location end;   ///< of the closing brace
};

/// A `.file` directive.
struct SourceFile {
  uint32_t number = 0;
  std::string_view path;
};

/// A whole PTX text. Move-only: every name in it points into its own copy of the text, which moves along.
struct Module {
  Module() = default;
  Module(Module &&) = default;
  Module &operator=(Module &&) = default;
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  uint32_t version = 0;                  ///< 10*major + minor: 86 for `.version 8.6`
  std::vector<std::string_view> targets; ///< as written: "sm_90a", "texmode_independent", "debug"
  uint32_t addressSize = 64;
  std::vector<SourceFile> files;
  std::vector<Variable> variables; ///< of module scope
  std::vector<Function> functions; ///< a prototype and its definition are one entry
  /// Directives that PTX ISA 9.4 does not have, with how often they occur: they were skipped.
  std::map<std::string_view, uint32_t> unknownDirectives;

  /// The function of that name, or null.
  const Function *findFunction(std::string_view name) const;
  /// The module-scope variable of that name, or null.
  const Variable *findVariable(std::string_view name) const;
  /// Makes a copy of the text, which names may point into for as long as the module lives.
  std::string_view own(std::string_view text);

private:
  std::unique_ptr<char[]> text;
};

} // namespace interlock::ptx
