// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Transforms/ScopeProgram.h"

#include "analysis/ScopeModel/Actors.h"
#include "compiler/Transforms/ScopeEvents.h"
#include "dialects/EP/EP.h"

#include "interlock/spec.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;

namespace interlock {
namespace {

using scope::Actor;
using scope::Event;
using scope::EventKind;

/// What a condition tells of the thread that finds it true, or false.
class Roles {
public:
  explicit Roles(uint32_t warpWidth) : warpWidth(warpWidth) {}

  Actor refine(Actor actor, Value condition, bool value) const {
    APInt constant;
    if (auto both = condition.getDefiningOp<arith::AndIOp>(); both && value)
      return refine(refine(actor, both.getLhs(), true), both.getRhs(), true);
    if (auto either = condition.getDefiningOp<arith::OrIOp>(); either && !value)
      return refine(refine(actor, either.getLhs(), false), either.getRhs(), false);
    if (auto inverse = condition.getDefiningOp<arith::XOrIOp>();
        inverse && matchPattern(inverse.getRhs(), m_ConstantInt(&constant)) && constant.isOne())
      return refine(actor, inverse.getLhs(), !value);
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (compare && matchPattern(compare.getRhs(), m_ConstantInt(&constant))) {
      auto predicate = compare.getPredicate();
      bool equality = predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne;
      bool equal = (predicate == arith::CmpIPredicate::eq) == value;
      if (equality && identity(actor, compare.getLhs().getDefiningOp(), constant.getZExtValue(), equal))
        return actor;
    }
    // A condition that is not understood leaves any of the threads: what they do may be done by others than one thinks.
    return actor;
  }

private:
  bool identity(Actor &actor, Operation *of, uint64_t which, bool equal) const {
    if (isa_and_nonnull<ep::ClusterRankOp, ep::CtaIdOp>(of)) {
      narrowCta(actor, isa<ep::CtaIdOp>(of) ? scope::CtaNumber::ctaid : scope::CtaNumber::clusterCtarank,
                uint32_t(which), equal);
      return true;
    }
    if (!equal)
      return false;
    std::optional<Actor::Threads> threads;
    if (isa_and_nonnull<ep::ThreadIdOp>(of))
      threads = Actor::Threads::one;
    else if (isa_and_nonnull<ep::WarpIdOp>(of))
      threads = Actor::Threads::warp;
    else if (isa_and_nonnull<ep::LaneIdOp>(of))
      threads = Actor::Threads::lanes;
    if (threads)
      narrow(actor, *threads, uint32_t(which), warpWidth);
    return threads.has_value();
  }
  uint32_t warpWidth;
};

class Builder {
public:
  explicit Builder(func::FuncOp function) : function(function), addresses(result.program, blockThreads()) {}

  ScopeProgram run() {
    scope::Program &program = result.program;
    program.function = function.getName().str();
    program.kernel = function->hasAttr(ep::kernelAttrName);
    auto cluster = function->getAttrOfType<IntegerAttr>(ep::clusterAttrName);
    program.clusterSize = cluster ? uint32_t(cluster.getInt()) : 0;
    program.threads = uint32_t(blockThreads());
    program.warpWidth = warpWidth();
    roles = Roles(program.warpWidth);
    program.complete = true;
    collectWindowUses();
    open(Actor());
    other(before);
    walk(function.getBody());
    other(after);
    Event exit;
    exit.kind = EventKind::exit;
    emit(exit, function);
    program.place = [](uint32_t origin) { return scope::Place{origin, 0, {}, {}, 0}; };
    return std::move(result);
  }

private:
  int64_t blockThreads() {
    auto threads = function->getAttrOfType<IntegerAttr>(ep::blockThreadsAttrName);
    return threads ? threads.getInt() : 1024;
  }

  uint32_t warpWidth() {
    auto module = function->getParentOfType<ModuleOp>();
    auto chip = module ? module->getAttrOfType<StringAttr>(ep::targetAttrName) : StringAttr();
    Result<TargetInfo> target = findTarget(chip ? std::string_view(chip.getValue()) : std::string_view());
    return target ? target->warpWidth : 32;
  }

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  void open(const Actor &actor) {
    scope::Block block;
    block.first = uint32_t(result.program.events.size());
    block.actor = actor;
    result.program.blocks.push_back(block);
    current = uint32_t(result.program.blocks.size() - 1);
  }
  void link(uint32_t from, uint32_t to) { result.program.blocks[from].successors.push_back(to); }
  /// A block behind the current one.
  void follow(const Actor &actor) {
    uint32_t from = current;
    open(actor);
    link(from, current);
  }
  const Actor &actor() const { return result.program.blocks[current].actor; }

  uint32_t originOf(Operation *op) {
    auto [entry, fresh] = origins.try_emplace(op, uint32_t(result.operations.size()));
    if (fresh)
      result.operations.push_back(op);
    return entry->second;
  }
  void emit(Event event, Operation *op) {
    event.origin = originOf(op);
    result.program.events.push_back(event);
    ++result.program.blocks[current].count;
  }

