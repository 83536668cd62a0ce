// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Transforms/Handoffs.h"

using namespace mlir;

namespace interlock {

std::vector<Handoff> collectHandoffs(func::FuncOp function) {
  std::vector<Handoff> handoffs;
  function.walk([&](sync::HandoffOp op) {
    int64_t cluster = op.getCluster();
    Handoff handoff{op, cluster, cluster > 1 ? sync::Scope::cluster : sync::Scope::cta, {}};
    for (Operation *user : op.getResult().getUsers()) {
      if (isa<sync::ProducerAcquireOp>(user))
        handoff.uses.push_back({user, HandoffRole::producerAcquire});
      else if (isa<sync::PublishOp, sync::PublishCancelOp>(user))
        handoff.uses.push_back({user, HandoffRole::publish});
      else if (isa<sync::ConsumerWaitOp>(user))
        handoff.uses.push_back({user, HandoffRole::consumerWait});
      else if (isa<sync::ConsumerReleaseOp>(user))
        handoff.uses.push_back({user, HandoffRole::consumerRelease});
      else if (isa<sync::ProducerTailOp>(user))
        handoff.uses.push_back({user, HandoffRole::producerTail});
    }
    // A use list is in no useful order; reports follow the protocol's.
    llvm::stable_sort(handoff.uses, [](const HandoffUse &a, const HandoffUse &b) { return a.role < b.role; });
    handoffs.push_back(std::move(handoff));
  });
  return handoffs;
}

bool isFilledByCancel(const Handoff &handoff) {
  return llvm::any_of(handoff.uses, [](const HandoffUse &use) { return isa<sync::PublishCancelOp>(use.op); });
}

} // namespace interlock
