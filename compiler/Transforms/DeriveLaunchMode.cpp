// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// For whom a kernel's waits wait, and so what a launch must grant it. Sound by doubt: who is not known to be harmless
// is taken for the whole grid.
#include "compiler/Transforms/Handoffs.h"
#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/ScopeAddresses.h"
#include "dialects/EP/EP.h"

#include "interlock/spec.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace interlock {
#define GEN_PASS_DEF_DERIVELAUNCHMODE
#include "compiler/Transforms/Passes.h.inc"

namespace {

using Place = ScopeAddresses::Place;

/// An access that can end a wait, or that waits.
struct Access {
  Operation *op;
  Place place;
};

/// A wait with the answer to its question.
struct Verdict {
  LaunchMode mode = LaunchMode::any;
  std::string because;
  Operation *setter = nullptr; ///< the access that decides
};

bool isConstant(Value value, APInt &constant) { return matchPattern(value, m_ConstantInt(&constant)); }

/// Whether all CTAs of the grid have the same value.
bool isGridUniform(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  }
  if (depth > 32 || op->getNumRegions() || !isPure(op) ||
      isa<ep::ThreadIdOp, ep::LaneIdOp, ep::WarpIdOp, ep::CtaIdOp, ep::ClusterIdOp, ep::ClusterRankOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isGridUniform(operand, depth + 1); });
}

/// Whether a count is at least this: a constant, one that a loop begins with and adds to, or such a sum. Counts do not
/// wrap around: they are of what a grid has.
class LowerBound {
public:
  bool holds(Value value, int64_t least) {
    APInt constant;
    if (isConstant(value, constant))
      return constant.getSExtValue() >= least;
    if (auto sum = value.getDefiningOp<arith::AddIOp>())
      return isConstant(sum.getRhs(), constant) && holds(sum.getLhs(), least - constant.getSExtValue());
    if (auto loop = value.getDefiningOp<scf::WhileOp>())
      return holds(loop.getConditionOp().getArgs()[cast<OpResult>(value).getResultNumber()], least);
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop = argument ? dyn_cast<scf::WhileOp>(argument.getOwner()->getParentOp()) : scf::WhileOp();
    if (!loop)
      return false;
    unsigned at = argument.getArgNumber();
    if (argument.getOwner() == loop.getAfterBody())
      return holds(loop.getConditionOp().getArgs()[at], least);
    // by induction over the rounds: so it was in the first, and is in the next one if it was in this
    auto [known, fresh] = assumed.try_emplace(value, least);
    if (!fresh)
      return least <= known->second;
    return holds(loop.getInits()[at], least) && holds(loop.getYieldOp()->getOperand(at), least);
  }

private:
  llvm::DenseMap<Value, int64_t> assumed;
};

/// Whose turn a value is: no two CTAs have the same, and whoever has a lower one was started before.
class Ordinals {
public:
  explicit Ordinals(func::FuncOp function) {
    function.walk([&](ep::StoreOp store) {
      Place place = ScopeAddresses::placeOf(store.getPointer());
      if (place.shared && place.root)
        stores[place.root].push_back(store);
    });
  }

  /// A ticket: what an atomic addition to global memory returned, or was handed to the CTA's threads through a place of
  /// shared memory that holds nothing else. What was added is how many turns the CTA takes, if it is at least one.
  Value turnsOf(Value value) const {
    if (auto widened = value.getDefiningOp<arith::ExtUIOp>())
      value = widened.getIn();
    if (auto load = value.getDefiningOp<ep::LoadOp>()) {
      Place place = ScopeAddresses::placeOf(load.getPointer());
      auto found = place.shared ? stores.find(place.root) : stores.end();
      if (found == stores.end() || found->second.size() != 1)
        return {};
      value = ep::StoreOp(found->second.front()).getValue();
    }
    auto atomic = value.getDefiningOp<sync::AtomicOp>();
    bool takes = atomic && atomic.getKind() == sync::AtomicKind::add &&
                 cast<sync::PtrType>(atomic.getPointer().getType()).getSpace() == sync::Space::global &&
                 LowerBound().holds(atomic.getValue(), 1);
    return takes ? atomic.getValue() : Value();
  }
  bool isTicket(Value value) const { return turnsOf(value) != nullptr; }
  bool isIndex(Value value) const {
    if (auto widened = value.getDefiningOp<arith::ExtUIOp>())
      value = widened.getIn();
    return value.getDefiningOp<ep::CtaIdOp>() != nullptr;
  }
  bool isOrdinal(Value value) const { return isTicket(value) || isIndex(value); }

private:
  llvm::DenseMap<const void *, SmallVector<ep::StoreOp>> stores;
};

