// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Arithmetic as pure functions: a static instruction is resolved once, and evaluated for the lanes of a warp.
#pragma once

#include "analysis/PTX/Module.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace interlock::emu::alu {

struct Op;

/// Evaluates the active lanes. Values are raw bits, zero-extended to 64; predicates are 0 or 1. `in` has one array a
/// source operand, a value a lane. `out2` takes a second result (setp's other predicate); it is never null. Lanes that
/// are not active keep what they hold.
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
  Rounding rounding = Rounding::rn;
  Compare compare = Compare::eq;
  Combine combine = Combine::none;
  bool isSigned = false;
  bool saturate = false;
  bool ftz = false;      ///< subnormal inputs and results count as zero
  bool relu = false;     ///< negative results become zero
  bool nan = false;      ///< min/max: a NaN operand gives NaN
  bool integral = false; ///< cvt.rni and its kin: float to a whole number of the same kind
  bool xorsign = false;  ///< min/max: sign is the exclusive or of the operands' signs
};

/// The operation of an instruction, or a sentence that says what is not known. Covers the integer, logic, shift,
/// comparison, selection, floating-point and conversion instructions; carries between instructions (add.cc and its kin)
/// are not among them.
tl::expected<Op, std::string> resolve(const ptx::Instruction &in);

// The families; each returns an Op without `eval` if the opcode is not one of its own.
tl::expected<Op, std::string> resolveInteger(const ptx::Instruction &in);
tl::expected<Op, std::string> resolveBits(const ptx::Instruction &in);
tl::expected<Op, std::string> resolveCompare(const ptx::Instruction &in);
tl::expected<Op, std::string> resolveFloat(const ptx::Instruction &in);
tl::expected<Op, std::string> resolveConvert(const ptx::Instruction &in);

inline uint64_t maskOf(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

/// The value of the low `bits` bits as two's complement.
inline int64_t signExtend(uint64_t value, unsigned bits) {
  if (bits >= 64)
    return int64_t(value);
  uint64_t sign = uint64_t(1) << (bits - 1);
  return int64_t(((value & maskOf(bits)) ^ sign) - sign);
}

/// Calls `one(lane)` for every active lane; a full warp is a plain loop.
template <typename One> inline void eachLane(uint64_t active, unsigned lanes, One one) {
  if (active == maskOf(lanes)) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      one(lane);
    return;
  }
  for (; active; active &= active - 1)
    one(unsigned(__builtin_ctzll(active)));
}

} // namespace interlock::emu::alu
