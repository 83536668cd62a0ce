// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Arithmetic as pure functions: a static instruction is resolved once, and evaluated for the lanes of a warp.
#pragma once

#include "analysis/PTX/Module.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace interlock::emu::alu {

struct Op;

/// Evaluates the active lanes. Values are raw bits, zero-extended to 64; predicates and carries are 0 or 1. `in` has
/// one array a source operand, in the order of the text, a value a lane; null behind the last one, which is read where
/// an instruction has forms with two and three sources. `out2` takes a second result (setp's other predicate, a
/// carry); it is never null. Lanes that are not active keep what they hold. A result may lie where a source lies.
using EvalFn = void (*)(const Op &, const uint64_t *const *in, uint64_t *out, uint64_t *out2, uint64_t active,
                        unsigned lanes);

/// Rounding modifiers (PTX ISA "Rounding Modifiers"): to nearest even, to zero, down, up, to nearest with ties away.
enum class Rounding : uint8_t { rn, rz, rm, rp, rna };

enum class Compare : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Combine : uint8_t { none, land, lor, lxor };

/// A resolved instruction; which fields count depends on `eval`.
struct Op {
  EvalFn eval = nullptr;
  ptx::Type type = ptx::Type::none; ///< of the result, or the only type
  ptx::Type from = ptx::Type::none; ///< of the source, where it differs
  uint8_t sub = 0;                  ///< the family's own sub-operation
  uint8_t bits = 32;                ///< width of `type`
  uint8_t extendTo = 32; ///< cvt to an integer: the result is extended by its type's sign to this many bits. The
                         ///< caller may set the destination register's width, which `resolve` does not know
  Rounding rounding = Rounding::rn;
  Compare compare = Compare::eq;
  Combine combine = Combine::none;
  bool isSigned = false;
  bool saturate = false;
  bool ftz = false;         ///< subnormal inputs and results count as zero
  bool relu = false;        ///< negative results become zero
  bool nan = false;         ///< min/max: a NaN operand gives NaN
  bool integral = false;    ///< cvt.rni and its kin: float to a whole number of the same kind
  bool absolute = false;    ///< min/max: of the operands' magnitudes
  bool approximate = false; ///< .approx
  bool xorsign = false;     ///< min/max: sign is the exclusive or of the operands' signs
  bool carryIn = false;     ///< resolveExtended: the source behind the last one is the condition code
  bool carryOut = false;    ///< resolveExtended: out2 is the new condition code
};

/// The operation of an instruction, or a sentence that says what is not known. Covers the integer, logic, shift,
/// comparison, selection, floating-point and conversion instructions. A modifier that is not known is an error, never
/// passed over.
tl::expected<Op, std::string> resolve(const ptx::Instruction &in);

/// The same for add.cc, addc, sub.cc, subc, mad.cc and madc, which resolve() refuses (PTX ISA "Extended-Precision
/// Integer Arithmetic Instructions"): for a caller that keeps the condition code of every lane.
tl::expected<Op, std::string> resolveExtended(const ptx::Instruction &in);

// The families; each returns an Op without `eval` if the opcode is not one of its own.
tl::expected<Op, std::string> resolveInteger(const ptx::Instruction &in);
tl::expected<Op, std::string> resolveBits(const ptx::Instruction &in);
tl::expected<Op, std::string> resolveCompare(const ptx::Instruction &in);
tl::expected<Op, std::string> resolveFloat(const ptx::Instruction &in);
tl::expected<Op, std::string> resolveConvert(const ptx::Instruction &in);

/// A row of a table of opcodes.
template <typename T> using Named = std::pair<std::string_view, T>;
/// What stands under a name, or null. Tables are so short that looking at each row is as fast as anything.
template <typename T, size_t rows> const T *rowOf(const Named<T> (&table)[rows], std::string_view name) {
  for (const auto &[each, value] : table)
    if (each == name)
      return &value;
  return nullptr;
}

/// The sentence about an instruction that is not known.
tl::unexpected<std::string> unknownInstruction(const ptx::Instruction &in);
/// True if every modifier names a type or is one of these.
bool hasOnly(const ptx::Instruction &in, std::initializer_list<std::string_view> known);
/// .rz, .rm, .rp or .rna; .rn where none of them was written.
Rounding roundingOf(const ptx::Instruction &in);

inline uint64_t maskOf(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

/// The value of the low `bits` bits as two's complement; 0 for no bits.
inline int64_t signExtend(uint64_t value, unsigned bits) {
  if (bits >= 64 || bits == 0)
    return bits ? int64_t(value) : 0;
  uint64_t sign = uint64_t(1) << (bits - 1);
  return int64_t(((value & maskOf(bits)) ^ sign) - sign);
}

/// Calls `one(lane)` for every active lane; a full warp is a plain loop of fixed length, and `one` may only touch its
/// own lane, so that the compiler may take several at once.
template <typename One> inline void eachLane(uint64_t active, unsigned lanes, One one) {
  if (lanes == 32 && active == 0xffffffff) {
#pragma GCC ivdep
    for (unsigned lane = 0; lane < 32; ++lane)
      one(lane);
    return;
  }
  for (active &= maskOf(lanes); active; active &= active - 1)
    one(unsigned(__builtin_ctzll(active)));
}

} // namespace interlock::emu::alu
