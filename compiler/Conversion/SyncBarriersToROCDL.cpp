// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Barriers that count, copies that complete on them, and barriers of threads. An AMD chip has no mbarrier: a barrier is
// a 64-bit word in shared memory with the state that PTX describes, and every change of it is one atomic exchange.
//
//     bit 63     phase: 0 while the first one is open, and so on
//     bits 40-62 bytes that the open phase still expects, signed: a copy may complete before it is expected
//     bits 20-39 arrivals that a phase takes
//     bits 0-19  arrivals that the open phase still waits for
#include "compiler/Conversion/ToROCDL.h"

using namespace mlir;

namespace interlock::rocdl {
namespace {

constexpr int64_t phaseBit = 63, bytesBit = 40, countBit = 20, countMask = (1 << 20) - 1;
constexpr int64_t bytesMask = (int64_t(1) << (phaseBit - bytesBit)) - 1;
constexpr uint64_t wordBytes = 8;

//===----------------------------------------------------------------------===//
// Control flow: blocks of a function that has no other form of it left
//===----------------------------------------------------------------------===//

/// The block that what follows goes to, split off where the builder stands.
Block *splitHere(Builder &b) {
  Block *rest = b.rewriter.splitBlock(b.getInsertionBlock(), b.getInsertionPoint());
  return rest;
}

/// word = next(word), atomically; returns nothing. Monotonic: what is to be ordered stands in fences around it.
void update(Builder &b, Value word, function_ref<Value(Value)> next) {
  Type i64 = b.getI64Type();
  Block *before = b.getInsertionBlock(), *after = splitHere(b);
  Block *loop = b.rewriter.createBlock(after, {i64}, {b.getLoc()});
  b.setInsertionPointToEnd(before);
  StringRef scope = syncScope(sync::Scope::cta);
  Value first =
      LLVM::LoadOp::create(b, i64, word, wordBytes, /*isVolatile=*/false, /*isNonTemporal=*/false,
                           /*isInvariant=*/false, /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
  LLVM::BrOp::create(b, first, loop);
  b.setInsertionPointToEnd(loop);
  Value old = loop->getArgument(0);
  Value tried = LLVM::AtomicCmpXchgOp::create(b, word, old, next(old), LLVM::AtomicOrdering::monotonic,
                                              LLVM::AtomicOrdering::monotonic, scope);
  Value seen = LLVM::ExtractValueOp::create(b, tried, 0), done = LLVM::ExtractValueOp::create(b, tried, 1);
  LLVM::CondBrOp::create(b, done, after, ValueRange{}, loop, ValueRange{seen});
  b.setInsertionPointToStart(after);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

Value bits(Builder &b, int64_t value) { return b.constant(value, 64); }

/// A CTA is as far as a barrier reaches, and a chip without access to other CTAs' shared memory has no other.
constexpr sync::Scope barrierScope = sync::Scope::cta;

/// The state after `arrivals` arrivals (0 or 1) and `bytes` more bytes that are expected. A phase is complete when it
/// waits for neither (PTX ISA, "Phase completion of the mbarrier object"); the next one is then open.
Value advance(Builder &b, Value old, int64_t arrivals, Value bytes) {
  Value pending = LLVM::SubOp::create(b, LLVM::AndOp::create(b, old, bits(b, countMask)), bits(b, arrivals));
  Value count = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, old, bits(b, countBit)), bits(b, countMask));
  Value expected = LLVM::AShrOp::create(b, LLVM::ShlOp::create(b, old, bits(b, 1)), bits(b, bytesBit + 1));
  expected = LLVM::AddOp::create(b, expected, bytes);
  Value phase = LLVM::AndOp::create(b, old, bits(b, int64_t(1) << phaseBit));
  Value counts = LLVM::ShlOp::create(b, count, bits(b, countBit));

  Value kept = LLVM::OrOp::create(b, phase, LLVM::OrOp::create(b, counts, pending));
  Value wrapped = LLVM::AndOp::create(b, expected, bits(b, bytesMask));
  kept = LLVM::OrOp::create(b, kept, LLVM::ShlOp::create(b, wrapped, bits(b, bytesBit)));
  Value opened = LLVM::OrOp::create(b, LLVM::XOrOp::create(b, phase, bits(b, int64_t(1) << phaseBit)),
                                    LLVM::OrOp::create(b, counts, count));
  Value left = LLVM::OrOp::create(b, pending, expected);
  Value complete = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, left, bits(b, 0));
  return LLVM::SelectOp::create(b, complete, opened, kept);
}

Replacement lowerBarrierAlloc(sync::BarrierAllocOp op, sync::BarrierAllocOp::Adaptor, Builder &b,
                              const Context &context) {
  return {makeStorage(op, b.getI64Type(), wordBytes, b, context)};
}

Replacement lowerBarrierInit(sync::BarrierInitOp op, sync::BarrierInitOp::Adaptor operands, Builder &b,
                             const Context &) {
  int64_t count = op.getCount();
  LLVM::StoreOp::create(b, bits(b, count << countBit | count), operands.getBarrier(), wordBytes);
  return {};
}

void arrive(Builder &b, sync::Sem sem, bool sharedOnly, Value barrier, int64_t arrivals, Value bytes,
            const Context &context) {
  if (sem == sync::Sem::release)
    releaseFence(b, barrierScope, context, sharedOnly);
  update(b, barrier, [&](Value old) { return advance(b, old, arrivals, bytes); });
}

Replacement lowerBarrierArrive(sync::BarrierArriveOp op, sync::BarrierArriveOp::Adaptor operands, Builder &b,
                               const Context &context) {
  arrive(b, op.getSem(), op->hasAttr(sync::sharedOnlyAttrName), operands.getBarrier(), 1, bits(b, 0), context);
  return {};
}

Replacement lowerBarrierExpectTx(sync::BarrierExpectTxOp op, sync::BarrierExpectTxOp::Adaptor operands, Builder &b,
                                 const Context &context) {
  arrive(b, op.getSem(), /*sharedOnly=*/false, operands.getBarrier(), 1, bits(b, op.getBytes()), context);
  return {};
}

/// A relaxed look. Where the phase is over, one fence acquires, if asked to; else the wave sleeps for a moment, which
/// leaves the others the CU.
Replacement lowerBarrierTryWait(sync::BarrierTryWaitOp op, sync::BarrierTryWaitOp::Adaptor operands, Builder &b,
                                const Context &) {
  Value state = LLVM::LoadOp::create(b, b.getI64Type(), operands.getBarrier(), wordBytes, /*isVolatile=*/false,
                                     /*isNonTemporal=*/false, /*isInvariant=*/false, /*isInvariantGroup=*/false,
                                     LLVM::AtomicOrdering::monotonic, syncScope(barrierScope));
  Value open = LLVM::TruncOp::create(b, b.getI32Type(), LLVM::LShrOp::create(b, state, bits(b, phaseBit)));
  Value done = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, open, operands.getParity());
  Value waits = LLVM::XOrOp::create(b, done, b.constant(1, 1));
  where(b, waits, [&] { ROCDL::SSleepOp::create(b, b.getI32IntegerAttr(1)); });
  if (op.getSem() == sync::Sem::acquire)
    where(b, done, [&] { acquireFence(b, barrierScope); });
  return {done};
}

