// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Transforms/ScopeAddresses.h"

#include "dialects/EP/EP.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace interlock {
namespace {

/// Deep enough for any address that a template computes; beyond it a value is a term of its own.
constexpr unsigned maxDepth = 32;

void addTerm(LinearForm &form, Value value, int64_t factor) {
  for (auto &[term, present] : form.terms)
    if (term == value) {
      present += factor;
      return;
    }
  form.terms.push_back({value, factor});
}

void add(LinearForm &form, Value value, int64_t factor, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    form.constant += factor * constant.getSExtValue();
    return;
  }
  Operation *op = depth < maxDepth ? value.getDefiningOp() : nullptr;
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    add(form, op->getOperand(0), factor, depth + 1);
    return add(form, op->getOperand(1), isa<arith::SubIOp>(op) ? -factor : factor, depth + 1);
  }
  if (isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return add(form, op->getOperand(0), factor, depth + 1);
  if (isa_and_nonnull<arith::MulIOp>(op))
    for (unsigned i : {0u, 1u})
      if (matchPattern(op->getOperand(i), m_ConstantInt(&constant)))
        return add(form, op->getOperand(1 - i), factor * constant.getSExtValue(), depth + 1);
  if (isa_and_nonnull<arith::ShLIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
      constant.ult(32))
    return add(form, op->getOperand(0), factor << constant.getZExtValue(), depth + 1);
  addTerm(form, value, factor);
}

bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// A loop whose threads start at their own index and step by the CTA's threads: no two meet in an iteration variable.
bool startsAtThread(Value value, int64_t blockThreads) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  APInt step;
  return loop && argument == loop.getInductionVar() && loop.getLowerBound().getDefiningOp<ep::ThreadIdOp>() &&
         matchPattern(loop.getStep(), m_ConstantInt(&step)) && step.getSExtValue() >= blockThreads;
}

bool isInLoop(Value value) {
  Operation *op = value.getDefiningOp() ? value.getDefiningOp()->getParentOp() : value.getParentBlock()->getParentOp();
  return op && (isa<scf::ForOp, scf::WhileOp>(op) || op->getParentOfType<scf::ForOp>() ||
                op->getParentOfType<scf::WhileOp>());
}

} // namespace

LinearForm linearForm(Value value) {
  LinearForm form;
  add(form, value, 1, 0);
  llvm::erase_if(form.terms, [](const auto &term) { return term.second == 0; });
  return form;
}

bool isUniform(Value value) {
  SmallVector<Value> todo{value};
  for (size_t seen = 0; seen < todo.size(); ++seen) {
    if (seen > 256)
      return false;
    Operation *op = todo[seen].getDefiningOp();
    if (!op) {
      if (!isArgument(todo[seen]))
        return false;
      continue;
    }
    if (isa<ep::CtaIdOp, ep::CtaCountOp, ep::ClusterIdOp, ep::ClusterCountOp, ep::ClusterRankOp>(op))
      continue;
    if (op->getNumRegions() || !isPure(op) || isa<ep::ThreadIdOp, ep::LaneIdOp, ep::WarpIdOp>(op))
      return false;
    todo.append(op->operand_begin(), op->operand_end());
  }
  return true;
}

ScopeAddresses::Place ScopeAddresses::placeOf(Value pointer) {
  Place place;
  constexpr int64_t barrierBytes = 8; // PTX ISA, "Size and alignment of mbarrier object"
  for (;;) {
    if (auto offset = pointer.getDefiningOp<ep::OffsetOp>()) {
      add(place.form, offset.getBytes(), 1, 0);
      pointer = offset.getPointer();
    } else if (auto one = pointer.getDefiningOp<sync::BarrierAtOp>()) {
      add(place.form, one.getIndex(), barrierBytes, 0);
      pointer = one.getBarrier();
    } else {
      break;
    }
  }
  Operation *op = pointer.getDefiningOp();
  if (isa_and_nonnull<sync::SharedAllocOp, sync::BarrierAllocOp>(op)) {
    place.root = op;
    place.shared = true;
  } else if (auto peer = dyn_cast_or_null<ep::PeerPtrOp>(op)) {
    // Which rank's window it is only changes who is spoken to, not which region.
    place.root = peer.getWindow().getAsOpaquePointer();
    place.window = true;
    // A kernel is told its own rank; any other rank it computes.
    place.peer = !isArgument(peer.getRank());
    add(place.form, peer.getOffset(), 1, 0);
    addTerm(place.form, peer.getRank(), int64_t(1) << 48);
  } else if (auto global = dyn_cast_or_null<ep::GlobalPtrOp>(op)) {
    add(place.form, global.getAddress(), 1, 0);
    for (auto &[value, factor] : place.form.terms)
      if (factor == 1 && value.getType().isInteger(64) && isArgument(value)) {
        place.root = value.getAsOpaquePointer();
        factor = 0;
        break;
      }
  } else if (isArgument(pointer)) {
    place.root = pointer.getAsOpaquePointer();
    place.shared = cast<sync::PtrType>(pointer.getType()).getSpace() == sync::Space::shared;
  }
  llvm::erase_if(place.form.terms, [](const auto &term) { return term.second == 0; });
  return place;
}