/// A condition under which an operation runs, that holds in one CTA of the grid at most.
struct OneCta {
  scf::IfOp branch;
  bool first = false; ///< it is CTA 0
};

class LaunchAnalysis {
public:
  explicit LaunchAnalysis(func::FuncOp function) : function(function), ordinals(function) {
    auto size = function->getAttrOfType<IntegerAttr>(ep::clusterAttrName);
    cluster = size ? size.getInt() : 1;
    function.walk([&](Operation *op) { collect(op); });
  }

  template <typename Tell> void run(Tell tell) {
    function.walk([&](Operation *op) {
      if (Verdict verdict = judge(op); verdict.mode != LaunchMode::any)
        tell(op, verdict);
    });
  }

private:
  void collect(Operation *op) {
    auto add = [&](Value pointer) {
      if (auto type = dyn_cast<sync::PtrType>(pointer.getType()); type && type.getSpace() == sync::Space::global)
        writes.push_back({op, ScopeAddresses::placeOf(pointer)});
    };
    if (isa<ep::StoreOp, ep::PacketStoreOp>(op))
      add(op->getOperand(1));
    else if (isa<sync::SignalSetOp, sync::SignalAddOp, sync::BulkCopyOp>(op))
      add(op->getOperand(0));
    else if (auto atomic = dyn_cast<sync::AtomicOp>(op))
      add(atomic.getPointer());
    if (auto arrive = dyn_cast<sync::BarrierArriveOp>(op); arrive && arrive.getRank())
      remote.insert(ScopeAddresses::placeOf(arrive.getBarrier()).root);
    if (auto store = dyn_cast<sync::StoreAsyncOp>(op))
      remote.insert(ScopeAddresses::placeOf(store.getBarrier()).root);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      collectPolls(loop);
  }

  /// Reads of global memory that decide whether a loop goes on.
  void collectPolls(scf::WhileOp loop) {
    scf::ConditionOp condition = loop.getConditionOp();
    llvm::SetVector<Value> slice;
    slice.insert(condition.getCondition());
    auto addOperands = [&](Operation *op) { slice.insert(op->operand_begin(), op->operand_end()); };
    for (size_t i = 0; i < slice.size(); ++i) {
      if (auto argument = dyn_cast<BlockArgument>(slice[i])) {
        unsigned at = argument.getArgNumber();
        if (argument.getOwner() == loop.getBeforeBody())
          slice.insert(loop.getYieldOp()->getOperand(at));
        else if (argument.getOwner() == loop.getAfterBody())
          slice.insert(condition.getArgs()[at]);
        continue;
      }
      Operation *op = slice[i].getDefiningOp();
      if (!loop->isProperAncestor(op))
        continue;
      addOperands(op);
      // What an inner branch or loop hands out comes from what is in it.
      op->walk([&](Operation *inner) {
        addOperands(inner);
        slice.insert(inner->result_begin(), inner->result_end());
      });
      if (isa<ep::LoadOp, sync::SignalLoadOp, sync::AtomicOp>(op) && !isClaim(op, condition))
        polls.insert(op);
    }
  }
  /// A counter that the loop itself moves on until it is beyond a bound: nobody else is needed for that.
  static bool isClaim(Operation *op, scf::ConditionOp condition) {
    auto atomic = dyn_cast<sync::AtomicOp>(op);
    APInt step;
    auto compare = condition.getCondition().getDefiningOp<arith::CmpIOp>();
    using P = arith::CmpIPredicate;
    return atomic && atomic.getKind() == sync::AtomicKind::add && isConstant(atomic.getValue(), step) &&
           step.isStrictlyPositive() && compare &&
           llvm::is_contained({P::ult, P::ule, P::slt, P::sle}, compare.getPredicate());
  }

  Verdict judge(Operation *op) {
    if (isa<sync::ProducerAcquireOp, sync::ConsumerWaitOp, sync::ProducerTailOp>(op)) {
      auto handoff = op->getOperand(0).getDefiningOp<sync::HandoffOp>();
      return !handoff || handoff.getCluster() > 1 ? clusterWait(op) : Verdict();
    }
    if (isa<sync::BarrierWaitOp, sync::BarrierTryWaitOp>(op)) {
      const void *root = ScopeAddresses::placeOf(op->getOperand(0)).root;
      return cluster > 1 && (!root || remote.contains(root)) ? clusterWait(op) : Verdict();
    }
    if (isa<sync::ClusterWaitOp>(op))
      return cluster > 1 ? clusterWait(op) : Verdict();
    if (auto wait = dyn_cast<sync::SignalWaitOp>(op))
      return judgeMemory({op, ScopeAddresses::placeOf(wait.getPointer())}, wait.getValue());
    if (polls.contains(op)) {
      Value pointer = isa<sync::AtomicOp>(op) ? cast<sync::AtomicOp>(op).getPointer() : op->getOperand(0);
      if (cast<sync::PtrType>(pointer.getType()).getSpace() == sync::Space::global)
        return judgeMemory({op, ScopeAddresses::placeOf(pointer)}, Value());
    }
    return {};
  }

