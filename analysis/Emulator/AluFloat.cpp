// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Floating-point arithmetic (PTX ISA "Floating Point Instructions", "Half Precision Floating Point Instructions",
// "Mixed Precision Floating Point Instructions"). f32, f16 and bf16 are computed in double, rounded to odd, and rounded
// once more to their own format, which is exact for every rounding mode; f32 to nearest uses the host's own arithmetic.
// Approximate instructions (.approx, .full) give the correctly rounded value, which is within every error bound that
// the ISA states, but not always a GPU's bits.
#include "analysis/Emulator/AluFloat.h"

#include <algorithm>

namespace interlock::emu::alu {
namespace {

using ptx::Type;

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes)

double flushed(double value, double smallestNormal) {
  return std::fabs(value) < smallestNormal ? std::copysign(0.0, value) : value;
}

/// One value, from operands that are decoded (and flushed) to the code of the result.
uint32_t finish(const Op &op, const FloatFormat &format, double value) {
  if (op.relu && value <= 0)
    value = 0;
  if (op.saturate)
    value = value > 0 ? std::min(value, 1.0) : 0.0; // NaN and -0 become +0
  if (op.ftz && isTiny(format, value, op.rounding))
    value = std::copysign(0.0, value);
  return encode(format, value, op.rounding);
}

double operand(const Op &op, const FloatFormat &format, uint64_t code) {
  double value = decode(format, uint32_t(code));
  return op.ftz ? flushed(value, format.smallestNormal()) : value;
}

/// min and max of three.
bool isExtreme(const Op &op) { return Do(op.sub) == Do::min || Do(op.sub) == Do::max; }

template <const FloatFormat &format>
uint32_t one(const Op &op, const uint64_t *const *in, unsigned l, unsigned at, bool third) {
  double a = operand(op, format, in[0][l] >> at), b = in[1] ? operand(op, format, in[1][l] >> at) : 0;
  double c = third ? operand(op, format, in[2][l] >> at) : 0, value = computeOdd(op, a, b, c);
  if (third && isExtreme(op))
    value = extreme(op, value, c, Do(op.sub) == Do::min);
  return finish(op, format, value);
}

template <const FloatFormat &format> ILK_EVAL(scalar) {
  bool third = in[1] && in[2];
  eachLane(active, lanes, [&](unsigned l) { out[l] = one<format>(op, in, l, 0, third); });
}
template <const FloatFormat &format> ILK_EVAL(pair) {
  bool third = in[1] && in[2];
  constexpr unsigned width = unsigned(format.bits());
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t low = one<format>(op, in, l, 0, third), high = one<format>(op, in, l, width, third);
    out[l] = high << width | low;
  });
}

/// add, sub and fma with an f32 result, whose factors or first addend are f16 or bf16.
ILK_EVAL(mixed) {
  const FloatFormat &narrow = *formatOf(op.from);
  bool fma = Do(op.sub) == Do::fma;
  eachLane(active, lanes, [&](unsigned l) {
    double a = decode(narrow, uint32_t(in[0][l]));
    double b = fma ? decode(narrow, uint32_t(in[1][l])) : operand(op, formatF32, in[1][l]);
    double c = fma ? operand(op, formatF32, in[2][l]) : 0;
    out[l] = finish(op, formatF32, computeOdd(op, a, b, c));
  });
}

float asF32(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
uint64_t bitsOf(float value) { return value != value ? formatF32.canonicalNan : std::bit_cast<uint32_t>(value); }

/// The common case: f32, to nearest, no modifiers.
template <Do what> ILK_EVAL(quickF32) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) {
    float a = asF32(in[0][l]), b = asF32(in[1][l]);
    if constexpr (what == Do::add)
      out[l] = bitsOf(a + b);
    else if constexpr (what == Do::sub)
      out[l] = bitsOf(a - b);
    else if constexpr (what == Do::mul)
      out[l] = bitsOf(a * b);
    else
      out[l] = bitsOf(std::fmaf(a, b, asF32(in[2][l])));
  });
}

