// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Order and scope on AMD chips (LLVM, "User Guide for AMDGPU Backend", "Memory Model"). Every release and every barrier
// of the conversion comes through here, and so does the one place where LLVM 22's back end needs help.
#include "compiler/Conversion/ToROCDL.h"

using namespace mlir;

namespace interlock::rocdl {
namespace {

/// gfx90a, gfx942 and gfx950, whose stores are counted by vmcnt and written back by buffer_wbl2.
bool countsStoresByVmcnt(const Context &context) { return StringRef(context.target.name).starts_with("gfx9"); }

/// s_waitcnt vmcnt(0): vmcnt in bits 3:0 and 15:14 is 0, expcnt and lgkmcnt are at their maxima.
constexpr int32_t vmcntZero = 0x0f70;

void waitForStores(Builder &b) { ROCDL::SWaitcntOp::create(b, b.getI32IntegerAttr(vmcntZero)); }

void fence(Builder &b, LLVM::AtomicOrdering ordering, StringRef scope) { LLVM::FenceOp::create(b, ordering, scope); }

} // namespace

StringRef syncScope(sync::Scope scope) {
  switch (scope) {
  case sync::Scope::cta:
    return "workgroup";
  case sync::Scope::cluster:
    return "cluster";
  case sync::Scope::gpu:
    return "agent";
  case sync::Scope::sys:
    return "";
  }
  return "";
}

void releaseFence(Builder &b, sync::Scope scope, const Context &context, bool sharedOnly) {
  fence(b, LLVM::AtomicOrdering::release, syncScope(scope));
  if (!countsStoresByVmcnt(context) || sharedOnly)
    return;
  // Two things that LLVM 22.1 leaves open on these chips are mended by one wait.
  //  - Behind buffer_wbl2 it drops the wait where nothing else is outstanding, so that what publishes can overtake the
  //    write-back (llvm-project PR 178316, which mends it after 22.1).
  //  - A release at workgroup scope leaves a wave's stores outstanding, since the waves of a workgroup share their
  //  cache;
  //    but the wave that then publishes for all waits only for its own. (LLVM calls that shape a break of transitivity:
  //    llvm-project issue 160501. PR 161638 drains for gfx10 and later; the gfx9 family is as it was.)
  waitForStores(b);
}

void acquireFence(Builder &b, sync::Scope scope) { fence(b, LLVM::AtomicOrdering::acquire, syncScope(scope)); }

Value ordered(Builder &b, sync::Sem sem, sync::Scope scope, const Context &context, function_ref<Value()> access) {
  if (sem == sync::Sem::release || sem == sync::Sem::acq_rel)
    releaseFence(b, scope, context);
  Value result = access();
  if (sem == sync::Sem::acquire || sem == sync::Sem::acq_rel)
    acquireFence(b, scope);
  return result;
}

void ctaBarrier(Builder &b, const Context &context) {
  releaseFence(b, sync::Scope::cta, context);
  ROCDL::SBarrierOp::create(b);
  acquireFence(b, sync::Scope::cta);
}

} // namespace interlock::rocdl
