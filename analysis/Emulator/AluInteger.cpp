// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic (PTX ISA "Integer Arithmetic Instructions").
#include "analysis/Emulator/Alu.h"

#include <algorithm>

namespace interlock::emu::alu {
namespace {

using Wide = unsigned __int128;
using SignedWide = __int128;

#define ILK_EVAL(name)                                                                                                 \
  void name(const Op &op, const uint64_t *const *in, uint64_t *out, uint64_t *, uint64_t active, unsigned lanes)

/// An operation of one, two or three operands on integers of a fixed type, wrapped to that type.
template <typename T, auto fn> ILK_EVAL(unary) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) { out[l] = std::make_unsigned_t<T>(fn(T(in[0][l]))); });
}
template <typename T, auto fn> ILK_EVAL(binary) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) { out[l] = std::make_unsigned_t<T>(fn(T(in[0][l]), T(in[1][l]))); });
}
template <typename T, auto fn> ILK_EVAL(ternary) {
  (void)op;
  eachLane(active, lanes,
           [&](unsigned l) { out[l] = std::make_unsigned_t<T>(fn(T(in[0][l]), T(in[1][l]), T(in[2][l]))); });
}

template <typename T> using U = std::make_unsigned_t<T>;

template <typename T> T wrapAdd(T a, T b) { return T(uint64_t(U<T>(a)) + uint64_t(U<T>(b))); }
template <typename T> T wrapSub(T a, T b) { return T(uint64_t(U<T>(a)) - uint64_t(U<T>(b))); }
template <typename T> T wrapMul(T a, T b) { return T(uint64_t(U<T>(a)) * uint64_t(U<T>(b))); }
template <typename T> T highMul(T a, T b) {
  constexpr unsigned bits = sizeof(T) * 8;
  if constexpr (std::is_signed_v<T>)
    return T((std::conditional_t<bits == 64, SignedWide, int64_t>(a) * b) >> bits);
  else
    return T((std::conditional_t<bits == 64, Wide, uint64_t>(a) * b) >> bits);
}
template <typename T> T madLow(T a, T b, T c) { return wrapAdd(wrapMul(a, b), c); }
template <typename T> T madHigh(T a, T b, T c) { return wrapAdd(highMul(a, b), c); }
/// By zero, quotient and remainder are all ones, as on an H200; the ISA leaves both open. The most negative value by -1
/// wraps.
template <typename T> T divide(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return wrapSub(T(0), a);
  return T(a / b);
}
template <typename T> T remainder(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return 0;
  return T(a % b);
}
template <typename T> T least(T a, T b) { return std::min(a, b); }
template <typename T> T greatest(T a, T b) { return std::max(a, b); }
template <typename T> T reluMin(T a, T b) { return std::max<T>(0, std::min(a, b)); }
template <typename T> T reluMax(T a, T b) { return std::max<T>(0, std::max(a, b)); }
template <typename T> T negate(T a) { return wrapSub(T(0), a); }
template <typename T> T absolute(T a) { return a < 0 ? wrapSub(T(0), a) : a; }
template <typename T> T sumOfDifferences(T a, T b, T c) {
  return T(uint64_t(U<T>(c)) + uint64_t(U<T>(a < b ? wrapSub(b, a) : wrapSub(a, b))));
}

/// Operands of `bits` bits, a result of twice that: mul.wide, mad.wide (whose addend is wide already).
template <typename T, typename R> ILK_EVAL(mulWide) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) { out[l] = std::make_unsigned_t<R>(R(T(in[0][l])) * R(T(in[1][l]))); });
}
template <typename T, typename R> ILK_EVAL(madWide) {
  (void)op;
  eachLane(active, lanes, [&](unsigned l) {
    out[l] = std::make_unsigned_t<R>(wrapAdd(R(R(T(in[0][l])) * R(T(in[1][l]))), R(in[2][l])));
  });
}

/// mul24 and mad24: the low 24 bits of each factor; .hi takes bits 16 to 47 of the product; mad24.hi.sat.s32 clamps.
ILK_EVAL(mul24) {
  eachLane(active, lanes, [&](unsigned l) {
    int64_t a = op.isSigned ? signExtend(in[0][l], 24) : int64_t(in[0][l] & maskOf(24));
    int64_t b = op.isSigned ? signExtend(in[1][l], 24) : int64_t(in[1][l] & maskOf(24));
    uint64_t product = uint64_t(a * b);
    uint64_t value = (op.sub & 1) ? product >> 16 : product;
    if (op.saturate)
      out[l] = uint32_t(std::clamp<int64_t>((a * b >> 16) + int32_t(in[2][l]), INT32_MIN, INT32_MAX));
    else
      out[l] = uint32_t(value + ((op.sub & 2) ? in[2][l] : 0));
  });
}

