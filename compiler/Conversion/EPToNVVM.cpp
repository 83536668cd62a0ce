// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where a thread is, packets that bypass a cache, and what passes between the lanes of a warp.
#include "compiler/Conversion/InlinePTX.h"
#include "compiler/Conversion/ToNVVM.h"

using namespace mlir;

namespace interlock::nvvm {
namespace {

//===----------------------------------------------------------------------===//
// Where a thread is
//===----------------------------------------------------------------------===//

Replacement lowerThreadId(ep::ThreadIdOp, ep::ThreadIdOp::Adaptor, Builder &b, const Context &) {
  return {NVVM::ThreadIdXOp::create(b, b.getI32Type())};
}
Replacement lowerLaneId(ep::LaneIdOp, ep::LaneIdOp::Adaptor, Builder &b, const Context &) {
  return {NVVM::LaneIdOp::create(b, b.getI32Type())};
}
Replacement lowerWarpId(ep::WarpIdOp, ep::WarpIdOp::Adaptor, Builder &b, const Context &context) {
  // Not %warpid, which may change while a thread runs (PTX ISA, "%warpid").
  Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  return {LLVM::UDivOp::create(b, thread, b.constant(context.target.warpWidth))};
}
Replacement lowerCtaId(ep::CtaIdOp, ep::CtaIdOp::Adaptor, Builder &b, const Context &) {
  return {NVVM::BlockIdXOp::create(b, b.getI32Type())};
}
Replacement lowerCtaCount(ep::CtaCountOp, ep::CtaCountOp::Adaptor, Builder &b, const Context &) {
  return {NVVM::GridDimXOp::create(b, b.getI32Type())};
}
Replacement lowerClusterId(ep::ClusterIdOp op, ep::ClusterIdOp::Adaptor, Builder &b, const Context &) {
  if (clusterSize(op) == 1)
    return {NVVM::BlockIdXOp::create(b, b.getI32Type())};
  return {NVVM::ClusterIdXOp::create(b, b.getI32Type())};
}
Replacement lowerClusterCount(ep::ClusterCountOp op, ep::ClusterCountOp::Adaptor, Builder &b, const Context &) {
  if (clusterSize(op) == 1)
    return {NVVM::GridDimXOp::create(b, b.getI32Type())};
  return {NVVM::ClusterDimXOp::create(b, b.getI32Type())};
}
Replacement lowerClusterRank(ep::ClusterRankOp op, ep::ClusterRankOp::Adaptor, Builder &b, const Context &) {
  if (clusterSize(op) == 1)
    return {b.constant(0)};
  return {NVVM::ClusterId::create(b, b.getI32Type())};
}

//===----------------------------------------------------------------------===//
// Packets
//===----------------------------------------------------------------------===//

constexpr unsigned packetBytes = 16;

/// LLVM has no way to say that a line needs no place in L1 (PTX ISA, "ld", `.level::eviction_priority`).
Value loadStreaming(Builder &b, Value pointer) {
  Type i32 = b.getI32Type();
  auto words = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
  Value read = inlinePTX(b, "ld.global.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", {pointer}, words);
  Value packet = LLVM::PoisonOp::create(b, VectorType::get({4}, i32));
  for (int64_t i = 0; i < 4; ++i)
    packet = LLVM::InsertElementOp::create(b, packet, LLVM::ExtractValueOp::create(b, read, i), b.constant(i));
  return packet;
}
Replacement lowerPacketLoad(ep::PacketLoadOp op, ep::PacketLoadOp::Adaptor operands, Builder &b, const Context &) {
  if (op.getStreaming())
    return {loadStreaming(b, operands.getPointer())};
  return {LLVM::LoadOp::create(b, op.getResult().getType(), operands.getPointer(), packetBytes)};
}
Replacement lowerPacketStore(ep::PacketStoreOp op, ep::PacketStoreOp::Adaptor operands, Builder &b, const Context &) {
  if (!op.getStreaming()) {
    LLVM::StoreOp::create(b, operands.getValue(), operands.getPointer(), packetBytes);
    return {};
  }
  SmallVector<Value> asmOperands{operands.getPointer()};
  for (int64_t i = 0; i < 4; ++i)
    asmOperands.push_back(LLVM::ExtractElementOp::create(b, operands.getValue(), b.constant(i)));
  inlinePTX(b, "st.global.L1::no_allocate.v4.b32 [$0], {$1, $2, $3, $4};", asmOperands);
  return {};
}

//===----------------------------------------------------------------------===//
// 8-bit floats
//===----------------------------------------------------------------------===//

/// PTX puts what comes first into the upper half. (PTX ISA, "cvt": `d = {a, b}`.) It saturates by itself, and its NaN
/// is 0x7f.
Value encodePair(Builder &b, Value first, Value second) {
  Type pair = VectorType::get({2}, b.getI8Type());
  Value codes = NVVM::ConvertF32x2ToF8x2Op::create(b, pair, second, first, NVVM::FPRoundingMode::RN,
                                                   NVVM::SaturationMode::SATFINITE, /*relu=*/false,
                                                   Float8E4M3FNType::get(b.getContext()));
  return LLVM::ZExtOp::create(b, b.getI32Type(), LLVM::BitcastOp::create(b, b.getI16Type(), codes));
}

/// By way of f16, which holds every value.
std::pair<Value, Value> decodePair(Builder &b, Value codes) {
  Value half = LLVM::TruncOp::create(b, b.getI16Type(), codes);
  Value bytes = LLVM::BitcastOp::create(b, VectorType::get({2}, b.getI8Type()), half);
  Value halves = NVVM::ConvertF8x2ToF16x2Op::create(b, VectorType::get({2}, b.getF16Type()), bytes, /*relu=*/false,
                                                    Float8E4M3FNType::get(b.getContext()));
  Value values = LLVM::FPExtOp::create(b, VectorType::get({2}, b.getF32Type()), halves);
  return {LLVM::ExtractElementOp::create(b, values, b.constant(0)),
          LLVM::ExtractElementOp::create(b, values, b.constant(1))};
}

constexpr Float8Instructions instructions{encodePair, decodePair, /*saturates=*/true};

Replacement lowerQuantize(ep::QuantizeOp op, ep::QuantizeOp::Adaptor operands, Builder &b, const Context &context) {
  return {quantize(b, operands.getValues(), op.getResult().getType(), op.getDtype(), context, instructions)};
}
Replacement lowerDequantize(ep::DequantizeOp op, ep::DequantizeOp::Adaptor operands, Builder &b,
                            const Context &context) {
  return {dequantize(b, operands.getCodes(), op.getDtype(), context, instructions)};
}

//===----------------------------------------------------------------------===//
// Across the lanes of a warp
//===----------------------------------------------------------------------===//

constexpr int32_t allLanes = -1;
constexpr int32_t wholeWarp = 31; ///< clamp of shfl.sync: no segments

Replacement lowerBallot(ep::BallotOp, ep::BallotOp::Adaptor operands, Builder &b, const Context &) {
  auto kind = NVVM::VoteSyncKindAttr::get(b.getContext(), NVVM::VoteSyncKind::ballot);
  Value votes = NVVM::VoteSyncOp::create(b, b.getI32Type(), b.constant(allLanes), operands.getPredicate(), kind);
  return {LLVM::ZExtOp::create(b, b.getI64Type(), votes)};
}

Value shuffleWord(Builder &b, Value value, Value lane) {
  auto kind = NVVM::ShflKindAttr::get(b.getContext(), NVVM::ShflKind::idx);
  return NVVM::ShflOp::create(b, value.getType(), b.constant(allLanes), value, lane, b.constant(wholeWarp), kind,
                              UnitAttr());
}
Replacement lowerShuffle(ep::ShuffleOp, ep::ShuffleOp::Adaptor operands, Builder &b, const Context &) {
  return {byWords(b, operands.getValue(), [&](Value word) { return shuffleWord(b, word, operands.getLane()); })};
}

/// Each step adds the sum that the lane `distance` below has so far; lanes without one below add nothing.
Replacement lowerScan(ep::ScanOp, ep::ScanOp::Adaptor operands, Builder &b, const Context &context) {
  Value lane = NVVM::LaneIdOp::create(b, b.getI32Type());
  Value sum = operands.getValue();
  auto kind = NVVM::ShflKindAttr::get(b.getContext(), NVVM::ShflKind::up);
  for (uint32_t distance = 1; distance < context.target.warpWidth; distance *= 2) {
    Value below = NVVM::ShflOp::create(b, b.getI32Type(), b.constant(allLanes), sum, b.constant(distance),
                                       b.constant(0), kind, UnitAttr());
    Value has = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::uge, lane, b.constant(distance));
    sum = LLVM::AddOp::create(b, sum, LLVM::SelectOp::create(b, has, below, b.constant(0)));
  }
  return {LLVM::SubOp::create(b, sum, operands.getValue())};
}

} // namespace

void addEPPatterns(RewritePatternSet &patterns, const Context &context) {
  add(patterns, context, lowerThreadId, lowerLaneId, lowerWarpId, lowerCtaId, lowerCtaCount, lowerClusterId,
      lowerClusterCount, lowerClusterRank, lowerPacketLoad, lowerPacketStore, lowerQuantize, lowerDequantize,
      lowerBallot, lowerShuffle, lowerScan);
}

} // namespace interlock::nvvm
