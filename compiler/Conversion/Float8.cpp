// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// f32 to 8-bit floats and back: the two types that are called e4m3, which are not the same, on chips that convert one
// of them, the other one, or none. What a chip cannot do is done here, by integer arithmetic and one exact or correctly
// rounded operation of f32, so that every chip makes the same codes.
#include "compiler/Conversion/Lowering.h"

#include <bit>

using namespace mlir;

namespace interlock::lowering {
namespace {

/// Where f32 has its exponent, and how far the mantissas of the two are apart.
constexpr int32_t floatMantissa = 23, mantissa = 3, dropped = floatMantissa - mantissa, floatBias = 127;
constexpr int32_t signBit = 0x80, magnitudeBits = 0x7f, floatMagnitude = 0x7fffffff, floatInfinity = 0x7f800000;
constexpr int32_t canonicalNaN = 0x7fffffff;

constexpr Float8 e4m3fn{F8::ocp, 7, 448.0f, 0x7f, true};
constexpr Float8 e4m3fnuz{F8::fnuz, 8, 240.0f, 0x80, false};

Value bitsOf(Builder &b, Value value) { return LLVM::BitcastOp::create(b, b.getI32Type(), value); }
Value floatOf(Builder &b, Value bits) { return LLVM::BitcastOp::create(b, b.getF32Type(), bits); }
Value floatConstant(Builder &b, float value) { return floatOf(b, b.constant(std::bit_cast<int32_t>(value))); }
Value select(Builder &b, Value condition, Value yes, Value no) { return LLVM::SelectOp::create(b, condition, yes, no); }
Value compare(Builder &b, LLVM::ICmpPredicate predicate, Value left, int32_t right) {
  return LLVM::ICmpOp::create(b, predicate, left, b.constant(right));
}

/// An f32 by its bits: the code, and nothing above it.
Value encode(Builder &b, Value value, const Float8 &type) {
  Value bits = bitsOf(b, value);
  Value magnitude = LLVM::AndOp::create(b, bits, b.constant(floatMagnitude));
  Value isNaN = compare(b, LLVM::ICmpPredicate::ugt, magnitude, floatInfinity);
  Value largest = b.constant(std::bit_cast<int32_t>(type.largest));
  Value bounded = LLVM::UMinOp::create(b, magnitude, largest);
  // A normal value: the exponent is moved, half a unit is added, less a bit where the tie must go down. A carry out of
  // the mantissa runs into the exponent, which is right.
  Value rebased = LLVM::SubOp::create(b, bounded, b.constant((floatBias - type.bias) << floatMantissa));
  Value odd = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, rebased, b.constant(dropped)), b.constant(1));
  Value half = LLVM::AddOp::create(b, odd, b.constant((1 << (dropped - 1)) - 1));
  Value normal = LLVM::LShrOp::create(b, LLVM::AddOp::create(b, rebased, half), b.constant(dropped));
  // A subnormal one is a multiple of 2^(1 - bias - 3): a sum with that times 2^23 is rounded to such a multiple, to
  // nearest even, and has it in its low bits.
  float anchor = std::bit_cast<float>((floatBias + floatMantissa + 1 - type.bias - mantissa) << floatMantissa);
  Value sum = LLVM::FAddOp::create(b, floatOf(b, bounded), floatConstant(b, anchor));
  Value subnormal = LLVM::SubOp::create(b, bitsOf(b, sum), b.constant(std::bit_cast<int32_t>(anchor)));
  Value isSmall = compare(b, LLVM::ICmpPredicate::ult, bounded, (floatBias + 1 - type.bias) << floatMantissa);
  Value code = select(b, isSmall, subnormal, normal);
  Value sign = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, bits, b.constant(24)), b.constant(signBit));
  Value negative = LLVM::OrOp::create(b, code, sign);
  if (!type.hasNegativeZero)
    negative = select(b, compare(b, LLVM::ICmpPredicate::eq, code, 0), code, negative);
  return select(b, isNaN, b.constant(type.nan), negative);
}