/// add.sat.s32, sub.sat.s32, mad.hi.sat.s32.
ILK_EVAL(saturated) {
  eachLane(active, lanes, [&](unsigned l) {
    int64_t a = int32_t(in[0][l]), b = int32_t(in[1][l]);
    int64_t value = op.sub == 0 ? a + b : op.sub == 1 ? a - b : ((a * b) >> 32) + int32_t(in[2][l]);
    out[l] = uint32_t(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
  });
}

/// dp4a and dp2a (sub 1: the low, 2: the high halves of b): products of bytes, added to c.
ILK_EVAL(dotProduct) {
  eachLane(active, lanes, [&](unsigned l) {
    bool aSigned = ptx::isSigned(op.type), bSigned = ptx::isSigned(op.from);
    auto piece = [](uint64_t v, unsigned at, unsigned bits, bool s) {
      uint64_t raw = (v >> at) & maskOf(bits);
      return s ? signExtend(raw, bits) : int64_t(raw);
    };
    int64_t sum = int32_t(in[2][l]);
    if (op.sub == 0)
      for (unsigned i = 0; i < 4; ++i)
        sum += piece(in[0][l], 8 * i, 8, aSigned) * piece(in[1][l], 8 * i, 8, bSigned);
    else
      for (unsigned i = 0; i < 2; ++i)
        sum += piece(in[0][l], 16 * i, 16, aSigned) * piece(in[1][l], 8 * i + (op.sub == 2 ? 16 : 0), 8, bSigned);
    out[l] = uint32_t(sum);
  });
}

/// Packed halves: add, min and max of .u16x2 and .s16x2.
ILK_EVAL(packed) {
  bool isSigned = op.isSigned;
  eachLane(active, lanes, [&](unsigned l) {
    uint32_t result = 0;
    for (unsigned half = 0; half < 32; half += 16) {
      uint16_t a = uint16_t(in[0][l] >> half), b = uint16_t(in[1][l] >> half), r = 0;
      bool less = isSigned ? int16_t(a) < int16_t(b) : a < b;
      if (op.sub == 0)
        r = uint16_t(a + b);
      else
        r = (op.sub == 1) == less ? a : b;
      if (op.relu && int16_t(r) < 0)
        r = 0;
      result |= uint32_t(r) << half;
    }
    out[l] = result;
  });
}

/// The instantiation for a type, of 16, 32 or 64 bits; null for others.
template <template <typename> class Make> EvalFn pickType(ptx::Type type) {
  using ptx::Type;
  switch (type) {
  case Type::u16:
  case Type::b16:
    return Make<uint16_t>::fn;
  case Type::u32:
  case Type::b32:
    return Make<uint32_t>::fn;
  case Type::u64:
  case Type::b64:
    return Make<uint64_t>::fn;
  case Type::s16:
    return Make<int16_t>::fn;
  case Type::s32:
    return Make<int32_t>::fn;
  case Type::s64:
    return Make<int64_t>::fn;
  default:
    return nullptr;
  }
}

#define ILK_MAKE(name, wrapper, function)                                                                              \
  template <typename T> struct name {                                                                                  \
    static constexpr EvalFn fn = wrapper<T, function<T>>;                                                              \
  };
ILK_MAKE(MakeAdd, binary, wrapAdd)
ILK_MAKE(MakeSub, binary, wrapSub)
ILK_MAKE(MakeMulLow, binary, wrapMul)
ILK_MAKE(MakeMulHigh, binary, highMul)
ILK_MAKE(MakeMadLow, ternary, madLow)
ILK_MAKE(MakeMadHigh, ternary, madHigh)
ILK_MAKE(MakeDiv, binary, divide)
ILK_MAKE(MakeRem, binary, remainder)
ILK_MAKE(MakeMin, binary, least)
ILK_MAKE(MakeMax, binary, greatest)
ILK_MAKE(MakeReluMin, binary, reluMin)
ILK_MAKE(MakeReluMax, binary, reluMax)
ILK_MAKE(MakeNeg, unary, negate)
ILK_MAKE(MakeAbs, unary, absolute)
ILK_MAKE(MakeSad, ternary, sumOfDifferences)
#undef ILK_MAKE

EvalFn pickWide(ptx::Type type, bool mad) {
  using ptx::Type;
  switch (type) {
  case Type::u16:
    return mad ? madWide<uint16_t, uint32_t> : mulWide<uint16_t, uint32_t>;
  case Type::s16:
    return mad ? madWide<int16_t, int32_t> : mulWide<int16_t, int32_t>;
  case Type::u32:
    return mad ? madWide<uint32_t, uint64_t> : mulWide<uint32_t, uint64_t>;
  case Type::s32:
    return mad ? madWide<int32_t, int64_t> : mulWide<int32_t, int64_t>;
  default:
    return nullptr;
  }
}

EvalFn pickMultiply(const ptx::Instruction &in, ptx::Type type, bool mad) {
  if (in.has("wide"))
    return pickWide(type, mad);
  if (in.has("hi"))
    return mad ? pickType<MakeMadHigh>(type) : pickType<MakeMulHigh>(type);
  if (in.has("lo"))
    return mad ? pickType<MakeMadLow>(type) : pickType<MakeMulLow>(type);
  return nullptr;
}

using Picker = EvalFn (*)(ptx::Type);

} // namespace

