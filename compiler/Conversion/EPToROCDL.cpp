// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where a thread is, packets that bypass a cache, and what passes between the lanes of a wave.
#include "compiler/Conversion/ToROCDL.h"

using namespace mlir;

namespace interlock::rocdl {
namespace {

//===----------------------------------------------------------------------===//
// Where a thread is. Kernels have one dimension, so that lanes are numbered like threads.
//===----------------------------------------------------------------------===//

Value threadId(Builder &b) { return ROCDL::ThreadIdXOp::create(b, b.getI32Type()); }
Value laneId(Builder &b, const Context &context) {
  return LLVM::AndOp::create(b, threadId(b), b.constant(context.target.warpWidth - 1));
}
Value ctaId(Builder &b) { return ROCDL::BlockIdXOp::create(b, b.getI32Type()); }

/// From the packet that launched the kernel, which every launch has (HSA Platform System Architecture, "Kernel dispatch
/// packet": grid_size_x, in work-items); the implicit arguments are there only where a runtime fills them in.
Value ctaCount(Operation *op, Builder &b) {
  constexpr int32_t gridSizeX = 12;
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), 4);
  Value packet = intrinsic(b, "llvm.amdgcn.dispatch.ptr", pointer);
  Value at = LLVM::GEPOp::create(b, pointer, b.getI8Type(), packet, ArrayRef<LLVM::GEPArg>{gridSizeX});
  Value threads = LLVM::LoadOp::create(b, b.getI32Type(), at, /*alignment=*/4, /*isVolatile=*/false,
                                       /*isNonTemporal=*/false, /*isInvariant=*/true);
  return LLVM::UDivOp::create(b, threads, b.constant(kernelNumber(op, ep::blockThreadsAttrName, 1)));
}

Replacement lowerThreadId(ep::ThreadIdOp, ep::ThreadIdOp::Adaptor, Builder &b, const Context &) {
  return {threadId(b)};
}
Replacement lowerLaneId(ep::LaneIdOp, ep::LaneIdOp::Adaptor, Builder &b, const Context &context) {
  return {laneId(b, context)};
}
/// The same in all lanes, and the first lane's is read so that LLVM knows.
Replacement lowerWarpId(ep::WarpIdOp, ep::WarpIdOp::Adaptor, Builder &b, const Context &context) {
  Value warp = LLVM::UDivOp::create(b, threadId(b), b.constant(context.target.warpWidth));
  return {ROCDL::ReadfirstlaneOp::create(b, b.getI32Type(), warp)};
}
Replacement lowerCtaId(ep::CtaIdOp, ep::CtaIdOp::Adaptor, Builder &b, const Context &) { return {ctaId(b)}; }
Replacement lowerCtaCount(ep::CtaCountOp op, ep::CtaCountOp::Adaptor, Builder &b, const Context &) {
  return {ctaCount(op, b)};
}
Replacement lowerClusterId(ep::ClusterIdOp op, ep::ClusterIdOp::Adaptor, Builder &b, const Context &) {
  if (clusterSize(op) == 1)
    return {ctaId(b)};
  return {ROCDL::ClusterIdXOp::create(b, b.getI32Type())};
}
Replacement lowerClusterCount(ep::ClusterCountOp op, ep::ClusterCountOp::Adaptor, Builder &b, const Context &) {
  Value count = ctaCount(op, b);
  return {clusterSize(op) == 1 ? count : LLVM::UDivOp::create(b, count, b.constant(clusterSize(op))).getResult()};
}
Replacement lowerClusterRank(ep::ClusterRankOp op, ep::ClusterRankOp::Adaptor, Builder &b, const Context &) {
  if (clusterSize(op) == 1)
    return {b.constant(0)};
  return {intrinsic(b, "llvm.amdgcn.cluster.workgroup.id.x", b.getI32Type())};
}

//===----------------------------------------------------------------------===//
// Packets
//===----------------------------------------------------------------------===//

constexpr unsigned packetBytes = 16;