//===----------------------------------------------------------------------===//
// Copies: the thread that starts one makes it, packet by packet
//===----------------------------------------------------------------------===//

constexpr int64_t packetBytes = 16;

void copy(Builder &b, Value to, Value from, Value size) {
  Type i32 = b.getI32Type(), i8 = b.getI8Type();
  Block *before = b.getInsertionBlock(), *after = splitHere(b);
  Block *head = b.rewriter.createBlock(after, {i32}, {b.getLoc()});
  Block *body = b.rewriter.createBlock(after);
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, ValueRange{b.constant(0)}, head);
  b.setInsertionPointToEnd(head);
  Value at = head->getArgument(0);
  Value more = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, at, size);
  LLVM::CondBrOp::create(b, more, body, after);
  b.setInsertionPointToEnd(body);
  Value source = LLVM::GEPOp::create(b, from.getType(), i8, from, ArrayRef<LLVM::GEPArg>{at});
  Value destination = LLVM::GEPOp::create(b, to.getType(), i8, to, ArrayRef<LLVM::GEPArg>{at});
  Value packet = LLVM::LoadOp::create(b, VectorType::get({4}, i32), source, packetBytes);
  LLVM::StoreOp::create(b, packet, destination, packetBytes);
  LLVM::BrOp::create(b, ValueRange{LLVM::AddOp::create(b, at, b.constant(packetBytes))}, head);
  b.setInsertionPointToStart(after);
}