tl::expected<Op, std::string> resolveInteger(const ptx::Instruction &in) {
  static constexpr Named<Picker> pickers[] = {
      {"add", pickType<MakeAdd>}, {"sub", pickType<MakeSub>}, {"div", pickType<MakeDiv>},
      {"rem", pickType<MakeRem>}, {"min", pickType<MakeMin>}, {"max", pickType<MakeMax>},
      {"neg", pickType<MakeNeg>}, {"abs", pickType<MakeAbs>}, {"sad", pickType<MakeSad>}};
  using ptx::Type;
  Op op;
  op.type = in.type();
  op.bits = uint8_t(ptx::bitWidth(op.type));
  op.isSigned = ptx::isSigned(op.type);
  op.relu = in.has("relu");
  op.saturate = in.has("sat");
  auto done = [&]() -> tl::expected<Op, std::string> {
    if (!op.eval)
      return unknownInstruction(in);
    return op;
  };
  if (in.opcode == "dp4a" || in.opcode == "dp2a") {
    op.from = in.type(1);
    bool two = in.opcode == "dp2a", typed = op.bits == 32 && ptx::bitWidth(op.from) == 32;
    if (typed && (two ? in.has("lo") != in.has("hi") && hasOnly(in, {"lo", "hi"}) : hasOnly(in, {})))
      op.eval = dotProduct;
    op.sub = !two ? 0 : in.has("lo") ? 1 : 2;
    return done();
  }
  if (ptx::isFloat(op.type) || op.type == Type::none)
    return Op{};
  bool mul = in.opcode == "mul", mad = in.opcode == "mad";
  const Picker *found = rowOf(pickers, in.opcode);
  if (in.opcode == "mul24" || in.opcode == "mad24") {
    bool add = in.opcode == "mad24", known = op.type == Type::u32 || op.type == Type::s32;
    known = known && in.has("lo") != in.has("hi") && hasOnly(in, {"lo", "hi", "sat"}) &&
            (!op.saturate || (add && in.has("hi") && op.isSigned));
    op.sub = uint8_t((in.has("hi") ? 1 : 0) | (add ? 2 : 0));
    if (known)
      op.eval = mul24;
    return done();
  }
  if (op.type == Type::u16x2 || op.type == Type::s16x2) {
    bool known = in.opcode == "add" || in.opcode == "min" || in.opcode == "max";
    op.sub = in.opcode == "add" ? 0 : in.opcode == "min" ? 1 : 2;
    if (known && (op.relu ? op.isSigned && op.sub && hasOnly(in, {"relu"}) : hasOnly(in, {})))
      op.eval = packed;
    return known ? done() : Op{};
  }
  if (!mul && !mad && !found)
    return Op{};
  if (op.saturate) {
    op.sub = in.opcode == "add" ? 0 : in.opcode == "sub" ? 1 : 2;
    bool known = mad ? in.has("hi") && hasOnly(in, {"hi", "sat"})
                     : (in.opcode == "add" || in.opcode == "sub") && hasOnly(in, {"sat"});
    if (known && op.type == Type::s32)
      op.eval = saturated;
    return done();
  }
  if (mul || mad) {
    if (hasOnly(in, {"lo", "hi", "wide"}))
      op.eval = pickMultiply(in, op.type, mad);
    return done();
  }
  if (op.relu ? op.type == Type::s32 && hasOnly(in, {"relu"}) : hasOnly(in, {})) {
    Picker relu = in.opcode == "min" ? pickType<MakeReluMin> : in.opcode == "max" ? pickType<MakeReluMax> : nullptr;
    Picker pick = op.relu ? relu : *found;
    op.eval = pick ? pick(op.type) : nullptr;
  }
  return done();
}

} // namespace interlock::emu::alu