/// neg, abs and copysign only touch the sign. The first two make a NaN canonical, or quiet with its sign in f64, as an
/// H200 does.
ILK_EVAL(signOnly) {
  bool halves = op.type == Type::f16x2 || op.type == Type::bf16x2;
  uint64_t sign = halves ? 0x80008000 : uint64_t(1) << (op.bits - 1), mask = maskOf(op.bits);
  const FloatFormat *format = Do(op.sub) == Do::copysign ? nullptr : formatOf(op.type);
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t a = in[0][l] & mask, nans = 0, ofNans = 0; // the bits that NaNs take, and what they become
    for (unsigned at = 0; format && at < op.bits; at += unsigned(format->bits())) {
      uint64_t magnitude = a >> at & (format->signBit() - 1);
      if (op.ftz && magnitude < uint64_t(1) << format->mantissaBits)
        a &= ~(uint64_t(format->signBit() - 1) << at);
      if (magnitude > format->infinity()) {
        nans |= maskOf(unsigned(format->bits())) << at;
        ofNans |= uint64_t(format->canonicalNan) << at;
      }
    }
    if (op.type == Type::f64 && Do(op.sub) != Do::copysign && isNanF64(a)) {
      nans = ~uint64_t(0);
      ofNans = a | quietBitF64;
    }
    if (Do(op.sub) == Do::neg)
      out[l] = ((a ^ sign) & ~nans) | ofNans;
    else if (Do(op.sub) == Do::abs)
      out[l] = (a & ~sign & ~nans) | ofNans;
    else
      out[l] = (in[1][l] & ~sign & mask) | (a & sign);
  });
}

/// testp: whether a number is finite, infinite, a number, NaN, normal or subnormal.
ILK_EVAL(testProperty) {
  eachLane(active, lanes, [&](unsigned l) {
    int kind = op.bits == 64 ? std::fpclassify(std::bit_cast<double>(in[0][l])) : std::fpclassify(asF32(in[0][l]));
    bool holds[] = {kind != FP_NAN && kind != FP_INFINITE,
                    kind == FP_INFINITE,
                    kind != FP_NAN,
                    kind == FP_NAN,
                    kind == FP_NORMAL || kind == FP_ZERO, // zeros count as normal
                    kind == FP_SUBNORMAL};
    out[l] = holds[op.sub];
  });
}

EvalFn quick(Do what) {
  switch (what) {
  case Do::add:
    return quickF32<Do::add>;
  case Do::sub:
    return quickF32<Do::sub>;
  case Do::mul:
    return quickF32<Do::mul>;
  case Do::fma:
    return quickF32<Do::fma>;
  default:
    return nullptr;
  }
}

tl::expected<Op, std::string> resolveTestp(const ptx::Instruction &in, Op op) {
  constexpr std::string_view names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  for (std::string_view name : names) {
    if (in.has(name)) {
      op.eval = testProperty;
      bool known = in.mods.size() == 2 && (op.type == Type::f32 || op.type == Type::f64);
      return known ? tl::expected<Op, std::string>(op) : unknownInstruction(in);
    }
    ++op.sub;
  }
  return unknownInstruction(in);
}

bool isF32(Type type) { return type == Type::f32 || type == Type::f32x2; }

/// Which modifiers an operation has, apart from types.
bool modifiersKnown(const ptx::Instruction &in, Do what, Type type) {
  switch (what) {
  case Do::add:
  case Do::sub:
  case Do::mul:
    return hasOnly(in, {"rn", "rz", "rm", "rp", "ftz", "sat"});
  case Do::fma:
    return hasOnly(in, {"rn", "rz", "rm", "rp", "ftz", "sat", "relu"});
  case Do::div:
  case Do::rcp:
  case Do::sqrt:
    return hasOnly(in, {"rn", "rz", "rm", "rp", "ftz", "approx", "full"});
  case Do::min:
  case Do::max:
    return hasOnly(in, {"ftz", "NaN", "xorsign", "abs", "relu"}) && (!in.has("xorsign") || in.has("abs"));
  case Do::copysign:
    return hasOnly(in, {}) && (type == Type::f32 || type == Type::f64);
  default:
    return hasOnly(in, {"approx", "ftz"});
  }
}

} // namespace

double extreme(const Op &op, double a, double b, bool wantMin) {
  bool negative = std::signbit(a) != std::signbit(b);
  if (op.absolute) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  double result;
  if (std::isnan(a) || std::isnan(b))
    result = op.nan ? std::numeric_limits<double>::quiet_NaN() : std::isnan(a) ? b : a;
  else if (a == b)
    result = wantMin == std::signbit(a) ? a : b;
  else
    result = (a < b) == wantMin ? a : b;
  return op.xorsign && !std::isnan(result) ? std::copysign(result, negative ? -1.0 : 1.0) : result;
}