Replacement lowerBulkCopy(sync::BulkCopyOp op, sync::BulkCopyOp::Adaptor operands, Builder &b, const Context &context) {
  copy(b, operands.getDestination(), operands.getSource(), operands.getBytes());
  if (!op.getBarrier())
    return {};
  // The completion releases (PTX ISA, "Async operations").
  Value bytes = LLVM::ZExtOp::create(b, b.getI64Type(), operands.getBytes());
  arrive(b, sync::Sem::release, /*sharedOnly=*/true, operands.getBarrier(), 0,
         LLVM::SubOp::create(b, bits(b, 0), bytes), context);
  return {};
}

/// What a thread copied is in its program order already.
Replacement lowerBulkCommit(sync::BulkCommitOp, sync::BulkCommitOp::Adaptor, Builder &, const Context &) { return {}; }
Replacement lowerBulkWait(sync::BulkWaitOp, sync::BulkWaitOp::Adaptor, Builder &, const Context &) { return {}; }

//===----------------------------------------------------------------------===//
// Barriers of threads
//===----------------------------------------------------------------------===//

Replacement lowerCtaBarrier(sync::CtaBarrierOp, sync::CtaBarrierOp::Adaptor, Builder &b, const Context &context) {
  ctaBarrier(b, context);
  return {};
}

/// A wave is in step by itself and its accesses stay in order: this keeps LLVM from moving them.
Replacement lowerWarpBarrier(sync::WarpBarrierOp, sync::WarpBarrierOp::Adaptor, Builder &b, const Context &) {
  constexpr StringLiteral scope = "wavefront";
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::release, scope);
  intrinsic(b, "llvm.amdgcn.wave.barrier");
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acquire, scope);
  return {};
}

/// The barriers of a workgroup and of a cluster, as s_barrier_signal names them.
constexpr int32_t workgroupBarrier = -1, clusterBarrier = -3;

/// The wave that signals the workgroup's barrier first signals the cluster's, once all waves of its CTA are there.
Replacement lowerClusterArrive(sync::ClusterArriveOp op, sync::ClusterArriveOp::Adaptor, Builder &b,
                               const Context &context) {
  if (op.getSem() == sync::Sem::release)
    releaseFence(b, sync::Scope::cluster, context);
  Value isFirst =
      ROCDL::BarrierSignalIsfirstOp::create(b, b.getI1Type(), b.getI32IntegerAttr(workgroupBarrier)).getResult();
  ROCDL::BarrierWaitOp::create(b, b.getI16IntegerAttr(workgroupBarrier));
  where(b, isFirst, [&] { ROCDL::BarrierSignalOp::create(b, b.getI32IntegerAttr(clusterBarrier)); });
  return {};
}

Replacement lowerClusterWait(sync::ClusterWaitOp, sync::ClusterWaitOp::Adaptor, Builder &b, const Context &) {
  ROCDL::BarrierWaitOp::create(b, b.getI16IntegerAttr(clusterBarrier));
  acquireFence(b, sync::Scope::cluster);
  return {};
}

} // namespace

void where(Builder &b, Value condition, function_ref<void()> body) {
  Block *before = b.getInsertionBlock(), *after = splitHere(b);
  Block *inside = b.rewriter.createBlock(after);
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, condition, inside, after);
  b.setInsertionPointToEnd(inside);
  body();
  LLVM::BrOp::create(b, ValueRange{}, after);
  b.setInsertionPointToStart(after);
}

void addSyncBarrierPatterns(RewritePatternSet &patterns, const Context &context) {
  add(patterns, context, lowerBarrierAlloc, lowerBarrierInit, lowerBarrierArrive, lowerBarrierExpectTx,
      lowerBarrierTryWait, lowerBulkCopy, lowerBulkCommit, lowerBulkWait, lowerCtaBarrier, lowerWarpBarrier,
      lowerClusterArrive, lowerClusterWait);
}

} // namespace interlock::rocdl
