// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// LLVM ends the process on what it cannot select, and takes some instructions that the chip does not have. So
// everything is judged here, before it sees anything.
#include "compiler/Conversion/Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace interlock::lowering {
namespace {

/// What an operation needs of the chip, or the pass that should have lowered it.
struct Need {
  enum Kind { nothing, clusters, remoteShared, asyncBarrier, launchControl, dependentLaunch, lowered } kind = nothing;
  const char *pass = nullptr;
};

Need needOf(Operation *op) {
  if (ep::isStage(op))
    return {Need::lowered, "ep-expand-stages"};
  if (isa<ep::ForEachTileOp>(op))
    return {Need::lowered, "ep-lower-tiles"};
  if (isa<sync::HandoffOp, sync::ProducerAcquireOp, sync::PublishOp, sync::PublishCancelOp, sync::ConsumerWaitOp,
          sync::ConsumerReleaseOp, sync::ProducerTailOp>(op))
    return {Need::lowered, "sync-lower-handoffs"};
  if (isa<sync::BarrierWaitOp>(op))
    return {Need::lowered, "sync-lower-waits"};
  if (isa<sync::ClusterArriveOp, sync::ClusterWaitOp, sync::InitFenceOp>(op))
    return {Need::clusters};
  if (auto arrive = dyn_cast<sync::BarrierArriveOp>(op))
    return {arrive.getRank() ? Need::remoteShared : Need::nothing};
  if (isa<sync::TryCancelOp, sync::IsCanceledOp, sync::CanceledCtaOp>(op))
    return {Need::launchControl};
  if (isa<sync::StoreAsyncOp>(op))
    return {Need::remoteShared};
  if (isa<sync::BarrierExpectTxOp, sync::BulkCopyOp, sync::BulkCommitOp, sync::BulkWaitOp, sync::ProxyFenceOp>(op))
    return {Need::asyncBarrier};
  if (isa<sync::DependencyWaitOp, sync::LaunchDependentsOp>(op))
    return {Need::dependentLaunch};
  return {};
}

LogicalResult refuse(Operation *op, StringRef feature, const TargetInfo &target) {
  return op->emitError() << "expected a chip with " << feature << " for " << op->getName() << ", got "
                         << StringRef(target.name) << ", which has none";
}

LogicalResult checkNeed(Operation *op, const TargetInfo &target) {
  Need need = needOf(op);
  if (need.kind == Need::lowered)
    return op->emitError() << "expected " << op->getName() << " to have been lowered by " << need.pass << ", got one";
  if (need.kind == Need::clusters && !target.clusters)
    return refuse(op, "thread-block clusters", target);
  if (need.kind == Need::remoteShared && !target.clusters)
    return refuse(op, "thread-block clusters", target);
  if (need.kind == Need::remoteShared && !target.remoteShared)
    return refuse(op, "access to the shared memory of a cluster's other CTAs", target);
  // An AMD chip copies in program order, and completes on a barrier that is a word of shared memory.
  if (need.kind == Need::asyncBarrier && !target.asyncBarrier && !target.isAMD())
    return refuse(op, "asynchronous copies that complete on barriers", target);
  if (need.kind == Need::launchControl && !hasLaunchControl(target))
    return refuse(op, "cluster launch control", target);
  // PTX ISA, "griddepcontrol": sm_90 or later.
  if (need.kind == Need::dependentLaunch && target.computeCapability < 90)
    return refuse(op, "programmatic dependent launch", target);
  return success();
}

LogicalResult checkProxies(sync::ProxyFenceOp op) {
  auto has = [&](sync::Proxy proxy) { return op.getFirst() == proxy || op.getSecond() == proxy; };
  if (has(sync::Proxy::generic) && has(sync::Proxy::async))
    return success();
  return op.emitError() << "expected proxies generic and async, the only pair that PTX orders without an address, got "
                        << stringifyProxy(op.getFirst()) << " and " << stringifyProxy(op.getSecond());
}

LogicalResult checkVendor(ModuleOp module, const TargetInfo &target, StringRef vendor) {
  if (StringRef(target.vendor) == vendor)
    return success();
  return module.emitError() << "expected a chip of " << vendor << ", got " << StringRef(target.name);
}

LogicalResult checkKernel(func::FuncOp function, const TargetInfo &target) {
  if (!function->hasAttr(ep::blockThreadsAttrName))
    return function.emitError() << "expected a kernel to say how many threads its CTAs have by `"
                                << ep::blockThreadsAttrName << "`, got none";
  if (clusterSize(function) > 1 && !target.clusters)
    return function.emitError() << "expected a chip with thread-block clusters for a kernel with clusters of "
                                << clusterSize(function) << ", got " << StringRef(target.name)
                                << ", which has none: a cluster of 1 would do";
  if (function.getNumResults() != 0)
    return function.emitError() << "expected a kernel without results, got " << function.getNumResults();
  return success();
}

} // namespace

int64_t kernelNumber(Operation *op, StringRef attribute, int64_t otherwise) {
  while (op && !op->hasAttr(attribute))
    op = op->getParentOp();
  return op ? op->getAttrOfType<IntegerAttr>(attribute).getInt() : otherwise;
}

int64_t clusterSize(Operation *op) { return kernelNumber(op, ep::clusterAttrName, 1); }

LogicalResult checkFeatures(ModuleOp module, const TargetInfo &target, StringRef vendor) {
  if (failed(checkVendor(module, target, vendor)))
    return failure();
  bool good = true;
  module.walk([&](Operation *op) {
    good &= succeeded(checkNeed(op, target));
    if (auto fence = dyn_cast<sync::ProxyFenceOp>(op))
      good &= succeeded(checkProxies(fence));
    if (auto function = dyn_cast<func::FuncOp>(op); function && function->hasAttr(ep::kernelAttrName))
      good &= succeeded(checkKernel(function, target));
  });
  return success(good);
}

} // namespace interlock::lowering
