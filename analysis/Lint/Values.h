// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What registers hold, as far as the text tells: a place (a root and an offset) or a number, with an affine part over
// symbols. What cannot be folded becomes a symbol of its own.
#pragma once

#include "analysis/Lint/Graph.h"

#include <array>
#include <map>
#include <span>
#include <string>
#include <unordered_map>

namespace interlock::lint {

/// What addresses are relative to.
enum class RootKind : uint8_t {
  variable,  ///< a variable of the module or a function
  dynamic,   ///< the dynamic shared memory of the CTA, whatever its symbols are called
  parameter, ///< the value of a kernel parameter
  argument,  ///< the kernel parameters themselves, where they lie
  loaded,    ///< a pointer that was loaded from memory
  computed,  ///< a pointer that is chosen or computed: it may lead to any of the others
};

struct Root {
  RootKind kind = RootKind::variable;
  ptx::Space space = ptx::Space::none; ///< none: generic, not known
  uint32_t parameter = ~0u;            ///< kind parameter, argument, and what a loaded pointer was loaded through
  uint64_t offset = 0;                 ///< kind parameter: bytes into it
  const ptx::Variable *variable = nullptr;
  bool moduleScope = false;
  bool environment = false; ///< loaded through %envreg: the workspace of a cooperative launch
  uint32_t definedAt = ~0u; ///< node of a loaded pointer
  std::string name;
};

enum class SymbolKind : uint8_t { special, product, parameter, merged, opaque };

struct Symbol {
  SymbolKind kind = SymbolKind::opaque;
  std::string_view special; ///< "tid", "laneid", "warpid", "ctaid", …
  char component = 0;
  /// product: symbols; parameter: index and offset; merged: register; opaque: node; special: what is taken off it
  uint32_t a = 0, b = 0;
  bool perCta = false;  ///< differs from CTA to CTA
  bool uniform = false; ///< the same for all threads of a CTA
  /// %tid.x
  bool isThread() const { return kind == SymbolKind::special && special == "tid" && component == 'x' && a == 0; }
};

struct Term {
  uint32_t symbol = 0;
  int64_t factor = 0;
  bool operator==(const Term &) const = default;
  auto operator<=>(const Term &) const = default;
};

struct Value {
  static constexpr uint32_t noRoot = ~0u;
  uint32_t root = noRoot;
  int64_t constant = 0;
  std::array<Term, 4> terms; ///< the first `count`, by symbol
  uint8_t count = 0;
  bool remote = false; ///< an address in the shared memory of a CTA that mapa chose
  bool known = false;  ///< false: nothing is known, not even a symbol
  static Value ofSymbol(uint32_t symbol) {
    Value v;
    v.known = true;
    v.terms[0] = {symbol, 1};
    v.count = 1;
    return v;
  }
  static Value ofConstant(int64_t constant) {
    Value v;
    v.known = true;
    v.constant = constant;
    return v;
  }
  bool isConstant() const { return known && root == noRoot && count == 0; }
  bool isPlace() const { return known && root != noRoot; }
};

class Values {
public:
  Values(const ptx::Module &module, const Flat &flat, const Graph &graph);

  /// The value of an operand of a node: of a register, a literal, a symbol's address, a special register.
  Value of(uint32_t node, const ptx::Operand &operand) const;
  /// The place that `[base+offset]` names.
  Value address(uint32_t node, const ptx::Operand &operand) const;
  /// The nodes that write a register of the whole, in the order of the text; one is the common case.
  std::span<const uint32_t> definitions(uint32_t reg) const {
    return {defList.data() + defStart[reg], defList.data() + defStart[reg + 1]};
  }
  /// The definition that surely holds at a node, or ~0u.
  uint32_t reaching(uint32_t node, uint32_t reg) const;
  uint32_t blockOf(uint32_t node) const { return block[node]; }

  const Root &root(uint32_t index) const { return roots[index]; }
  const Symbol &symbol(uint32_t index) const { return symbols[index]; }
  size_t rootCount() const { return roots.size(); }
  /// True if the value is not the same in each trip of the loop.
  bool varies(const Value &value, uint32_t loop) const;
  /// The same for all threads of a CTA.
  bool uniform(const Value &value) const;

private:
  void indexDefinitions();
  void evaluate(uint32_t node);
  void inheritUniformity(uint32_t node);
  Value compute(uint32_t node);
  Value computeLogic(uint32_t node);
  Value loadParameter(uint32_t node, uint32_t element) const;
  Value kernelParameter(uint32_t index, uint64_t offset, ptx::Type type) const;
  Value loadPointer(uint32_t node) const;
  Value opaque(uint32_t node, uint32_t root = Value::noRoot) const;
  Value merged(uint32_t reg) const;
  Value special(std::string_view name, char component) const;
  Value argument(const ptx::Operand &operand) const;
  Value symbolAddress(const Node &node, const ptx::Operand &operand) const;
  Value asNumber(const Value &value) const;
  Value sum(const Value &a, const Value &b, int sign, uint32_t node) const;
  Value scaled(Value value, int64_t factor) const;
  Value product(const Value &a, const Value &b, uint32_t node) const;
  uint32_t addSymbol(const Symbol &symbol) const;
  uint32_t internSymbol(const std::string &key, const Symbol &symbol) const;
  uint32_t internRoot(const std::string &key, const Root &root) const;
  uint32_t lastIn(uint32_t block, uint32_t reg, uint32_t before) const;
  bool is(const Value &value, std::string_view special) const;
  bool uniformSymbol(uint32_t symbol, unsigned depth) const;

  const ptx::Module &module;
  const Flat &flat;
  const Graph &graph;
  std::vector<uint32_t> block;                                 ///< by node
  std::vector<Value> results;                                  ///< by node: of its first destination
  std::vector<uint32_t> defStart, defList;                     ///< definitions, by register
  mutable std::unordered_map<uint64_t, uint32_t> reachingMemo; ///< (block, register) → definition at its start
  mutable std::vector<uint32_t> mergedSymbol, opaqueSymbol;    ///< by register, by node; ~0u: none yet
  /// (frame, parameter variable, offset) → node and operand
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::pair<uint32_t, const ptx::Operand *>> stored;
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>>
      returned; ///< (frame, variable) → (callee frame, result)
  mutable std::vector<Symbol> symbols;
  mutable std::vector<Root> roots;
  mutable std::unordered_map<std::string, uint32_t> symbolIndex, rootIndex;
};

/// The operand that an instruction writes, or null: the first of a pair or a vector.
const ptx::Operand *destination(const ptx::Instruction &in);

} // namespace interlock::lint