  static constexpr const char *ofCluster = "it waits for CTAs of its cluster, which always run together";
  static Verdict clusterWait(Operation *op) { return {LaunchMode::cluster, ofCluster, nullptr}; }

  /// Whether two places can be the same memory. Regions of the window are told apart by where they begin.
  static bool meet(const Place &a, const Place &b) {
    if (!a.root || !b.root)
      return true;
    if (a.root != b.root)
      return false;
    constexpr int64_t word = 8;
    bool bothSingle = a.form.terms.empty() && b.form.terms.empty();
    return !(a.window || bothSingle) || (a.form.constant & -word) == (b.form.constant & -word);
  }

  SmallVector<OneCta> onlyCtas(Operation *op) const {
    SmallVector<OneCta> found;
    for (Operation *child = op, *at = op->getParentOp(); at; child = at, at = at->getParentOp()) {
      auto branch = dyn_cast<scf::IfOp>(at);
      if (branch && child->getParentRegion() == &branch.getThenRegion())
        addConditions(branch, branch.getCondition(), found);
    }
    return found;
  }
  /// A turn of the grid that one CTA has at most: a certain one, or the end of those that it takes together.
  bool isOneTurn(Value ordinal, Value value) const {
    if (isGridUniform(value))
      return true;
    auto before = value.getDefiningOp<arith::SubIOp>();
    return before && isGridUniform(before.getLhs()) && before.getRhs() == ordinals.turnsOf(ordinal);
  }
  void addConditions(scf::IfOp branch, Value condition, SmallVector<OneCta> &found) const {
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      addConditions(branch, both.getLhs(), found);
      addConditions(branch, both.getRhs(), found);
      return;
    }
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
      return;
    for (auto [which, value] :
         {std::pair(compare.getLhs(), compare.getRhs()), std::pair(compare.getRhs(), compare.getLhs())}) {
      if (!ordinals.isOrdinal(which) || !isOneTurn(which, value))
        continue;
      APInt index;
      found.push_back({branch, ordinals.isIndex(which) && isConstant(value, index) && index.isZero()});
      return;
    }
  }

  /// Both run in one and the same CTA: within a branch that only one takes.
  bool sameCta(Operation *a, Operation *b) const {
    for (const OneCta &mine : onlyCtas(a))
      for (const OneCta &other : onlyCtas(b))
        if (mine.branch == other.branch)
          return true;
    return false;
  }
  bool inFirstCta(Operation *op) const {
    return llvm::any_of(onlyCtas(op), [](const OneCta &only) { return only.first; });
  }

  enum class Relation { own, cluster, lower, other };
  /// Of the CTAs that write `set`, as seen from a CTA that waits at `wait`: by how the two addresses differ.
  Relation relation(const Place &wait, const Place &set) const {
    LinearForm difference = wait.form;
    difference.constant -= set.form.constant;
    Value ordinal;
    int64_t stride = 0;
    bool perCluster = false;
    for (auto [value, factor] : set.form.terms) {
      if (ordinals.isOrdinal(value)) {
        ordinal = value;
        stride = factor;
      }
      perCluster |= isa_and_nonnull<ep::ClusterIdOp>(value.getDefiningOp());
      auto present = llvm::find_if(difference.terms, [&](const auto &term) { return term.first == value; });
      if (present == difference.terms.end())
        difference.terms.push_back({value, -factor});
      else
        present->second -= factor;
    }
    llvm::erase_if(difference.terms, [](const auto &term) { return term.second == 0; });
    bool same = difference.terms.empty() && difference.constant == 0;
    if (!ordinal || stride == 0)
      return same && perCluster ? Relation::cluster : Relation::other;
    if (same)
      return Relation::own;
    if (difference.terms.empty())
      return difference.constant % stride == 0 && difference.constant / stride < 0 ? Relation::lower : Relation::other;
    // Place j of a loop over all j < ordinal.
    if (difference.constant != 0 || difference.terms.size() != 2)
      return Relation::other;
    for (auto [value, factor] : difference.terms) {
      auto argument = dyn_cast<BlockArgument>(value);
      auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
      APInt from;
      if (loop && argument == loop.getInductionVar() && factor == stride && loop.getUpperBound() == ordinal &&
          isConstant(loop.getLowerBound(), from) && from.isNonNegative())
        return Relation::lower;
    }
    return Relation::other;
  }

  /// One counter that each CTA moves on by one after its turn, and a CTA waits until those before it have done so.
  bool isTurn(const Place &wait, Value awaited, const Access &set) const {
    auto add = dyn_cast<sync::SignalAddOp>(set.op);
    APInt step;
    if (!awaited || !add || !isConstant(add.getValue(), step) || !step.isOne() || !wait.form.terms.empty() ||
        !set.place.form.terms.empty())
      return false;
    LinearForm value = linearForm(awaited);
    return value.terms.size() == 1 && value.terms[0].second == 1 && value.constant <= 0 &&
           ordinals.isTicket(value.terms[0].first);
  }

  Verdict judgeMemory(const Access &wait, Value awaited) {
    Verdict worst;
    auto take = [&](LaunchMode mode, const char *because, Operation *setter) {
      if (mode > worst.mode)
        worst = {mode, because, setter};
    };
    bool any = false;
    for (const Access &set : writes) {
      if (set.op == wait.op || !meet(wait.place, set.place))
        continue;
      any = true;
      // The writers of a peer's window run in every rank's kernel, and in this one among them.
      if (set.place.peer)
        take(LaunchMode::peers, "it waits for a signal that the kernels of other ranks set", set.op);
      if (sameCta(wait.op, set.op))
        continue;
      if (inFirstCta(set.op)) {
        take(LaunchMode::forward, "it waits for CTA 0, which is started before the others", set.op);
        continue;
      }
      Relation whose = wait.place.root ? relation(wait.place, set.place) : Relation::other;
      if (whose == Relation::own || (whose == Relation::cluster && cluster == 1))
        continue;
      if (whose == Relation::cluster)
        take(LaunchMode::cluster, ofCluster, set.op);
      else if (whose == Relation::lower || isTurn(wait.place, awaited, set))
        take(LaunchMode::forward, "it waits only for CTAs that took a lower ticket or index, and so run already",
             set.op);
      else
        take(LaunchMode::cooperative, "it waits for CTAs of its own grid that may not have been started", set.op);
    }
    if (!any)
      take(LaunchMode::peers, "it waits for a signal that nothing in this kernel sets", nullptr);
    return worst;
  }

  func::FuncOp function;
  Ordinals ordinals;
  int64_t cluster = 1;
  std::vector<Access> writes;
  llvm::DenseSet<const void *> remote; ///< barriers at which other CTAs of the cluster arrive
  llvm::DenseSet<Operation *> polls;
};

