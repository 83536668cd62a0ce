// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Storage, addresses and weak accesses, which need nothing of a target's dialect.
#include "compiler/Conversion/Lowering.h"

using namespace mlir;

namespace interlock::lowering {

int64_t bytesOf(Type type) { return type.getIntOrFloatBitWidth() / 8; }

// On a chip without clusters a CTA is its own cluster; gpu scope includes that and everything a reader may have meant.
sync::Scope chipScope(Operation *op, sync::Scope scope, const Context &context) {
  if (scope != sync::Scope::cluster || context.target.clusters)
    return scope;
  op->emitRemark() << StringRef(context.target.name) << " has no clusters: scope cluster widened to gpu";
  return sync::Scope::gpu;
}

LLVM::AtomicOrdering ordering(sync::Sem sem) {
  switch (sem) {
  case sync::Sem::relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case sync::Sem::acquire:
    return LLVM::AtomicOrdering::acquire;
  case sync::Sem::release:
    return LLVM::AtomicOrdering::release;
  case sync::Sem::acq_rel:
    return LLVM::AtomicOrdering::acq_rel;
  case sync::Sem::sc:
    return LLVM::AtomicOrdering::seq_cst;
  }
  return LLVM::AtomicOrdering::seq_cst;
}

Value makeStorage(Operation *op, Type type, uint64_t align, Builder &b, const Context &context) {
  auto module = op->getParentOfType<ModuleOp>();
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  std::string name = (kernel.getName() + "_shared_" + Twine((*context.storageCount)++)).str();
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(), align,
                           sharedSpace);
  }
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), sharedSpace);
  return LLVM::AddressOfOp::create(b, pointer, name);
}

Value byWords(Builder &b, Value value, function_ref<Value(Value)> exchange) {
  if (!value.getType().isInteger(64))
    return exchange(value);
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value half = b.constant(32, 64);
  Value low = LLVM::TruncOp::create(b, i32, value);
  Value high = LLVM::TruncOp::create(b, i32, LLVM::LShrOp::create(b, value, half));
  low = LLVM::ZExtOp::create(b, i64, exchange(low));
  high = LLVM::ZExtOp::create(b, i64, exchange(high));
  return LLVM::OrOp::create(b, low, LLVM::ShlOp::create(b, high, half));
}

namespace {

Replacement lowerSharedAlloc(sync::SharedAllocOp op, sync::SharedAllocOp::Adaptor, Builder &b, const Context &context) {
  Type bytes = LLVM::LLVMArrayType::get(b.getI8Type(), op.getBytes());
  return {makeStorage(op, bytes, op.getAlign(), b, context)};
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

LLVM::LLVMPointerType globalPointer(Builder &b) { return LLVM::LLVMPointerType::get(b.getContext(), globalSpace); }

Replacement lowerOffset(ep::OffsetOp, ep::OffsetOp::Adaptor operands, Builder &b, const Context &) {
  Value base = operands.getPointer();
  return {LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{operands.getBytes()})};
}
Replacement lowerGlobalPtr(ep::GlobalPtrOp, ep::GlobalPtrOp::Adaptor operands, Builder &b, const Context &) {
  return {LLVM::IntToPtrOp::create(b, globalPointer(b), operands.getAddress())};
}
Replacement lowerPeerPtr(ep::PeerPtrOp, ep::PeerPtrOp::Adaptor operands, Builder &b, const Context &) {
  Value rank = LLVM::ZExtOp::create(b, b.getI64Type(), operands.getRank());
  Value skipped = LLVM::MulOp::create(b, rank, operands.getStride());
  Value window = LLVM::AddOp::create(b, operands.getWindow(), skipped);
  Value address = LLVM::AddOp::create(b, window, operands.getOffset());
  return {LLVM::IntToPtrOp::create(b, globalPointer(b), address)};
}

//===----------------------------------------------------------------------===//
// Accesses. None is marked invariant or non-aliasing, so none can become ld.global.nc or, behind an acquire, a scalar
// load, which peers' writes would escape.
//===----------------------------------------------------------------------===//

Replacement lowerLoad(ep::LoadOp op, ep::LoadOp::Adaptor operands, Builder &b, const Context &) {
  Type type = op.getResult().getType();
  return {LLVM::LoadOp::create(b, type, operands.getPointer(), bytesOf(type))};
}
Replacement lowerStore(ep::StoreOp op, ep::StoreOp::Adaptor operands, Builder &b, const Context &) {
  LLVM::StoreOp::create(b, operands.getValue(), operands.getPointer(), bytesOf(op.getValue().getType()));
  return {};
}

} // namespace

void addMemoryPatterns(RewritePatternSet &patterns, const Context &context) {
  add(patterns, context, lowerSharedAlloc, lowerOffset, lowerGlobalPtr, lowerPeerPtr, lowerLoad, lowerStore);
}

} // namespace interlock::lowering