/// A code, with nothing above it, as f32.
Value decode(Builder &b, Value code, const Float8 &type) {
  Value magnitude = LLVM::AndOp::create(b, code, b.constant(magnitudeBits));
  // With exponent and mantissa in f32's places it is the value but for the bias, subnormals too (f32 keeps them); a
  // product with a power of two is exact.
  Value placed = LLVM::ShlOp::create(b, magnitude, b.constant(dropped));
  Value scale = b.constant((2 * floatBias - type.bias) << floatMantissa);
  Value value = LLVM::FMulOp::create(b, floatOf(b, placed), floatOf(b, scale));
  Value sign = LLVM::ShlOp::create(b, LLVM::AndOp::create(b, code, b.constant(signBit)), b.constant(24));
  Value bits = LLVM::OrOp::create(b, bitsOf(b, value), sign);
  bool signless = type.hasNegativeZero; // then both signs have a NaN
  Value isNaN = compare(b, LLVM::ICmpPredicate::eq, signless ? magnitude : code, type.nan);
  return floatOf(b, select(b, isNaN, b.constant(canonicalNaN), bits));
}

/// What instructions need not be asked about: no value beyond the largest, and one NaN.
Value bound(Builder &b, Value value, const Float8 &type) {
  Value high = floatConstant(b, type.largest), low = floatConstant(b, -type.largest);
  Value above = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::ogt, value, high);
  Value below = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::olt, value, low);
  Value isNaN = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::uno, value, value);
  Value bounded = select(b, above, high, select(b, below, low, value));
  return select(b, isNaN, floatOf(b, b.constant(canonicalNaN)), bounded);
}

} // namespace

const Float8 &float8(Type type) { return isa<Float8E4M3FNUZType>(type) ? e4m3fnuz : e4m3fn; }

Value quantize(Builder &b, Value values, Type codes, Type element, const Context &context,
               const Float8Instructions &own) {
  const Float8 &type = float8(element);
  int64_t words = cast<VectorType>(values.getType()).getNumElements() / 4;
  Value result = LLVM::PoisonOp::create(b, VectorType::get({words}, b.getI32Type()));
  for (int64_t word = 0; word < words; ++word) {
    auto value = [&](int64_t i) -> Value {
      return LLVM::ExtractElementOp::create(b, values, b.constant(4 * word + i));
    };
    auto pair = [&](int64_t i) -> Value {
      auto ready = [&](Value each) { return own.saturates ? each : bound(b, each, type); };
      if (context.target.f8 == type.kind)
        return own.encode(b, ready(value(i)), ready(value(i + 1)));
      Value second = LLVM::ShlOp::create(b, encode(b, value(i + 1), type), b.constant(8));
      return LLVM::OrOp::create(b, encode(b, value(i), type), second);
    };
    Value upper = LLVM::ShlOp::create(b, pair(2), b.constant(16));
    Value low = LLVM::AndOp::create(b, pair(0), b.constant(0xffff));
    result = LLVM::InsertElementOp::create(b, result, LLVM::OrOp::create(b, low, upper), b.constant(word));
  }
  return isa<VectorType>(codes) ? result : LLVM::BitcastOp::create(b, codes, result).getResult();
}

Value dequantize(Builder &b, Value codes, Type element, const Context &context, const Float8Instructions &own) {
  const Float8 &type = float8(element);
  if (auto integer = dyn_cast<IntegerType>(codes.getType()))
    codes = LLVM::BitcastOp::create(b, VectorType::get({int64_t(integer.getWidth()) / 32}, b.getI32Type()), codes);
  int64_t words = cast<VectorType>(codes.getType()).getNumElements();
  Value result = LLVM::PoisonOp::create(b, VectorType::get({4 * words}, b.getF32Type()));
  for (int64_t i = 0; i < 2 * words; ++i) {
    Value word = LLVM::ExtractElementOp::create(b, codes, b.constant(i / 2));
    Value half = i % 2 ? LLVM::LShrOp::create(b, word, b.constant(16)).getResult() : word;
    std::pair<Value, Value> pair;
    if (context.target.f8 == type.kind) {
      pair = own.decode(b, half);
    } else {
      auto byte = [&](Value bits) { return LLVM::AndOp::create(b, bits, b.constant(0xff)); };
      pair = {decode(b, byte(half), type), decode(b, byte(LLVM::LShrOp::create(b, half, b.constant(8))), type)};
    }
    result = LLVM::InsertElementOp::create(b, result, pair.first, b.constant(2 * i));
    result = LLVM::InsertElementOp::create(b, result, pair.second, b.constant(2 * i + 1));
  }
  return result;
}

} // namespace interlock::lowering
