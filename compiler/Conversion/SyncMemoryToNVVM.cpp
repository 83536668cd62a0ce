// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Fences, signals, atomics and the clock. LLVM keeps the order and scope of loads, stores and fences; it does not keep
// those of atomicrmw, so atomics are inline PTX.
#include "compiler/Conversion/InlinePTX.h"
#include "compiler/Conversion/ToNVVM.h"

using namespace mlir;

namespace interlock::nvvm {
namespace {

/// How LLVM names a scope for the NVPTX back end; none is the whole system.
StringRef syncScope(sync::Scope scope) {
  switch (scope) {
  case sync::Scope::cta:
    return "block";
  case sync::Scope::cluster:
    return "cluster";
  case sync::Scope::gpu:
    return "device";
  case sync::Scope::sys:
    return "";
  }
  return "";
}

bool oneSided(sync::Sem sem) { return sem == sync::Sem::acquire || sem == sync::Sem::release; }

Replacement lowerFence(sync::FenceOp op, sync::FenceOp::Adaptor, Builder &b, const Context &context) {
  sync::Sem sem = op.getSem();
  if (op.getRestrict() && context.target.restrictedFence) {
    auto order = sem == sync::Sem::acquire ? NVVM::MemOrderKind::ACQUIRE : NVVM::MemOrderKind::RELEASE;
    NVVM::FenceSyncRestrictOp::create(b, NVVM::MemOrderKindAttr::get(b.getContext(), order));
    return {};
  }
  // PTX ISA, "membar/fence": fence.acquire and fence.release need sm_90.
  constexpr uint32_t oneSidedCapability = 90;
  if (oneSided(sem) && context.target.computeCapability < oneSidedCapability)
    sem = sync::Sem::acq_rel;
  LLVM::FenceOp::create(b, ordering(sem), syncScope(chipScope(op, op.getScope(), context)));
  return {};
}

Replacement lowerProxyFence(sync::ProxyFenceOp op, sync::ProxyFenceOp::Adaptor, Builder &b, const Context &) {
  NVVM::ProxyKind kind = NVVM::ProxyKind::async;
  NVVM::SharedSpaceAttr space;
  if (op.getSpace() == sync::Space::global)
    kind = NVVM::ProxyKind::async_global;
  if (op.getSpace() == sync::Space::shared) {
    kind = NVVM::ProxyKind::async_shared;
    space = NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta);
  }
  NVVM::FenceProxyOp::create(b, NVVM::ProxyKindAttr::get(b.getContext(), kind), space);
  return {};
}

Replacement lowerInitFence(sync::InitFenceOp, sync::InitFenceOp::Adaptor, Builder &b, const Context &) {
  NVVM::FenceMbarrierInitOp::create(b);
  return {};
}

Replacement lowerSignalSet(sync::SignalSetOp op, sync::SignalSetOp::Adaptor operands, Builder &b,
                           const Context &context) {
  LLVM::StoreOp::create(b, operands.getValue(), operands.getPointer(), bytesOf(op.getValue().getType()),
                        /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                        ordering(op.getSem()), syncScope(chipScope(op, op.getScope(), context)));
  return {};
}

Replacement lowerSignalLoad(sync::SignalLoadOp op, sync::SignalLoadOp::Adaptor operands, Builder &b,
                            const Context &context) {
  Type type = op.getValue().getType();
  return {LLVM::LoadOp::create(b, type, operands.getPointer(), bytesOf(type), /*isVolatile=*/false,
                               /*isNonTemporal=*/false, /*isInvariant=*/false, /*isInvariantGroup=*/false,
                               ordering(op.getSem()), syncScope(chipScope(op, op.getScope(), context)))};
}

/// `release.sys` and so on, as PTX spells it.
std::string qualifiers(Operation *op, sync::Sem sem, sync::Scope scope, const Context &context) {
  return (stringifySem(sem) + "." + stringifyScope(chipScope(op, scope, context))).str();
}

Replacement lowerSignalAdd(sync::SignalAddOp op, sync::SignalAddOp::Adaptor operands, Builder &b,
                           const Context &context) {
  const char *type = op.getValue().getType().isInteger(64) ? "u64" : "u32";
  inlinePTX(b, "red." + qualifiers(op, op.getSem(), op.getScope(), context) + ".global.add." + type + " [$0], $1;",
            {operands.getPointer(), operands.getValue()});
  return {};
}

Replacement lowerAtomic(sync::AtomicOp op, sync::AtomicOp::Adaptor operands, Builder &b, const Context &context) {
  Type type = op.getValue().getType();
  // add and max compute with unsigned values, or and exch with plain bits (PTX ISA, "atom").
  bool computes = op.getKind() == sync::AtomicKind::add || op.getKind() == sync::AtomicKind::max;
  bool shared = cast<sync::PtrType>(op.getPointer().getType()).getSpace() == sync::Space::shared;
  std::string text = "atom." + qualifiers(op, op.getSem(), op.getScope(), context) +
                     (shared ? ".shared." : ".global.") + stringifyAtomicKind(op.getKind()).str() +
                     (computes ? ".u" : ".b") + std::to_string(type.getIntOrFloatBitWidth()) + " $0, [$1], $2;";
  return {inlinePTX(b, text, {operands.getPointer(), operands.getValue()}, type)};
}

Replacement lowerClock(sync::ClockOp, sync::ClockOp::Adaptor, Builder &b, const Context &) {
  return {NVVM::GlobalTimerOp::create(b, b.getI64Type())};
}

Replacement lowerDependencyWait(sync::DependencyWaitOp, sync::DependencyWaitOp::Adaptor, Builder &b, const Context &) {
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::wait);
  return {};
}
Replacement lowerLaunchDependents(sync::LaunchDependentsOp, sync::LaunchDependentsOp::Adaptor, Builder &b,
                                  const Context &) {
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::launch_dependents);
  return {};
}

} // namespace

void addSyncMemoryPatterns(RewritePatternSet &patterns, const Context &context) {
  add(patterns, context, lowerFence, lowerProxyFence, lowerInitFence, lowerSignalSet, lowerSignalLoad, lowerSignalAdd,
      lowerAtomic, lowerClock, lowerDependencyWait, lowerLaunchDependents);
}

} // namespace interlock::nvvm
