// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The scope of a hand-off follows from its placement: within one CTA, or within a cluster.
#include "compiler/Transforms/Handoffs.h"
#include "compiler/Transforms/Passes.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_INFERSCOPES
#include "compiler/Transforms/Passes.h.inc"

namespace {

struct InferScopesPass : impl::InferScopesBase<InferScopesPass> {
  void runOnOperation() override {
    for (Handoff handoff : collectHandoffs(getOperation())) {
      bool inferred = false;
      for (const HandoffUse &use : handoff.uses) {
        if (use.op->hasAttr(scopeAttrName))
          continue;
        use.op->setAttr(scopeAttrName, sync::ScopeAttr::get(&getContext(), handoff.distance));
        inferred = true;
      }
      if (inferred)
        handoff.op.emitRemark() << "hand-off within a cluster of " << handoff.cluster << ": scope "
                                << sync::stringifyScope(handoff.distance) << " inferred";
    }
  }
};

} // namespace
} // namespace interlock