/// file:line:column of where the operation was written, or nothing.
std::string placeOf(Location location) {
  while (auto call = dyn_cast<CallSiteLoc>(location))
    location = call.getCallee();
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
}

struct DeriveLaunchModePass : impl::DeriveLaunchModeBase<DeriveLaunchModePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(ep::kernelAttrName))
      return;
    Builder b(&getContext());
    LaunchMode mode = LaunchMode::any;
    SmallVector<Attribute> waits;
    LaunchAnalysis(function).run([&](Operation *op, const Verdict &verdict) {
      mode = std::max(mode, verdict.mode);
      auto text = [&](StringRef key, const Twine &value) { return b.getNamedAttr(key, b.getStringAttr(value)); };
      SmallVector<NamedAttribute> fields{text("at", placeOf(op->getLoc())), text("because", verdict.because),
                                         text("mode", StringRef(name(verdict.mode))),
                                         text("operation", op->getName().getStringRef())};
      if (verdict.setter)
        fields.push_back(text("set_at", placeOf(verdict.setter->getLoc())));
      waits.push_back(b.getDictionaryAttr(fields));
    });
    auto stated = function->getAttrOfType<StringAttr>(ep::launchModeAttrName);
    if (stated && stated.getValue() != StringRef(name(mode))) {
      function.emitError() << "expected no launch mode but the derived one, " << StringRef(name(mode)) << ", got "
                           << stated.getValue() << ": leave `" << ep::launchModeAttrName << "` out";
      return signalPassFailure();
    }
    function->setAttr(ep::launchModeAttrName, b.getStringAttr(StringRef(name(mode))));
    function->setAttr(ep::launchWaitsAttrName, b.getArrayAttr(waits));
  }
};

} // namespace
} // namespace interlock
