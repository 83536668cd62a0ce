// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Hand-offs in both directions, then everything that the scope model can judge.
#include "compiler/Transforms/Handoffs.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/ScopeProgram.h"

using namespace mlir;

namespace interlock {

#define GEN_PASS_DEF_VERIFYSCOPES
#include "compiler/Transforms/Passes.h.inc"

namespace {

/// One direction of a slot: what the releasing side publishes must be seen by the acquiring side.
struct Direction {
  const char *what;
  HandoffRole release;
  std::initializer_list<HandoffRole> acquires;
};
const Direction directions[] = {
    {"full", HandoffRole::publish, {HandoffRole::consumerWait}},
    {"empty", HandoffRole::consumerRelease, {HandoffRole::producerAcquire, HandoffRole::producerTail}},
};

struct VerifyScopesPass : impl::VerifyScopesBase<VerifyScopesPass> {
  static const HandoffUse *find(Handoff &handoff, HandoffRole role) {
    for (const HandoffUse &use : handoff.uses)
      if (use.role == role)
        return &use;
    return nullptr;
  }

  /// A side of a pair must have a scope that includes the actor on the other side.
  bool judgeSide(Handoff &handoff, const Direction &direction, const HandoffUse &use, const char *order,
                 const HandoffUse *other, const char *otherDoes) {
    auto scope = use.op->getAttrOfType<sync::ScopeAttr>(scopeAttrName);
    if (!scope) {
      use.op->emitError() << "expected a scope on this side of the " << direction.what
                          << " direction, got none: run sync-infer-scopes first";
      return false;
    }
    if (scope.getValue() >= handoff.distance)
      return true;
    InFlightDiagnostic error = use.op->emitError()
                               << "expected the " << order << " of the " << direction.what
                               << " direction to have at least scope " << sync::stringifyScope(handoff.distance)
                               << ", got " << sync::stringifyScope(scope.getValue());
    error.attachNote(handoff.op.getLoc()) << "producer and consumers are CTAs of a cluster of " << handoff.cluster;
    if (other)
      error.attachNote(other->op->getLoc()) << otherDoes << " here";
    return false;
  }

  bool judge(Handoff &handoff, const Direction &direction) {
    bool good = true;
    const HandoffUse *release = find(handoff, direction.release), *acquire = nullptr;
    for (HandoffRole role : direction.acquires)
      if (!acquire)
        acquire = find(handoff, role);
    for (const HandoffUse &use : handoff.uses) {
      if (use.role == direction.release)
        good &= judgeSide(handoff, direction, use, "release", acquire, "acquired");
      else if (llvm::is_contained(direction.acquires, use.role))
        good &= judgeSide(handoff, direction, use, "acquire", release, "released");
    }
    return good;
  }

  /// A slot that is filled must be waited for, freed, waited for again, and drained before its owner exits.
  bool judgeComplete(Handoff &handoff) {
    struct Need {
      HandoffRole has, needs;
      const char *sentence;
    };
    static const Need needs[] = {
        {HandoffRole::publish, HandoffRole::producerAcquire,
         "expected a producer_acquire before this publish, got none: the slot may still be read"},
        {HandoffRole::consumerWait, HandoffRole::consumerRelease,
         "expected a consumer_release after this wait, got none: the producer would wait for ever"},
        {HandoffRole::publish, HandoffRole::producerTail,
         "expected a producer_tail after this publish, got none: the leader may exit while its peers still arrive on "
         "its barrier"},
        {HandoffRole::consumerWait, HandoffRole::publish, "expected a publish for this wait, got none"},
    };
    bool good = true;
    for (const Need &need : needs)
      if (const HandoffUse *use = find(handoff, need.has); use && !find(handoff, need.needs)) {
        InFlightDiagnostic error = use->op->emitError() << need.sentence;
        error.attachNote(handoff.op.getLoc()) << "see the hand-off here";
        good = false;
      }
    return good;
  }

  /// The order of everything else: what the scope model finds, at the operations that it speaks of.
  bool judgeProgram() {
    ScopeProgram told = scopeProgramOf(getOperation());
    auto operation = [&](const scope::Place &place) { return told.operations[place.line]; };
    bool good = true;
    for (const scope::Finding &finding : scope::judge(told.program)) {
      InFlightDiagnostic diagnostic = report(operation(finding.place), finding.severity);
      diagnostic << finding.message << " [" << finding.rule << "]; " << finding.fix;
      for (const scope::RelatedPlace &related : finding.related)
        diagnostic.attachNote(operation(related.place)->getLoc()) << related.says;
      good &= finding.severity != scope::Severity::error;
    }
    return good;
  }
  static InFlightDiagnostic report(Operation *op, scope::Severity severity) {
    switch (severity) {
    case scope::Severity::error:
      return op->emitError();
    case scope::Severity::warning:
      return op->emitWarning();
    case scope::Severity::note:
      return op->emitRemark();
    }
    return op->emitError();
  }

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    bool good = true;
    for (Handoff handoff : collectHandoffs(getOperation())) {
      good &= judgeComplete(handoff);
      for (const Direction &direction : directions)
        good &= judge(handoff, direction);
    }
    // A hand-off that is wrong in itself would be told again in the words of what it is made of.
    good = good && judgeProgram();
    if (!good)
      signalPassFailure();
  }
};

} // namespace
} // namespace interlock
