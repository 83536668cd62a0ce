// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Fences, signals, atomics and the clock. Accesses are monotonic and fences stand around them, so that a loop of reads
// costs no cache operation and every release takes the one way that OrderROCDL.cpp gives it.
#include "compiler/Conversion/ToROCDL.h"

using namespace mlir;

namespace interlock::rocdl {
namespace {

constexpr LLVM::AtomicOrdering monotonic = LLVM::AtomicOrdering::monotonic;

Replacement lowerFence(sync::FenceOp op, sync::FenceOp::Adaptor, Builder &b, const Context &context) {
  sync::Sem sem = op.getSem();
  sync::Scope scope = chipScope(op, op.getScope(), context);
  if (sem != sync::Sem::acquire)
    releaseFence(b, scope, context);
  if (sem == sync::Sem::sc)
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::seq_cst, syncScope(scope));
  else if (sem != sync::Sem::release)
    acquireFence(b, scope);
  return {};
}

/// An AMD chip has one proxy: copies are accesses like others, in program order.
Replacement lowerProxyFence(sync::ProxyFenceOp, sync::ProxyFenceOp::Adaptor, Builder &, const Context &) { return {}; }

/// A barrier is a word of shared memory, initialised by a plain store.
Replacement lowerInitFence(sync::InitFenceOp, sync::InitFenceOp::Adaptor, Builder &b, const Context &context) {
  releaseFence(b, sync::Scope::cluster, context);
  return {};
}

Replacement lowerSignalSet(sync::SignalSetOp op, sync::SignalSetOp::Adaptor operands, Builder &b,
                           const Context &context) {
  sync::Scope scope = chipScope(op, op.getScope(), context);
  ordered(b, op.getSem(), scope, context, [&] {
    LLVM::StoreOp::create(b, operands.getValue(), operands.getPointer(), bytesOf(op.getValue().getType()),
                          /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariantGroup=*/false, monotonic,
                          syncScope(scope));
    return Value();
  });
  return {};
}

Replacement lowerSignalLoad(sync::SignalLoadOp op, sync::SignalLoadOp::Adaptor operands, Builder &b,
                            const Context &context) {
  sync::Scope scope = chipScope(op, op.getScope(), context);
  Type type = op.getValue().getType();
  return {ordered(b, op.getSem(), scope, context, [&]() -> Value {
    return LLVM::LoadOp::create(b, type, operands.getPointer(), bytesOf(type), /*isVolatile=*/false,
                                /*isNonTemporal=*/false, /*isInvariant=*/false, /*isInvariantGroup=*/false, monotonic,
                                syncScope(scope));
  })};
}

Value modify(Builder &b, LLVM::AtomicBinOp kind, Value pointer, Value value, sync::Sem sem, sync::Scope scope,
             const Context &context) {
  return ordered(b, sem, scope, context, [&]() -> Value {
    return LLVM::AtomicRMWOp::create(b, kind, pointer, value, monotonic, syncScope(scope));
  });
}

Replacement lowerSignalAdd(sync::SignalAddOp op, sync::SignalAddOp::Adaptor operands, Builder &b,
                           const Context &context) {
  modify(b, LLVM::AtomicBinOp::add, operands.getPointer(), operands.getValue(), op.getSem(),
         chipScope(op, op.getScope(), context), context);
  return {};
}

LLVM::AtomicBinOp binary(sync::AtomicKind kind) {
  switch (kind) {
  case sync::AtomicKind::add:
    return LLVM::AtomicBinOp::add;
  case sync::AtomicKind::max:
    return LLVM::AtomicBinOp::umax;
  case sync::AtomicKind::or_:
    return LLVM::AtomicBinOp::_or;
  case sync::AtomicKind::exch:
    return LLVM::AtomicBinOp::xchg;
  }
  return LLVM::AtomicBinOp::xchg;
}

Replacement lowerAtomic(sync::AtomicOp op, sync::AtomicOp::Adaptor operands, Builder &b, const Context &context) {
  return {modify(b, binary(op.getKind()), operands.getPointer(), operands.getValue(), op.getSem(),
                 chipScope(op, op.getScope(), context), context)};
}

/// s_memrealtime, or from gfx11 on s_sendmsg_rtn_b64 with MSG_RTN_GET_REALTIME: a constant 100 MHz on every chip of the
/// table (LLVM, "User Guide for AMDGPU Backend", llvm.readsteadycounter).
Replacement lowerClock(sync::ClockOp, sync::ClockOp::Adaptor, Builder &b, const Context &) {
  constexpr int64_t nanosecondsPerTick = 10;
  Value ticks = intrinsic(b, "llvm.readsteadycounter", b.getI64Type());
  return {LLVM::MulOp::create(b, ticks, b.constant(nanosecondsPerTick, 64))};
}

} // namespace

void addSyncMemoryPatterns(RewritePatternSet &patterns, const Context &context) {
  add(patterns, context, lowerFence, lowerProxyFence, lowerInitFence, lowerSignalSet, lowerSignalLoad, lowerSignalAdd,
      lowerAtomic, lowerClock);
}

} // namespace interlock::rocdl
