// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where addresses come from: which argument of the kernel, which symbol, or which of these the pointer was loaded
// through. Where paths bring different ones, or something is computed that is not followed, the base is unknown.
#pragma once

#include "analysis/LintAMDGCN/Code.h"

#include <map>
#include <string>
#include <tuple>

namespace interlock::lint::gcn {

enum class BaseKind : uint8_t {
  unknown,
  arguments, ///< the kernarg segment itself
  argument,  ///< a pointer that is an argument
  symbol,    ///< a variable of the module
  loaded,    ///< a pointer that was loaded through one of the others
};

/// What an address is relative to. Two of the same kind and numbers are the same object.
struct Base {
  BaseKind kind = BaseKind::unknown;
  uint32_t offset = 0; ///< of the argument that it is, or that it was loaded through, in the kernarg segment
  std::optional<uint32_t> argument; ///< its number, where the metadata tells
  std::string_view symbol;
  bool operator<(const Base &o) const { return std::tie(kind, offset, symbol) < std::tie(o.kind, o.offset, o.symbol); }
  /// "param 1", "memory behind a pointer from param 1", "flags", "memory".
  std::string str() const;
};

/// A place in memory.
struct Place {
  uint32_t base = 0;             ///< index into Pointers::bases; 0 is unknown
  std::optional<int64_t> offset; ///< bytes, where it is the same for all lanes and times
  bool known() const { return base != 0; }
};

class Pointers {
public:
  Pointers(const Code &code, const amdgcn::Kernel *kernel);

  /// What an instruction accesses.
  const Place &place(uint32_t instruction) const { return places[instruction]; }
  const Base &base(uint32_t index) const { return bases[index]; }
  size_t baseCount() const { return bases.size(); }
  /// The stored value is the constant zero.
  bool storesZero(uint32_t instruction) const { return zero[instruction]; }

private:
  /// What a register holds: nothing that is known, a number, or a part of a pointer.
  struct Value {
    enum class Kind : uint8_t { unset, unknown, number, pointer } kind = Kind::unset;
    bool exact = false; ///< of a pointer: `number` is its offset
    uint32_t base = 0;
    int64_t number = 0; ///< kept in 16 bytes with the rest: there is one a register and block
    bool operator==(const Value &) const = default;
  };
  using State = std::vector<Value>;

  void start(State &state);
  void apply(State &state, uint32_t instruction);
  void applyHalf(State &state, const amdgcn::Instruction &in, const Effect &effect);
  void load(State &state, uint32_t instruction, const Place &from);
  Place placeOf(const State &state, uint32_t instruction);
  Value valueOf(const State &state, const amdgcn::Operand &operand, uint32_t part);
  Value combine(const State &state, const amdgcn::Instruction &in, size_t from, uint32_t part);
  uint32_t intern(const Base &base);
  uint32_t argumentAt(uint32_t offset);
  static bool merge(State &into, const State &from);

  const Code &code;
  const amdgcn::Kernel *kernel;
  std::vector<Base> bases;
  std::map<Base, uint32_t> index;
  std::vector<Place> places;
  std::vector<bool> zero;
};

} // namespace interlock::lint::gcn
