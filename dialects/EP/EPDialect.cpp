// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Registration of the ep dialect, and how its operations are read and printed.
#include "dialects/EP/EP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace interlock::ep;

namespace {

/// Reads an enumeration as a bare keyword.
template <typename AttrT, typename EnumT>
ParseResult parseKeyword(OpAsmParser &parser, AttrT &attribute, std::optional<EnumT> (*symbolize)(StringRef),
                         const char *what, ArrayRef<StringRef> keywords) {
  SMLoc at = parser.getCurrentLocation();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    if (std::optional<EnumT> value = symbolize(keyword)) {
      attribute = AttrT::get(parser.getContext(), *value);
      return success();
    }
  InFlightDiagnostic error = parser.emitError(at) << "expected a " << what << ": ";
  llvm::interleave(keywords, [&](StringRef each) { error << each; }, [&] { error << " or "; });
  if (!keyword.empty())
    error << ", got " << keyword;
  return error;
}

ParseResult parseSchedule(OpAsmParser &parser, ScheduleAttr &schedule) {
  return parseKeyword<ScheduleAttr, Schedule>(parser, schedule, symbolizeSchedule, "schedule",
                                              {"grid_stride", "claimed", "clc"});
}
void printSchedule(OpAsmPrinter &printer, Operation *, ScheduleAttr schedule) {
  printer << stringifySchedule(schedule.getValue());
}

ParseResult parseCombineMode(OpAsmParser &parser, CombineModeAttr &mode) {
  return parseKeyword<CombineModeAttr, CombineMode>(parser, mode, symbolizeCombineMode, "mode of combine", {"gather"});
}
void printCombineMode(OpAsmPrinter &printer, Operation *, CombineModeAttr mode) {
  printer << stringifyCombineMode(mode.getValue());
}

/// The operations mean the same wherever their function is inlined; stages are in no function.
struct EPInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};

} // namespace

#include "dialects/EP/EPDialect.cpp.inc"
#include "dialects/EP/EPEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/EP/EPAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/EP/EPOps.cpp.inc"

void EPDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/EP/EPAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/EP/EPOps.cpp.inc"
      >();
  addInterfaces<EPInliner>();
}

// `%tile in %count (claim %counter (through %mailboxes)?)? attr-dict { body }`
ParseResult ForEachTileOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument tile;
  OpAsmParser::UnresolvedOperand count, pointer;
  Builder &builder = parser.getBuilder();
  tile.type = builder.getI32Type();
  if (parser.parseArgument(tile) || parser.parseKeyword("in") || parser.parseOperand(count) ||
      parser.resolveOperand(count, tile.type, result.operands))
    return failure();
  auto type = sync::PtrType::get(parser.getContext(), sync::Space::global);
  auto &segments = result.getOrAddProperties<Properties>().operandSegmentSizes;
  segments = {1, 0, 0};
  for (auto [keyword, segment] : {std::pair("claim", 1), std::pair("through", 2)}) {
    if (failed(parser.parseOptionalKeyword(keyword)))
      break;
    if (parser.parseOperand(pointer) || parser.resolveOperand(pointer, type, result.operands))
      return failure();
    segments[segment] = 1;
  }
  result.addTypes(tile.type);
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseRegion(*body, tile))
    return failure();
  if (body->empty()) {
    Block &block = body->emplaceBlock();
    block.addArgument(tile.type, result.location);
  }
  return success();
}

void ForEachTileOp::print(OpAsmPrinter &printer) {
  printer << " " << getBody().getArgument(0) << " in " << getCount();
  if (Value claim = getClaim())
    printer << " claim " << claim;
  if (Value mailboxes = getMailboxes())
    printer << " through " << mailboxes;
  SmallVector<StringRef> elided{getOperandSegmentSizesAttrName()};
  if (getRemoteShared()) // as it is where nothing is said
    elided.push_back(getRemoteSharedAttrName());
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult EPDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto wrong = [&](StringRef expected) -> LogicalResult {
    return op->emitError() << "expected `" << name << "` to be " << expected << ", got " << value;
  };
  if (name == targetAttrName)
    return isa<StringAttr>(value) ? success() : wrong("the name of a chip, a string");
  if (name == kernelAttrName)
    return isa<UnitAttr>(value) ? success() : wrong("a unit attribute");
  auto text = dyn_cast<StringAttr>(value);
  if (name == waitAttrName)
    return text && (text == "relaxed-fence" || text == "acquire") ? success()
                                                                  : wrong("\"relaxed-fence\" or \"acquire\"");
  if (name == releaseAttrName)
    return text && (text == "restricted-fence" || text == "arrive") ? success()
                                                                    : wrong("\"restricted-fence\" or \"arrive\"");
  auto number = dyn_cast<IntegerAttr>(value);
  std::optional<int64_t> count;
  if (number && number.getType().isInteger(32))
    count = number.getInt();
  if (name == blockThreadsAttrName)
    return count && *count >= 1 && *count <= 1024 ? success() : wrong("an i32 from 1 to 1024");
  if (name == launchModeAttrName)
    return text ? success() : wrong("the name of a launch mode, a string");
  if (name == launchWaitsAttrName)
    return isa<ArrayAttr>(value) ? success() : wrong("a list of waits");
  if (name == clusterAttrName)
    return count && llvm::is_contained({1, 2, 4, 8}, *count) ? success() : wrong("1, 2, 4 or 8, of type i32");
  return op->emitError() << "expected an attribute of the ep dialect (`" << targetAttrName << "`, `" << kernelAttrName
                         << "`, `" << blockThreadsAttrName << "`, `" << clusterAttrName << "`, `" << waitAttrName
                         << "`, `" << releaseAttrName << "`, `" << launchModeAttrName << "`, `" << launchWaitsAttrName
                         << "`), got `" << name << "`";
}
