// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The operations that know an element type: 16-byte packets to and from vectors of f32.
#include "compiler/Conversion/Lowering.h"

using namespace mlir;

namespace interlock::lowering {
namespace {

/// A bf16 is the upper half of an f32, so that a shift and a mask convert two of them exactly.
Value unpackBF16(Builder &b, Value packet) {
  auto words = cast<VectorType>(packet.getType());
  auto result = VectorType::get({2 * words.getNumElements()}, b.getF32Type());
  Value values = LLVM::PoisonOp::create(b, result);
  for (int64_t i = 0; i < words.getNumElements(); ++i) {
    Value word = LLVM::ExtractElementOp::create(b, packet, b.constant(i));
    Value low = LLVM::ShlOp::create(b, word, b.constant(16));
    Value high = LLVM::AndOp::create(b, word, b.constant(static_cast<int32_t>(0xffff0000)));
    for (auto [position, bits] : {std::pair(2 * i, low), std::pair(2 * i + 1, high)})
      values = LLVM::InsertElementOp::create(b, values, LLVM::BitcastOp::create(b, b.getF32Type(), bits),
                                             b.constant(position));
  }
  return values;
}

Value unpack(Builder &b, Value packet, Type element) {
  if (element.isBF16())
    return unpackBF16(b, packet);
  if (element.isF32())
    return LLVM::BitcastOp::create(b, VectorType::get({4}, element), packet);
  Value halves = LLVM::BitcastOp::create(b, VectorType::get({8}, element), packet);
  return LLVM::FPExtOp::create(b, VectorType::get({8}, b.getF32Type()), halves);
}

Replacement lowerUnpack(ep::UnpackOp op, ep::UnpackOp::Adaptor operands, Builder &b, const Context &) {
  return {unpack(b, operands.getPacket(), op.getDtype())};
}

Replacement lowerPack(ep::PackOp op, ep::PackOp::Adaptor operands, Builder &b, const Context &) {
  Value values = operands.getValues();
  if (!op.getDtype().isF32())
    values = LLVM::FPTruncOp::create(b, VectorType::get({8}, op.getDtype()), values);
  return {LLVM::BitcastOp::create(b, VectorType::get({4}, b.getI32Type()), values)};
}

Replacement lowerPacketWords(ep::PacketWordsOp, ep::PacketWordsOp::Adaptor operands, Builder &b, const Context &) {
  Replacement words;
  for (int64_t i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractElementOp::create(b, operands.getPacket(), b.constant(i)));
  return words;
}

/// One fused multiply-add an element, each rounded once. (On chips with pairs of f32 LLVM joins two of them.)
Replacement lowerAccumulate(ep::AccumulateOp op, ep::AccumulateOp::Adaptor operands, Builder &b, const Context &) {
  Value elements = unpack(b, operands.getPacket(), op.getDtype()), sums = operands.getAccumulator();
  for (int64_t i = 0, n = cast<VectorType>(sums.getType()).getNumElements(); i < n; ++i) {
    Value element = LLVM::ExtractElementOp::create(b, elements, b.constant(i));
    Value sum = LLVM::ExtractElementOp::create(b, sums, b.constant(i));
    Value next = LLVM::FMAOp::create(b, operands.getWeight(), element, sum);
    sums = LLVM::InsertElementOp::create(b, sums, next, b.constant(i));
  }
  return {sums};
}

} // namespace

void addElementPatterns(RewritePatternSet &patterns, const Context &context) {
  add(patterns, context, lowerUnpack, lowerPacketWords, lowerPack, lowerAccumulate);
}

} // namespace interlock::lowering