Replacement lowerPacketLoad(ep::PacketLoadOp op, ep::PacketLoadOp::Adaptor operands, Builder &b, const Context &) {
  return {LLVM::LoadOp::create(b, op.getResult().getType(), operands.getPointer(), packetBytes, /*isVolatile=*/false,
                               /*isNonTemporal=*/op.getStreaming())};
}
Replacement lowerPacketStore(ep::PacketStoreOp op, ep::PacketStoreOp::Adaptor operands, Builder &b, const Context &) {
  LLVM::StoreOp::create(b, operands.getValue(), operands.getPointer(), packetBytes, /*isVolatile=*/false,
                        /*isNonTemporal=*/op.getStreaming());
  return {};
}

//===----------------------------------------------------------------------===//
// 8-bit floats
//===----------------------------------------------------------------------===//

/// What is too large, and NaN, is seen to before (quantize): what these make of it depends on a mode of the wave.
Value encodePair(Builder &b, Value first, Value second) {
  return ROCDL::CvtPkFp8F32Op::create(b, b.getI32Type(), first, second, b.constant(0), /*wordSel=*/false);
}

std::pair<Value, Value> decodePair(Builder &b, Value codes) {
  Value values = ROCDL::CvtPkF32Fp8Op::create(b, VectorType::get({2}, b.getF32Type()), codes, /*wordSel=*/false);
  return {LLVM::ExtractElementOp::create(b, values, b.constant(0)),
          LLVM::ExtractElementOp::create(b, values, b.constant(1))};
}

constexpr Float8Instructions instructions{encodePair, decodePair, /*saturates=*/false};

Replacement lowerQuantize(ep::QuantizeOp op, ep::QuantizeOp::Adaptor operands, Builder &b, const Context &context) {
  return {quantize(b, operands.getValues(), op.getResult().getType(), op.getDtype(), context, instructions)};
}
Replacement lowerDequantize(ep::DequantizeOp op, ep::DequantizeOp::Adaptor operands, Builder &b,
                            const Context &context) {
  return {dequantize(b, operands.getCodes(), op.getDtype(), context, instructions)};
}

//===----------------------------------------------------------------------===//
// Across the lanes of a wave
//===----------------------------------------------------------------------===//

Replacement lowerBallot(ep::BallotOp, ep::BallotOp::Adaptor operands, Builder &b, const Context &context) {
  Type mask = b.getIntegerType(context.target.warpWidth);
  Value votes = ROCDL::BallotOp::create(b, mask, operands.getPredicate());
  return {context.target.warpWidth == 64 ? votes : LLVM::ZExtOp::create(b, b.getI64Type(), votes).getResult()};
}

/// ds_bpermute_b32 takes the lane as the address of its word.
Value shuffleWord(Builder &b, Value value, Value lane) {
  constexpr int64_t wordShift = 2;
  Type type = value.getType();
  if (!type.isInteger(32))
    value = LLVM::BitcastOp::create(b, b.getI32Type(), value);
  Value address = LLVM::ShlOp::create(b, lane, b.constant(wordShift));
  Value other = ROCDL::DsBpermuteOp::create(b, b.getI32Type(), address, value);
  return type.isInteger(32) ? other : LLVM::BitcastOp::create(b, type, other).getResult();
}
Replacement lowerShuffle(ep::ShuffleOp, ep::ShuffleOp::Adaptor operands, Builder &b, const Context &) {
  return {byWords(b, operands.getValue(), [&](Value word) { return shuffleWord(b, word, operands.getLane()); })};
}

/// Each step adds the sum that the lane `distance` below has so far; lanes without one below add nothing.
Replacement lowerScan(ep::ScanOp, ep::ScanOp::Adaptor operands, Builder &b, const Context &context) {
  Value lane = laneId(b, context), sum = operands.getValue();
  for (uint32_t distance = 1; distance < context.target.warpWidth; distance *= 2) {
    Value below = shuffleWord(b, sum, LLVM::SubOp::create(b, lane, b.constant(distance)));
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

} // namespace interlock::rocdl
