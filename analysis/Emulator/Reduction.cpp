// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Reductions, one value at a time. Sums of f16 and bf16 are taken in f32 and rounded once: f32 has more than twice
// their precision plus two bits, so that this is the correctly rounded sum.
#include "analysis/Emulator/Reduction.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace interlock::emu {
namespace {

float fromHalf(uint16_t bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return float(h);
}
uint16_t toHalf(float f) {
  if (std::isnan(f))
    return 0x7fff;
  _Float16 h = _Float16(f);
  uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}
float fromBrain(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
uint16_t toBrain(float f) {
  if (std::isnan(f))
    return 0x7fff;
  uint32_t bits = std::bit_cast<uint32_t>(f);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float flushed(float f) { return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f; }

/// min and max of PTX: a NaN loses against a number, and -0 is below +0.
template <typename T> T lesser(T a, T b) {
  if (std::isnan(a))
    return b;
  if (std::isnan(b))
    return a;
  return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <typename T> T greater(T a, T b) {
  if (std::isnan(a))
    return b;
  if (std::isnan(b))
    return a;
  return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}
template <typename T> T combine(Reduction op, T a, T b) {
  return op == Reduction::add ? a + b : op == Reduction::min ? lesser(a, b) : greater(a, b);
}

uint16_t half(Reduction op, bool brain, uint16_t a, uint16_t b) {
  float r = brain ? combine(op, fromBrain(a), fromBrain(b)) : combine(op, fromHalf(a), fromHalf(b));
  return brain ? toBrain(r) : toHalf(r);
}

uint64_t integer(Reduction op, unsigned bits, bool isSigned, uint64_t a, uint64_t b) {
  uint64_t keep = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  a &= keep;
  b &= keep;
  auto extend = [&](uint64_t v) { return int64_t(v << (64 - bits)) >> (64 - bits); };
  bool less = isSigned ? extend(a) < extend(b) : a < b;
  switch (op) {
  case Reduction::add:
    return (a + b) & keep;
  case Reduction::min:
    return less ? a : b;
  case Reduction::max:
    return less ? b : a;
  case Reduction::inc:
    return a >= b ? 0 : a + 1;
  case Reduction::dec:
    return a == 0 || a > b ? b : a - 1;
  case Reduction::bitAnd:
    return a & b;
  case Reduction::bitOr:
    return a | b;
  case Reduction::bitXor:
    return a ^ b;
  default:
    return b;
  }
}

} // namespace

std::optional<Reduction> reductionOf(const ptx::Instruction &in) {
  static constexpr std::pair<std::string_view, Reduction> names[] = {
      {"add", Reduction::add},   {"min", Reduction::min},    {"max", Reduction::max},  {"inc", Reduction::inc},
      {"dec", Reduction::dec},   {"and", Reduction::bitAnd}, {"or", Reduction::bitOr}, {"xor", Reduction::bitXor},
      {"exch", Reduction::exch}, {"cas", Reduction::cas}};
  for (auto [name, op] : names)
    if (in.has(name))
      return op;
  return std::nullopt;
}

bool reductionKnows(Reduction op, ptx::Type type) {
  using ptx::Type;
  switch (type) {
  case Type::b128:
  case Type::b16:
    return op == Reduction::exch || op == Reduction::cas;
  case Type::b32:
  case Type::b64:
    return op >= Reduction::bitAnd;
  case Type::u32:
  case Type::u64:
  case Type::s32:
  case Type::s64:
    return op != Reduction::exch && op != Reduction::cas;
  case Type::f32:
  case Type::f64:
    return op <= Reduction::max;
  case Type::f16:
  case Type::f16x2:
  case Type::bf16:
  case Type::bf16x2:
    return op <= Reduction::max;
  default:
    return false;
  }
}

uint64_t reduce(Reduction op, ptx::Type type, uint64_t old, uint64_t operand, bool flush) {
  using ptx::Type;
  switch (type) {
  case Type::f32: {
    float a = std::bit_cast<float>(uint32_t(old)), b = std::bit_cast<float>(uint32_t(operand));
    if (flush)
      a = flushed(a), b = flushed(b);
    float r = combine(op, a, b);
    if (flush)
      r = flushed(r);
    return std::isnan(r) ? 0x7fffffffu : std::bit_cast<uint32_t>(r);
  }
  case Type::f64: {
    double r = combine(op, std::bit_cast<double>(old), std::bit_cast<double>(operand));
    return std::isnan(r) ? 0x7fffffffffffffffu : std::bit_cast<uint64_t>(r);
  }
  case Type::f16:
  case Type::bf16:
    return half(op, type == Type::bf16, uint16_t(old), uint16_t(operand));
  case Type::f16x2:
  case Type::bf16x2: {
    bool brain = type == Type::bf16x2;
    uint64_t low = half(op, brain, uint16_t(old), uint16_t(operand));
    return low | uint64_t(half(op, brain, uint16_t(old >> 16), uint16_t(operand >> 16))) << 16;
  }
  default:
    return integer(op, std::min(64u, ptx::bitWidth(type)), ptx::isSigned(type), old, operand);
  }
}

} // namespace interlock::emu