double computeOdd(const Op &op, double a, double b, double c) {
  bool down = op.rounding == Rounding::rm;
  switch (Do(op.sub)) {
  case Do::add:
    return addOdd(a, b, down);
  case Do::sub:
    return addOdd(a, -b, down);
  case Do::mul:
    return a * b;
  case Do::fma:
    return fmaOdd(a, b, c, down);
  case Do::div:
    // div.approx.f32 gives zero for divisors from 2^126 on.
    return op.approximate && std::fabs(b) >= 0x1p126 ? divideOdd(a, std::copysign(INFINITY, b)) : divideOdd(a, b);
  case Do::rcp:
    return divideOdd(1.0, a);
  case Do::sqrt:
    return rootOdd(a);
  case Do::rsqrt:
    return 1.0 / std::sqrt(a);
  case Do::neg:
    return -a;
  case Do::abs:
    return std::fabs(a);
  case Do::min:
    return extreme(op, a, b, true);
  case Do::max:
    return extreme(op, a, b, false);
  case Do::sin:
    return std::sin(a);
  case Do::cos:
    return std::cos(a);
  case Do::lg2:
    return std::log2(a);
  case Do::ex2:
    return std::exp2(a);
  case Do::tanh:
    return std::tanh(a);
  case Do::copysign:
    return std::copysign(b, a);
  }
  return 0;
}

tl::expected<Op, std::string> resolveFloat(const ptx::Instruction &in) {
  static constexpr Named<Do> table[] = {
      {"add", Do::add}, {"sub", Do::sub}, {"mul", Do::mul},   {"fma", Do::fma},          {"mad", Do::fma},
      {"div", Do::div}, {"rcp", Do::rcp}, {"sqrt", Do::sqrt}, {"rsqrt", Do::rsqrt},      {"neg", Do::neg},
      {"abs", Do::abs}, {"min", Do::min}, {"max", Do::max},   {"sin", Do::sin},          {"cos", Do::cos},
      {"lg2", Do::lg2}, {"ex2", Do::ex2}, {"tanh", Do::tanh}, {"copysign", Do::copysign}};
  Op op;
  op.type = in.type();
  if (!ptx::isFloat(op.type))
    return Op{};
  op.bits = uint8_t(ptx::bitWidth(op.type));
  if (in.opcode == "testp")
    return resolveTestp(in, op);
  const Do *found = rowOf(table, in.opcode);
  if (!found)
    return Op{};
  Do what = *found;
  op.sub = uint8_t(what);
  op.ftz = in.has("ftz");
  op.saturate = in.has("sat");
  op.relu = in.has("relu");
  op.approximate = in.has("approx");
  op.nan = in.has("NaN");
  op.absolute = in.has("abs");
  op.xorsign = in.has("xorsign");
  op.rounding = roundingOf(in);
  if (!modifiersKnown(in, what, op.type))
    return unknownInstruction(in);
  op.from = in.type(1);
  if (op.from != Type::none) {
    bool known = op.type == Type::f32 && (op.from == Type::f16 || op.from == Type::bf16) &&
                 (what == Do::add || what == Do::sub || what == Do::fma) && in.type(2) == Type::none;
    op.eval = mixed;
    return known ? tl::expected<Op, std::string>(op) : unknownInstruction(in);
  }
  if (what == Do::neg || what == Do::abs || what == Do::copysign) {
    bool known = op.type == Type::f64 || op.type == Type::f32 || op.type == Type::f16 || op.type == Type::f16x2 ||
                 op.type == Type::bf16 || op.type == Type::bf16x2;
    op.eval = signOnly;
    return known ? tl::expected<Op, std::string>(op) : unknownInstruction(in);
  }
  bool plain = !op.ftz && !op.saturate && !op.relu && op.rounding == Rounding::rn;
  switch (op.type) {
  case Type::f32:
    op.eval = plain && quick(what) ? quick(what) : scalar<formatF32>;
    break;
  case Type::f32x2:
    op.eval = pair<formatF32>;
    break;
  case Type::f64:
    op.eval = evaluateF64;
    break;
  case Type::f16:
    op.eval = scalar<formatF16>;
    break;
  case Type::bf16:
    op.eval = scalar<formatBf16>;
    break;
  case Type::f16x2:
    op.eval = pair<formatF16>;
    break;
  case Type::bf16x2:
    op.eval = pair<formatBf16>;
    break;
  default:
    return unknownInstruction(in);
  }
  // The halves have no division and no other rounding, and f64 has neither saturation nor .relu.
  bool half = !isF32(op.type) && op.type != Type::f64;
  bool refused = (half && (op.rounding != Rounding::rn || what == Do::div || what == Do::rcp || what == Do::sqrt ||
                           what == Do::rsqrt || what == Do::sin || what == Do::cos || what == Do::lg2)) ||
                 (op.type == Type::f64 && (op.saturate || op.relu));
  return refused ? unknownInstruction(in) : tl::expected<Op, std::string>(op);
}

} // namespace interlock::emu::alu
