// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the files of floating-point arithmetic share.
#pragma once

#include "analysis/Emulator/FloatFormat.h"

namespace interlock::emu::alu {

/// Op::sub of a floating-point instruction.
enum class Do : uint8_t {
  add,
  sub,
  mul,
  fma,
  div,
  rcp,
  sqrt,
  rsqrt,
  neg,
  abs,
  min,
  max,
  sin,
  cos,
  lg2,
  ex2,
  tanh,
  copysign
};

/// min and max (PTX ISA "min", "max"): a NaN operand gives the other one, or NaN with .NaN; -0 is less than +0.
double extreme(const Op &op, double a, double b, bool wantMin);

/// The exact result, rounded to odd, of operands of at most 24 significant bits; approximations for the functions that
/// PTX only has as such.
double computeOdd(const Op &op, double a, double b, double c);

/// Result of an f64 operation on numbers that is not a number. A NaN operand is handed on instead, made quiet.
inline constexpr uint64_t canonicalNanF64 = 0xfff8000000000000;
inline constexpr uint64_t quietBitF64 = uint64_t(1) << 51;
constexpr bool isNanF64(uint64_t bits) { return bits << 1 > uint64_t(0x7ff) << 53; }

/// The evaluator of f64 instructions.
void evaluateF64(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes);

} // namespace interlock::emu::alu