uint32_t ScopeAddresses::objectAt(const Place &place) {
  // An allocation is one object. A window or an array behind an argument holds many things, which begin in different
  // words; within one of them the terms move.
  constexpr int64_t word = 8;
  int64_t begin = place.shared ? 0 : place.form.constant & -word;
  auto [entry, fresh] = objects.try_emplace({place.root, begin}, uint32_t(program.objects.size()));
  if (!fresh) {
    if (place.peer)
      program.objects[entry->second].reach = scope::Scope::sys;
    return entry->second;
  }
  scope::Object object;
  object.space = place.shared ? scope::Space::shared : scope::Space::global;
  if (place.shared) {
    object.name = "shared memory #" + std::to_string(objects.size());
  } else if (place.window) {
    object.name = "the window at " + std::to_string(begin);
    object.reach = place.peer ? scope::Scope::sys : scope::Scope::gpu;
    object.evidence = scope::Evidence::contract;
  } else {
    auto argument = cast<BlockArgument>(Value::getFromOpaquePointer(place.root));
    object.name = "argument " + std::to_string(argument.getArgNumber());
  }
  program.objects.push_back(std::move(object));
  return entry->second;
}

uint32_t ScopeAddresses::formulaOf(const LinearForm &form) {
  std::vector<std::pair<const void *, int64_t>> key;
  for (const auto &[value, factor] : form.terms)
    key.push_back({value.getAsOpaquePointer(), factor});
  llvm::sort(key);
  return formulas.try_emplace(std::move(key), uint32_t(formulas.size() + 1)).first->second;
}

void ScopeAddresses::describeTerms(scope::Access &access, const LinearForm &form, uint32_t bytes) {
  bool byThread = false, others = false;
  access.single = true;
  for (const auto &[value, factor] : form.terms) {
    Operation *op = value.getDefiningOp();
    bool thread = isa_and_nonnull<ep::ThreadIdOp>(op) || startsAtThread(value, blockThreads);
    byThread |= thread && std::abs(factor) >= std::max<int64_t>(bytes, 1);
    bool uniform = isUniform(value);
    others |= !thread && !uniform;
    access.single &= uniform && !isInLoop(value);
    access.perCta |= isa_and_nonnull<ep::CtaIdOp>(op);
    access.perCluster |= isa_and_nonnull<ep::ClusterIdOp>(op) && std::abs(factor) >= std::max<int64_t>(bytes, 1);
    if (isa_and_nonnull<ep::WarpIdOp>(op) && std::abs(factor) >= std::max<int64_t>(bytes, 1))
      access.warpStride = uint32_t(std::abs(factor));
    access.indexed |= !isa_and_nonnull<ep::ThreadIdOp>(op) && isInLoop(value);
  }
  access.perThread = byThread && !others;
}

scope::Access ScopeAddresses::of(Value pointer, uint32_t bytes) {
  scope::Access access;
  access.bytes = bytes;
  Place place = placeOf(pointer);
  if (!place.root)
    return access;
  access.object = objectAt(place);
  access.formula = formulaOf(place.form);
  access.offset = place.form.constant;
  describeTerms(access, place.form, bytes);
  return access;
}

uint32_t ScopeAddresses::objectOf(Operation *owner, StringRef what) {
  auto [entry, fresh] = named.try_emplace({owner, what.str()}, uint32_t(program.objects.size()));
  if (fresh) {
    scope::Object object;
    object.name = what.str();
    object.space = scope::Space::shared;
    program.objects.push_back(std::move(object));
  }
  return entry->second;
}

} // namespace interlock