  void walk(Region &region) {
    for (Operation &op : region.front()) {
      if (auto branch = dyn_cast<scf::IfOp>(op))
        walkIf(branch);
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        walkFor(loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        walkWhile(loop);
      else if (isa<func::CallOp>(op))
        emit(call(), &op);
      else
        tell(&op);
    }
  }

  static Event call() {
    Event event;
    event.kind = EventKind::call;
    return event;
  }

  void tell(Operation *op) {
    if (isa<sync::SignalSetOp, sync::SignalAddOp>(op))
      vouch(op);
    for (const ScopeEvent &each : scopeEventsOf(op, addresses)) {
      Actor outside = actor();
      if (each.oneThread) {
        Actor one = outside;
        one.threads = Actor::Threads::one;
        one.which = 1;
        follow(one);
      }
      emit(each.event, op);
      if (each.oneThread)
        follow(outside);
    }
  }

  void walkIf(scf::IfOp op) {
    Actor outside = actor();
    uint32_t from = current;
    follow(roles.refine(outside, op.getCondition(), true));
    walk(op.getThenRegion());
    uint32_t thenEnd = current, elseEnd = from;
    if (!op.getElseRegion().empty()) {
      open(roles.refine(outside, op.getCondition(), false));
      link(from, current);
      walk(op.getElseRegion());
      elseEnd = current;
    }
    open(outside);
    link(thenEnd, current);
    link(elseEnd, current);
  }

  void walkFor(scf::ForOp op) {
    Actor outside = actor();
    uint32_t from = current;
    APInt lower, upper;
    bool runs = matchPattern(op.getLowerBound(), m_ConstantInt(&lower)) &&
                matchPattern(op.getUpperBound(), m_ConstantInt(&upper)) && lower.slt(upper);
    follow(outside);
    uint32_t body = current;
    walk(op.getRegion());
    link(current, body);
    uint32_t end = current;
    open(outside);
    link(end, current);
    if (!runs)
      link(from, current);
  }

  void walkWhile(scf::WhileOp op) {
    Actor outside = actor();
    follow(outside);
    uint32_t before = current;
    walk(op.getBefore());
    uint32_t decides = current;
    follow(outside);
    walk(op.getAfter());
    link(current, before);
    open(outside);
    link(decides, current);
  }

  //===--------------------------------------------------------------------===//
  // What other kernels of the stream do to the window
  //===--------------------------------------------------------------------===//

  struct WindowUse {
    Operation *op;
    scope::Access access;
    bool writes;
  };

  /// Plain accesses to the window, once for each region and direction. Signals are the protocol itself and not its
  /// data.
  void collectWindowUses() {
    std::set<std::pair<uint32_t, bool>> seen;
    std::set<uint32_t> signals;
    std::vector<WindowUse> uses;
    function.walk([&](Operation *op) {
      for (const ScopeEvent &each : scopeEventsOf(op, addresses)) {
        const Event &e = each.event;
        for (bool writes : {false, true}) {
          const scope::Access &access = writes ? e.dst : e.src;
          if (!access.known() || result.program.objects[access.object].space != scope::Space::global)
            continue;
          if (e.order != scope::Order::weak)
            signals.insert(access.object);
          else if (seen.insert({access.object, writes}).second)
            uses.push_back({op, access, writes});
        }
      }
    });
    for (const WindowUse &use : uses)
      if (!signals.count(use.access.object) && addresses.isShared(use.access.object))
        windowUses.push_back(use);
  }

  enum When { before, after };
  /// Before: what this kernel reads was written, what it writes was read. After: what it writes will be read.
  void other(When when) {
    Actor outside = actor();
    for (const WindowUse &use : windowUses) {
      if (when == after && !use.writes)
        continue;
      Event event;
      event.kind = use.writes ? EventKind::load : EventKind::store;
      scope::Access &access = use.writes ? event.src : event.dst;
      access = use.access;
      access.perThread = access.perCta = access.perCluster = false;
      access.formula = 0; // any place of the region, and not one with this kernel's own accesses
      event.elsewhere = true;
      emit(event, use.op);
    }
    follow(outside);
  }

  /// A signal to other ranks announces what all CTAs of this one have written for them.
  void vouch(Operation *signal) {
    for (const WindowUse &use : windowUses) {
      if (!use.writes)
        continue;
      Event event;
      event.kind = EventKind::load;
      event.vouches = true;
      event.src = use.access;
      event.src.perThread = event.src.perCta = event.src.perCluster = false;
      emit(event, signal);
    }
  }

  func::FuncOp function;
  ScopeProgram result;
  ScopeAddresses addresses;
  Roles roles{result.program.warpWidth};
  llvm::DenseMap<Operation *, uint32_t> origins;
  std::vector<WindowUse> windowUses;
  uint32_t current = 0;
};

} // namespace

ScopeProgram scopeProgramOf(func::FuncOp function) { return Builder(function).run(); }

} // namespace interlock
