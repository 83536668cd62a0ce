// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Floating-point arithmetic (PTX ISA "Floating Point Instructions", "Half Precision Floating Point Instructions").
// f32, f16 and bf16 are computed in double, rounded to odd, and rounded once more to their own format, which is exact
// for every rounding mode; to nearest, f32 and f64 use the host's own arithmetic. Approximate instructions (.approx)
// give the correctly rounded value, which is within every error bound that the ISA states, but not always a GPU's bits.
#include "analysis/Emulator/FloatFormat.h"

#include <algorithm>
#include <cfenv>
#include <unordered_map>

namespace interlock::emu::alu {
namespace {

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes)

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

constexpr uint64_t nanF64 = 0xfff8000000000000;

double flushed(double value, double smallestNormal) {
  return std::fabs(value) < smallestNormal ? std::copysign(0.0, value) : value;
}

/// min and max: a NaN operand gives the other one, or NaN with .NaN; -0 is less than +0.
double extreme(const Op &op, double a, double b, bool wantMin) {
  double result;
  if (std::isnan(a) || std::isnan(b))
    result = op.nan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<double>::quiet_NaN()
             : std::isnan(a)                            ? b
                                                        : a;
  else if (a == b)
    result = wantMin == std::signbit(a) ? a : b;
  else
    result = (a < b) == wantMin ? a : b;
  if (op.xorsign && !std::isnan(result))
    result = std::copysign(result, std::signbit(a) != std::signbit(b) ? -1.0 : 1.0);
  return result;
}

/// The exact result rounded to odd, for formats of at most 24 bits.
double computeOdd(const Op &op, Do what, double a, double b, double c) {
  switch (what) {
  case Do::add:
    return addOdd(a, b);
  case Do::sub:
    return addOdd(a, -b);
  case Do::mul:
    return a * b;
  case Do::fma:
    return fmaOdd(a, b, c);
  case Do::div:
    return divideOdd(a, b);
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

uint32_t one(const Op &op, const FloatFormat &format, uint32_t ra, uint32_t rb, uint32_t rc) {
  double a = decode(format, ra), b = decode(format, rb), c = decode(format, rc);
  double smallest = std::ldexp(1.0, 1 - format.bias());
  if (op.ftz) {
    a = flushed(a, smallest);
    b = flushed(b, smallest);
    c = flushed(c, smallest);
  }
  double value = computeOdd(op, Do(op.sub), a, b, c);
  if (op.ftz)
    value = flushed(value, smallest);
  if (op.relu && !std::isnan(value) && value < 0)
    value = 0;
  if (op.saturate)
    value = std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
  uint32_t result = encode(format, value, op.rounding);
  // A result that was normal before rounding and is not after it cannot be; one that is subnormal after it is flushed.
  if (op.ftz && !(result & format.infinity()))
    result &= 1u << (format.bits() - 1);
  return result;
}

template <const FloatFormat &format> ILK_EVAL(general) {
  eachLane(active, lanes, [&](unsigned l) {
    out[l] = one(op, format, uint32_t(in[0][l]), uint32_t(in[1] ? in[1][l] : 0), uint32_t(in[2] ? in[2][l] : 0));
  });
}
template <const FloatFormat &format> ILK_EVAL(generalPair) {
  eachLane(active, lanes, [&](unsigned l) {
    auto half = [&](unsigned i, unsigned at) { return in[i] ? uint32_t(in[i][l] >> at & 0xffff) : 0u; };
    uint32_t low = one(op, format, half(0, 0), half(1, 0), half(2, 0));
    uint32_t high = one(op, format, half(0, 16), half(1, 16), half(2, 16));
    out[l] = uint64_t(high) << 16 | low;
  });
}

float asF32(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
uint64_t bitsOf(float value) { return std::isnan(value) ? formatF32.canonicalNan : std::bit_cast<uint32_t>(value); }

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

/// Sign operations on f32 and f64 keep a NaN's payload.
ILK_EVAL(signOnly) {
  uint64_t sign = uint64_t(1) << (op.bits - 1), mask = maskOf(op.bits);
  if (op.bits == 32 && op.ftz) {
    general<formatF32>(op, in, out, nullptr, active, lanes);
    return;
  }
  eachLane(active, lanes, [&](unsigned l) {
    uint64_t a = in[0][l] & mask;
    if (Do(op.sub) == Do::neg)
      out[l] = a ^ sign;
    else if (Do(op.sub) == Do::abs)
      out[l] = a & ~sign;
    else
      out[l] = (in[1][l] & ~sign & mask) | (a & sign);
  });
}

/// f64: the host's arithmetic in the instruction's rounding mode.
class HostRounding {
public:
  explicit HostRounding(Rounding rounding) {
    if (rounding == Rounding::rn)
      return;
    before = std::fegetround();
    std::fesetround(rounding == Rounding::rz ? FE_TOWARDZERO : rounding == Rounding::rm ? FE_DOWNWARD : FE_UPWARD);
  }
  ~HostRounding() {
    if (before >= 0)
      std::fesetround(before);
  }
  HostRounding(const HostRounding &) = delete;

private:
  int before = -1;
};

ILK_EVAL(generalF64) {
  HostRounding mode(op.rounding);
  eachLane(active, lanes, [&](unsigned l) {
    // volatile keeps the arithmetic between the changes of the rounding mode.
    volatile double a = std::bit_cast<double>(in[0][l]), b = in[1] ? std::bit_cast<double>(in[1][l]) : 0,
                    c = in[2] ? std::bit_cast<double>(in[2][l]) : 0, value = 0;
    switch (Do(op.sub)) {
    case Do::add:
      value = a + b;
      break;
    case Do::sub:
      value = a - b;
      break;
    case Do::mul:
      value = a * b;
      break;
    case Do::fma:
      value = std::fma(a, b, c);
      break;
    case Do::div:
      value = a / b;
      break;
    case Do::rcp:
      value = 1.0 / a;
      break;
    case Do::sqrt:
      value = std::sqrt(a);
      break;
    default:
      value = computeOdd(op, Do(op.sub), a, b, c);
      break;
    }
    out[l] = std::isnan(value) ? nanF64 : std::bit_cast<uint64_t>(double(value));
  });
}

Do operationOf(const ptx::Instruction &in, bool &known) {
  static const std::unordered_map<std::string_view, Do> table = {
      {"add", Do::add}, {"sub", Do::sub}, {"mul", Do::mul},   {"fma", Do::fma},          {"mad", Do::fma},
      {"div", Do::div}, {"rcp", Do::rcp}, {"sqrt", Do::sqrt}, {"rsqrt", Do::rsqrt},      {"neg", Do::neg},
      {"abs", Do::abs}, {"min", Do::min}, {"max", Do::max},   {"sin", Do::sin},          {"cos", Do::cos},
      {"lg2", Do::lg2}, {"ex2", Do::ex2}, {"tanh", Do::tanh}, {"copysign", Do::copysign}};
  auto found = table.find(in.opcode);
  known = found != table.end();
  return known ? found->second : Do::add;
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

/// testp.op: whether a number is finite, infinite, a number, NaN, normal or subnormal.
ILK_EVAL(testProperty) {
  eachLane(active, lanes, [&](unsigned l) {
    bool wide = op.bits == 64;
    double v = wide ? std::bit_cast<double>(in[0][l]) : double(asF32(in[0][l]));
    int kind = wide ? std::fpclassify(v) : std::fpclassify(asF32(in[0][l]));
    switch (op.sub) {
    case 0:
      out[l] = std::isfinite(v);
      break;
    case 1:
      out[l] = kind == FP_INFINITE;
      break;
    case 2:
      out[l] = kind != FP_NAN;
      break;
    case 3:
      out[l] = kind == FP_NAN;
      break;
    case 4:
      out[l] = kind == FP_NORMAL;
      break;
    default:
      out[l] = kind == FP_SUBNORMAL;
      break;
    }
  });
}

} // namespace

tl::expected<Op, std::string> resolveFloat(const ptx::Instruction &in) {
  using ptx::Type;
  Op op;
  op.type = in.type();
  if (!ptx::isFloat(op.type))
    return Op{};
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.ftz = in.has("ftz");
  op.saturate = in.has("sat");
  op.relu = in.has("relu");
  op.nan = in.has("NaN");
  op.xorsign = in.has("xorsign");
  op.rounding = in.has("rz") ? Rounding::rz : in.has("rm") ? Rounding::rm : in.has("rp") ? Rounding::rp : Rounding::rn;
  if (in.opcode == "testp") {
    for (std::string_view name : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
      if (in.has(name))
        break;
      ++op.sub;
    }
    op.eval = testProperty;
    return op;
  }
  bool known = false;
  Do what = operationOf(in, known);
  if (!known)
    return Op{};
  op.sub = uint8_t(what);
  bool sign = what == Do::neg || what == Do::abs || what == Do::copysign;
  bool plain = !op.ftz && !op.saturate && op.rounding == Rounding::rn;
  switch (op.type) {
  case Type::f32:
    op.eval = sign ? signOnly : plain && quick(what) ? quick(what) : general<formatF32>;
    break;
  case Type::f64:
    op.eval = sign ? signOnly : generalF64;
    break;
  case Type::f16:
    op.eval = general<formatF16>;
    break;
  case Type::bf16:
    op.eval = general<formatBf16>;
    break;
  case Type::f16x2:
    op.eval = generalPair<formatF16>;
    break;
  case Type::bf16x2:
    op.eval = generalPair<formatBf16>;
    break;
  default:
    return tl::unexpected("the emulator does not know " + in.mnemonic());
  }
  // Three-operand min and max, and mixed-precision forms, are other instructions.
  if (in.type(1) != Type::none)
    return tl::unexpected("the emulator does not know " + in.mnemonic());
  return op;
}

} // namespace interlock::emu::alu
