// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Registration of the sync dialect, and how its keywords are read and printed.
#include "dialects/Sync/Step.h"
#include "dialects/Sync/Sync.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace interlock::sync;

namespace {

/// Reads an enumeration as a bare keyword, or as an attribute alias where a template has one (`#scope`).
template <typename AttrT, typename EnumT>
ParseResult parseKeyword(OpAsmParser &parser, AttrT &attribute, std::optional<EnumT> (*symbolize)(StringRef),
                         const char *what, ArrayRef<StringRef> keywords) {
  SMLoc at = parser.getCurrentLocation();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword, keywords))) {
    attribute = AttrT::get(parser.getContext(), *symbolize(keyword));
    return success();
  }
  Attribute any;
  OptionalParseResult alias = parser.parseOptionalAttribute(any, Type());
  if (alias.has_value() && failed(*alias))
    return failure();
  attribute = alias.has_value() ? dyn_cast<AttrT>(any) : AttrT();
  if (attribute)
    return success();
  InFlightDiagnostic error = parser.emitError(at) << "expected a " << what << " of ";
  llvm::interleaveComma(keywords, error);
  if (!alias.has_value() && succeeded(parser.parseOptionalKeyword(&keyword)))
    error << ", got " << keyword;
  else if (any)
    error << ", got " << any;
  return error;
}

ParseResult parseSem(OpAsmParser &parser, SemAttr &sem) {
  return parseKeyword<SemAttr, Sem>(parser, sem, symbolizeSem, "memory order",
                                    {"relaxed", "acquire", "release", "acq_rel", "sc"});
}
void printSem(OpAsmPrinter &printer, Operation *, SemAttr sem) { printer << stringifySem(sem.getValue()); }

ParseResult parseScope(OpAsmParser &parser, ScopeAttr &scope) {
  return parseKeyword<ScopeAttr, Scope>(parser, scope, symbolizeScope, "scope", {"cta", "cluster", "gpu", "sys"});
}
void printScope(OpAsmPrinter &printer, Operation *, ScopeAttr scope) { printer << stringifyScope(scope.getValue()); }

ParseResult parseProxy(OpAsmParser &parser, ProxyAttr &proxy) {
  return parseKeyword<ProxyAttr, Proxy>(parser, proxy, symbolizeProxy, "proxy", {"generic", "async", "tensormap"});
}
void printProxy(OpAsmPrinter &printer, Operation *, ProxyAttr proxy) { printer << stringifyProxy(proxy.getValue()); }

ParseResult parseAtomicKind(OpAsmParser &parser, AtomicKindAttr &kind) {
  return parseKeyword<AtomicKindAttr, AtomicKind>(parser, kind, symbolizeAtomicKind, "kind of atomic",
                                                  {"add", "or", "max", "exch"});
}
void printAtomicKind(OpAsmPrinter &printer, Operation *, AtomicKindAttr kind) {
  printer << stringifyAtomicKind(kind.getValue());
}

OptionalParseResult parseOptionalSpace(OpAsmParser &parser, SpaceAttr &space) {
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword, {"global", "shared"})))
    return std::nullopt;
  space = SpaceAttr::get(parser.getContext(), *symbolizeSpace(keyword));
  return success();
}
void printOptionalSpace(OpAsmPrinter &printer, Operation *, SpaceAttr space) {
  printer << stringifySpace(space.getValue());
}

/// Synchronisation means the same wherever its function is inlined.
struct SyncInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};

} // namespace

#include "dialects/Sync/SyncDialect.cpp.inc"
#include "dialects/Sync/SyncEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Sync/SyncAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Sync/SyncTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Sync/SyncOps.cpp.inc"

void SyncDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Sync/SyncAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Sync/SyncTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Sync/SyncOps.cpp.inc"
      >();
  addInterfaces<SyncInliner>();
}

LogicalResult SyncDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == stepAttrName) {
    if (auto step = dyn_cast<StringAttr>(attribute.getValue()); !step || step.empty())
      return op->emitError() << "expected `" << stepAttrName << "` to be the name of a protocol step, got "
                             << attribute.getValue();
    return success();
  }
  if (attribute.getName() != sharedOnlyAttrName)
    return op->emitError() << "expected `" << sharedOnlyAttrName << "` or `" << stepAttrName
                           << "`, the attributes of the sync dialect, got `" << attribute.getName().getValue() << "`";
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << "expected `" << sharedOnlyAttrName << "` to be a unit attribute, got "
                           << attribute.getValue();
  if (!isa<BarrierArriveOp, BarrierWaitOp>(op))
    return op->emitError() << "expected `" << sharedOnlyAttrName
                           << "` on sync.barrier_arrive or sync.barrier_wait, got it on " << op->getName();
  return success();
}
